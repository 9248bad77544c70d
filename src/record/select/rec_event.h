/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event types of one recording: those of `-e` and `--filter`, resolved on this machine.
 */
#ifndef RECORD_EVENT_H
#define RECORD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/filter_prog.h"
#include "probe.h"
#include "stackonce.h"
#include "wire.h"

struct btf;
struct ev_format;
struct filter_features;
struct ksyms;
struct emulated;

struct rec_event {
	enum stk_event_kind kind;
	char *system, *name;
	char *format; /* format text for the recording */
	struct ev_format *fmt;
	const char *filter; /* expression; "": none */
	struct filter_prog *prog; /* NULL: no filter */
	struct event_desc desc; /* its tracer_start and tracer_len are not set */
	int syscall_nr; /* STK_KIND_SYSCALL */
	bool syscall_exit;
	struct probe probe; /* function probes and USDT */
	const struct emulated *emulated; /* STK_KIND_EMULATED */
	bool globbed; /* matched a glob: may be left out */
};

struct rec_events {
	struct rec_event *v;
	unsigned int nr, cap;
	struct unattached {
		char *name;
		char *why;
	} * left_out; /* matched a glob but cannot be recorded */
	unsigned int nr_left_out, cap_left_out;
	struct btf *btf; /* see rec_events__kernel_types() */
	struct ksyms *syms; /* the running kernel's, for function probes; borrowed */
	bool native; /* for ftrace: unchanged formats, filters in the kernel, no probes */
};

/*
 * Adds the events of a comma-separated list: "system:name" (both may be globs), "system", "name",
 * or function probes (probe.h).  filter (NULL: none) applies to each of them.  Errors are logged;
 * for an unknown event, with the nearest names.
 */
int rec_events__add(struct rec_events *l, const char *spec, const char *filter,
		    const struct filter_features *features);
/*
 * The kernel's types (BTF), loaded by the first call because that takes 30 ms; NULL with errno set
 * if that fails.  They use 10 MB until rec_events__forget_types().
 */
struct btf *rec_events__kernel_types(struct rec_events *l);
void rec_events__forget_types(struct rec_events *l);
/* Adds timer samples as one event. */
int rec_events__add_sample(struct rec_events *l, const char *name);
/* Adds the event that stands for losses of unknown type in a full ring. */
int rec_events__add_lost(struct rec_events *l);
/* Notes an event that a glob matched but that cannot be recorded. */
int rec_events__leave_out(struct rec_events *l, const char *system, const char *name,
			  const char *why);
void rec_events__clear(struct rec_events *l);

#endif /* RECORD_EVENT_H */
