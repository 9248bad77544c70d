/* SPDX-License-Identifier: GPL-2.0-only */
/* Flame graphs from the stacks of a recording, for the commands that weight stacks. */
#ifndef UI_FLAMES_H
#define UI_FLAMES_H

#include "export/flamegraph.h"
#include "reading.h"
#include "stackonce.h"
#include "names/user_names.h"

/*
 * Adds a kernel and a user stack with their weight: kernel frames on top of user frames, and below
 * them group, such as a comm or an event (NULL: none).  n may be NULL to use only names in the
 * recording.
 */
int flames__add(struct flamegraph *f, struct stk_reader *r, struct user_names *n, const char *group,
		uint32_t kstack, uint32_t ustack, uint64_t weight);
/*
 * The same with the changes of the frames: of the group, then from the outermost to the innermost
 * one.  Not for --inline, whose frames the changes would not fit.
 */
int flames__add_changes(struct flamegraph *f, struct stk_reader *r, struct user_names *n,
			const char *group, uint32_t kstack, uint32_t ustack, uint64_t weight,
			const struct flame_change *changes, unsigned int nr_changes);
/* Writes the SVG to the file of --flamegraph; CMD_OK, or CMD_FAILURE after a message. */
int flames__write(const struct flamegraph *f, struct reading *rd, const struct flame_text *text);

#endif /* UI_FLAMES_H */
