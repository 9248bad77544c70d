/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way back of one native event while a recording runs: from then on perf's program records it,
 * with the fields that the kernel fills, and its front counts it.  See src/bpf/old_way.bpf.h.
 */
#ifndef RECORD_OLD_WAY_H
#define RECORD_OLD_WAY_H

#include <stdbool.h>
#include <stdint.h>

struct programs;

/*
 * Takes the old way for an event, after programs__attach().  Loading the program takes some tenths
 * of a second, so this is for a thread beside the recorder's; it must have ended before
 * programs__costs() and programs__free(), and must not do this for two events at once.  No event is
 * lost, missed or recorded twice by it, and recording may be armed or disarmed meanwhile.
 *
 * Returns 0 when all CPUs have taken it: all events from old_way__since() on have the kernel's
 * fields.  -EALREADY: they had before.  -EINVAL: the event has no front.  -ECANCELED:
 * old_way__stop() was called.  Any other negative errno: the kernel refused the program, which has
 * been logged as a warning, and the event stays native.
 */
int old_way__take(struct programs *p, unsigned int event);
/* A running old_way__take() returns soon: what the kernel verifies at present it verifies. */
void old_way__stop(struct programs *p);

/*
 * The time, on the recording's clock, at which all CPUs had taken the old way of an event; 0: it is
 * not native, or still is.
 */
uint64_t old_way__since(const struct programs *p, unsigned int event);

#endif /* RECORD_OLD_WAY_H */
