// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: the kernel's functions as they are kept. */
#include <stdlib.h>
#include <string.h>

#include "symbols/ksyms_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size); /* aligned */
	struct ksyms_table t, again;
	void *image;
	size_t len;

	memcpy(copy, data, size);
	if (!ksyms_image__unpack(copy, size, &t)) {
		for (size_t i = 0; i < t.nr; i++)
			if (strlen(t.pool + t.entries[i].name) >= t.pool_len ||
			    (i && t.entries[i].start < t.entries[i - 1].start))
				abort();
		if (!ksyms_image__pack(&t, &image, &len)) {
			if (ksyms_image__unpack(image, len, &again) || again.nr != t.nr)
				abort();
			ksyms_table__free(&again);
			free(image);
		}
		ksyms_table__free(&t);
	}
	free(copy);
	return 0;
}
