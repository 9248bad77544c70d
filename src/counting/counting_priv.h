/* SPDX-License-Identifier: GPL-2.0-only */
/* For counting*.c only: counting.c has the loop, counting_keys.c the names of values. */
#ifndef COUNTING_PRIV_H
#define COUNTING_PRIV_H

#include "counting.h"

/* Whether the values differ between events that differ in time and fields only. */
bool counting__needs_events(const struct counting *c);
bool counting_key__is_plain(const struct counting_key *key);
/* Whether the key has a number in all groups. */
bool counting__is_number(const struct counting *c, unsigned int key);

#endif /* COUNTING_PRIV_H */
