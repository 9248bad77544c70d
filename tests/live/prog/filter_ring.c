// SPDX-License-Identifier: GPL-2.0-only
/* tracefs instances and the raw records of their rings (Documentation/trace/ring-buffer-design). */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "filter_same.h"

#define ROOT "/sys/kernel/tracing"
#define PAGE_DATA 16 /* time stamp and commit before the events of a page */
#define COMMIT_MISSED (3u << 30)
#define COMMIT_LEN ((1u << 20) - 1)

static int put_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

void instance__new(const char *name, unsigned int buffer_kb, const struct workload *only)
{
	char path[256], number[32], pids[NR_CHILDREN * 12];
	int i, len = 0;

	snprintf(path, sizeof(path), ROOT "/instances/%s", name);
	if (mkdir(path, 0700))
		err(1, "%s", path);
	snprintf(path, sizeof(path), ROOT "/instances/%s/buffer_size_kb", name);
	snprintf(number, sizeof(number), "%u", buffer_kb);
	if (put_file(path, number))
		errx(1, "%s: cannot be set", path);
	snprintf(path, sizeof(path), ROOT "/instances/%s/set_event_pid", name);
	for (i = 0; only && i < NR_CHILDREN; i++)
		len += snprintf(pids + len, sizeof(pids) - len, "%d ", only->pids[i]);
	if (only && put_file(path, pids))
		errx(1, "%s: cannot be set", path);
}

void instance__remove(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), ROOT "/instances/%s", name);
	if (rmdir(path) && errno != ENOENT)
		warn("%s", path);
}

int instance__filter(const char *name, const struct event *e, const char *expr)
{
	char path[512];

	snprintf(path, sizeof(path), ROOT "/instances/%s/events/%s/%s/filter", name, e->system,
		 e->name);
	return put_file(path, expr);
}

bool instance__try_enable(const char *name, const char *event)
{
	char path[512];

	snprintf(path, sizeof(path), ROOT "/instances/%s/events/%s/enable", name, event);
	return !put_file(path, "1");
}

void instance__enable(const char *name, const struct event *e, bool on)
{
	char path[512];

	snprintf(path, sizeof(path), ROOT "/instances/%s/events/%s/%s/enable", name, e->system,
		 e->name);
	if (put_file(path, on ? "1" : "0"))
		errx(1, "%s: cannot be set", path);
}

static void records__add(struct records *r, unsigned int cpu, const uint8_t *data, uint32_t len)
{
	struct record *rec;

	if (len < 8 || len > MAX_RECORD)
		return;
	if (r->nr == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 4096;
		r->v = realloc(r->v, r->cap * sizeof(*r->v));
		if (!r->v)
			err(1, "records");
	}
	if (r->used + len > r->cap_bytes)
		errx(1, "more records than expected");
	rec = &r->v[r->nr++];
	*rec = (struct record){ .cpu = cpu, .len = len, .data = r->bytes + r->used };
	memcpy(r->bytes + r->used, data, len);
	memcpy(&rec->type, data, 2);
	memcpy(&rec->pid, data + 4, 4);
	r->used += (len + 7) & ~7u;
}

/* The events of one ring page. */
static void read_page(struct records *r, unsigned int cpu, const uint8_t *page, size_t len)
{
	uint32_t commit, head, word;
	const uint8_t *p = page + PAGE_DATA, *end;

	if (len < PAGE_DATA)
		return;
	memcpy(&commit, page + 8, 4);
	if (commit & COMMIT_MISSED)
		errx(1, "the ring lost events");
	end = p + MIN(commit & COMMIT_LEN, (uint32_t)(len - PAGE_DATA));
	while (end - p >= 4) {
		uint32_t type_len, size;

		memcpy(&head, p, 4);
		p += 4;
		type_len = head & 31;
		if (type_len >= 30) { /* more bits of the time */
			p += 4;
			continue;
		}
		word = 0;
		if (end - p >= 4)
			memcpy(&word, p, 4);
		if (type_len == 29) { /* padding */
			if (!(head >> 5))
				return;
			p += word;
			continue;
		}
		size = type_len ? type_len * 4 : word - 4;
		if (!type_len)
			p += 4;
		if (size > (size_t)(end - p))
			errx(1, "a ring page is invalid");
		records__add(r, cpu, p, size);
		p += size;
	}
}

static void check_lost(const char *name, unsigned int cpu)
{
	char path[512], line[128];
	_cleanup_fclose_ FILE *f = NULL;
	unsigned long n;

	snprintf(path, sizeof(path), ROOT "/instances/%s/per_cpu/cpu%u/stats", name, cpu);
	f = fopen(path, "re");
	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		if ((sscanf(line, "overrun: %lu", &n) == 1 ||
		     sscanf(line, "dropped events: %lu", &n) == 1) &&
		    n)
			errx(1, "%s of cpu %u: %s", name, cpu, line);
	}
}

void instance__read(const char *name, struct records *ret)
{
	_cleanup_free_ uint8_t *page = malloc(65536);
	char path[512];
	unsigned int cpu;
	ssize_t n;

	*ret = (struct records){ .cap_bytes = 64u << 20 };
	ret->bytes = malloc(ret->cap_bytes);
	if (!page || !ret->bytes)
		err(1, "records");
	snprintf(path, sizeof(path), ROOT "/instances/%s/tracing_on", name);
	if (put_file(path, "0"))
		errx(1, "%s: cannot be set", path);
	for (cpu = 0;; cpu++) {
		_cleanup_close_ int fd = -1;

		snprintf(path, sizeof(path), ROOT "/instances/%s/per_cpu/cpu%u/trace_pipe_raw",
			 name, cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			break;
		check_lost(name, cpu);
		while ((n = read(fd, page, 4096)) > 0)
			read_page(ret, cpu, page, n);
	}
}

void records__free(struct records *r)
{
	free(r->v);
	free(r->bytes);
	*r = (struct records){};
}

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

uint64_t record__hash(const struct ev_format *fmt, const struct record *r)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		const void *bytes = r->data + f->offset;
		size_t len = f->size;

		/* A reschedule may become due between the two instances. */
		if (!strcmp(f->name, "common_flags") || !strcmp(f->name, "common_preempt_count") ||
		    f->offset + f->size > r->len)
			continue;
		if (f->kind != EV_FIELD_INT)
			bytes = ev_field__bytes(f, r->data, r->len, &len);
		if (bytes && f->is_char)
			len = strnlen(bytes, len);
		if (bytes)
			h = hash(h, bytes, len) + i;
	}
	return h;
}
