// SPDX-License-Identifier: GPL-2.0-only
/* Finds the field in which two records of one hit differ. */
#include "native_difference.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_check.h"
#include "strbuf.h"

/* Whether the byte of the record belongs to the field, or to its string. */
static bool has_byte(const struct ev_field *f, const struct native_pair *p, uint32_t at)
{
	const uint8_t *rec = (const uint8_t *)p->kernel;
	uint32_t loc;

	if (at - f->offset < f->size)
		return true;
	if (f->kind != EV_FIELD_DATA_LOC || f->offset + sizeof(loc) > sizeof(p->kernel))
		return false;
	memcpy(&loc, rec + f->offset, sizeof(loc));
	return at - (loc & 0xffff) < loc >> 16;
}

/* The field with the first byte that differs, in its word of the records; NULL: none. */
static const struct ev_field *field_of(const struct ev_format *fmt, const struct native_check *n,
				       const struct native_pair *p)
{
	uint64_t i = p->at / 8 % ARRAY_SIZE(p->kernel), x = p->kernel[i] ^ p->own[i];
	const struct ev_field *f;
	unsigned int k;

	if (i < ARRAY_SIZE(n->fields))
		x &= p == &n->pair[NATIVE_DIFFERED] ? n->steady[i] : n->fields[i];
	if (!x)
		return NULL;
	for (k = 0; k < ev_format__nr_fields(fmt); k++) {
		f = ev_format__field(fmt, k);
		if (!f->is_common && has_byte(f, p, i * 8 + __builtin_ctzll(x) / 8))
			return f;
	}
	return NULL;
}

void native_difference__print(const struct native_check *n, const struct ev_format *fmt,
			      struct strbuf *text)
{
	enum native_verdict v = n->compared[NATIVE_DIFFERED] ? NATIVE_DIFFERED : NATIVE_CHANGED;
	const struct native_pair *p = &n->pair[v];
	const struct ev_field *f = NULL;
	uint64_t size = MIN(p->size, (uint64_t)sizeof(p->kernel));

	if (__atomic_load_n(&p->is_complete, __ATOMIC_ACQUIRE))
		f = field_of(fmt, n, p);
	if (!f) {
		strbuf__puts(text, "an unknown field");
		return;
	}
	strbuf__printf(text, "%s was ", f->name);
	ev_format__print_field(fmt, f, NULL, p->kernel, size, text);
	strbuf__puts(text, " in the kernel's record and ");
	ev_format__print_field(fmt, f, NULL, p->own, size, text);
	strbuf__puts(text, " in the recorder's");
}
