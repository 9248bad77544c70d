/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers the frames and stacks of two recordings, so that the same code has the same number,
 * whatever its address was.
 *
 *   user frames     a file that both recordings have, by build id or content: the offset in it.
 *                   Other files: the last component of the path, and the name of the function.
 *   kernel frames   the function, and in the same build of the kernel the offset in it, too
 *
 * Where names decide, functions without a name in one file count as one.
 */
#ifndef ANALYZE_SAME_CODE_H
#define ANALYZE_SAME_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

struct same_code;

/* Both recordings have been read to their end; the readers are borrowed. */
int same_code__new(struct stk_reader *a, struct stk_reader *b, struct same_code **ret_code);
void same_code__free(struct same_code *c);
static inline void same_code__freep(struct same_code **c)
{
	same_code__free(*c);
}

/* The number of the function of a frame of recording side (0: a, 1: b).  -ENOMEM. */
int same_code__function(struct same_code *c, unsigned int side, const struct stk_frame *f,
			uint32_t *ret_number);
/*
 * The number of a stack, 0 for no frames; frames are innermost first.  -ENOMEM, or -ENOBUFS if the
 * budget of the recording is exhausted.
 */
int same_code__stack(struct same_code *c, unsigned int side, const struct stk_frame *frames,
		     unsigned int nr, uint32_t *ret_number);

/*
 * The number of a path of functions: of a frame that was called by path caller, 0 for the outermost
 * frame.  Paths have numbers of their own, so this and the above exclude each other.
 */
int same_code__path(struct same_code *c, unsigned int side, uint32_t caller,
		    const struct stk_frame *f, uint32_t *ret_number);

/* Whether both recordings are known to be from the same build of the kernel. */
bool same_code__same_kernel(const struct same_code *c);
/* The number of files that were compared by name so far, and the path of one of them in b. */
unsigned int same_code__by_name(const struct same_code *c, const char **ret_path);

#endif /* ANALYZE_SAME_CODE_H */
