/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces loads of settings by their values.  A program's settings are in maps that are read-only
 * once it is loaded, so the verifier knows them and removes what they exclude, but not the loads.
 * Each map is in a page of its own, and a load takes 17 bytes of code where a value takes 5.
 */
#ifndef RECORD_FOLD_H
#define RECORD_FOLD_H

#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>

/* A read-only map of one value. */
struct fold_map {
	int fd;
	const void *value;
	size_t size;
};

/*
 * Changes the instructions of a program that is ready to be loaded, and returns how many loads were
 * replaced, or -ENOMEM.  Jumps stay as they are: what is not needed any more becomes jumps to the
 * next instruction, which the verifier removes.
 */
int fold__loads(struct bpf_insn *insns, size_t nr, const struct fold_map *maps,
		unsigned int nr_maps);

#endif /* RECORD_FOLD_H */
