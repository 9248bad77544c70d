/* SPDX-License-Identifier: GPL-2.0-only */
/* Resolves the spec of a probe, with a message to look at. */
#ifndef TESTS_RECORD_PROBE_CHECK_H
#define TESTS_RECORD_PROBE_CHECK_H

#include "record/select/probe.h"
#include "events/format.h"

struct ksyms;

/* From now on messages are kept for probe_check__message(). */
void probe_check__listen(void);
/* All since the last probe_check__resolve() began, one after the other. */
const char *probe_check__message(void);

/* Adds to l; `file`, if any, is put where the spec has a %s. */
int probe_check__resolve(struct probe_events *l, struct ksyms *syms, const char *spec,
			 const char *file);
/* It fails with err, and says words (NULL: nothing to look for). */
void probe_check__refused(struct ksyms *syms, const char *spec, const char *file, int err,
			  const char *words);
/* The format is one that filters and prints; fields: "TYPE NAME:SIZE:SIGNED;" of all behind ip. */
void probe_check__format(const struct probe_event *e, const char *fields);
/* The event prints these values, ip first, as text. */
void probe_check__print(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			const char *text);
/* Does the filter let a record with these values pass? */
bool probe_check__filter(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			 const char *filter);

#endif /* TESTS_RECORD_PROBE_CHECK_H */
