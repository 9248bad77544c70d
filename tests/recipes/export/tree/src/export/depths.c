// SPDX-License-Identifier: GPL-2.0-only
/* Export: a line "DEPTH EVENTS" for each depth of the kernel stacks. */
#include "formats.h"

#include <errno.h>

#include "cleanup.h"
#include "log.h"

#define MAX_DEPTH 1024

static int count_events(const struct export_source *src, uint64_t *by_depth)
{
	const struct stk_event *e;
	struct stk_stack stack;
	int err;

	while ((err = export_source__next(src, &e)) > 0) {
		if (stk_reader__stack(src->reader, stk_event__kstack(e), &stack))
			stack.depth = 0;
		by_depth[stack.depth < MAX_DEPTH ? stack.depth : MAX_DEPTH - 1]++;
	}
	return err;
}

int export__depths(const struct export_source *src, const struct output_opts *opts,
		   struct strbuf *summary)
{
	_cleanup_(output__freep) struct output *output = NULL;
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	uint64_t by_depth[MAX_DEPTH] = { 0 };
	unsigned int depth, nr = 0;
	int damage, err;

	err = output__open(opts, &output);
	if (err)
		return err;
	damage = count_events(src, by_depth);
	for (depth = 0; depth < MAX_DEPTH; depth++) {
		if (!by_depth[depth])
			continue;
		strbuf__printf(&text, "%u %llu\n", depth, (unsigned long long)by_depth[depth]);
		nr++;
	}
	if (strbuf__failed(&text))
		return -ENOMEM;
	err = output__write(output, text.s, text.len);
	if (err)
		return log_err(err, "write '%s'", opts->path);
	err = output__commit(output);
	strbuf__printf(summary, "%u depths", nr);
	return err ? err : damage;
}
