// SPDX-License-Identifier: GPL-2.0-only
/* Adds stacks to a flame graph and writes its file. */
#include "flames.h"

#include <errno.h>

#include "cleanup.h"
#include "export/flame_stacks.h"
#include "frames.h"
#include "log.h"
#include "output/output.h"
#include "strbuf.h"
#include "ui.h"

int flames__add_changes(struct flamegraph *f, struct stk_reader *r, struct user_names *n,
			const char *group, uint32_t kstack, uint32_t ustack, uint64_t weight,
			const struct flame_change *changes, unsigned int nr_changes)
{
	struct stk_frame frames[2 * STK_MAX_DEPTH];
	unsigned int nr = stack__frames(r, kstack, frames);

	nr += stack__frames(r, ustack, frames + nr);
	return flame_stacks__add(f, r, n, group, frames, nr, weight, changes, nr_changes);
}

int flames__add(struct flamegraph *f, struct stk_reader *r, struct user_names *n, const char *group,
		uint32_t kstack, uint32_t ustack, uint64_t weight)
{
	return flames__add_changes(f, r, n, group, kstack, ustack, weight, NULL, 0);
}

int flames__write(const struct flamegraph *f, struct reading *rd, const struct flame_text *text)
{
	_cleanup_(strbuf__free) struct strbuf svg = { 0 };
	int err;

	flamegraph__svg(f, text, &svg);
	if (strbuf__failed(&svg)) {
		log_err(-ENOMEM, "draw the flame graph");
		return CMD_FAILURE;
	}
	err = output__write(rd->picture, svg.s, svg.len);
	if (err) {
		log_err(err, "write '%s'", rd->flamegraph);
		return CMD_FAILURE;
	}
	return output__commit(rd->picture) ? CMD_FAILURE : CMD_OK;
}
