// SPDX-License-Identifier: GPL-2.0-only
/* Export: stacks as lines of text, as flamegraph.pl and speedscope read them. */
#include <errno.h>

#include "cleanup.h"
#include "flame_stacks.h"
#include "formats.h"
#include "log.h"
#include "stacks.h"

static int write_text(const struct flamegraph *f, const struct output *output,
		      const struct output_opts *opts)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	int err;

	flamegraph__folded(f, &text);
	err = strbuf__failed(&text) ? -ENOMEM : output__write(output, text.s, text.len);
	return err ? log_err(err, "write '%s'", opts->path) : 0;
}

int export__folded(const struct export_source *src, const struct output_opts *opts,
		   struct strbuf *summary)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	_cleanup_(output__freep) struct output *output = NULL;
	struct export_stacks stacks;
	int err;

	err = output__open(opts, &output);
	err = err ?: export_source__count(src, &stacks);
	if (err)
		return err;
	if (flamegraph__new(&f))
		return log_err(-ENOMEM, "sum up the stacks");
	err = flame_stacks__add_all(f, &stacks);
	err = err ?: write_text(f, output, opts);
	err = err ?: output__commit(output);
	if (err)
		return err;
	export_stacks__summarize(&stacks, summary);
	return 0;
}
