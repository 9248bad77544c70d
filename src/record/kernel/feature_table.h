/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel features that recording uses, in one table, which `stackonce doctor` prints.  Each is
 * probed by trying it, never by the kernel's version.
 */
#ifndef RECORD_FEATURE_TABLE_H
#define RECORD_FEATURE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum feature_need {
	FEATURE_MUST, /* required for any recording */
	FEATURE_BPF, /* required for recording by BPF */
	FEATURE_FTRACE, /* required for recording by ftrace */
	FEATURE_MAY, /* optional: see feature.without */
	FEATURE_LATER, /* only in other kernels, or for other types of events */
};

#define FEATURE_DETAIL 16384 /* bytes for any explanation */

struct feature {
	const char *name; /* stable, for tools: "bpf_ringbuf" */
	const char *what; /* description for humans */
	const char *since; /* "5.8 (457f44363a88)": version and commit; "": all supported kernels */
	enum feature_need need;
	/*
	 * Returns 0 if the feature works, else a negative errno.  May write an explanation to
	 * ret_detail in either case: lines of which only the last one does not end in a newline.
	 */
	int (*probe)(char *ret_detail, size_t len);
	const char *without; /* consequence if it does not work */
	const char *remedy; /* what the user can do */
};

extern const struct feature feature_table[];
extern const size_t nr_features;

/* Whether this kernel can attach a program to many of its functions at once. */
bool features__kprobe_multi(void);
/* Whether this kernel can attach a program to its functions at all. */
bool features__kprobes(void);
/* Whether this machine has a hardware cycle counter. */
bool features__cycles(void);

/*
 * The capabilities that recording needs and this process lacks, "CAP_BPF and CAP_PERFMON"; NULL:
 * none.  Owned by the caller.
 */
char *features__missing_capabilities(void);
/* The same for a process with this set, of bits 1 << CAP_... */
char *features__lacking(uint64_t capabilities);
/* Why bpf(2) cannot load even the smallest program; NULL: it can. */
const char *features__bpf_refused(void);
/*
 * Whether this process runs in the initial PID namespace.  In another one its PIDs would not match
 * those in events.
 */
bool features__initial_pids(void);

#endif /* RECORD_FEATURE_TABLE_H */
