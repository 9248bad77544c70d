// SPDX-License-Identifier: GPL-2.0-only
/* Random filter expressions, most of them with values that occur in samples. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "filter_gen.h"

uint32_t rng__below(struct rng *r, uint32_t n)
{
	r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return n ? (r->state >> 33) % n : 0;
}

static uint64_t any64(struct rng *r)
{
	return (uint64_t)rng__below(r, 1u << 31) << 40 ^ (uint64_t)rng__below(r, 1u << 31) << 20 ^
	       rng__below(r, 1u << 31);
}

/* An expression being written; one that does not fit is cut, and fails on both sides. */
struct out {
	char *s;
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) put(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->s + o->len, MAX_EXPR_TEXT - o->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->len = MIN(o->len + n, (size_t)MAX_EXPR_TEXT - 1);
}

static void put_space(struct generator *g, struct out *o)
{
	static const char *const spaces[] = { "", "", " ", " ", "  ", "\t", "\n" };

	put(o, "%s", spaces[rng__below(&g->rng, ARRAY_SIZE(spaces))]);
}

static const char *pick(struct generator *g, const char *const *words, size_t nr)
{
	return words[rng__below(&g->rng, nr)];
}

#define PICK(g, ...)                                    \
	pick((g), (const char *const[]){ __VA_ARGS__ }, \
	     ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

static const struct record *sample(struct generator *g, const struct event *e)
{
	return e->nr_samples ? &e->samples[rng__below(&g->rng, e->nr_samples)] : NULL;
}

/* Writes val in a random notation; is_signed: as a signed number of size bytes. */
static void put_number(struct generator *g, struct out *o, uint64_t val, bool is_signed)
{
	const char *minus = "";

	if (is_signed && (int64_t)val < 0) {
		minus = "-";
		val = -val;
	}
	switch (rng__below(&g->rng, 5)) {
	case 0:
		put(o, "%s0x%llx", minus, (unsigned long long)val);
		break;
	case 1:
		put(o, "%s0%llo", minus, (unsigned long long)val);
		break;
	case 2:
		put(o, "%s0X%llX", minus, (unsigned long long)val);
		break;
	default:
		put(o, "%s%llu", minus, (unsigned long long)val);
	}
}

static uint64_t field_value(struct generator *g, const struct event *e, const struct ev_field *f)
{
	const struct record *r = sample(g, e);
	uint64_t val = 0;

	if (r && f->size <= 8 && f->offset + f->size <= r->len) {
		memcpy(&val, r->data + f->offset, f->size);
		if (f->is_signed && f->size < 8 && f->size && val >> (f->size * 8 - 1) & 1)
			val |= ~0ULL << f->size * 8;
	}
	switch (rng__below(&g->rng, 8)) {
	case 0:
		return val + 1;
	case 1:
		return val - 1;
	case 2:
		return any64(&g->rng) >> rng__below(&g->rng, 64);
	case 3:
		return rng__below(&g->rng, 10);
	default:
		return val;
	}
}

static void put_cpus(struct generator *g, struct out *o)
{
	uint32_t n = g->nr_cpus, a = rng__below(&g->rng, n + 1), b = rng__below(&g->rng, n + 1);

	put(o, "%s", PICK(g, "==", "!=", "&", "&"));
	put_space(g, o);
	switch (rng__below(&g->rng, 8)) {
	case 0:
		put(o, "CPUS{%u-%u}", a, b);
		break;
	case 1:
		put(o, "CPUS{%u,%u}", a, b);
		break;
	case 2:
		put(o, "CPUS{%s}",
		    PICK(g, "all", "N", "0-N", ",", "0-N:1/2", " 0 , 1", "ALL:1/3", "0\n", "\n0",
			 "x", "0-", "1-0", "0-N:2/1", "0x1", "00", "0,,N"));
		break;
	case 3:
		put(o, "CPUS{0-%u:%u/%u}", n - 1, rng__below(&g->rng, 3), rng__below(&g->rng, 4));
		break;
	default:
		put(o, "CPUS{%u}", rng__below(&g->rng, n));
	}
}

static void put_number_pred(struct generator *g, struct out *o, uint64_t val, bool is_signed)
{
	if (g->cpus && !rng__below(&g->rng, 10)) {
		put_cpus(g, o);
		return;
	}
	put(o, "%s", PICK(g, "==", "!=", "<", "<=", ">", ">=", "&", "=="));
	put_space(g, o);
	put_number(g, o, val, is_signed);
}

static void put_flags_pred(struct generator *g, struct out *o)
{
	/* Bits that are the same in two instances for one event. */
	static const unsigned int stable[] = { 1, 8, 0x10, 0x18, 0x40, 0x80, 0x99 };

	put(o, "common_flags & %u", stable[rng__below(&g->rng, ARRAY_SIZE(stable))]);
}

/* A pattern for ~ from a string that occurs: parts of it are replaced by wildcards. */
static void put_pattern(struct generator *g, struct out *o, const char *s, size_t len, char quote)
{
	uint32_t from = rng__below(&g->rng, len + 1);
	uint32_t to = from + rng__below(&g->rng, len - from + 1);
	uint32_t way = rng__below(&g->rng, 10), i;
	const char *no = g->not_matches_end ? "[" : "[!";

	if (!rng__below(&g->rng, 8))
		put(o, "!");
	if (way == 0)
		from = 0, to = len;
	else if (way <= 2)
		from = 0;
	else if (way <= 4)
		to = len;
	if (way >= 3)
		put(o, "*");
	for (i = from; i < to; i++) {
		uint32_t dice = way < 7 ? 99 : rng__below(&g->rng, 14);

		if (s[i] == quote)
			put(o, "?");
		else if (dice == 0)
			put(o, "?");
		else if (dice == 1)
			put(o, "*");
		else if (dice == 2)
			put(o, "[%c-%c]", s[i], s[i]);
		else if (dice == 3)
			put(o, "%s%c]", no, s[i]);
		else if (dice == 4)
			put(o, "[a-z%c]", s[i]);
		else if (dice == 5)
			put(o, "\\%c", s[i]);
		else if (dice == 6)
			put(o, "%s", PICK(g, "[", "[]", "[]-a]", no, "\\", "[a-]", "[a-", "[z-a]"));
		else
			put(o, "%c", s[i]);
	}
	if (way != 0 && (way <= 2 || way >= 5))
		put(o, "*");
}

static void put_string_pred(struct generator *g, struct out *o, const char *s, size_t len)
{
	char quote = rng__below(&g->rng, 3) ? '"' : '\'';
	uint32_t i, way = rng__below(&g->rng, 12);

	put(o, "%s", way < 4 ? PICK(g, "==", "!=", "~") : "~");
	put_space(g, o);
	put(o, "%c", quote);
	if (way == 0)
		put(o, "%s",
		    PICK(g, "", "*", "**", "!", "?", "!*", "*a", "a*", "*a*", "***", "1*"));
	else if (way < 5)
		for (i = 0; i < len; i++)
			put(o, "%c", s[i] == quote ? 'Q' : s[i]);
	else
		put_pattern(g, o, s, len, quote);
	put(o, "%c", quote);
}

/* The string in this field of a sample, or a random word if it cannot be read. */
static size_t field_string(struct generator *g, const struct event *e, const struct ev_field *f,
			   char *ret, size_t size)
{
	const struct record *r = sample(g, e);
	const char *p = NULL;
	size_t len = 0;

	if (r && f->kind != EV_FIELD_INT && f->offset + f->size <= r->len)
		p = ev_field__bytes(f, r->data, r->len, &len);
	if (!p) {
		p = PICK(g, "/etc/passwd", "abc", "Start context switch", "", "/proc/self/stat");
		len = strlen(p);
	}
	len = MIN(len, size - 1);
	/* "middle" reads past the NUL of a fixed-size field, so try that, too. */
	if (f->kind == EV_FIELD_STRING && !rng__below(&g->rng, 4)) {
		size_t skip = strnlen(p, len);

		while (skip < len && !p[skip])
			skip++;
		p += skip;
		len -= skip;
	}
	len = strnlen(p, len);
	memcpy(ret, p, len);
	ret[len] = '\0';
	return len;
}

static void put_function_pred(struct generator *g, struct out *o, const struct event *e,
			      const struct ev_field *f)
{
	const struct record *r = sample(g, e);
	struct ksym sym = { .name = "schedule" };
	uint64_t addr = 0;

	if (r)
		addr = ev_field__value(f, r->data, r->len);
	if (!r || rng__below(&g->rng, 4) == 0 || ksyms__find(g->syms, addr, &sym))
		sym.name = PICK(g, "schedule", "vfs_read", "do_sys_openat2", "no_such_function",
				"0", "_etext", "init_task", "jiffies", "_stext", "_end");
	put(o, ".function %s ", PICK(g, "==", "!=", "=="));
	if (rng__below(&g->rng, 4))
		put(o, "%s ", sym.name);
	else
		put_number(g, o, addr, false);
}

static bool is_string_field(const struct ev_field *f)
{
	return (f->is_char && f->kind != EV_FIELD_INT) || !strcmp(f->type, "char *") ||
	       !strcmp(f->type, "const char *");
}

/* Any field; strings more often, as they are more error-prone. */
static const struct ev_field *pick_field(struct generator *g, const struct event *e)
{
	uint32_t nr = ev_format__nr_fields(e->fmt), i = rng__below(&g->rng, nr);
	uint32_t tries = rng__below(&g->rng, 4);

	while (tries-- && !is_string_field(ev_format__field(e->fmt, i)))
		i = rng__below(&g->rng, nr);
	return ev_format__field(e->fmt, i);
}

static void put_generic(struct generator *g, struct out *o, const struct event *e)
{
	const char *comm;

	switch (rng__below(&g->rng, 4)) {
	case 0:
		if (!e->flags_vary) {
			put_flags_pred(g, o);
			break;
		}
		/* fall through */
	case 1:
		put(o, "%s ", PICK(g, "CPU", "cpu", "CPU"));
		put_number_pred(g, o, rng__below(&g->rng, g->nr_cpus + 1) - rng__below(&g->rng, 2),
				true);
		break;
	default:
		comm = PICK(g, g->comms[0], g->comms[1], g->comms[2]);
		put(o, "%s ", PICK(g, "COMM", "comm", "COMM"));
		put_string_pred(g, o, comm, strlen(comm));
	}
}

/*
 * The kernel copies the name up to its end, and the bytes after that are left over in the ring.
 * "middle", "end" and globs read these, and give different results in different rings.
 */
static bool has_old_bytes(const struct ev_field *f)
{
	return !strcmp(f->name, "newcomm");
}

static void put_pred(struct generator *g, struct out *o, const struct event *e)
{
	const struct ev_field *f;
	char text[128];
	size_t len;

	f = pick_field(g, e);
	if (!rng__below(&g->rng, 8) || !strcmp(f->name, "common_flags") ||
	    (e->flags_vary && !strcmp(f->name, "common_preempt_count"))) {
		put_generic(g, o, e);
		return;
	}
	put(o, "%s", f->name);
	if (is_string_field(f)) {
		/* A buffer on a child's stack may have changed when it is read later. */
		if (strchr(f->type, '*') && strcmp(f->name, "buf") && rng__below(&g->rng, 3))
			put(o, ".ustring");
		put_space(g, o);
		if (has_old_bytes(f)) {
			put(o, "%s \"%s\"", PICK(g, "==", "!=", "~"),
			    PICK(g, "alpha", "al*", "fifteen_chars_x", "b", "", "*"));
			return;
		}
		len = field_string(g, e, f, text, sizeof(text));
		put_string_pred(g, o, text, len);
		return;
	}
	if (g->function && f->size == 8 && !rng__below(&g->rng, 4)) {
		put_function_pred(g, o, e, f);
		return;
	}
	put_space(g, o);
	put_number_pred(g, o, field_value(g, e, f), f->is_signed);
}

static void put_expr(struct generator *g, struct out *o, const struct event *e, int depth)
{
	uint32_t dice = rng__below(&g->rng, 10);

	put_space(g, o);
	if (depth <= 0 || dice < 5) {
		put_pred(g, o, e);
	} else if (dice == 5) {
		put(o, "!");
		put_expr(g, o, e, 0);
	} else if (dice == 6) {
		put(o, "%s(", rng__below(&g->rng, 2) ? "!" : "");
		put_expr(g, o, e, depth - 1);
		put_space(g, o);
		put(o, " )");
	} else {
		put_expr(g, o, e, depth - 1);
		put(o, "%s", dice == 7 ? "&&" : " ||");
		put_expr(g, o, e, depth - 1);
	}
	put_space(g, o);
}

void generate(struct generator *g, const struct event *e, char *text)
{
	struct out o = { text, 0 };

	text[0] = '\0';
	put_expr(g, &o, e, rng__below(&g->rng, 4));
}

void mutate(struct generator *g, char *text)
{
	static const char *const bits[] = { "(",	  ")",		"!",
					    "&&",	  "||",		"\"",
					    "'",	  "==",		"~",
					    "<",	  "&",		" ",
					    "0",	  "-",		"x",
					    "}",	  "{",		"CPUS{0}",
					    "9",	  "|",		"99999999999999999999",
					    ".ustring",	  ".function",	"_",
					    "=",	  "\xa0",	"\xe9",
					    "\\",	  "common_pid", "*",
					    "stacktrace", "common_cpu" };
	uint32_t times = 1 + rng__below(&g->rng, 3);

	while (times--) {
		size_t len = strlen(text), at = rng__below(&g->rng, len + 1), bit_len, cut;
		const char *bit = bits[rng__below(&g->rng, ARRAY_SIZE(bits))];

		bit_len = strlen(bit);
		cut = rng__below(&g->rng, 4);
		cut = MIN(cut, len - at);
		switch (rng__below(&g->rng, 3)) {
		case 0:
			bit_len = 0; /* only remove */
			break;
		case 1:
			cut = 0; /* only insert */
			break;
		}
		if (len + bit_len >= MAX_EXPR_TEXT)
			continue;
		memmove(text + at + bit_len, text + at + cut, len - at - cut + 1);
		memcpy(text + at, bit, bit_len);
	}
}
