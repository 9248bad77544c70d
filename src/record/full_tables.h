/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of fixed size that were full during the recording. */
#ifndef RECORD_FULL_TABLES_H
#define RECORD_FULL_TABLES_H

#include <stdint.h>

#include "stackonce-counters.h"

/* Warns of each table that was full, with what the recording lacks therefore. */
void full_tables__warn(const uint64_t (*counters)[STK_NR_COUNTERS], unsigned int nr_events);

#endif /* RECORD_FULL_TABLES_H */
