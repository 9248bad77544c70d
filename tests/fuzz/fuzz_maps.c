/* SPDX-License-Identifier: GPL-2.0-only */
/* Fuzz target: lines of /proc/PID/maps, each in memory of its own length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/usyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A parsed line, written as the kernel writes it, must be parsed the same way. */
static void check(const struct proc_mapping *m)
{
	struct proc_mapping again;
	char line[300];

	snprintf(line, sizeof(line), "%lx-%lx %s %lx %x:%x %lu /x%s", m->start, m->end, m->perms,
		 m->offset, m->dev_major, m->dev_minor, m->inode, m->deleted ? " (deleted)" : "");
	if (proc_mapping__parse(line, &again) || again.start != m->start || again.end != m->end ||
	    strcmp(again.perms, m->perms) || again.offset != m->offset ||
	    again.dev_major != m->dev_major || again.dev_minor != m->dev_minor ||
	    again.inode != m->inode || again.deleted != m->deleted || strcmp(again.path, "/x"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;
		char *line = malloc(len + 1);
		struct proc_mapping m;

		memcpy(line, data, len);
		line[len] = '\0';
		if (!proc_mapping__parse(line, &m)) {
			if (strlen(m.path) > len || m.start > m.end)
				abort();
			check(&m);
		}
		free(line);
		data += len + !!end;
		size -= len + !!end;
	}
	return 0;
}
