/* SPDX-License-Identifier: GPL-2.0-only */
/* From a recording's stacks to a flame graph, for the commands that weigh stacks. */
#ifndef UI_FLAMES_H
#define UI_FLAMES_H

#include "export/flamegraph.h"
#include "reading.h"
#include "stackonce.h"
#include "user_names.h"

/*
 * One stack pair with its weight: kernel frames on top of user frames, below them group (NULL: none; a
 * comm, an event).  n may be NULL where only the recording's own names are wanted.
 */
int flames__add(struct flamegraph *f, struct stk_reader *r, struct user_names *n, const char *group,
		uint32_t kstack, uint32_t ustack, uint64_t weight);
/* Writes the SVG to where --flamegraph says; CMD_OK, or CMD_FAILURE after a message. */
int flames__write(const struct flamegraph *f, struct reading *rd, const struct flame_text *text);

#endif /* UI_FLAMES_H */
