// SPDX-License-Identifier: GPL-2.0-only
#include "where.h"

#include <err.h>
#ifndef WITHOUT_BACKTRACE
#include <execinfo.h>
#endif
#include <link.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MODULES 256

static struct where_module modules[MAX_MODULES];
static unsigned int nr_modules;

static bool known(uint64_t start)
{
	for (unsigned int i = 0; i < nr_modules; i++)
		if (modules[i].start == start)
			return true;
	return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	static char path[PATH_MAX];
	ssize_t n;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct where_module *m = &modules[nr_modules];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || nr_modules == MAX_MODULES ||
		    known(info->dlpi_addr + p->p_vaddr))
			continue;
		n = -1;
		if (!info->dlpi_name[0] && !nr_modules)
			n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		if (n >= 0)
			path[n] = 0;
		else if (!realpath(info->dlpi_name, path))
			continue;
		m->start = info->dlpi_addr + p->p_vaddr;
		m->end = m->start + p->p_memsz;
		m->delta = m->start - p->p_offset;
		m->path = strdup(path);
		m->number = nr_modules++;
	}
	return 0;
}

const struct where_module *where__module(uint64_t addr)
{
	static unsigned int last;

	for (int round = 0; round < 2; round++) {
		if (last < nr_modules && addr >= modules[last].start && addr < modules[last].end)
			return &modules[last];
		for (unsigned int i = 0; i < nr_modules; i++) {
			if (addr >= modules[i].start && addr < modules[i].end) {
				last = i;
				return &modules[i];
			}
		}
		if (round || nr_modules == MAX_MODULES)
			break;
		/* a library that was loaded since; the numbers of the others stay */
		dl_iterate_phdr(add_module, NULL);
	}
	return NULL;
}

__attribute__((noinline)) int where__frames(void **ret_frames, int max)
{
#ifdef WITHOUT_BACKTRACE
	return 0;
#else
	static __thread void *frames[WHERE_MAX];
	int n = backtrace(frames, max < WHERE_MAX ? max + 1 : WHERE_MAX);

	/* the first frame is in this function */
	if (n < 1)
		return 0;
	memcpy(ret_frames, frames + 1, (n - 1) * sizeof(*frames));
	return n - 1;
#endif
}

void where__init(void)
{
	void *frames[2];

	where__frames(frames, 2);
	where__module((uint64_t)where__init);
}

void where__am_i(const char *file)
{
	static void *frames[WHERE_MAX];
	FILE *f = fopen(file, "we");
	int n = where__frames(frames, WHERE_MAX);

	if (!f)
		err(1, "open '%s'", file);
	for (int i = 2; i < n; i++) {
		const struct where_module *m = where__module((uint64_t)frames[i]);

		if (!m)
			errx(1, "%p is in no module", frames[i]);
		fprintf(f, "0x%llx %s\n", (unsigned long long)((uint64_t)frames[i] - m->delta),
			m->path);
	}
	if (fclose(f))
		err(1, "write '%s'", file);
}

const char *where__path(unsigned int number)
{
	return number < nr_modules ? modules[number].path : "?";
}
