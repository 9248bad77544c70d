/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes BPF instructions that build the record of a tracepoint from its arguments, by the rows of
 * native_rows.h, the kernel's types and the event's format.  src/bpf/native_hole.bpf.h has the hole
 * in a program that they are written to, and says what they find and leave in registers.
 *
 * What does not fit is refused, and then the event must be recorded in another way: an unknown
 * prototype or print fmt, a field without a row or of an unexpected kind or size, a member that the
 * kernel lacks.
 */
#ifndef RECORD_NATIVE_CODE_H
#define RECORD_NATIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>

#include "native_layout.h"

struct btf;
struct ev_format;
struct native_event;

/* How the instructions read the kernel's memory. */
enum native_reader {
	NATIVE_BY_HELPER, /* bpf_probe_read_kernel() */
	NATIVE_BY_CAST, /* loads through bpf_rdonly_cast(), Linux 6.2 */
};

#define NATIVE_WHY 256 /* bytes of a reason */

struct native_code {
	const struct native_event *event; /* the row that fits this kernel */
	unsigned int nr;
	/* The two instructions with the address of the first struct page; 0: they need none. */
	unsigned int pages_at;
	struct bpf_insn insns[NATIVE_HOLE];
};

/* The fastest reader that the kernel has. */
enum native_reader native_code__reader(const struct btf *btf);

/*
 * Makes the instructions for an event.  fmt is its format, text the text of that as the kernel
 * shows it, btf the kernel's types.  -ENOENT: the event is in no row.  -EOPNOTSUPP: it does not fit
 * the rows, for the reason in ret_why, "FIELD: REASON" or "REASON", which is empty after other
 * errors.
 */
int native_code__make(const char *system, const char *event, const struct ev_format *fmt,
		      const char *text, const struct btf *btf, enum native_reader reader,
		      struct native_code *ret_code, char ret_why[NATIVE_WHY]);

/*
 * Checks raw_syscalls:sys_enter or sys_exit, whose records C code fills (src/bpf/native.bpf.h), as
 * it fills those of all system calls' events from the same arguments.  -EOPNOTSUPP and ret_why as
 * above.
 */
int native_code__check_call(bool is_exit, const struct ev_format *fmt, const char *text,
			    const struct btf *btf, char ret_why[NATIVE_WHY]);

/*
 * Sets the address of the struct page of page 0, as native_pages__find() finds it, in code that
 * needs it.
 */
void native_code__set_pages(struct native_code *code, uint64_t address);

/*
 * Writes code to the hole in a program of nr instructions.  -EPROTO: it does not have exactly one
 * hole.  -ENODATA: the code needs native_code__set_pages() first.
 */
int native_code__fill_hole(struct bpf_insn *insns, size_t nr, const struct native_code *code);

#endif /* RECORD_NATIVE_CODE_H */
