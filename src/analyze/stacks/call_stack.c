// SPDX-License-Identifier: GPL-2.0-only
/* Identifies functions by their frames. */
#include "call_stack.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "seeded_hash.h"

int call_stack__add(struct call_stack *s, const struct call_frame *frame)
{
	if (array__grow(&s->v, s->nr, &s->max))
		return -ENOMEM;
	s->v[s->nr++] = *frame;
	return 0;
}

void call_stack__clear(struct call_stack *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

struct call_key call_frame__key(const struct call_frame *f)
{
	if (f->text)
		return (struct call_key){ .text = f->text };
	return (struct call_key){
		.start = f->frame.sym ? f->frame.ip - f->frame.off : f->frame.ip,
		.file = f->frame.kind == STK_FRAME_KERNEL ? f->frame.kernel : f->frame.file,
		.inlined = f->inlined,
	};
}

bool call_key__is(const struct call_key *a, const struct call_key *b)
{
	return a->start == b->start && a->file == b->file && a->inlined == b->inlined &&
	       a->text == b->text;
}

uint64_t call_key__hash(uint64_t seed, uint64_t h, const struct call_key *key)
{
	h = seeded_hash__u64(seed, h, key->start);
	h = seeded_hash__u64(seed, h, key->file);
	return seeded_hash__u64(seed, h, (uintptr_t)key->inlined ^ (uintptr_t)key->text);
}

int call_key__cmp(const struct call_key *a, const struct call_key *b)
{
	return CMP(a->start, b->start)	     ?:
		       CMP(a->file, b->file) ?:
		       strcmp(a->inlined ?: "", b->inlined ?: "") ?:
		       strcmp(a->text ?: "", b->text ?: "");
}
