/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames with numbers, for formats that name frames: equal frames have the same number, and each
 * is looked up once, by the code that names the frames of reports, too.
 *
 *	nr = stack_fold__frames(stacks->fold, pair, frames);		innermost first
 *	for (i = 0; i < nr; i++) {
 *		err = export_frames__number(f, &frames[i], &number);
 *		...
 *		export_frames__get(f, number);
 *	}
 *
 * A format that reads events takes frames from stk_reader__frames().  It should write each stack
 * once: stack numbers are small, so an array indexed by them can hold which stacks are written.
 */
#ifndef EXPORT_NAMED_FRAMES_H
#define EXPORT_NAMED_FRAMES_H

#include <stdint.h>

#include "names/user_names.h"
#include "stackonce.h"

struct strbuf;

struct export_frame {
	/*
	 * Any of the equal frames: its kind, address or offset, module, and the file (which
	 * stk_reader__file() knows); `guessed`, node and parent mean nothing.
	 */
	struct stk_frame frame;
	const char *function; /* as shown: demangled; NULL: unknown */
	/* With --inline, if known: the place in its function, and what is inlined there. */
	const char *source; /* NULL: unknown */
	unsigned int line; /* 0: unknown */
	const struct name_line *inlined; /* innermost first */
	unsigned int nr_inlined;
};

struct export_frames;

/* r and n are borrowed; the memory is charged to r. */
int export_frames__new(struct stk_reader *r, struct user_names *n,
		       struct export_frames **ret_frames);
void export_frames__free(struct export_frames *f);
static inline void export_frames__freep(struct export_frames **f)
{
	export_frames__free(*f);
}
/* The number of a frame, from 0 in the order of first calls.  -ENOMEM, -ENOBUFS. */
int export_frames__number(struct export_frames *f, const struct stk_frame *frame,
			  uint32_t *ret_number);
uint32_t export_frames__nr(const struct export_frames *f);
/* Valid until the next call of export_frames__number(). */
const struct export_frame *export_frames__get(const struct export_frames *f, uint32_t number);

/* The function, not escaped; without a name "xz+0x560c", or the address alone. */
void export_frame__put_name(const struct export_frame *f, struct strbuf *b);
/* The same of a frame without a function. */
void export_frame__put_unnamed(const struct stk_frame *f, struct strbuf *b);

#endif /* EXPORT_NAMED_FRAMES_H */
