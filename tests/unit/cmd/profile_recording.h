/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PROFILE_RECORDING_H
#define PROFILE_RECORDING_H

/*
 * 100 timer samples of known calls: recursion, an interrupt of user code and of the idle loop, a
 * page fault, guesses.  Allocations, delays and signed results to weigh, some without fields.
 */
void make_profile(const char *path);

#endif /* PROFILE_RECORDING_H */
