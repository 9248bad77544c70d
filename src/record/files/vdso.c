// SPDX-License-Identifier: GPL-2.0-only
/* Finds the vdso in this process's memory. */
#include "vdso.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "cleanup.h"
#include "symbols/usyms.h"
#include "unwind/unwind.h"

static int find_image(const void **ret_image, size_t *ret_len)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	_cleanup_fclose_ FILE *f = fopen("/proc/self/maps", "re");
	_cleanup_free_ char *line = NULL;
	struct proc_mapping m;
	size_t cap = 0;

	if (!f)
		return -errno;
	while (start && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (proc_mapping__parse(line, &m) || m.start != start || strcmp(m.path, "[vdso]"))
			continue;
		*ret_image = (const void *)start;
		*ret_len = m.end - m.start;
		return 0;
	}
	return -ENOENT;
}

int vdso__table(struct unwind_table **ret_table)
{
	const void *image;
	size_t len;
	int err = find_image(&image, &len);

	return err ?: unwind__from_image(image, len, true, ret_table);
}

int vdso__symbols(struct elf_symbols **ret_symbols)
{
	const void *image;
	size_t len;
	int err = find_image(&image, &len);

	return err ?: elf_symbols__from_image(image, len, ret_symbols);
}

int vdso__build_id(uint8_t ret_id[64], unsigned int *ret_len)
{
	const void *image;
	size_t len;
	int err = find_image(&image, &len);

	return err ?: elf_build_id__from_image(image, len, ret_id, ret_len);
}
