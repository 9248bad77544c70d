// SPDX-License-Identifier: GPL-2.0-only
/* Parses another machine's /proc/kallsyms, which may be hostile. */
#include "kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "log.h"
#include "seeded_hash.h"

/* An address this far after the start of a symbol of unknown size still belongs to it. */
#define UNSIZED_REACH 65536

struct kallsyms {
	struct kallsym *v; /* sorted by start, then by place in the text (the name pointer) */
	size_t nr, cap;
	struct index names; /* made by the first look-up */
	uint64_t seed; /* of its hashes */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *skip_word(const char *p, const char *end)
{
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	return p;
}

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t name\t[module]" */
static bool parse_line(const char *p, const char *end, struct kallsym *ret_sym)
{
	struct kallsym s = { 0 };
	const char *word;
	int digits = 0;

	for (; p < end && hex_digit(*p) >= 0 && digits < 17; p++, digits++)
		s.start = s.start << 4 | (unsigned int)hex_digit(*p);
	if (!digits || digits > 16 || p == end || (*p != ' ' && *p != '\t'))
		return false;
	word = skip_blank(p, end);
	p = skip_word(word, end);
	if (p - word != 1) /* the type is one letter */
		return false;
	s.name = skip_blank(p, end);
	p = skip_word(s.name, end);
	if (p == s.name || p - s.name > 1024)
		return false;
	s.name_len = (uint32_t)(p - s.name);
	word = skip_blank(p, end);
	p = skip_word(word, end);
	if (p != word) {
		if (p - word < 3 || p - word > 256 || *word != '[' || p[-1] != ']')
			return false;
		s.mod = word + 1;
		s.mod_len = (uint32_t)(p - word - 2);
	}
	if (skip_blank(p, end) != end)
		return false;
	*ret_sym = s;
	return true;
}

static int add(struct kallsyms *k, const struct kallsym *s)
{
	if (array__grow(&k->v, k->nr, &k->cap))
		return -ENOMEM;
	k->v[k->nr++] = *s;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct kallsym *a = pa, *b = pb;

	return CMP(a->start, b->start) ?: CMP(a->name, b->name);
}

static bool same_mod(const struct kallsym *a, const struct kallsym *b)
{
	return a->mod_len == b->mod_len &&
	       !memcmp(a->mod ? a->mod : "", b->mod ? b->mod : "", a->mod_len);
}

static void set_sizes(struct kallsyms *k)
{
	size_t i, next = k->nr; /* the next symbol with a higher address */

	for (i = k->nr; i-- > 0;) {
		struct kallsym *s = &k->v[i];

		if (i + 1 < k->nr && k->v[i + 1].start != s->start)
			next = i + 1;
		/*
		 * BPF programs are scattered: the start of the next one is not the end of this one.
		 */
		if (next < k->nr && same_mod(s, &k->v[next]) &&
		    !(s->mod_len == 3 && !memcmp(s->mod, "bpf", 3)))
			s->size = k->v[next].start - s->start;
	}
}

static int parse_lines(struct kallsyms *k, const char *name, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	size_t line = 0, zero = 0;
	int err;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;
		struct kallsym s;

		line++;
		if (skip_blank(p, stop) != stop) {
			if (!parse_line(p, stop, &s)) {
				log_msg(STK_LOG_ERROR, 0,
					"%s: line %zu: not a kallsyms line "
					"(\"address type name\")",
					name, line);
				return -EINVAL;
			}
			zero += !s.start;
			err = add(k, &s);
			if (err)
				return log_err(err, "%s", name);
		}
		p = nl ? nl + 1 : end;
	}
	if (k->nr && zero == k->nr)
		log_warn("%s: all addresses are 0: it was copied without the privilege to see them",
			 name);
	return 0;
}

int kallsyms__parse(const char *name, const char *text, size_t len, struct kallsyms **ret_syms)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	err = parse_lines(k, name, text, len);
	if (err) {
		kallsyms__free(k);
		return err;
	}
	if (k->nr)
		qsort(k->v, k->nr, sizeof(*k->v), compare);
	set_sizes(k);
	*ret_syms = k;
	return 0;
}

void kallsyms__free(struct kallsyms *k)
{
	if (!k)
		return;
	index__free(&k->names);
	free(k->v);
	free(k);
}

size_t kallsyms__nr(const struct kallsyms *k)
{
	return k->nr;
}

const struct kallsym *kallsyms__find(const struct kallsyms *k, uint64_t addr)
{
	size_t lo = array__bisect(k->nr, i, k->v[i].start <= addr);
	const struct kallsym *s;

	if (!lo)
		return NULL;
	s = &k->v[lo - 1];
	s = &k->v[array__bisect(lo, i, k->v[i].start < s->start)]; /* the first one there */
	return addr - s->start < (s->size ? s->size : UNSIZED_REACH) ? s : NULL;
}

static int index_names(struct kallsyms *k)
{
	size_t i;

	if (k->names.nr || !k->nr)
		return 0;
	k->seed = seeded_hash__seed();
	if (k->nr >= INDEX_NONE || index__reserve(&k->names, (uint32_t)k->nr))
		return -ENOMEM;
	for (i = 0; i < k->nr; i++)
		index__add(&k->names, seeded_hash__bytes(k->seed, k->v[i].name, k->v[i].name_len),
			   (uint32_t)i); /* there is room */
	return 0;
}

const struct kallsym *kallsyms__named(struct kallsyms *k, const char *name, size_t name_len,
				      const char *mod, size_t mod_len, uint64_t size)
{
	const struct kallsym *found = NULL;
	uint64_t hash;
	uint32_t i;

	if (index_names(k))
		return NULL;
	hash = seeded_hash__bytes(k->seed, name, name_len);
	index__for_each(&k->names, hash, i) {
		const struct kallsym *s = &k->v[i];

		if (s->name_len != name_len || memcmp(s->name, name, name_len) ||
		    (size && s->size != size) ||
		    (mod &&
		     (s->mod_len != mod_len || memcmp(s->mod_len ? s->mod : mod, mod, mod_len))))
			continue;
		if (found)
			return NULL;
		found = s;
	}
	return found;
}
