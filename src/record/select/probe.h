/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function probes: what `-e f:`, `r:`, `u:`, `ur:` and `usdt:` ask for, found in the kernel's types and in
 * program files, with the format of their records.
 *
 * Records (after the 8 common bytes; every value has 8 bytes, of which a field takes the low ones):
 *   f:    ip at 8 (address of the function), arguments from 16 on, at most PROBE_ARGS
 *   r:    ip at 8 (address of the function), ret at 16; nothing else where it returns void
 *   u:    ip at 8 (address in the process), arg1 .. arg6 from 16 on
 *   ur:   ip at 8 (where it returned to), ret at 16
 *   usdt: ip at 8, arg1 .. argN from 16 on, at most PROBE_USDT_ARGS
 * Arguments of kernel functions have their names and types from BTF; where there are none they are
 * arg1 .. arg6.  Pointers are hexadecimal.
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

/* What is to be probed for one event; strings are its own. */
struct probe {
	enum probe_how how;
	char *function; /* f, r: as in kallsyms */
	uint64_t address; /* f, r: of it, where kallsyms tells; 0 unknown */
	char *path; /* u, ur, usdt: absolute */
	uint64_t offset; /* u, ur: of the probed instruction in the file */
	char *provider, *name; /* usdt */
	unsigned int nr_args; /* values in the record behind ip */
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
	/* To be looked at, not recorded: any number of them, and "u:PATH", "f:" stand for all there are. */
	bool is_list;
	bool no_formats; /* format: NULL */
};
void probe_events__clear(struct probe_events *l);

/* "f:...", "r:...", "u:...", "ur:..." or "usdt:..." */
bool probe__is_spec(const char *spec);

struct ksyms;
/*
 * Adds the events that spec names: one, or all that a glob stands for.  Of the kernel's functions these
 * are those it lets be probed: tracefs's available_filter_functions, without those that kprobes say they
 * refuse.  For user functions also "u:PATH:SYMBOL+0x10" and "u:PATH:0xOFFSET" (of the file); PATH without
 * a slash is looked up in $PATH, then where libraries are; SYMBOL may be demangled, with or without
 * parameters.  A name that several functions have is refused, and left out under a glob.  syms: NULL:
 * /proc/kallsyms is read for it.  Errors are logged in one line that says what and where, names near
 * misses, and come back: -ENOENT, -EINVAL, ...
 */
int probe__resolve(const char *spec, struct ksyms *syms, struct probe_events *l);

#endif /* RECORD_PROBE_H */
