// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_maps PID refs: prints how many stacks are in the stack map of the recorder with this
 * PID, and the sum of their references: "stacks N", "references N".
 * recorder_maps PID TABLE...: fills tables of its BPF programs, as a large machine would: files,
 * names, threads, copies, saved_calls.
 */
#include <dirent.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "prog.h"
#include "stackmap/stackmap.h"
#include "wire.h"

struct map {
	int fd;
	struct bpf_map_info info;
};

/* The id of the map of this descriptor; 0: the descriptor is not of a map. */
static unsigned int map_id(const char *pid, const char *fd)
{
	unsigned int id = 0;
	char path[300], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "map_id: %u", &id) == 1)
			break;
	if (f)
		fclose(f);
	return id;
}

/* Opens the recorder's map whose name ends so. */
static struct map open_map(const char *pid, const char *name)
{
	struct map m = { .fd = -1 };
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)) && m.fd < 0) {
		unsigned int id = map_id(pid, d->d_name), len = sizeof(m.info);
		size_t n;

		if (!id)
			continue;
		m.fd = bpf_map_get_fd_by_id(id);
		memset(&m.info, 0, sizeof(m.info));
		if (m.fd < 0 || bpf_obj_get_info_by_fd(m.fd, &m.info, &len))
			err(1, "open map %u", id);
		n = strlen(m.info.name);
		if (n < strlen(name) || strcmp(m.info.name + n - strlen(name), name)) {
			close(m.fd);
			m.fd = -1;
		}
	}
	if (m.fd < 0)
		errx(1, "process %s has no map '%s'", pid, name);
	closedir(dir);
	return m;
}

static struct wire_user_ctl *user_ctl(const char *pid)
{
	struct map m = open_map(pid, "record_b.bss");
	struct btf *btf = btf__load_from_kernel_by_id(m.info.btf_id);
	const struct btf_type *section = btf__type_by_id(btf, m.info.btf_value_type_id);
	const struct btf_var_secinfo *v = btf_var_secinfos(section);
	char *memory;

	memory = mmap(NULL, m.info.value_size, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap .bss");
	for (unsigned int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *var = btf__type_by_id(btf, v[i].type);

		if (!strcmp(btf__name_by_offset(btf, var->name_off), "user_ctl"))
			return (void *)(memory + v[i].offset);
	}
	errx(1, "there is no user_ctl");
}

/* Sets the first words of each of `ways` parts of each value, after its head, to 1. */
static void occupy(const char *pid, const char *name, unsigned int head, unsigned int ways,
		   unsigned int words)
{
	struct map m = open_map(pid, name);
	char *value = malloc(m.info.value_size);
	unsigned int size = (m.info.value_size - head) / ways;

	for (unsigned int key = 0; value && key < m.info.max_entries; key++) {
		if (bpf_map_lookup_elem(m.fd, &key, value))
			err(1, "read map '%s'", name);
		for (unsigned int way = 0; way < ways; way++)
			for (unsigned int w = 0; w < words; w++)
				((uint32_t *)(value + head + size * way))[w] = 1;
		if (bpf_map_update_elem(m.fd, &key, value, 0))
			err(1, "write map '%s'", name);
	}
	free(value);
}

static void fill(const char *pid, const char *table)
{
	if (!strcmp(table, "files"))
		user_ctl(pid)->nr_files = WIRE_MAX_FILES;
	else if (!strcmp(table, "names"))
		user_ctl(pid)->nr_names = WIRE_MAX_NAMES;
	else if (!strcmp(table, "threads"))
		occupy(pid, table, 12 * sizeof(uint64_t), 4, 1); /* after ids and a gap */
	else if (!strcmp(table, "copies"))
		occupy(pid, table, 0, 1, 4);
	else if (!strcmp(table, "saved_calls"))
		occupy(pid, table, 0, WIRE_SAVED_WAYS, 1);
	else
		errx(2, "unknown table '%s'", table);
}

static void print_refs(const char *pid)
{
	unsigned long long stacks = 0, references = 0;
	struct stackmap_stack s;
	struct stackmap *map;
	uint64_t cursor = 0;

	if (stackmap__open_fds(open_map(pid, "stackmap_slots").fd,
			       open_map(pid, "stackmap_pool").fd, open_map(pid, "stackmap_ctl").fd,
			       &map))
		errx(1, "open the stack map");
	while (stackmap__next(map, &cursor, &s) == 1) {
		stacks++;
		references += s.refs;
	}
	printf("stacks %llu\nreferences %llu\n", stacks, references);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: recorder_maps PID refs | PID TABLE...");
	if (!strcmp(argv[2], "refs")) {
		print_refs(argv[1]);
		return 0;
	}
	for (int i = 2; i < argc; i++)
		fill(argv[1], argv[i]);
	return 0;
}
