// SPDX-License-Identifier: GPL-2.0-only
/* Parses /proc/kallsyms in place and finds symbols by address and by name. */
#include "ksyms.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "entry_names.h"
#include "index.h"
#include "ksyms_image.h"
#include "log.h"
#include "seeded_hash.h"
#include "slurp.h"
#include "thread.h"

#define FEW_NAMES 16 /* are looked up without an index of all names */
#define FIRST_LEN (64 << 10) /* the first function of the kernel comes before */
#define TEXT_LEN 256 /* of one resolved address; KSYM_NAME_LEN is 512 since 6.1: truncated */

struct ksyms {
	/* aliases are in the kernel's order; the pool is the text of kallsyms and further names */
	struct ksyms_table t;
	bool own_only; /* the functions of modules have not been read */
	struct index names; /* built when more than FEW_NAMES are looked up */
	unsigned int nr_looked_up;
	uint64_t fixed_start, fixed_end; /* the kernel's own text */
	bool hidden;
	ksyms_resolve_fn resolve;
	void *resolve_ctx;
	char answer[TEXT_LEN]; /* the resolver's last answer */
	const struct ksyms_keeper *keeper;
	pthread_t loader;
	bool loading; /* the loader runs, or has ended and was not waited for */
	bool unsettled; /* settle() has something to do */
	int err; /* of the loader */
	int (*when_hidden)(void *ctx);
	void *hidden_ctx;
};

/* Waits for the loader; to be called before anything of k is used. */
static void settle(const struct ksyms *const_k)
{
	struct ksyms *k = (struct ksyms *)const_k;

	if (!k->unsettled)
		return;
	k->unsettled = false;
	if (k->loading)
		pthread_join(k->loader, NULL);
	k->loading = false;
	if (!k->err && k->hidden && k->when_hidden)
		k->err = k->when_hidden(k->hidden_ctx);
}

static int pool_add(struct ksyms *k, const char *s, uint32_t *ret_off)
{
	size_t len = strlen(s) + 1;

	if (k->t.pool_len + len > UINT32_MAX ||
	    array__reserve(&k->t.pool, k->t.pool_len + len, &k->t.pool_cap))
		return -ENOMEM;
	memcpy(k->t.pool + k->t.pool_len, s, len);
	*ret_off = k->t.pool_len;
	k->t.pool_len += len;
	return 0;
}

static int entry_add(struct ksyms *k, struct ksyms_entry e)
{
	if (array__grow(&k->t.entries, k->t.nr, &k->t.cap))
		return -ENOMEM;
	k->t.entries[k->t.nr++] = e;
	return 0;
}

static const char *module_of(const struct ksyms *k, const struct ksyms_entry *e)
{
	return e->module ? k->t.pool + e->module : "";
}

/* Stable by address: among aliases the kernel's own lookups return the first one listed. */
static int entry_compare(const void *a, const void *b)
{
	const struct ksyms_entry *x = a, *y = b;

	return CMP(x->start, y->start) ?: CMP(x->name, y->name);
}

static void entries_sort(struct ksyms *k)
{
	size_t i = 1;

	while (i < k->t.nr && entry_compare(&k->t.entries[i - 1], &k->t.entries[i]) < 0)
		i++;
	if (i < k->t.nr)
		qsort(k->t.entries, k->t.nr, sizeof(*k->t.entries), entry_compare);
}

/*
 * Sorts, and ends each symbol where the next one of its module begins.  The last symbol of a module
 * has no size: only the resolver knows where it ends.
 */
static void entries_finish(struct ksyms *k)
{
	size_t i;

	entries_sort(k);
	for (i = k->t.nr; i--;) {
		struct ksyms_entry *e = &k->t.entries[i], *next = e + 1;

		if (!e->size && i + 1 < k->t.nr) {
			if (next->start == e->start)
				e->size = next->size;
			else if (!strcmp(module_of(k, e), module_of(k, next)))
				e->size = next->start - e->start;
		}
		if (!e->module) {
			k->fixed_start = e->start;
			k->fixed_end = MAX(k->fixed_end, e->start + MAX(e->size, (uint64_t)1));
		}
	}
}

/*
 * Code that is loaded and unloaded without being a module: BPF programs, trampolines.  The address
 * may be reused, so their entries in kallsyms are soon stale.
 */
static bool is_generated(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", strlen("__builtin__"));
}

/* Data of the kernel itself ends the function before it. */
static void end_text(struct ksyms *k, uint64_t addr)
{
	struct ksyms_entry *last = k->t.nr ? &k->t.entries[k->t.nr - 1] : NULL;

	if (last && !last->module && !last->size && last->start < addr)
		last->size = addr - last->start;
}

/* "ffffffff81000000 T name\t[module]", in the pool, NUL-terminated. */
static int parse_line(struct ksyms *k, char *line)
{
	char *end, *name, *module = NULL, *stop;
	struct ksyms_entry e = { 0 };

	e.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return -EINVAL;
	if (!e.start)
		return 0;
	name = end + 3;
	stop = strchr(name, '\t');
	if (stop) {
		*stop++ = '\0';
		module = strchr(stop, '[');
	}
	if (module) {
		module++;
		module[strcspn(module, "]")] = '\0';
		if (is_generated(module))
			return 0;
		e.module = module - k->t.pool;
	}
	if (!strchr("tTwW", end[1])) {
		if (!e.module)
			end_text(k, e.start);
		return 0;
	}
	e.name = name - k->t.pool;
	return entry_add(k, e);
}

/* Parses the pool, which is NUL-terminated. */
static int parse(struct ksyms *k)
{
	char *line = k->t.pool, *next;
	int err;

	for (; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		err = *line ? parse_line(k, line) : 0;
		if (err)
			return err;
	}
	entries_finish(k);
	k->hidden = !k->t.nr;
	return 0;
}

/* Takes ownership of the text and parses it in place. */
static int take_text(struct ksyms *k, char *text, size_t len)
{
	k->t.pool = text;
	k->t.pool_len = k->t.pool_cap = len + 1;
	return len < UINT32_MAX ? parse(k) : -ENOMEM;
}

int ksyms__parse(const char *text, struct ksyms **ret_syms)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	char *copy = strdup(text);
	int err;

	if (!k || !copy) {
		free(copy);
		free(k);
		return -ENOMEM;
	}
	err = take_text(k, copy, strlen(copy));
	if (err) {
		ksyms__free(k);
		return err;
	}
	*ret_syms = k;
	return 0;
}

static int read_all(struct ksyms *k)
{
	size_t len;
	char *text;

	return slurp("/proc/kallsyms", &text, &len) ?: take_text(k, text, len);
}

/*
 * The address of the first function of kallsyms, by which kept ones are known to be of this run of
 * the kernel; 0: unknown, or hidden.
 */
static uint64_t first_function(void)
{
	_cleanup_free_ char *text = malloc(FIRST_LEN);
	_cleanup_close_ int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char *line, *end;
	uint64_t addr;

	if (!text || fd < 0 || slurp__start(fd, text, FIRST_LEN) < 0)
		return 0;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		addr = strtoull(line, &end, 16);
		if (addr && *end == ' ' && end[1] && strchr("tTwW", end[1]))
			return addr;
	}
	return 0;
}

static bool read_kept(struct ksyms *k, uint64_t first)
{
	_cleanup_free_ void *image = NULL;
	size_t len;

	if (!first || !k->keeper->get(k->keeper->ctx, first, &image, &len) ||
	    ksyms_image__unpack(image, len, &k->t))
		return false;
	k->own_only = true;
	entries_finish(k);
	return true;
}

static void keep(const struct ksyms *k, uint64_t first)
{
	_cleanup_free_ void *image = NULL;
	size_t len;

	if (first && k->t.nr && !ksyms_image__pack(&k->t, &image, &len))
		k->keeper->put(k->keeper->ctx, first, image, len);
}

static void *load(void *arg)
{
	struct ksyms *k = arg;
	uint64_t first = k->keeper ? first_function() : 0;

	if (first && read_kept(k, first))
		return NULL;
	k->err = read_all(k);
	if (!k->err && k->keeper)
		keep(k, first);
	return NULL;
}

/* Where the kernel's own functions were kept, those of modules are read when they are needed. */
static void read_modules(struct ksyms *k)
{
	struct ksyms all = { 0 };

	if (!k->own_only)
		return;
	k->own_only = false;
	if (read_all(&all) || !all.t.nr) { /* the rest is known nevertheless */
		ksyms_table__free(&all.t);
		return;
	}
	ksyms_table__free(&k->t);
	index__free(&k->names);
	k->names = (struct index){ 0 };
	k->t = all.t;
}

int ksyms__load_beside(const struct ksyms_keeper *keeper, int (*when_hidden)(void *ctx), void *ctx,
		       struct ksyms **ret_syms)
{
	struct ksyms *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->keeper = keeper;
	k->when_hidden = when_hidden;
	k->hidden_ctx = ctx;
	k->loading = !thread__start(&k->loader, load, k);
	if (!k->loading)
		load(k);
	k->unsettled = true;
	*ret_syms = k;
	return 0;
}

int ksyms__wait(struct ksyms *k)
{
	settle(k);
	return k->err;
}

int ksyms__load(struct ksyms **ret_syms)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return log_err(-ENOMEM, "/proc/kallsyms");
	load(k);
	err = k->err;
	if (err) {
		ksyms__free(k);
		return log_err(err, "/proc/kallsyms");
	}
	*ret_syms = k;
	return 0;
}

void ksyms__free(struct ksyms *k)
{
	if (!k)
		return;
	if (k->loading)
		pthread_join(k->loader, NULL);
	ksyms_table__free(&k->t);
	index__free(&k->names);
	free(k);
}

bool ksyms__hidden(const struct ksyms *k)
{
	settle(k);
	return k->hidden;
}

void ksyms__set_resolver(struct ksyms *k, ksyms_resolve_fn fn, void *ctx)
{
	k->resolve = fn;
	k->resolve_ctx = ctx;
}

static struct ksyms_entry *entry_find(const struct ksyms *k, uint64_t addr)
{
	size_t lo = array__bisect(k->t.nr, i, k->t.entries[i].start <= addr);
	struct ksyms_entry *e;

	if (!lo)
		return NULL;
	while (lo > 1 && k->t.entries[lo - 2].start == k->t.entries[lo - 1].start)
		lo--;
	e = &k->t.entries[lo - 1];
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

/* Names of BPF programs and of code generated for them. */
static bool is_bpf(const char *name)
{
	static const char *const starts[] = { "bpf_prog_", "bpf_trampoline_", "bpf_dispatcher_",
					      "bpf__" };
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int find_resolved(struct ksyms *k, uint64_t addr, struct ksym *ret_sym)
{
	struct ksym sym;
	int err;

	err = k->resolve(k->resolve_ctx, &addr, 1, k->answer, sizeof(k->answer));
	if (err)
		return err;
	k->answer[sizeof(k->answer) - 1] = '\0';
	if (!parse_resolved(k->answer, addr, &sym))
		return -ENOENT;
	if (!*sym.module && !ksyms__is_fixed(k, addr) && is_bpf(sym.name))
		sym.module = "bpf";
	*ret_sym = sym;
	return 0;
}

bool ksyms__is_fixed(const struct ksyms *k, uint64_t addr)
{
	settle(k);
	return addr >= k->fixed_start && addr < k->fixed_end;
}

/*
 * Only the kernel's own text is unchanged since kallsyms was read.  The module symbols of the table
 * are used only if no resolver is available.
 */
int ksyms__find(struct ksyms *k, uint64_t addr, struct ksym *ret_sym)
{
	int err = -EOPNOTSUPP;
	struct ksyms_entry *e;

	settle(k);
	e = entry_find(k, addr);
	if (k->resolve && (!e || e->module))
		err = find_resolved(k, addr, ret_sym);
	if (err != -EOPNOTSUPP)
		return err;
	if (!e && k->own_only) {
		read_modules(k);
		e = entry_find(k, addr);
	}
	if (!e)
		return -ENOENT;
	*ret_sym = (struct ksym){ .start = e->start,
				  .size = e->size,
				  .name = k->t.pool + e->name,
				  .module = module_of(k, e) };
	return 0;
}

static uint64_t name_hash(const char *s)
{
	return seeded_hash__bytes(0, s, strlen(s));
}

/*
 * The index does not grow meanwhile, so of entries with the same name the lowest address comes
 * first.
 */
static int names_build(struct ksyms *k)
{
	if (index__reserve(&k->names, k->t.nr))
		return -ENOMEM;
	for (size_t i = 0; i < k->t.nr; i++)
		index__add(&k->names, name_hash(k->t.pool + k->t.entries[i].name), i);
	return 0;
}

/* The entry of the lowest address with this name; k->t.nr: none.  A negative errno. */
static int64_t find_named(struct ksyms *k, const char *name)
{
	uint64_t hash;
	uint32_t i;

	if (k->nr_looked_up < FEW_NAMES) {
		k->nr_looked_up++;
		for (i = 0; i < k->t.nr && strcmp(k->t.pool + k->t.entries[i].name, name); i++)
			;
		return i;
	}
	if (!k->names.slots && names_build(k))
		return -ENOMEM;
	hash = name_hash(name);
	index__for_each(&k->names, hash, i)
		if (!strcmp(k->t.pool + k->t.entries[i].name, name))
			return i;
	return k->t.nr;
}

int ksyms__by_name(struct ksyms *k, const char *name, struct ksym *ret_sym)
{
	const struct ksyms_entry *e;
	struct ksym found;
	int64_t i;

	settle(k);
	i = find_named(k, name);
	if (i == (int64_t)k->t.nr && k->own_only) {
		read_modules(k);
		i = find_named(k, name);
	}
	if (i < 0 || i == (int64_t)k->t.nr)
		return i < 0 ? i : -ENOENT;
	e = &k->t.entries[i];
	/* the last function of a module has no size */
	if (!e->size && !ksyms__find(k, e->start, &found) && !strcmp(found.name, name))
		*ret_sym = found;
	else
		ksyms__get(k, i, ret_sym);
	return 0;
}

size_t ksyms__nr(const struct ksyms *k)
{
	settle(k);
	read_modules((struct ksyms *)k);
	return k->t.nr;
}

void ksyms__get(const struct ksyms *k, size_t i, struct ksym *ret_sym)
{
	const struct ksyms_entry *e = &k->t.entries[i];

	*ret_sym = (struct ksym){ .start = e->start,
				  .size = e->size,
				  .name = k->t.pool + e->name,
				  .module = module_of(k, e) };
}

/*
 * Walks from anchor towards higher or lower addresses, symbol by symbol, up to the first one that
 * is not a function of the kernel itself.
 */
static int walk_direction(struct ksyms *k, uint64_t anchor, bool up)
{
	uint64_t addr = anchor;
	struct ksym sym;
	struct ksyms_entry e;
	char text[TEXT_LEN];
	int err;

	for (;;) {
		err = k->resolve(k->resolve_ctx, &addr, 1, text, sizeof(text));
		if (err)
			return err;
		text[sizeof(text) - 1] = '\0';
		if (!parse_resolved(text, addr, &sym) || *sym.module || !sym.size)
			return 0;
		e = (struct ksyms_entry){ .start = sym.start, .size = sym.size };
		err = pool_add(k, sym.name, &e.name);
		if (!err)
			err = entry_add(k, e);
		if (err)
			return err;
		addr = up ? sym.start + sym.size : sym.start - 1;
	}
}

int ksyms__walk(struct ksyms *k, uint64_t anchor)
{
	int err;

	settle(k);
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
	uint64_t start = k->t.entries[i].start;

	while (i && k->t.entries[i - 1].start == start)
		i--;
	for (; i < k->t.nr && k->t.entries[i].start == start; i++)
		if (interrupt_entry_name(k->t.pool + k->t.entries[i].name))
			return true;
	return false;
}

int ksyms__interrupt_entries(const struct ksyms *k, struct ksym_range *ret_entry,
			     struct ksym_range *ret_holes, unsigned int max_holes)
{
	uint64_t first = 0, end = 0, at = 0;
	unsigned int nr = 0;
	size_t i;

	settle(k);
	for (i = 0; i < k->t.nr; i++) {
		const struct ksyms_entry *e = &k->t.entries[i];

		if (e->module || !interrupt_entry_name(k->t.pool + e->name))
			continue;
		if (!first)
			first = e->start;
		end = e->start + e->size;
	}
	if (!first)
		return -ENOENT;
	memset(ret_holes, 0, max_holes * sizeof(*ret_holes));
	for (i = 0; i < k->t.nr && k->t.entries[i].start < end; i++) {
		const struct ksyms_entry *e = &k->t.entries[i];

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
