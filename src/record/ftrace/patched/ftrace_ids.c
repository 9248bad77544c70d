// SPDX-License-Identifier: GPL-2.0-only
/* Reads the stacks of new ids from stack_map_bin. */
#include "ftrace_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "idmap.h"
#include "import/fsmb_map.h"
#include "record/ftrace/ring/ftrace_instance.h"
#include "stackonce.h"

struct ftrace_ids {
	const struct ftrace_instance *instance;
	const char *file;
	struct idmap numbers; /* by id + 1 and the id below it */
	struct fsmb_map *map; /* the file as last read, NULL: not read yet */
	char *text; /* memory of the map */
	bool fresh; /* the file has been read since refresh() */
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
	fsmb_map__free(ids->map);
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

static int read_map(struct ftrace_ids *ids)
{
	_cleanup_free_ char *text = NULL;
	struct fsmb_map *map;
	size_t len;
	int err;

	err = ftrace_instance__read(ids->instance, ids->file, &text, &len);
	if (!err)
		err = fsmb_map__parse(ids->file, text, len, &map);
	if (err)
		return err;
	fsmb_map__free(ids->map);
	free(ids->text);
	ids->map = map;
	ids->text = take_ptr(text);
	ids->fresh = true;
	return 0;
}

static int find(struct ftrace_ids *ids, uint32_t id, uint32_t *ret_index)
{
	int err;

	if (ids->map && !fsmb_map__find(ids->map, id, ret_index))
		return 0;
	if (ids->fresh)
		return -ENOENT;
	err = read_map(ids);
	return err ?: fsmb_map__find(ids->map, id, ret_index);
}

int ftrace_ids__frames(struct ftrace_ids *ids, uint32_t id, uint32_t below, uint64_t *ret_words,
		       unsigned int max, unsigned int *ret_nr, bool *ret_cut)
{
	const uint32_t parts[] = { id, below };
	unsigned int nr = 0, i;
	bool cut = false;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t words[STK_MAX_DEPTH];
		const struct fsmb_entry *e;
		unsigned int n;
		uint32_t index;
		int err;

		if (!parts[i])
			continue;
		err = find(ids, parts[i], &index);
		if (err)
			return err;
		e = fsmb_map__entry(ids->map, index);
		fsmb_map__frames(ids->map, index, words);
		n = MIN(e->nr, max - nr);
		memcpy(ret_words + nr, words, n * sizeof(*ret_words));
		nr += n;
		cut |= n < e->nr || e->flags & FSMB_STACK_TRUNCATED;
	}
	*ret_nr = nr;
	*ret_cut = cut;
	return 0;
}
