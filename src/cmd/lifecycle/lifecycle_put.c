// SPDX-License-Identifier: GPL-2.0-only
/* Formats durations, ends and names for stackonce lifecycle. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle.h"

void put_span(struct strbuf *b, struct life_span s)
{
	if (!s.any)
		strbuf__putc(b, '-');
	else if (s.max == LIFE_EVER)
		strbuf__printf(b, ">%s", text__ns(s.min).s);
	else if (s.min == s.max)
		strbuf__puts(b, text__ns(s.min).s);
	else if (!s.min)
		strbuf__printf(b, "<%s", text__ns(s.max).s);
	else
		strbuf__printf(b, "%s..%s", text__ns(s.min).s, text__ns(s.max).s);
}

void put_signal(struct strbuf *b, int64_t sig)
{
	const char *name = sig > 0 && sig < 32 ? sigabbrev_np(sig) : NULL;

	if (name)
		strbuf__printf(b, "SIG%s", name);
	else
		strbuf__printf(b, "signal %" PRId64, sig);
}

void put_fate(struct strbuf *b, const struct life *l)
{
	if (l->how == LIFE_HOW_EXIT)
		strbuf__printf(b, "exit %d", l->code);
	else if (l->how == LIFE_HOW_SIGNAL && l->code > 0)
		put_signal(b, l->code);
	else if (l->how == LIFE_HOW_SIGNAL)
		strbuf__puts(b, "a signal");
	else if (l->replaced)
		strbuf__puts(b, "replaced");
	else
		strbuf__puts(b, "?");
	if (l->uncertain)
		strbuf__putc(b, '?');
}

void put_name(struct strbuf *b, const struct life_name *n)
{
	if (!n->pid) {
		strbuf__putc(b, '?');
		return;
	}
	strbuf__text(b, n->comm);
	strbuf__printf(b, "[%u]", n->pid);
}
