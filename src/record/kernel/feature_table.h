/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording needs of a machine, each found out by trying; one table, printed by
 * `stackonce doctor`.  Nothing is judged by the kernel's version.
 */
#ifndef RECORD_FEATURE_TABLE_H
#define RECORD_FEATURE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum feature_need {
	FEATURE_MUST, /* no recording without it */
	FEATURE_BPF, /* no recording by BPF without it */
	FEATURE_FTRACE, /* none by ftrace */
	FEATURE_MAY, /* something works less well without it */
	FEATURE_LATER, /* for other kernels or kinds of events */
};

struct feature {
	const char *name; /* stable, for tools: "bpf_ringbuf" */
	const char *what; /* for people */
	const char *since; /* "5.8 (457f44363a88)": version and commit; "" when always */
	enum feature_need need;
	/*
	 * 0: it works, else a negative errno; a line of explanation may be put into ret_detail in
	 * either case.
	 */
	int (*probe)(char *ret_detail, size_t len);
	const char *without; /* what is missing then */
	const char *remedy; /* what can be done */
};

extern const struct feature feature_table[];
extern const size_t nr_features;

/* Whether this kernel attaches a program to many of its functions at once. */
bool features__kprobe_multi(void);
/* Or to one by one. */
bool features__kprobes(void);
/* Whether this machine counts cycles in hardware. */
bool features__cycles(void);

/* The capability that is missing to even try ("CAP_BPF"), NULL: none. */
const char *features__missing_capability(void);
/* Why bpf(2) loads not even the smallest program, NULL: it does. */
const char *features__bpf_refused(void);
/*
 * Whether this process numbers processes as the kernel does; not in a PID namespace of its own,
 * where its numbers are others than those of the events.
 */
bool features__initial_pids(void);

#endif /* RECORD_FEATURE_TABLE_H */
