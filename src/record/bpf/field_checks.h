/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares records of native events with those that the kernel fills for the same hits, while a
 * recording runs: the first ones of each event type, and later some from time to time.  See
 * src/bpf/native_check.bpf.h.
 */
#ifndef RECORD_FIELD_CHECKS_H
#define RECORD_FIELD_CHECKS_H

#include <stdint.h>

#include "clock.h"

struct field_checks;
struct programs;
struct programs_unverified;
struct strbuf;

/*
 * Attaches the checks of all native events of p, which may be none; ret_checks is then NULL.  After
 * an error nothing is attached.
 */
int field_checks__new(struct programs *p, struct field_checks **ret_checks);
/* When the first window begins: so long after the start. */
#define FIELD_CHECKS_FIRST_NS (30 * SECOND_NS)
/*
 * Starts the thread that ends checks, begins others in short windows, and acts on differences.  It
 * also ends the calibration when it has nothing else to do.  All functions accept NULL.
 */
int field_checks__start(struct field_checks *c, uint64_t first_window_ns);
/*
 * Ends the thread, after what it is doing at present: detaching a program takes some grace periods.
 * Checks stay attached.
 */
void field_checks__stop(struct field_checks *c);
/* After the last event: takes in what the thread had no time to look at. */
void field_checks__finish(struct field_checks *c);
void field_checks__free(struct field_checks *c);

/* At most this many descriptors keep the checks attached. */
unsigned int field_checks__max_fds(const struct field_checks *c);
/* Returns their number. */
unsigned int field_checks__fds(const struct field_checks *c, int *ret_fds);

/* For programs__fields_unverified() and programs__fields_difference(), when it is finished. */
struct programs_unverified field_checks__unverified(const struct field_checks *c,
						    unsigned int event);
void field_checks__difference(const struct field_checks *c, unsigned int event,
			      struct strbuf *text);

/* Sets the counters STK_C_FIELDS_... of an event. */
void field_checks__counters(const struct field_checks *c, unsigned int event, uint64_t *counters);

#endif /* RECORD_FIELD_CHECKS_H */
