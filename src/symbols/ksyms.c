// SPDX-License-Identifier: GPL-2.0-only
#include "ksyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "entry_names.h"
#include "log.h"

#define TEXT_LEN 256		/* of one resolved address: KSYM_NAME_LEN is 512 since 6.1, cut */
#define WALK_BATCH 64

struct entry {
	uint64_t start;
	uint64_t size;
	uint32_t name, module;	/* offsets in the string pool */
};

struct ksyms {
	struct entry *entries;	/* sorted by start, aliases in the kernel's order */
	size_t nr, cap;
	char *pool;
	size_t pool_len, pool_cap;
	uint32_t *names;	/* hash table, built when first asked by name */
	size_t names_mask;
	bool hidden;
	ksyms_resolve_fn resolve;
	void *resolve_ctx;
};

static int pool_add(struct ksyms *k, const char *s, size_t len, uint32_t *ret_off)
{
	if (k->pool_len + len + 1 > k->pool_cap) {
		size_t cap = MAX(k->pool_cap * 2, (size_t)1 << 20);
		char *pool;

		if (cap > UINT32_MAX)
			return -ENOMEM;
		pool = realloc(k->pool, cap);
		if (!pool)
			return -ENOMEM;
		k->pool = pool;
		k->pool_cap = cap;
	}
	memcpy(k->pool + k->pool_len, s, len);
	k->pool[k->pool_len + len] = '\0';
	*ret_off = k->pool_len;
	k->pool_len += len + 1;
	return 0;
}

static int entry_add(struct ksyms *k, uint64_t start, uint64_t size, const char *name,
		     size_t name_len, const char *module, size_t module_len)
{
	struct entry *e;
	int err;

	if (k->nr == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 16384;

		e = realloc(k->entries, cap * sizeof(*e));
		if (!e)
			return -ENOMEM;
		k->entries = e;
		k->cap = cap;
	}
	e = &k->entries[k->nr];
	e->start = start;
	e->size = size;
	e->module = 0;
	err = pool_add(k, name, name_len, &e->name);
	if (!err && module_len)
		err = pool_add(k, module, module_len, &e->module);
	if (!err)
		k->nr++;
	return err;
}

/* Stable by address: of aliases the kernel's own lookups answer with the first it lists. */
static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Sort, and let each symbol end where the next one of its module begins. */
static void entries_finish(struct ksyms *k)
{
	uint64_t next = 0;
	uint32_t module = 0;
	size_t i;

	qsort(k->entries, k->nr, sizeof(*k->entries), entry_compare);
	for (i = k->nr; i; i--) {
		struct entry *e = &k->entries[i - 1];

		if (i < k->nr && e->start != k->entries[i].start) {
			next = k->entries[i].start;
			module = k->entries[i].module;
		}
		if (!e->size && next && !strcmp(k->pool + e->module, k->pool + module))
			e->size = next - e->start;
	}
}

static struct ksyms *ksyms_new(void)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	uint32_t empty;

	if (k && pool_add(k, "", 0, &empty)) {
		free(k);
		k = NULL;
	}
	return k;
}

/* "ffffffff81000000 T name\t[module]" */
static int parse_line(struct ksyms *k, char *line)
{
	char *end, *name, *module = NULL;
	uint64_t addr;
	size_t len;

	addr = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return -EINVAL;
	if (!strchr("tTwW", end[1]))
		return 0;
	name = end + 3;
	len = strcspn(name, " \t");
	if (name[len]) {
		module = strchr(name + len, '[');
		if (module)
			module++;
	}
	if (!addr)
		return 0;
	return entry_add(k, addr, 0, name, len, module ? module : "",
			 module ? strcspn(module, "]") : 0);
}

int ksyms__parse(char *text, struct ksyms **ret_syms)
{
	struct ksyms *k = ksyms_new();
	char *line = text, *next;
	int err;

	if (!k)
		return -ENOMEM;
	for (; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		err = *line ? parse_line(k, line) : 0;
		if (err) {
			ksyms__free(k);
			return err;
		}
	}
	entries_finish(k);
	k->hidden = !k->nr;
	*ret_syms = k;
	return 0;
}

static int read_all(const char *path, char **ret_text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0, cap = 4u << 20;
	_cleanup_free_ char *text = NULL;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *more = realloc(text, cap + 1);
		ssize_t n;

		if (!more)
			return -ENOMEM;
		text = more;
		n = read(fd, text + len, cap - len);
		if (n < 0)
			return -errno;
		len += n;
		if (!n)
			break;
		if (len == cap)
			cap *= 2;
	}
	text[len] = '\0';
	*ret_text = take_ptr(text);
	return 0;
}

int ksyms__load(struct ksyms **ret_syms)
{
	_cleanup_free_ char *text = NULL;
	int err;

	err = read_all("/proc/kallsyms", &text);
	if (err)
		return log_err(err, "read /proc/kallsyms");
	err = ksyms__parse(text, ret_syms);
	return err ? log_err(err, "parse /proc/kallsyms") : 0;
}

void ksyms__free(struct ksyms *k)
{
	if (!k)
		return;
	free(k->entries);
	free(k->names);
	free(k->pool);
	free(k);
}

bool ksyms__hidden(const struct ksyms *k)
{
	return k->hidden;
}

void ksyms__set_resolver(struct ksyms *k, ksyms_resolve_fn fn, void *ctx)
{
	k->resolve = fn;
	k->resolve_ctx = ctx;
}

static struct entry *entry_find(const struct ksyms *k, uint64_t addr)
{
	size_t lo = 0, hi = k->nr;
	struct entry *e;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->entries[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	while (lo > 1 && k->entries[lo - 2].start == k->entries[lo - 1].start)
		lo--;
	e = &k->entries[lo - 1];
	return e->size && addr - e->start < e->size ? e : NULL;
}

/* "name+0x12/0x34 [module]"; false when the kernel printed a bare number. */
static bool parse_resolved(char *text, uint64_t addr, struct ksym *ret_sym)
{
	char *plus = strrchr(text, '+'), *slash, *bracket;
	uint64_t off;

	if (!plus || !strncmp(text, "0x", 2))
		return false;
	off = strtoull(plus + 1, &slash, 16);
	if (*slash != '/')
		return false;
	ret_sym->size = strtoull(slash + 1, &bracket, 16);
	ret_sym->start = addr - off;
	*plus = '\0';
	ret_sym->name = text;
	ret_sym->module = "";
	bracket = strchr(bracket, '[');
	if (bracket) {
		bracket[1 + strcspn(bracket + 1, " ]")] = '\0';
		ret_sym->module = bracket + 1;
	}
	return true;
}

/* Keeps what the resolver said, in order. */
static int entry_insert(struct ksyms *k, const struct ksym *sym)
{
	size_t i;
	struct entry e;
	int err;

	free(k->names);		/* entries move */
	k->names = NULL;
	err = entry_add(k, sym->start, sym->size, sym->name, strlen(sym->name), sym->module,
			strlen(sym->module));
	if (err)
		return err;
	e = k->entries[k->nr - 1];
	for (i = k->nr - 1; i && k->entries[i - 1].start > e.start; i--)
		k->entries[i] = k->entries[i - 1];
	k->entries[i] = e;
	return 0;
}

int ksyms__find(struct ksyms *k, uint64_t addr, struct ksym *ret_sym)
{
	struct entry *e = entry_find(k, addr);
	char text[TEXT_LEN];
	struct ksym sym;
	int err;

	if (!e && k->resolve) {
		err = k->resolve(k->resolve_ctx, &addr, 1, text, sizeof(text));
		if (err)
			return err;
		text[sizeof(text) - 1] = '\0';
		if (!parse_resolved(text, addr, &sym))
			return -ENOENT;
		err = entry_insert(k, &sym);
		if (err)
			return err;
		e = entry_find(k, addr);
	}
	if (!e)
		return -ENOENT;
	*ret_sym = (struct ksym){ .start = e->start, .size = e->size, .name = k->pool + e->name,
				  .module = k->pool + e->module };
	return 0;
}

static uint32_t name_hash(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

/* Open addressing: entry number + 1 by name, the lowest address first. */
static int names_build(struct ksyms *k)
{
	size_t i, at, cap = 1024;

	while (cap < k->nr * 2)
		cap *= 2;
	k->names = calloc(cap, sizeof(*k->names));
	if (!k->names)
		return -ENOMEM;
	k->names_mask = cap - 1;
	for (i = 0; i < k->nr; i++) {
		at = name_hash(k->pool + k->entries[i].name) & k->names_mask;
		while (k->names[at])
			at = (at + 1) & k->names_mask;
		k->names[at] = i + 1;
	}
	return 0;
}

int ksyms__by_name(struct ksyms *k, const char *name, struct ksym *ret_sym)
{
	size_t at;
	int err;

	if (!k->names) {
		err = names_build(k);
		if (err)
			return err;
	}
	for (at = name_hash(name) & k->names_mask; k->names[at]; at = (at + 1) & k->names_mask) {
		const struct entry *e = &k->entries[k->names[at] - 1];

		if (strcmp(k->pool + e->name, name))
			continue;
		*ret_sym = (struct ksym){ .start = e->start, .size = e->size,
					  .name = k->pool + e->name,
					  .module = k->pool + e->module };
		return 0;
	}
	return -ENOENT;
}

/*
 * From anchor towards higher or lower addresses, symbol by symbol, until something that is no
 * function of the kernel itself.
 */
static int walk_direction(struct ksyms *k, uint64_t anchor, bool up)
{
	uint64_t addr = anchor;
	struct ksym sym;
	char text[TEXT_LEN];
	int err;

	for (;;) {
		err = k->resolve(k->resolve_ctx, &addr, 1, text, sizeof(text));
		if (err)
			return err;
		text[sizeof(text) - 1] = '\0';
		if (!parse_resolved(text, addr, &sym) || *sym.module || !sym.size)
			return 0;
		err = entry_add(k, sym.start, sym.size, sym.name, strlen(sym.name), "", 0);
		if (err)
			return err;
		addr = up ? sym.start + sym.size : sym.start - 1;
	}
}

int ksyms__walk(struct ksyms *k, uint64_t anchor)
{
	int err;

	if (!k->resolve)
		return -EOPNOTSUPP;
	err = walk_direction(k, anchor, true);
	if (!err)
		err = walk_direction(k, anchor, false);
	entries_finish(k);
	return err;
}

static bool is_interrupt_entry(const struct ksyms *k, size_t i)
{
	uint64_t start = k->entries[i].start;

	while (i && k->entries[i - 1].start == start)
		i--;
	for (; i < k->nr && k->entries[i].start == start; i++)
		if (interrupt_entry_name(k->pool + k->entries[i].name))
			return true;
	return false;
}

int ksyms__interrupt_entries(const struct ksyms *k, struct ksym_range *ret_entry,
			     struct ksym_range *ret_holes, unsigned int max_holes)
{
	uint64_t first = 0, end = 0, at = 0;
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < k->nr; i++) {
		const struct entry *e = &k->entries[i];

		if (e->module || !interrupt_entry_name(k->pool + e->name))
			continue;
		if (!first)
			first = e->start;
		end = e->start + e->size;
	}
	if (!first)
		return -ENOENT;
	memset(ret_holes, 0, max_holes * sizeof(*ret_holes));
	for (i = 0; i < k->nr && k->entries[i].start < end; i++) {
		const struct entry *e = &k->entries[i];

		if (e->start < first || e->start == at || is_interrupt_entry(k, i))
			continue;
		at = e->start;
		if (nr && ret_holes[nr - 1].start + ret_holes[nr - 1].len == at) {
			ret_holes[nr - 1].len += e->size;
			continue;
		}
		if (nr == max_holes)
			return -E2BIG;
		ret_holes[nr++] = (struct ksym_range){ at, e->size };
	}
	*ret_entry = (struct ksym_range){ first, end - first };
	return 0;
}
