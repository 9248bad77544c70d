/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locations, functions and mappings of a profile.
 *
 * A frame is a location, and an inlined function a line of it.  Kernel code has the addresses that
 * it had: the kernel itself is the mapping [kernel.kallsyms], a module [NAME].  A user frame is an
 * offset in a file, so each file gets a range of an address space made up for the profile, in which
 * it lies from its offset 0 on.  Code of no file has the addresses that it had in its process.
 */
#ifndef EXPORT_PPROF_CODE_H
#define EXPORT_PPROF_CODE_H

#include <stdint.h>

struct export_stacks;
struct pprof_code;
struct pprof_file;
struct stk_frame;

/* file and stacks are borrowed. */
int pprof_code__new(struct pprof_file *file, const struct export_stacks *stacks,
		    struct pprof_code **ret_code);
void pprof_code__free(struct pprof_code *c);
static inline void pprof_code__freep(struct pprof_code **c)
{
	pprof_code__free(*c);
}
/* The id of a frame's location, new or known; -ENOMEM, -ENOBUFS. */
int pprof_code__location(struct pprof_code *c, const struct stk_frame *frame, uint64_t *ret_id);
/* Writes all of them, when all frames are known.  -ENOMEM. */
int pprof_code__put(struct pprof_code *c);

#endif /* EXPORT_PPROF_CODE_H */
