// SPDX-License-Identifier: GPL-2.0-only
/* The build id of the running kernel, from its own notes. */
#include "kernel_id.h"

#include <string.h>

#include "cleanup.h"
#include "slurp.h"
#include "symbols/usyms.h"

int kernel_id__read(uint8_t ret_id[64])
{
	_cleanup_free_ char *notes = NULL;
	unsigned int id_len;
	size_t len;
	int err = slurp("/sys/kernel/notes", &notes, &len);

	memset(ret_id, 0, 64);
	return err ?: elf_build_id__from_notes(notes, len, ret_id, &id_len);
}
