// SPDX-License-Identifier: GPL-2.0-only
/* Numbers task names in a key table. */
#include "comm_names.h"

#include <string.h>

#include "cleanup.h"

struct comm_key {
	char name[64]; /* longer ones, which no kernel has, are told apart up to here */
};

struct comm_value {
	const char *name;
};

void comm_names__init(struct key_table *t)
{
	key_table__init(t, sizeof(struct comm_key), sizeof(struct comm_value));
}

int comm_names__number(struct key_table *t, const char *comm, uint32_t *ret_number)
{
	struct comm_key key = { 0 };
	int n;

	memcpy(key.name, comm, strnlen(comm, sizeof(key.name)));
	n = key_table__at(t, &key, ret_number);
	if (n > 0)
		((struct comm_value *)key_table__value(t, *ret_number))->name = comm;
	return MIN(n, 0);
}

const char *comm_names__get(const struct key_table *t, uint32_t number)
{
	return ((const struct comm_value *)key_table__value(t, number))->name;
}
