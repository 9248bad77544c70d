/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LATENCY_RECORDING_H
#define LATENCY_RECORDING_H

/* System calls and interrupts of known duration, some in a gap, some without a start or an end. */
void make_latency(const char *path);

#endif /* LATENCY_RECORDING_H */
