/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps the segments of a tagged library (tag_code.h) at a place of choice, as a loader would: it needs
 * no relocations.
 */
#ifndef STACKONCE_TEST_LOADER_H
#define STACKONCE_TEST_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#define LOADER_SPAN 0x10000 /* no tagged library is larger */

typedef unsigned long (*loader_fn)(unsigned long n);

struct loader {
	int fd;
	uint64_t nr, enter; /* of segments; offset of tag_enter() in memory */
	struct {
		uint64_t addr, len, off;
		int prot;
	} segments[8];
};

/* layout: the file to take the places from; contents: the file to map. */
void loader__open(struct loader *l, const char *layout, const char *contents);
void loader__close(struct loader *l);
loader_fn loader__map(const struct loader *l, char *base);
/* Into memory that belongs to no file, with another tag. */
loader_fn loader__copy(const struct loader *l, char *base, uint64_t tag);
/* What lies at base, to elsewhere. */
loader_fn loader__move(const struct loader *l, char *base, char *to);
/* Takes away the right to run what lies at base, and gives it back. */
void loader__protect(const struct loader *l, char *base);

#endif /* STACKONCE_TEST_LOADER_H */
