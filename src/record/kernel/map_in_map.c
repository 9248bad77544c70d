// SPDX-License-Identifier: GPL-2.0-only
/* Fills an array of maps by one call of bpf(2). */
#include "map_in_map.h"

#include <errno.h>
#include <bpf/bpf.h>

int map_in_map__set(int outer, const uint32_t *keys, const int *fds, uint32_t nr)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint32_t count = nr, i;

	if (nr > 1 && !bpf_map_update_batch(outer, keys, fds, &count, &opts) && count == nr)
		return 0;
	/* a kernel that refuses batches, or one element, whose error is of interest */
	for (i = 0; i < nr; i++)
		if (bpf_map_update_elem(outer, &keys[i], &fds[i], BPF_ANY))
			return -errno;
	return 0;
}
