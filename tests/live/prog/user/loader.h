/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps the segments of a tagged library (tag_code.h) at a chosen address, as a loader would; it
 * needs no relocations.
 */
#ifndef STACKONCE_TEST_LOADER_H
#define STACKONCE_TEST_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#define LOADER_SPAN 0x10000 /* size limit of tagged libraries */

typedef unsigned long (*loader_fn)(unsigned long n);

struct loader {
	int fd;
	uint64_t nr, enter; /* number of segments; offset of tag_enter() in memory */
	struct {
		uint64_t addr, len, off;
		int prot;
	} segments[8];
};

/* layout: the file with the segments; contents: the file to map. */
void loader__open(struct loader *l, const char *layout, const char *contents);
void loader__close(struct loader *l);
loader_fn loader__map(const struct loader *l, char *base);
/* To anonymous memory, with another tag. */
loader_fn loader__copy(const struct loader *l, char *base, uint64_t tag);
/* Moves the mapping at base to another address. */
loader_fn loader__move(const struct loader *l, char *base, char *to);
/* Makes the mapping at base non-executable, and executable again. */
void loader__protect(const struct loader *l, char *base);

#endif /* STACKONCE_TEST_LOADER_H */
