// SPDX-License-Identifier: GPL-2.0-only
/*
 * sizes DIR: bytes of ring buffer for an event with its stack, from its present contents.  Prints
 * "EVENTS BYTES STACKS STACKBYTES": events, bytes including stacks, stacks, bytes of stacks.
 */
#include "ring.h"

static struct stack_events ev;
static unsigned long events, bytes, stacks, stack_bytes;

static void count(void *arg, const uint8_t *record, size_t size, uint64_t time, size_t ring_size)
{
	unsigned int type = record_type(record);

	(void)arg;
	(void)size;
	(void)time;
	bytes += ring_size;
	if (type == ev.full || type == ev.id || type == ev.pair) {
		stacks++;
		stack_bytes += ring_size;
	} else {
		events++;
	}
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (argc != 2)
		errx(2, "sizes DIR");
	stack_events__load(&ev);
	for (long cpu = 0; cpu < cpus; cpu++)
		ring__read(argv[1], (unsigned int)cpu, count, NULL);
	printf("%lu %lu %lu %lu\n", events, bytes, stacks, stack_bytes);
	return 0;
}
