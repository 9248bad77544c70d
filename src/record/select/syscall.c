// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of system calls by name, from the C library's headers. */
#include "syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

struct name_nr {
	const char *name;
	int nr;
};

/* Generated from the C library's <asm/unistd_64.h>, sorted by name. */
static const struct name_nr table[] = {
#include "syscall_table.inc"
};

/*
 * System calls for which that header may be too old, and functions that are named differently from
 * their system call (SYSCALL_DEFINE in the kernel; arch/x86/entry/syscalls/syscall_64.tbl).
 */
static const struct name_nr more[] = {
	{ "cachestat", 451 },
	{ "fchmodat2", 452 },
	{ "map_shadow_stack", 453 },
	{ "futex_wake", 454 },
	{ "futex_wait", 455 },
	{ "futex_requeue", 456 },
	{ "statmount", 457 },
	{ "listmount", 458 },
	{ "lsm_get_self_attr", 459 },
	{ "lsm_set_self_attr", 460 },
	{ "lsm_list_modules", 461 },
	{ "mseal", 462 },
	{ "setxattrat", 463 },
	{ "getxattrat", 464 },
	{ "listxattrat", 465 },
	{ "removexattrat", 466 },
	{ "open_tree_attr", 467 },
	{ "file_getattr", 468 },
	{ "file_setattr", 469 },
	{ "uretprobe", 335 },
	{ "uprobe", 336 },
	{ "newstat", 4 },
	{ "newfstat", 5 },
	{ "newlstat", 6 },
	{ "sendfile64", 40 },
	{ "newuname", 63 },
	{ "umount", 166 },
};

static int compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct name_nr *)row)->name);
}

int syscall__number(const char *name)
{
	const struct name_nr *found =
		bsearch(name, table, ARRAY_SIZE(table), sizeof(*table), compare);
	size_t i;

	if (found)
		return found->nr;
	for (i = 0; i < ARRAY_SIZE(more); i++)
		if (!strcmp(more[i].name, name))
			return more[i].nr;
	return -ENOENT;
}

const char *syscall__name(int nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].nr == nr)
			return table[i].name;
	for (i = 0; i < ARRAY_SIZE(more); i++)
		if (more[i].nr == nr)
			return more[i].name;
	return NULL;
}
