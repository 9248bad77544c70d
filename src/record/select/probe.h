/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function probes: resolves `-e f:`, `r:`, `u:`, `ur:` and `usdt:` in the kernel's types and in
 * program files, and makes the formats of their records.
 *
 * Records (after the 8 common bytes; every value has 8 bytes, of which a field takes the low ones):
 *   f:    ip at 8 (address of the function), arguments from 16 on, at most PROBE_ARGS
 *   r:    ip at 8 (address of the function), ret at 16; no ret if it returns void
 *   u:    ip at 8 (address in the process), arg1 .. arg6 from 16 on
 *   ur:   ip at 8 (return address), ret at 16
 *   usdt: ip at 8, arg1 .. argN from 16 on, at most PROBE_USDT_ARGS
 * Arguments of kernel functions have the names and types in BTF, or are arg1 .. arg6 if BTF has
 * none.  Pointers are hexadecimal.
 */
#ifndef RECORD_PROBE_H
#define RECORD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define PROBE_ARGS 6 /* in registers */
#define PROBE_USDT_ARGS 12

enum probe_how {
	PROBE_NONE = 0,
	PROBE_FUNCTION, /* f: */
	PROBE_RETURN, /* r: */
	PROBE_USER, /* u: */
	PROBE_USER_RETURN, /* ur: */
	PROBE_USDT, /* usdt: */
};

/* What to probe for one event; owns its strings. */
struct probe {
	enum probe_how how;
	char *function; /* f, r: as in kallsyms */
	uint64_t address; /* f, r: of the function, from kallsyms; 0: unknown */
	char *path; /* u, ur, usdt: absolute */
	char *given; /* the same path as in the spec */
	uint64_t offset; /* u, ur: of the probed instruction in the file */
	char *provider, *name; /* usdt */
	unsigned int nr_args; /* values in the record after ip */
};
void probe__clear(struct probe *p);

/* One event that a spec stands for. */
struct probe_event {
	char *system; /* "f", "r", "u", "ur", "usdt" */
	char *event; /* "vfs_read"; "/usr/lib/libc.so.6:malloc"; "PATH:PROVIDER:NAME" */
	char *format; /* as a tracefs `format` text; ID 0 */
	struct probe probe;
};
struct probe_events {
	struct probe_event *v;
	unsigned int nr, cap;
	/* For listing, not recording: no limit, and "u:PATH" and "f:" match all functions. */
	bool is_list;
	bool no_formats; /* format: NULL */
	bool globbed; /* set: the spec is a glob, not a name */
};
void probe_events__clear(struct probe_events *l);

/* "f:...", "r:...", "u:...", "ur:..." or "usdt:..." */
bool probe__is_spec(const char *spec);

struct ksyms;
/*
 * Adds the events that spec names: one, or all that match a glob.
 *
 * Kernel functions are those that can be probed: tracefs's available_filter_functions without the
 * blacklist of kprobes.  User functions may also be "u:PATH:SYMBOL+0x10" and "u:PATH:0xOFFSET" (in
 * the file).  A PATH without a slash is looked up in $PATH, then in the library directories.
 * SYMBOL may be demangled, with or without parameters.  A name that several functions have is an
 * error; a glob leaves them out.
 *
 * syms NULL: /proc/kallsyms is read.  Errors are logged in one line, with the nearest names, and
 * returned: -ENOENT, -EINVAL, ...
 */
int probe__resolve(const char *spec, struct ksyms *syms, struct probe_events *l);

#endif /* RECORD_PROBE_H */
