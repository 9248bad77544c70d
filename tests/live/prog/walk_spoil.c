// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk_spoil PID FUNCTION: from now on, the kernel stack walk of the recorder PID takes FUNCTION
 * for the outermost function, and its memo is cleared.
 * walk_spoil PID: from now on, two stacks in its memo have each other's ids.
 * walk_spoil PID settled: waits until the recorder compares no records with the kernel's.  With a
 * second program at a tracepoint the kernel calls the first one from another place, where the memo
 * has other entries for the same stacks.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kwalk_layout.h"

#define SETTLED_TRIES 3000 /* of 20 ms */

/* The value of a field in the fdinfo of a descriptor; 0: it has no such field. */
static int id_of(const char *pid, const char *fd, const char *what)
{
	char path[300], line[128];
	size_t len = strlen(what);
	int id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, len) && sscanf(line + len, ": %d", &id) == 1)
			break;
	if (f)
		fclose(f);
	return id;
}

/*
 * Calls the function for the descriptors of a process, until it returns one of its own; returns
 * that, or -1.
 */
static int each_fd(const char *pid, int (*look)(const char *pid, const char *fd, void *arg),
		   void *arg)
{
	struct dirent *e;
	char path[64];
	int fd = -1;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	if (!d)
		err(1, "%s", path);
	while (fd < 0 && (e = readdir(d)))
		fd = look(pid, e->d_name, arg);
	closedir(d);
	return fd;
}

struct wanted_map {
	const char *name;
	struct bpf_map_info *info;
};

static int open_map(const char *pid, const char *entry, void *arg)
{
	struct wanted_map *m = arg;
	int id = id_of(pid, entry, "map_id"), fd = id ? bpf_map_get_fd_by_id(id) : -1;
	__u32 len = sizeof(*m->info);

	memset(m->info, 0, sizeof(*m->info));
	if (fd < 0 ||
	    (!bpf_obj_get_info_by_fd(fd, m->info, &len) && !strcmp(m->info->name, m->name)))
		return fd;
	close(fd);
	return -1;
}

static int map_of(const char *pid, const char *name, struct bpf_map_info *info)
{
	struct wanted_map m = { name, info };
	int fd = each_fd(pid, open_map, &m);

	if (fd < 0)
		err(1, "%s", name);
	return fd;
}

static void *memory_of(const char *pid, const char *name, size_t size)
{
	struct bpf_map_info info;
	int fd = map_of(pid, name, &info);
	void *m = mmap(NULL, info.max_entries * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED)
		err(1, "%s", name);
	close(fd);
	return m;
}

/* The start of the kernel's text, and the range of the function in it. */
static void find_function(const char *function, uint64_t *text, uint64_t *from, uint64_t *to)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[256], name[128];
	uint64_t addr;

	if (!f)
		err(1, "/proc/kallsyms");
	*from = *to = 0;
	while (fgets(line, sizeof(line), f) && !*to) {
		if (sscanf(line, "%" SCNx64 " %*c %127s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "_stext"))
			*text = addr;
		if (!strcmp(name, function))
			*from = addr;
		else if (*from && addr > *from)
			*to = addr;
	}
	fclose(f);
	if (!*to) {
		errno = ENOENT;
		err(1, "%s", function);
	}
}

/* Ids of two remembered stacks; 0: not found yet. */
static __u64 ids[2];

/* Calls the function for the memo of each CPU. */
static void change_memos(const char *pid, void (*change)(struct kwalk_memo *m))
{
	int fd, cpu, nr_cpus = libbpf_num_possible_cpus();
	struct kwalk_memo *of_cpus;
	struct bpf_map_info info;
	__u32 i;

	fd = map_of(pid, "kwalk_memos", &info);
	of_cpus = nr_cpus > 0 ? calloc((size_t)nr_cpus, sizeof(*of_cpus)) : NULL;
	if (!of_cpus || info.value_size != sizeof(*of_cpus))
		err(1, "kwalk_memos");
	for (i = 0; i < info.max_entries; i++) {
		if (bpf_map_lookup_elem(fd, &i, of_cpus))
			err(1, "read the memo");
		for (cpu = 0; cpu < nr_cpus; cpu++)
			change(&of_cpus[cpu]);
		if (bpf_map_update_elem(fd, &i, of_cpus, 0))
			err(1, "change the memo");
	}
	free(of_cpus);
	close(fd);
}

static void forget(struct kwalk_memo *m)
{
	memset(m, 0, sizeof(*m));
}

static void find_ids(struct kwalk_memo *m)
{
	if (!ids[0])
		ids[0] = m->value;
	else if (m->value && m->value != ids[0])
		ids[1] = m->value;
}

static void change_id(struct kwalk_memo *m)
{
	if (m->value)
		m->value = m->value == ids[0] ? ids[1] : ids[0];
}

static unsigned int spoil_rules(const char *pid, const char *function)
{
	unsigned int block, last, i, spoilt = 0;
	uint64_t text = 0, from, to, at;
	struct bpf_map_info info;
	struct kwalk_block *blocks;
	struct kwalk_row *rows;
	__u64 none = 0;
	int cache;

	find_function(function, &text, &from, &to);
	blocks = memory_of(pid, "kwalk_index", sizeof(*blocks));
	rows = memory_of(pid, "kwalk_rows", sizeof(*rows));
	last = (to - text) >> KWALK_BLOCK_SHIFT;
	for (block = (from - text) >> KWALK_BLOCK_SHIFT; block <= last; block++) {
		for (i = 0; i <= blocks[block].more; i++) {
			struct kwalk_row *row = &rows[blocks[block].first + i];

			at = text + ((uint64_t)block << KWALK_BLOCK_SHIFT) + row->offset;
			if (at < from || at >= to)
				continue;
			row->rule = KWALK_RULE(KWALK_END, 0, 0);
			spoilt++;
		}
	}
	cache = map_of(pid, "kwalk_cache", &info);
	for (i = 0; i < info.max_entries; i++)
		if (bpf_map_update_elem(cache, &i, &none, 0))
			err(1, "clear the cached rules");
	return spoilt;
}

/* Opens the program that a descriptor attaches, if that compares records. */
static int open_check(const char *pid, const char *entry, void *arg)
{
	int id = id_of(pid, entry, "link_id") ? id_of(pid, entry, "prog_id") : 0;
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	(void)arg;
	if (fd < 0 || (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, "stk_check")))
		return fd;
	close(fd);
	return -1;
}

static bool has_check(const char *pid)
{
	int fd = each_fd(pid, open_check, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int wait_settled(const char *pid)
{
	unsigned int i;

	for (i = 0; i < SETTLED_TRIES && has_check(pid); i++)
		usleep(20000);
	return i == SETTLED_TRIES;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "settled"))
		return wait_settled(argv[1]);
	if (argc == 3 && spoil_rules(argv[1], argv[2])) {
		change_memos(argv[1], forget);
		return 0;
	}
	if (argc == 2) {
		change_memos(argv[1], find_ids);
		if (ids[1])
			change_memos(argv[1], change_id);
		return !ids[1];
	}
	return 1;
}
