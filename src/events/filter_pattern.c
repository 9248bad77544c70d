// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Globs as tokens, CPU lists as masks.  Sources: the kernel's lib/glob.c and lib/bitmap-str.c. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cleanup.h"
#include "filter_priv.h"

int filter__pool_add(struct filter_prog *prog, const void *data, size_t len, size_t align)
{
	size_t off = (prog->pool_len + align - 1) / align * align;

	if (off > FILTER_POOL_SIZE || len > FILTER_POOL_SIZE - off)
		return -E2BIG;
	memcpy(prog->pool + off, data, len);
	prog->pool_len = off + len;
	return off;
}

/*
 * Parses the character class after a '['.  Returns the bytes used, including the ']', or 0 if it is
 * not closed: then the '[' stands for itself.  pat is NUL-terminated.
 */
static size_t class__parse(const char *pat, uint8_t bits[static FILTER_CLASS_BYTES])
{
	bool inverted = pat[0] == '!';
	size_t i = inverted, k;
	unsigned char first = pat[i++];

	memset(bits, 0, FILTER_CLASS_BYTES);
	do {
		unsigned char last = first;
		unsigned int ch;

		if (!first)
			return 0;
		if (pat[i] == '-' && pat[i + 1] != ']') {
			last = pat[i + 1];
			if (!last)
				return 0;
			i += 2;
		}
		for (ch = first; ch <= last; ch++)
			bits[ch / 8] |= 1 << ch % 8;
		first = pat[i++];
	} while (first != ']');
	for (k = 0; inverted && k < FILTER_CLASS_BYTES; k++)
		bits[k] = ~bits[k];
	return i;
}

int filter__glob_compile(struct filter_prog *prog, const char *pat, size_t len)
{
	uint16_t tokens[FILTER_MAX_PATTERN + 1];
	uint8_t bits[FILTER_CLASS_BYTES];
	size_t n = 0, i = 0, used;
	int off;

	if (len > FILTER_MAX_PATTERN)
		return -E2BIG;
	while (i < len) {
		char ch = pat[i++];

		if (ch == '?') {
			tokens[n++] = FILTER_GLOB_ANY;
		} else if (ch == '*') {
			tokens[n++] = FILTER_GLOB_STAR;
		} else if (ch == '[' && (used = class__parse(pat + i, bits))) {
			off = filter__pool_add(prog, bits, sizeof(bits), 1);
			if (off < 0)
				return off;
			tokens[n++] = FILTER_GLOB_CLASS | off;
			i += used;
		} else {
			if (ch == '\\')
				ch = pat[i++]; /* at the very end: the NUL */
			tokens[n++] = FILTER_GLOB_LITERAL | (unsigned char)ch;
		}
	}
	if (!n || tokens[n - 1] != FILTER_GLOB_END)
		tokens[n++] = FILTER_GLOB_END;
	return filter__pool_add(prog, tokens, n * sizeof(tokens[0]), 2);
}

/* One part of a CPU list: from-to and, of each group of that many CPUs, the first `used`. */
struct cpu_range {
	uint32_t from, to, used, group;
};

struct cpu_text {
	const char *s, *end;
	uint32_t last; /* the value of N */
};

static char cpu_text__peek(const struct cpu_text *t)
{
	return t->s < t->end ? *t->s : '\0';
}

static bool is_separator(char ch)
{
	return ch == ',' || filter__isspace(ch);
}

static bool is_end(char ch)
{
	return !ch || ch == '\n';
}

static int cpu_text__number(struct cpu_text *t, uint32_t *ret)
{
	uint64_t v = 0;
	bool any = false;

	if (cpu_text__peek(t) == 'N') {
		t->s++;
		*ret = t->last;
		return 0;
	}
	for (; filter__isdigit(cpu_text__peek(t)); t->s++, any = true) {
		v = v * 10 + (*t->s - '0');
		if (v > UINT32_MAX)
			return -EINVAL;
	}
	if (!any)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* 1: the rest is ignored (a newline after a plain range ends the list), 0: go on. */
static int cpu_text__range(struct cpu_text *t, struct cpu_range *r)
{
	if (t->end - t->s >= 3 && !strncasecmp(t->s, "all", 3)) {
		t->s += 3;
		r->from = 0;
		r->to = t->last;
	} else {
		if (cpu_text__number(t, &r->from))
			return -EINVAL;
		r->to = r->from;
		if (cpu_text__peek(t) == '-') {
			t->s++;
			if (cpu_text__number(t, &r->to))
				return -EINVAL;
		} else if (!is_separator(cpu_text__peek(t)) && !is_end(cpu_text__peek(t))) {
			return -EINVAL;
		}
	}
	r->used = r->group = r->to + 1;
	if (is_end(cpu_text__peek(t)))
		return 1;
	if (is_separator(cpu_text__peek(t)))
		return 0;
	if (cpu_text__peek(t) != ':')
		return -EINVAL;
	t->s++;
	if (cpu_text__number(t, &r->used) || cpu_text__peek(t) != '/')
		return -EINVAL;
	t->s++;
	return cpu_text__number(t, &r->group);
}

int filter__cpulist_parse(const char *text, size_t len, uint32_t nr_cpus, uint64_t *ret_mask)
{
	struct cpu_text t = { .s = text, .end = text + len, .last = nr_cpus - 1 };
	uint64_t cpu;

	memset(ret_mask, 0, (nr_cpus + 63) / 64 * sizeof(*ret_mask));
	for (;;) {
		struct cpu_range r;
		int ret;

		while (is_separator(cpu_text__peek(&t)))
			t.s++;
		if (is_end(cpu_text__peek(&t)))
			return 0;
		ret = cpu_text__range(&t, &r);
		if (ret < 0)
			return ret;
		if (r.from > r.to || !r.group || r.used > r.group || r.to >= nr_cpus)
			return -EINVAL;
		for (cpu = r.from; cpu <= r.to; cpu++) {
			if ((cpu - r.from) % r.group < r.used)
				ret_mask[cpu / 64] |= 1ULL << cpu % 64;
		}
		if (ret)
			return 0;
	}
}
