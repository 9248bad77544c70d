/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the programs of these tests: reads the binary ring buffer and the stack map of a trace
 * instance, with the formats that tracefs gives.
 */
#ifndef KERNEL_TESTS_RING_H
#define KERNEL_TESTS_RING_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

/*
 * Ring buffer events: values of the type in the first word that are not a length in 4-byte words.
 */
#define RING_PADDING 29
#define RING_TIME_EXTEND 30
#define RING_TIME_STAMP 31

/* include/linux/hardirq.h: the part of the page header's commit that is the length */
#define RING_COMMIT_MASK 0xfffff

static inline void put_text(const char *dir, const char *file, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		err(1, "%s", path);
	if (write(fd, text, strlen(text)) < 0)
		err(1, "write '%s' to %s", text, path);
	close(fd);
}

/* The whole file, terminated by 0; the caller frees it. */
static inline char *get_file(const char *dir, const char *file, size_t *ret_size)
{
	size_t size = 0, room = 65536;
	char path[256], *text;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	text = malloc(room + 1);
	while (text && (n = read(fd, text + size, room - size)) != 0) {
		if (n < 0)
			err(1, "read %s", path);
		size += (size_t)n;
		if (size == room)
			text = realloc(text, (room *= 2) + 1);
	}
	if (!text)
		errx(1, "no memory");
	close(fd);
	text[size] = 0;
	if (ret_size)
		*ret_size = size;
	return text;
}

/* A counter of stack_map_stat or a similar file. */
static inline unsigned long stat_of(const char *dir, const char *file, const char *name)
{
	char *text = get_file(dir, file, NULL), *line, *save;
	unsigned long value = 0;
	size_t len = strlen(name);
	bool found = false;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, name, len) && line[len] == ':') {
			value = strtoul(line + len + 1, NULL, 10);
			found = true;
		}
	}
	free(text);
	if (!found)
		errx(1, "%s/%s has no %s", dir, file, name);
	return value;
}

/* The number of an event ("sched/sched_switch"), or 0 if the event does not exist. */
static inline unsigned int event_number(const char *event)
{
	char path[256];
	unsigned int id = 0;
	FILE *file;

	snprintf(path, sizeof(path), TRACEFS "/events/%s/format", event);
	file = fopen(path, "r");
	if (!file)
		return 0;
	while (fgets(path, sizeof(path), file))
		if (sscanf(path, "ID: %u", &id) == 1)
			break;
	fclose(file);
	return id;
}

static inline unsigned int field_offset(const char *event, const char *field)
{
	char path[256], pattern[64], *at;
	unsigned int offset = 0;
	FILE *file;

	snprintf(path, sizeof(path), TRACEFS "/events/%s/format", event);
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	snprintf(pattern, sizeof(pattern), " %s", field);
	while (fgets(path, sizeof(path), file)) {
		at = strstr(path, pattern);
		if (!at || (at[strlen(pattern)] != ';' && at[strlen(pattern)] != '['))
			continue;
		at = strstr(path, "offset:");
		if (at && sscanf(at, "offset:%u", &offset) == 1)
			break;
	}
	fclose(file);
	if (!offset)
		errx(1, "%s has no field %s", event, field);
	return offset;
}

/* The events that contain stacks. */
struct stack_events {
	unsigned int full, full_size, full_caller;
	unsigned int id, id_id;
	unsigned int pair, pair_id, pair_below;
};

static inline void stack_events__load(struct stack_events *ev)
{
	ev->full = event_number("ftrace/kernel_stack");
	ev->full_size = field_offset("ftrace/kernel_stack", "size");
	ev->full_caller = field_offset("ftrace/kernel_stack", "caller");
	ev->id = event_number("ftrace/stack_id");
	ev->id_id = field_offset("ftrace/stack_id", "stack_id");
	ev->pair = event_number("ftrace/stack_id_pair");
	ev->pair_id = field_offset("ftrace/stack_id_pair", "stack_id");
	ev->pair_below = field_offset("ftrace/stack_id_pair", "below_id");
}

static inline uint32_t get_u32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline unsigned int record_type(const uint8_t *record)
{
	return get_u32(record) & 0xffff;
}

/* Called for each record: its bytes, its time, and its size in the ring buffer with headers. */
typedef void (*record_fn)(void *arg, const uint8_t *record, size_t size, uint64_t time,
			  size_t ring_size);

static inline void ring__page(const uint8_t *page, size_t size, record_fn fn, void *arg)
{
	uint64_t commit, time;
	size_t at = 16, end, len, extra = 0;
	uint32_t word;

	memcpy(&time, page, sizeof(time));
	memcpy(&commit, page + 8, sizeof(commit));
	end = 16 + (commit & RING_COMMIT_MASK);
	if (end > size)
		errx(1, "a page of %zu bytes with %zu", size, end);
	while (at + 4 <= end) {
		word = get_u32(page + at);
		switch (word & 31) {
		case RING_TIME_EXTEND:
			time += ((uint64_t)get_u32(page + at + 4) << 27) + (word >> 5);
			at += 8;
			extra += 8;
			continue;
		case RING_TIME_STAMP:
			time = ((uint64_t)get_u32(page + at + 4) << 27) + (word >> 5);
			at += 8;
			extra += 8;
			continue;
		case RING_PADDING:
			if (!(word >> 5))
				return;
			/* A discarded record still advances the time; a delta of 1 stands for 0. */
			if (word >> 5 != 1)
				time += word >> 5;
			len = get_u32(page + at + 4);
			at += 4 + len;
			extra += 4 + len;
			continue;
		case 0:
			len = get_u32(page + at + 4);
			time += word >> 5;
			fn(arg, page + at + 8, len - 4, time, extra + 4 + len);
			at += 4 + len;
			break;
		default:
			len = (word & 31) * 4;
			time += word >> 5;
			fn(arg, page + at + 4, len, time, extra + 4 + len);
			at += 4 + len;
			break;
		}
		extra = 0;
	}
}

/* Reads and consumes the ring buffer of a CPU, oldest first.  Tracing should be off. */
static inline void ring__read(const char *dir, unsigned int cpu, record_fn fn, void *arg)
{
	static __thread uint8_t page[65536];
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", dir, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		err(1, "%s", path);
	for (;;) {
		n = read(fd, page, (size_t)sysconf(_SC_PAGESIZE));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			err(1, "read %s", path);
		if (n <= 16)
			break;
		ring__page(page, (size_t)n, fn, arg);
	}
	close(fd);
}

/* A stack map in the format of stack_map_bin. */
struct bin_stack {
	uint32_t id, nr, refs, flags;
	const uint64_t *frames;
};

struct bin_map {
	char *bytes;
	unsigned int nr, generation;
	struct bin_stack *stacks; /* by id */
};

static inline int bin_stack__by_id(const void *a, const void *b)
{
	const struct bin_stack *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static inline void bin_map__load(struct bin_map *map, const char *dir, const char *file)
{
	size_t size, at = 16;
	uint32_t head[4];

	map->bytes = get_file(dir, file, &size);
	if (size < 16 || get_u32(map->bytes) != 0x46534d42 || get_u32(map->bytes + 4) != 1)
		errx(1, "%s: not FSMB 1", file);
	map->nr = get_u32(map->bytes + 8);
	map->generation = get_u32(map->bytes + 12);
	map->stacks = calloc(map->nr + 1u, sizeof(*map->stacks));
	if (!map->stacks)
		errx(1, "no memory");
	for (unsigned int i = 0; i < map->nr; i++) {
		if (at + 16 > size)
			errx(1, "%s ends in stack %u", file, i);
		memcpy(head, map->bytes + at, 16);
		if (at + 16 + 8ull * head[1] > size)
			errx(1, "%s ends in stack %u", file, i);
		map->stacks[i] = (struct bin_stack){
			.id = head[0],
			.nr = head[1],
			.refs = head[2],
			.flags = head[3],
			.frames = (const uint64_t *)(void *)(map->bytes + at + 16),
		};
		at += 16 + 8ull * head[1];
	}
	qsort(map->stacks, map->nr, sizeof(*map->stacks), bin_stack__by_id);
}

static inline void bin_map__free(struct bin_map *map)
{
	free(map->stacks);
	free(map->bytes);
}

static inline const struct bin_stack *bin_map__find(const struct bin_map *map, uint32_t id)
{
	struct bin_stack key = { .id = id };

	return bsearch(&key, map->stacks, map->nr, sizeof(key), bin_stack__by_id);
}

static inline int bin_stack__by_frames(const void *a, const void *b)
{
	const struct bin_stack *x = *(const struct bin_stack *const *)a;
	const struct bin_stack *y = *(const struct bin_stack *const *)b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags < y->flags ? -1 : 1;
	return memcmp(x->frames, y->frames, x->nr * sizeof(*x->frames));
}

/* The number of stacks that occur again. */
static inline unsigned int bin_map__duplicates(const struct bin_map *map)
{
	const struct bin_stack **order = calloc(map->nr + 1u, sizeof(*order));
	unsigned int same = 0;

	if (!order)
		errx(1, "no memory");
	for (unsigned int i = 0; i < map->nr; i++)
		order[i] = &map->stacks[i];
	qsort(order, map->nr, sizeof(*order), bin_stack__by_frames);
	for (unsigned int i = 1; i < map->nr; i++) {
		same += !bin_stack__by_frames(&order[i - 1], &order[i]);
		same += map->stacks[i - 1].id == map->stacks[i].id;
	}
	free(order);
	return same;
}

#endif /* KERNEL_TESTS_RING_H */
