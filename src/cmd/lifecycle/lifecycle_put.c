// SPDX-License-Identifier: GPL-2.0-only
/* Pieces of text of stackonce lifecycle. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle.h"

void put_ns(struct strbuf *b, uint64_t ns)
{
	if (ns < 1000)
		strbuf__printf(b, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		strbuf__printf(b, "%.4g us", ns < 999950 ? ns / 1e3 : 999.9);
	else if (ns < 1000000000)
		strbuf__printf(b, "%.4g ms", ns < 999950000 ? ns / 1e6 : 999.9);
	else
		strbuf__printf(b, "%.3f s", ns / 1e9);
}

void put_span(struct strbuf *b, struct life_span s)
{
	if (!s.any) {
		strbuf__putc(b, '-');
	} else if (s.max == LIFE_EVER) {
		strbuf__putc(b, '>');
		put_ns(b, s.min);
	} else if (s.min == s.max) {
		put_ns(b, s.min);
	} else if (!s.min) {
		strbuf__putc(b, '<');
		put_ns(b, s.max);
	} else {
		put_ns(b, s.min);
		strbuf__puts(b, "..");
		put_ns(b, s.max);
	}
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
	out__safe(b, n->comm, strlen(n->comm));
	strbuf__printf(b, "[%u]", n->pid);
}

void put_padded(struct strbuf *b, size_t from, size_t width)
{
	strbuf__pad(b, ' ', b->len - from < width ? width - (b->len - from) : 1);
}
