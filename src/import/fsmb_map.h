/* SPDX-License-Identifier: GPL-2.0-only */
/* An FSMB stack map of either version in memory, in either byte order, checked as a whole. */
#ifndef IMPORT_FSMB_MAP_H
#define IMPORT_FSMB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsmb_format.h"

struct fsmb_map;

struct fsmb_entry {
	uint32_t id;
	uint32_t nr; /* frames, <= STK_MAX_DEPTH: of a deeper stack the innermost ones */
	uint32_t refs;
	uint32_t flags; /* FSMB_STACK_*; in a map without a trailer only of a deeper stack */
	uint32_t first; /* index of the first entry with the same frames, or its own */
};

/*
 * data (len bytes) is borrowed until the map is freed; name is for messages.  -EINVAL: not a map,
 * or damaged; one line with the offset is logged.  On success ids are unique.
 */
int fsmb_map__parse(const char *name, const void *data, size_t len, struct fsmb_map **ret_map);
void fsmb_map__free(struct fsmb_map *m);

uint32_t fsmb_map__nr(const struct fsmb_map *m);
uint32_t fsmb_map__nr_duplicates(const struct fsmb_map *m);
uint32_t fsmb_map__nr_deep(const struct fsmb_map *m); /* deeper than STK_MAX_DEPTH: truncated */
bool fsmb_map__swapped(const struct fsmb_map *m); /* written in the other byte order */
uint32_t fsmb_map__version(const struct fsmb_map *m); /* FSMB_VERSION or FSMB_VERSION_V1 */
/* NULL: the map has no trailer.  In this machine's byte order, strings NUL-terminated. */
const struct fsmb_trailer *fsmb_map__trailer(const struct fsmb_map *m);
uint32_t fsmb_map__generation(const struct fsmb_map *m); /* 0 without a trailer */
/* index < nr, in the file's order. */
const struct fsmb_entry *fsmb_map__entry(const struct fsmb_map *m, uint32_t index);
/* All nr words of an entry, innermost first. */
void fsmb_map__frames(const struct fsmb_map *m, uint32_t index, uint64_t *ret_frames);
uint64_t fsmb_map__offset(const struct fsmb_map *m, uint32_t index); /* of its head */
/* -ENOENT when no stack has this id. */
int fsmb_map__find(const struct fsmb_map *m, uint32_t id, uint32_t *ret_index);

#endif /* IMPORT_FSMB_MAP_H */
