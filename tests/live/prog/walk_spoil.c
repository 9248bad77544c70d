// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk_spoil PID FUNCTION: from now on, the kernel stack walk of the recorder PID takes FUNCTION
 * for the outermost function, and its memo is cleared.
 * walk_spoil PID: from now on, two stacks in its memo have each other's ids.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kwalk_layout.h"

static int map_id(const char *pid, const char *fd)
{
	char path[300], line[128];
	int id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "map_id: %d", &id) == 1)
			break;
	if (f)
		fclose(f);
	return id;
}

static int map_of(const char *pid, const char *name, struct bpf_map_info *info)
{
	char path[64];
	struct dirent *e;
	int fd = -1;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	if (!d)
		err(1, "%s", path);
	while (fd < 0 && (e = readdir(d))) {
		int id = map_id(pid, e->d_name);
		__u32 len = sizeof(*info);

		fd = id ? bpf_map_get_fd_by_id(id) : -1;
		memset(info, 0, sizeof(*info));
		if (fd < 0 ||
		    (!bpf_obj_get_info_by_fd(fd, info, &len) && !strcmp(info->name, name)))
			continue;
		close(fd);
		fd = -1;
	}
	closedir(d);
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

int main(int argc, char **argv)
{
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
