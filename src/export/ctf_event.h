/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event classes of a CTF trace, one per event type of the recording, and how the records of the
 * type become their fields.
 *
 * Integers and arrays are written as they lie in the record, strings end with NUL, and of dynamic
 * arrays the length precedes the elements.  Everything is aligned to bytes.
 */
#ifndef EXPORT_CTF_EVENT_H
#define EXPORT_CTF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "strbuf.h"

struct ctf_class;

struct ctf_classes {
	struct ctf_class **v; /* by index of the type; NULL: no event yet */
	uint32_t nr;
	unsigned int nr_unparsed; /* types without fields, as their format is not one */
};

/* The class of the type; NULL when out of memory. */
struct ctf_class *ctf_classes__of(struct ctf_classes *cs, const struct stk_event_type *t);
/*
 * The id of the class.  Events without fields (STK_MARK_NO_FIELDS) have a class of their own, of
 * the same name.
 */
uint32_t ctf_class__id(struct ctf_class *c, bool has_fields);
/* Appends the fields of a record; what it lacks is zero or empty. */
void ctf_class__put(struct ctf_class *c, struct strbuf *b, const void *rec, size_t len);
bool ctf_classes__any(const struct ctf_classes *cs); /* some class has events */
/* The TSDL of all classes that have events. */
void ctf_classes__tsdl(const struct ctf_classes *cs, struct strbuf *b);
void ctf_classes__clear(struct ctf_classes *cs);

/* A string of CTF, without those bytes of s that follow a NUL. */
void ctf__put_string(struct strbuf *b, const char *s, size_t n);

#endif /* EXPORT_CTF_EVENT_H */
