/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one recording: what `-e` and `--filter` ask for, resolved against the machine.
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
struct synthetic;

struct rec_event {
	enum stk_event_kind kind;
	char *system, *name;
	char *format; /* the text that goes into the file */
	struct ev_format *fmt;
	const char *filter; /* expression, "" for none */
	struct filter_prog *prog; /* NULL: no filter */
	struct event_desc desc; /* without the tracer's address */
	int syscall_nr; /* STK_KIND_SYSCALL */
	bool syscall_exit;
	struct probe probe; /* function probes and USDT */
	const struct synthetic *synthetic; /* STK_KIND_SYNTHETIC */
	bool globbed; /* named by a glob: may be left out */
};

struct rec_events {
	struct rec_event *v;
	unsigned int nr, cap;
	struct unattached {
		char *name;
		char *why;
	} * left_out; /* named by a glob but not possible */
	unsigned int nr_left_out, cap_left_out;
	struct btf *btf; /* see rec_events__kernel_types() */
	struct ksyms *syms; /* the running kernel's, for function probes; borrowed */
	bool native; /* for ftrace: formats as they are, filters by the kernel, no probes */
};

/*
 * Add what spec names: "system:name" (both may be globs), "system" or "name", several separated
 * by commas; or function probes (probe.h).  filter (NULL: none) is for each of them.  Errors are
 * logged; an unknown event names the nearest ones.
 */
int rec_events__add(struct rec_events *l, const char *spec, const char *filter,
		    const struct filter_features *features);
/*
 * The kernel's types (BTF), read when they are first asked for, because that takes 30 ms; NULL with errno
 * set: there are none.  They are kept, and 10 MB with them, until nobody needs them any more.
 */
struct btf *rec_events__kernel_types(struct rec_events *l);
void rec_events__forget_types(struct rec_events *l);
/* Timer samples as one event. */
int rec_events__add_sample(struct rec_events *l, const char *name);
/* Stands for what a ring had no room for, of which nobody knows what it was. */
int rec_events__add_lost(struct rec_events *l);
int rec_events__leave_out(struct rec_events *l, const char *system, const char *name,
			  const char *why);
void rec_events__clear(struct rec_events *l);

#endif /* RECORD_EVENT_H */
