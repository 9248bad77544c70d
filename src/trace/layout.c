// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The layout of a record from its format text.  Only "ID: N", "offset:N;" and "size:N;" matter
 * here: the file stores the offsets of its columns, so the reader needs no format parser.
 */
#include "layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

static bool line_value(const char *line, const char *end, const char *key, uint32_t *ret_value)
{
	const char *p = memmem(line, end - line, key, strlen(key));
	unsigned long v;
	char *stop;

	if (!p)
		return false;
	p += strlen(key);
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p >= end || *p < '0' || *p > '9')
		return false;
	v = strtoul(p, &stop, 10);
	if (v > UINT32_MAX)
		return false;
	*ret_value = v;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct stk_column *x = a, *y = b;

	return CMP(x->offset, y->offset) ?: CMP(x->size, y->size);
}

/* Keeps the ascending columns that do not overlap one before them. */
static void keep_disjoint(struct stk_layout *l)
{
	uint32_t nr = 0;

	qsort(l->col, l->nr, sizeof(*l->col), by_offset);
	l->fixed = STK_RECORD_HEAD;
	for (uint32_t i = 0; i < l->nr; i++) {
		if (l->col[i].offset < l->fixed)
			continue;
		l->col[nr] = l->col[i];
		l->fixed = l->col[nr].offset + l->col[nr].size;
		nr++;
	}
	l->nr = nr;
}

void stk_layout__from_format(const char *format, struct stk_layout *ret_layout)
{
	struct stk_layout *l = ret_layout;
	const char *line = format, *end;

	l->id = 0;
	l->nr = 0;
	for (; *line && strncmp(line, "print fmt:", 10); line = *end ? end + 1 : end) {
		uint32_t offset, size;

		end = strchrnul(line, '\n');
		if (!strncmp(line, "ID:", 3))
			line_value(line, end, "ID:", &l->id);
		if (!memmem(line, end - line, "field:", 6) ||
		    !line_value(line, end, "offset:", &offset) ||
		    !line_value(line, end, "size:", &size))
			continue;
		if (offset < STK_RECORD_HEAD || !size || offset >= STK_MAX_RECORD ||
		    size > STK_MAX_RECORD - offset || l->nr == STK_MAX_COLUMNS)
			continue;
		l->col[l->nr++] = (struct stk_column){ .offset = offset, .size = size };
	}
	keep_disjoint(l);
}
