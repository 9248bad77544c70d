// SPDX-License-Identifier: GPL-2.0-only
#include "ftrace_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "fsmb_format.h"
#include "ftrace_instance.h"
#include "idmap.h"

#define FLAG_TRUNCATED 1u /* in fsmb_stack.reserved */

struct ftrace_ids {
	const struct ftrace_instance *instance;
	const char *file;
	struct idmap numbers; /* of id + 1, and of id on top of another one */
	struct idmap places; /* id + 1 -> where its fsmb_stack is in text, in words of 8 bytes, + 1 */
	char *text; /* the file as last read */
	size_t len;
	bool fresh; /* nothing newer to read */
};

int ftrace_ids__new(const struct ftrace_instance *i, const char *file, struct ftrace_ids **ret_ids)
{
	struct ftrace_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids->instance = i;
	ids->file = file;
	*ret_ids = ids;
	return 0;
}

void ftrace_ids__free(struct ftrace_ids *ids)
{
	if (!ids)
		return;
	idmap__clear(&ids->numbers);
	idmap__clear(&ids->places);
	free(ids->text);
	free(ids);
}

void ftrace_ids__refresh(struct ftrace_ids *ids)
{
	ids->fresh = false;
}

uint32_t *ftrace_ids__number(struct ftrace_ids *ids, uint32_t id, uint32_t below)
{
	return idmap__get(&ids->numbers, (uint64_t)below << 32 | (id + 1ull));
}

/* What is behind the stacks, or does not fit, is left alone. */
static int index_stacks(struct ftrace_ids *ids)
{
	struct fsmb_header h;
	struct fsmb_stack s;
	size_t at = sizeof(h);
	uint32_t i, *place;

	if (ids->len < sizeof(h))
		return -EPROTO;
	memcpy(&h, ids->text, sizeof(h));
	if (h.magic != FSMB_MAGIC || h.version != FSMB_VERSION)
		return -EPROTO;
	for (i = 0; i < h.nr_stacks && ids->len - at >= sizeof(s); i++) {
		memcpy(&s, ids->text + at, sizeof(s));
		if (s.nr > (ids->len - at - sizeof(s)) / sizeof(uint64_t))
			return -EPROTO;
		place = idmap__get(&ids->places, s.stack_id + 1ull);
		if (!place)
			return -ENOMEM;
		*place = at / sizeof(uint64_t) + 1;
		at += sizeof(s) + s.nr * sizeof(uint64_t);
	}
	return 0;
}

static int read_map(struct ftrace_ids *ids)
{
	char *text;
	size_t len;
	int err;

	err = ftrace_instance__read(ids->instance, ids->file, &text, &len);
	if (err)
		return err;
	free(ids->text);
	ids->text = text;
	ids->len = len;
	idmap__clear(&ids->places);
	ids->fresh = true;
	return index_stacks(ids);
}

static int find(struct ftrace_ids *ids, uint32_t id, struct fsmb_stack *ret_stack,
		const char **ret_words)
{
	uint32_t *place = idmap__get(&ids->places, id + 1ull);
	int err = 0;

	if (place && !*place && !ids->fresh) {
		err = read_map(ids);
		place = idmap__get(&ids->places, id + 1ull);
	}
	if (err || !place)
		return err ? err : -ENOMEM;
	if (!*place)
		return -ENOENT;
	*ret_words = ids->text + (*place - 1ull) * sizeof(uint64_t);
	memcpy(ret_stack, *ret_words, sizeof(*ret_stack));
	*ret_words += sizeof(*ret_stack);
	return 0;
}

int ftrace_ids__frames(struct ftrace_ids *ids, uint32_t id, uint32_t below, uint64_t *ret_words,
		       unsigned int max, unsigned int *ret_nr, bool *ret_cut)
{
	const uint32_t parts[] = { id, below };
	unsigned int nr = 0, i;
	bool cut = false;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		struct fsmb_stack s;
		const char *words;
		unsigned int n;
		int err;

		if (!parts[i])
			continue;
		err = find(ids, parts[i], &s, &words);
		if (err)
			return err;
		n = MIN(s.nr, max - nr);
		memcpy(ret_words + nr, words, n * sizeof(*ret_words));
		nr += n;
		cut |= n < s.nr || s.reserved & FLAG_TRUNCATED;
	}
	*ret_nr = nr;
	*ret_cut = cut;
	return 0;
}
