// SPDX-License-Identifier: GPL-2.0-only
#include "frames.h"

#include "out.h"

static void put_module(struct strbuf *b, const struct stk_frame *f)
{
	if (!f->mod)
		return;
	strbuf__puts(b, " [");
	out__safe(b, f->mod, strlen(f->mod));
	strbuf__putc(b, ']');
}

static void put_address(struct strbuf *b, uint64_t ip)
{
	strbuf__puts(b, "0x");
	strbuf__hex(b, ip, 0);
}

void frame__text(struct strbuf *b, const struct stk_frame *f)
{
	if (!f->sym) {
		put_address(b, f->ip);
		put_module(b, f);
		return;
	}
	out__safe(b, f->sym, strlen(f->sym));
	strbuf__puts(b, "+0x");
	strbuf__hex(b, f->off, 0);
	if (f->size) {
		strbuf__puts(b, "/0x");
		strbuf__hex(b, f->size, 0);
	}
	put_module(b, f);
}

void frame__function(struct strbuf *b, const struct stk_frame *f)
{
	if (f->sym)
		out__safe(b, f->sym, strlen(f->sym));
	else
		put_address(b, f->ip);
	put_module(b, f);
}

static void put_string_or_null(struct strbuf *b, const char *s)
{
	if (s)
		out__json(b, s, strlen(s));
	else
		strbuf__puts(b, "null");
}

void frame__json_function(struct strbuf *b, const struct stk_frame *f)
{
	strbuf__puts(b, "\"sym\":");
	put_string_or_null(b, f->sym);
	strbuf__puts(b, ",\"mod\":");
	put_string_or_null(b, f->mod);
}

void frame__json(struct strbuf *b, const struct stk_frame *f)
{
	strbuf__puts(b, "{\"ip\":\"");
	put_address(b, f->ip);
	strbuf__puts(b, "\",\"sym\":");
	put_string_or_null(b, f->sym);
	strbuf__puts(b, ",\"off\":");
	if (f->sym)
		strbuf__u64(b, f->off);
	else
		strbuf__puts(b, "null");
	strbuf__puts(b, ",\"mod\":");
	put_string_or_null(b, f->mod);
	strbuf__putc(b, '}');
}

static unsigned int get_frames(struct stk_reader *r, uint32_t number, struct stk_frame *frames)
{
	int n = number ? stk_reader__frames(r, number, frames, STK_MAX_DEPTH) : 0;

	return n < 0 ? 0 : n > STK_MAX_DEPTH ? STK_MAX_DEPTH : n;
}

void stack__lines(struct strbuf *b, struct stk_reader *r, uint32_t number, const char *prefix,
		  const char *suffix)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int i, n = get_frames(r, number, frames);

	for (i = 0; i < n; i++) {
		strbuf__puts(b, prefix);
		frame__text(b, &frames[i]);
		strbuf__puts(b, suffix);
	}
}

void stack__json_frames(struct strbuf *b, struct stk_reader *r, uint32_t number)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int i, n = get_frames(r, number, frames);

	strbuf__putc(b, '[');
	for (i = 0; i < n; i++) {
		if (i)
			strbuf__putc(b, ',');
		frame__json(b, &frames[i]);
	}
	strbuf__putc(b, ']');
}

uint32_t stack__id(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) ? st.id : 0;
}
