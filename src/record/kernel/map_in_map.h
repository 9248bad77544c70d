/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills an array of maps. */
#ifndef RECORD_MAP_IN_MAP_H
#define RECORD_MAP_IN_MAP_H

#include <stdint.h>

/*
 * Puts maps into an array of maps, at the indices in keys.  The kernel then waits until no program
 * uses what was there before, some 10 ms, even if nothing was; since 6.8 once per call ("bpf: Call
 * maybe_wait_bpf_programs() only once for generic_map_update_batch()"), earlier for each element.
 * So fill an array by as few calls as possible.
 */
int map_in_map__set(int outer, const uint32_t *keys, const int *fds, uint32_t nr);

#endif /* RECORD_MAP_IN_MAP_H */
