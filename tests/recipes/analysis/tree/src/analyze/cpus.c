// SPDX-License-Identifier: GPL-2.0-only
/* Counts events by CPU. */
#include "cpus.h"

void cpus__init(struct key_table *t)
{
	key_table__init(t, sizeof(uint32_t), sizeof(uint64_t));
}

int cpus__add(struct key_table *t, const struct stk_event *e)
{
	uint32_t cpu = stk_event__cpu(e), number;
	int err = key_table__at(t, &cpu, &number);

	if (err < 0)
		return err;
	++*(uint64_t *)key_table__value(t, number);
	return 0;
}

uint32_t cpus__cpu(const struct key_table *t, uint32_t number)
{
	return *(const uint32_t *)key_table__key(t, number);
}

uint64_t cpus__events(const struct key_table *t, uint32_t number)
{
	return *(uint64_t *)key_table__value(t, number);
}
