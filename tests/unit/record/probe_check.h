/* SPDX-License-Identifier: GPL-2.0-only */
/* Resolves the specification of a probe and checks the result or the message. */
#ifndef TESTS_RECORD_PROBE_CHECK_H
#define TESTS_RECORD_PROBE_CHECK_H

#include "record/select/probe.h"
#include "events/format.h"

struct ksyms;

/* From now on, messages are kept for probe_check__message(). */
void probe_check__listen(void);
/* All messages since the start of the last probe_check__resolve(), concatenated. */
const char *probe_check__message(void);

/* Adds events to l; `file`, if not NULL, replaces %s in spec. */
int probe_check__resolve(struct probe_events *l, struct ksyms *syms, const char *spec,
			 const char *file);
/* Resolving fails with err and a message that contains words (NULL: not checked). */
void probe_check__refused(struct ksyms *syms, const char *spec, const char *file, int err,
			  const char *words);
/* The format filters and prints; fields: "TYPE NAME:SIZE:SIGNED;" of all fields after ip. */
void probe_check__format(const struct probe_event *e, const char *fields);
/* The event prints these values, ip first, as text. */
void probe_check__print(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			const char *text);
/* Whether the filter accepts a record with these values. */
bool probe_check__filter(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			 const char *filter);

#endif /* TESTS_RECORD_PROBE_CHECK_H */
