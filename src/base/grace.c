// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Waits for a grace period by bpf(2) or membarrier(2). */
#include "grace.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>

#include "cleanup.h"

static int create_map(uint32_t type, int inner)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = attr.value_size = sizeof(uint32_t);
	attr.max_entries = 1;
	attr.inner_map_fd = inner;
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

/*
 * When the update of a map in a map returns, no program uses the old map any more: the kernel waits
 * for a grace period (1ae80cf31938 "bpf: wait for running BPF programs when updating map-in-map"),
 * whichever programs there are.
 */
static int wait_by_map(void)
{
	_cleanup_close_ int inner = create_map(BPF_MAP_TYPE_ARRAY, 0), outer = -1;
	uint32_t key = 0;
	union bpf_attr attr;

	if (inner < 0)
		return inner;
	outer = create_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, inner);
	if (outer < 0)
		return outer;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = outer;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&inner;
	return syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)) ? -errno : 0;
}

/*
 * membarrier(2) comes second: it is refused where CPUs run without ticks (nohz_full), and with one
 * CPU online it returns at once, although a preempted program may be running.
 */
int grace__wait(void)
{
	int err = wait_by_map();

	if (err && !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return 0;
	return err;
}
