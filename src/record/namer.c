// SPDX-License-Identifier: GPL-2.0-only
/* Writes symbols of kernel addresses before the frames that they name. */
#include "namer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "frame.h"
#include "idmap.h"
#include "record/select/rec_event.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

/* Per address, whether it has been looked up. */
enum looked_up {
	NOT_YET,
	DONE, /* its symbol is in the file, or its frame is marked as nameless there */
	NAMELESS, /* it has no symbol, and the file does not say so */
};

struct namer {
	struct ksyms *syms;
	struct stk_writer *w;
	struct idmap fixed; /* addresses in the kernel's own text */
	struct idmap moving; /* others, in this round */
	struct idmap written; /* start addresses of the kernel's own symbols in the file */
	struct claim {
		uint64_t start, end, hash;
	} * claims; /* the other symbols currently in the file: disjoint, in order */
	size_t nr, cap;
	struct fields {
		uint32_t *offset; /* of 8 bytes each, which may be an address that has a symbol */
		unsigned int nr;
	} * fields; /* by event type */
	unsigned int nr_events;
};

static uint64_t hash_string(uint64_t h, const char *s)
{
	do
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	while (*s++);
	return h;
}

/*
 * Adds a claim in place of those that it overlaps.  Returns 1 if the same claim was there already,
 * 0 if not, or a negative errno.
 */
static int claim_add(struct namer *n, struct claim c)
{
	size_t lo = array__bisect(n->nr, i, n->claims[i].end <= c.start), end;

	if (lo < n->nr && !memcmp(&n->claims[lo], &c, sizeof(c)))
		return 1;
	for (end = lo; end < n->nr && n->claims[end].start < c.end; end++)
		;
	if (end == lo && array__grow(&n->claims, n->nr, &n->cap))
		return -ENOMEM;
	memmove(&n->claims[lo + 1], &n->claims[end], (n->nr - end) * sizeof(c));
	n->nr = n->nr - (end - lo) + 1;
	n->claims[lo] = c;
	return 0;
}

static int write_fixed(struct namer *n, const struct ksym *sym)
{
	uint32_t *known = idmap__get(&n->written, sym->start);

	if (!known)
		return -ENOMEM;
	if (*known)
		return 0;
	*known = 1;
	return stk_writer__symbol(n->w, sym->start, sym->size, sym->name, sym->module);
}

static int write_moving(struct namer *n, const struct ksym *sym)
{
	struct claim c = { sym->start, sym->start + MAX(sym->size, (uint64_t)1),
			   hash_string(hash_string(0, sym->name), sym->module) };
	int err = claim_add(n, c);

	if (err)
		return err < 0 ? err : 0;
	return stk_writer__symbol(n->w, sym->start, sym->size, sym->name, sym->module);
}

static int name(struct namer *n, uint64_t addr, bool frame)
{
	bool fixed = ksyms__is_fixed(n->syms, addr);
	uint32_t *known = idmap__get(fixed ? &n->fixed : &n->moving, addr);
	/* A frame without a name must not get that of code that is loaded there later. */
	struct ksym sym, nothing = { .start = addr, .size = 1, .name = "", .module = "" };
	int err;

	if (!known)
		return -ENOMEM;
	if (*known == DONE || (*known == NAMELESS && (!frame || fixed)))
		return 0;
	err = ksyms__find(n->syms, addr, &sym);
	if (err && err != -ENOENT)
		return err;
	*known = err && !frame ? NAMELESS : DONE;
	if (!err)
		return fixed ? write_fixed(n, &sym) : write_moving(n, &sym);
	return frame && !fixed ? write_moving(n, &nothing) : 0;
}

int namer__frame(struct namer *n, uint64_t addr)
{
	int err = name(n, addr, true);

	return err ?: name(n, addr - 1, true);
}

int namer__frames(struct namer *n, const uint64_t *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (FRAME_IS_KERNEL(frames[i]))
			err = namer__frame(n, frames[i]);
	return err;
}

int namer__value(struct namer *n, uint64_t addr)
{
	return name(n, addr, false);
}

static bool prints_symbols(const char *format)
{
	const char *print = strstr(format, "print fmt:");

	return print && (strstr(print, "%ps") || strstr(print, "%pS") || strstr(print, "%pf") ||
			 strstr(print, "%pF"));
}

static int find_fields(const struct rec_event *e, struct fields *ret_fields)
{
	unsigned int i, nr = 0;

	if (!prints_symbols(e->format))
		return 0;
	ret_fields->offset = calloc(ev_format__nr_fields(e->fmt), sizeof(*ret_fields->offset));
	if (!ret_fields->offset)
		return -ENOMEM;
	for (i = 0; i < ev_format__nr_fields(e->fmt); i++) {
		const struct ev_field *f = ev_format__field(e->fmt, i);

		if (f->kind == EV_FIELD_INT && f->size == 8)
			ret_fields->offset[nr++] = f->offset;
	}
	ret_fields->nr = nr;
	return 0;
}

static __attribute__((noinline)) int name_fields(struct namer *n, const struct fields *fields,
						 const void *rec, size_t len)
{
	unsigned int i;
	uint64_t v;
	int err = 0;

	for (i = 0; i < fields->nr && !err; i++) {
		size_t at = fields->offset[i];

		if (at + sizeof(v) > len)
			continue;
		memcpy(&v, (const char *)rec + at, sizeof(v));
		if (v >> 31 == 0x1ffffffffull) /* where the kernel and its modules have code */
			err = namer__value(n, v);
	}
	return err;
}

int namer__fields(struct namer *n, unsigned int event, const void *rec, size_t len)
{
	const struct fields *fields = &n->fields[event];

	return fields->nr ? name_fields(n, fields, rec, len) : 0;
}

void namer__end_round(struct namer *n)
{
	if (n->moving.nr)
		idmap__clear(&n->moving);
}

int namer__new(struct ksyms *syms, const struct rec_events *events, struct stk_writer *w,
	       struct namer **ret_namer)
{
	struct namer *n = calloc(1, sizeof(*n));
	unsigned int i;
	int err;

	if (!n)
		return -ENOMEM;
	n->syms = syms;
	n->w = w;
	n->fields = calloc(MAX(events->nr, 1u), sizeof(*n->fields));
	n->nr_events = events->nr;
	err = n->fields ? 0 : -ENOMEM;
	for (i = 0; i < events->nr && !err; i++)
		err = find_fields(&events->v[i], &n->fields[i]);
	if (err) {
		namer__free(n);
		return err;
	}
	*ret_namer = n;
	return 0;
}

void namer__free(struct namer *n)
{
	unsigned int i;

	if (!n)
		return;
	for (i = 0; n->fields && i < n->nr_events; i++)
		free(n->fields[i].offset);
	free(n->fields);
	idmap__clear(&n->fixed);
	idmap__clear(&n->moving);
	idmap__clear(&n->written);
	free(n->claims);
	free(n);
}
