// SPDX-License-Identifier: GPL-2.0-only
/* The flame graph: widths of b, and red or blue where it has more or less than a. */
#include "diff.h"

#include <errno.h>
#include <math.h>

#include "cleanup.h"
#include "log.h"
#include "ui/flames.h"

/* What a had, as if it had been as long as b or had as many of the other events. */
static struct flame_change change_of(const struct diff_row *row)
{
	const struct ratio *a, *b;

	if (!row)
		return (struct flame_change){ 0 };
	a = &row->ratio[0];
	b = &row->ratio[1];
	return (struct flame_change){
		.known = a->by > 0 && b->by > 0,
		.significant = row->significant,
		.before = a->by > 0 ? fmin(round(a->sum / a->by * b->by), 1e18) : 0,
	};
}

static int add_stack(struct diff_cmd *c, struct diff *paths, struct flamegraph *f,
		     const struct side_stack *stack, uint64_t count)
{
	struct diff_reading *b = &c->r[1];
	_cleanup_free_ char *event =
		event__full_name(stk_reader__type(b->l.rd.reader, stack->type));
	const struct diff_row *rows[DIFF_MAX_PATHS];
	struct flame_change changes[DIFF_MAX_PATHS];
	int nr = diff__path_rows(paths, stack, rows), i;

	if (nr < 0 || !event)
		return nr < 0 ? nr : -ENOMEM;
	for (i = 0; i < nr; i++)
		changes[i] = change_of(rows[i]);
	/* Events that are not compared are not drawn. */
	return nr ? flames__add_changes(f, b->l.rd.reader, &b->l.rd.names, event, stack->kstack,
					stack->ustack, count, changes, nr) :
		    0;
}

static int draw(struct diff_cmd *c, struct flamegraph *f)
{
	const struct diff_opts opts = { .per = c->per, .by = DIFF_BY_PATH };
	struct side *b = &c->r[1].side;
	_cleanup_(diff__freep) struct diff *paths = NULL;
	struct side_stack stack;
	uint32_t i;
	int err = diff__new(&c->r[0].side, b, &opts, &paths);

	for (i = 0; i < b->stacks.nr && !err; i++) {
		memcpy(&stack, key_table__key(&b->stacks, i), sizeof(stack));
		err = add_stack(c, paths, f, &stack, series__sum(key_table__value(&b->stacks, i)));
	}
	return err;
}

int diff__put_flames(struct diff_cmd *c)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	_cleanup_(strbuf__free) struct strbuf subtitle = { 0 };
	int err = flamegraph__new(&f) ?: draw(c, f);

	strbuf__printf(&subtitle, "%s compared with %s, %s", c->r[1].l.rd.path, c->r[0].l.rd.path,
		       c->per == DIFF_PER_SECOND ? "per second" :
		       c->per == DIFF_PER_EVENT	 ? "per event" :
						   "per ");
	if (c->per == DIFF_PER_OTHER)
		strbuf__puts(&subtitle, c->r[0].per);
	if (!diff__is_judged(c->diff))
		strbuf__puts(&subtitle, ", too short to judge");
	if (err || strbuf__failed(&subtitle)) {
		log_err(err ?: -ENOMEM, "draw the flame graph");
		return CMD_FAILURE;
	}
	return flames__write(f, &c->r[0].l.rd,
			     &(struct flame_text){ .title = "Difference by call stack",
						   .subtitle = subtitle.s,
						   .unit = "events" });
}
