// SPDX-License-Identifier: GPL-2.0-only
/* Checks an FSMB map of either byte order, indexes its ids and finds equal stacks. */
#include "fsmb_map.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "fsmb_format.h"
#include "index.h"
#include "log.h"
#include "seeded_hash.h"
#include "text.h"

struct fsmb_map {
	const unsigned char *data;
	size_t len;
	bool swapped;
	uint32_t version;
	uint32_t nr, duplicates, deep, generation;
	struct fsmb_trailer trailer; /* size 0: the map has no trailer */
	struct fsmb_entry *entries;
	size_t *offsets; /* of the heads of entries */
	struct index ids;
	uint64_t seed; /* of the hashes */
};

/* Logs damage in one line, without an errno text. */
#define damaged(...) (log_msg(STK_LOG_ERROR, 0, __VA_ARGS__), -EINVAL)

static uint32_t get32(const struct fsmb_map *m, size_t at)
{
	uint32_t v;

	memcpy(&v, m->data + at, sizeof(v));
	return m->swapped ? bswap_32(v) : v;
}

static uint64_t get64(const struct fsmb_map *m, size_t at)
{
	uint64_t v;

	memcpy(&v, m->data + at, sizeof(v));
	return m->swapped ? bswap_64(v) : v;
}

static int check_header(struct fsmb_map *m, const char *name)
{
	uint32_t v, expected;
	size_t room;

	if (m->len < sizeof(struct fsmb_header))
		return damaged("%s: offset 0: the file ends after %zu of the header's %zu bytes",
			       name, m->len, sizeof(struct fsmb_header));
	v = get32(m, 0);
	m->swapped = v == bswap_32(FSMB_MAGIC) || v == bswap_32(FSMB_MAGIC_V1);
	v = get32(m, 0);
	if (v != FSMB_MAGIC && v != FSMB_MAGIC_V1)
		return damaged("%s: offset 0: not a stack map: magic 0x%08x, not 0x%08x or 0x%08x",
			       name, v, FSMB_MAGIC, FSMB_MAGIC_V1);
	expected = v == FSMB_MAGIC ? FSMB_VERSION : FSMB_VERSION_V1;
	m->version = get32(m, offsetof(struct fsmb_header, version));
	if (m->version != expected)
		return damaged("%s: offset 4: stack map version %u, with magic 0x%08x only %u is "
			       "supported",
			       name, m->version, v, expected);
	m->nr = get32(m, offsetof(struct fsmb_header, nr_stacks));
	room = (m->len - sizeof(struct fsmb_header)) / sizeof(struct fsmb_stack);
	if (m->nr > room)
		return damaged("%s: offset 8: no room for %s, the file ends after %zu bytes", name,
			       text__count(m->nr, "stack").s, m->len);
	return 0;
}

/* Copies the trailer in this machine's byte order; fields that a shorter trailer lacks stay 0. */
static int check_trailer(struct fsmb_map *m, const char *name, size_t at)
{
	struct fsmb_trailer *t = &m->trailer;
	uint32_t size = 0;

	if (m->len - at >= FSMB_TRAILER_SIZE &&
	    get32(m, at + offsetof(struct fsmb_trailer, magic)) == FSMB_TRAILER_MAGIC)
		size = get32(m, at + offsetof(struct fsmb_trailer, size));
	if (size < FSMB_TRAILER_SIZE || size != m->len - at)
		return damaged("%s: offset %zu: %s after the last of %s", name, at,
			       text__count(m->len - at, "byte").s, text__count(m->nr, "stack").s);
	memcpy(t, m->data + at, size < sizeof(*t) ? FSMB_TRAILER_SIZE : sizeof(*t));
	t->size = size;
	t->text_base = get64(m, at + offsetof(struct fsmb_trailer, text_base));
	t->page_shift = get32(m, at + offsetof(struct fsmb_trailer, page_shift));
	t->build_id_size = get32(m, at + offsetof(struct fsmb_trailer, build_id_size));
	if (m->swapped)
		t->boot_time = bswap_64(t->boot_time);
	t->boot_id[sizeof(t->boot_id) - 1] = '\0';
	t->release[sizeof(t->release) - 1] = '\0';
	if (t->build_id_size > sizeof(t->build_id))
		return damaged("%s: offset %zu: the build id has %u bytes", name,
			       at + offsetof(struct fsmb_trailer, build_id_size), t->build_id_size);
	return 0;
}

/* Only maps with a trailer have a generation and flags; in others the fields are reserved. */
static int check_reserved(struct fsmb_map *m, const char *name, uint32_t reserved)
{
	uint32_t i;

	if (!m->trailer.size) {
		for (i = 0; i < m->nr; i++)
			m->entries[i].flags = 0;
		if (reserved)
			log_warn("%s: %u reserved fields are not 0, their values are ignored", name,
				 reserved);
		return 0;
	}
	m->generation = get32(m, offsetof(struct fsmb_header, generation));
	for (i = 0; i < m->nr; i++) {
		const struct fsmb_entry *e = &m->entries[i];

		if (e->flags & FSMB_STACK_USER && e->nr % 2)
			return damaged("%s: offset %zu: stack %u of %u: a user stack of %u words, "
				       "but its frames are pairs",
				       name, m->offsets[i] + 4, i + 1, m->nr, e->nr);
	}
	return 0;
}

/* A map may have deeper stacks than a recording. */
static void truncate_deep(struct fsmb_map *m)
{
	uint32_t i;

	for (i = 0; i < m->nr; i++) {
		struct fsmb_entry *e = &m->entries[i];

		if (e->nr <= STK_MAX_DEPTH)
			continue;
		e->nr = STK_MAX_DEPTH;
		e->flags |= FSMB_STACK_TRUNCATED;
		m->deep++;
	}
}

/* Walks the stacks; every offset and count used later is checked here. */
static int check_stacks(struct fsmb_map *m, const char *name)
{
	uint32_t i, reserved = get32(m, offsetof(struct fsmb_header, generation)) ? 1 : 0;
	size_t at = sizeof(struct fsmb_header);

	for (i = 0; i < m->nr; i++) {
		struct fsmb_entry *e = &m->entries[i];

		if (m->len - at < sizeof(struct fsmb_stack))
			return damaged("%s: offset %zu: stack %u of %u: the file ends here", name,
				       at, i + 1, m->nr);
		m->offsets[i] = at;
		e->id = get32(m, at + offsetof(struct fsmb_stack, stack_id));
		e->nr = get32(m, at + offsetof(struct fsmb_stack, nr));
		e->refs = get32(m, at + offsetof(struct fsmb_stack, ref_count));
		e->first = i;
		e->flags = get32(m, at + offsetof(struct fsmb_stack, flags));
		reserved += e->flags ? 1 : 0;
		at += sizeof(struct fsmb_stack);
		if (e->nr > (m->len - at) / sizeof(uint64_t))
			return damaged("%s: offset %zu: stack %u of %u has %s, but the file "
				       "ends after %zu",
				       name, m->offsets[i] + 4, i + 1, m->nr,
				       text__count(e->nr, "frame").s,
				       (m->len - at) / sizeof(uint64_t));
		at += (size_t)e->nr * sizeof(uint64_t);
	}
	if (at != m->len) {
		int err = check_trailer(m, name, at);

		if (err)
			return err;
	}
	return check_reserved(m, name, reserved);
}

static uint64_t id_hash(const struct fsmb_map *m, uint32_t id)
{
	return seeded_hash__u64(m->seed, m->seed, id);
}

static int index_ids(struct fsmb_map *m, const char *name)
{
	uint32_t i, id, first;

	if (index__reserve(&m->ids, m->nr))
		return log_err(-ENOMEM, "%s", name);
	for (i = 0; i < m->nr; i++) {
		id = m->entries[i].id;
		if (!fsmb_map__find(m, id, &first))
			return damaged("%s: offset %zu: stack id %u is used at offset %zu, too",
				       name, m->offsets[i], id, m->offsets[first]);
		index__add(&m->ids, id_hash(m, id), i); /* there is room */
	}
	return 0;
}

static bool same_frames(const struct fsmb_map *m, uint32_t a, uint32_t b)
{
	return m->entries[a].nr == m->entries[b].nr && m->entries[a].flags == m->entries[b].flags &&
	       !memcmp(m->data + m->offsets[a] + sizeof(struct fsmb_stack),
		       m->data + m->offsets[b] + sizeof(struct fsmb_stack),
		       (size_t)m->entries[a].nr * sizeof(uint64_t));
}

/* Points each entry to the first one with the same frames. */
static int find_duplicates(struct fsmb_map *m)
{
	_cleanup_(index__free) struct index same = { 0 };
	uint32_t i, first;
	uint64_t hash;

	for (i = 0; i < m->nr; i++) {
		hash = seeded_hash__bytes(m->seed,
					  m->data + m->offsets[i] + sizeof(struct fsmb_stack),
					  (size_t)m->entries[i].nr * sizeof(uint64_t));
		index__for_each(&same, hash, first)
			if (same_frames(m, first, i))
				break;
		if (first != INDEX_NONE) {
			m->entries[i].first = first;
			m->duplicates++;
		} else if (index__add(&same, hash, i)) {
			return -ENOMEM;
		}
	}
	return 0;
}

int fsmb_map__parse(const char *name, const void *data, size_t len, struct fsmb_map **ret_map)
{
	struct fsmb_map *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->data = data;
	m->len = len;
	m->seed = seeded_hash__seed();
	err = check_header(m, name);
	if (!err) {
		size_t n = m->nr ? m->nr : 1;

		m->entries = calloc(n, sizeof(*m->entries));
		m->offsets = calloc(n, sizeof(*m->offsets));
		if (!m->entries || !m->offsets)
			err = log_err(-ENOMEM, "%s", name);
	}
	err = err ?: check_stacks(m, name);
	if (!err)
		truncate_deep(m);
	err = err ?: index_ids(m, name);
	err = err ?: find_duplicates(m);
	if (err) {
		fsmb_map__free(m);
		return err;
	}
	*ret_map = m;
	return 0;
}

void fsmb_map__free(struct fsmb_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->offsets);
	index__free(&m->ids);
	free(m);
}

uint32_t fsmb_map__nr(const struct fsmb_map *m)
{
	return m->nr;
}

uint32_t fsmb_map__nr_duplicates(const struct fsmb_map *m)
{
	return m->duplicates;
}

uint32_t fsmb_map__nr_deep(const struct fsmb_map *m)
{
	return m->deep;
}

bool fsmb_map__swapped(const struct fsmb_map *m)
{
	return m->swapped;
}

uint32_t fsmb_map__version(const struct fsmb_map *m)
{
	return m->version;
}

const struct fsmb_trailer *fsmb_map__trailer(const struct fsmb_map *m)
{
	return m->trailer.size ? &m->trailer : NULL;
}

uint32_t fsmb_map__generation(const struct fsmb_map *m)
{
	return m->generation;
}

const struct fsmb_entry *fsmb_map__entry(const struct fsmb_map *m, uint32_t index)
{
	return &m->entries[index];
}

void fsmb_map__frames(const struct fsmb_map *m, uint32_t index, uint64_t *ret_frames)
{
	size_t at = m->offsets[index] + sizeof(struct fsmb_stack);
	uint32_t i;

	for (i = 0; i < m->entries[index].nr; i++)
		ret_frames[i] = get64(m, at + i * sizeof(uint64_t));
}

uint64_t fsmb_map__offset(const struct fsmb_map *m, uint32_t index)
{
	return m->offsets[index];
}

int fsmb_map__find(const struct fsmb_map *m, uint32_t id, uint32_t *ret_index)
{
	uint64_t hash = id_hash(m, id);
	uint32_t i;

	index__for_each(&m->ids, hash, i) {
		if (m->entries[i].id == id) {
			*ret_index = i;
			return 0;
		}
	}
	return -ENOENT;
}
