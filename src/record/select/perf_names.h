/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of perf's events, which people who know perf try first. */
#ifndef RECORD_PERF_NAMES_H
#define RECORD_PERF_NAMES_H

#include <stdbool.h>

/*
 * If spec is an event of perf ("cycles", "page-faults:u"), logs what to record in its place, and
 * for a hardware event whether this machine has any; otherwise returns false.
 */
bool perf_names__complain(const char *spec);
/* The message, or NULL; owned by the caller.  has_hardware: whether the machine counts cycles. */
char *perf_names__explain(const char *spec, bool has_hardware);

#endif /* RECORD_PERF_NAMES_H */
