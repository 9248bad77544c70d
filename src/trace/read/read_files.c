// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The file map of a recording, and the symbols of its files. */
#include "many.h"

#include "array.h"
#include "cleanup.h"
#include "file_hash.h"
#include "frame.h"

/* A string in the block, not copied yet: most strings are known already. */
struct view {
	const uint8_t *p;
	size_t len;
};

static struct view get_view(struct bytes_cur *c, size_t max)
{
	size_t len = bytes_get_max(c, max);

	return (struct view){ .p = bytes_get(c, len), .len = len };
}

static bool same(struct view v, const char *s)
{
	return strlen(s) == v.len && !memcmp(s, v.p, v.len);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A hash that no other file has or had.  It depends only on the recording up to here. */
int rd_unique_hash(struct stk_reader *r, struct stk_file *f)
{
	uint32_t h = file_hash(f->id, f->id_len, f->path, f->size, f->mtime_ns), known;
	unsigned int i;
	int64_t got;
	int err;

	if (!r->hashes.nr) {
		err = tree__init(&r->hashes, &r->budget);
		/* 0 stands for an unknown file */
		if (err || tree__child(&r->hashes, 0, 0) < 0)
			return -ENOMEM;
	}
	for (i = 0;; i++) {
		if (!budget__work(&r->budget, 1))
			return -ENOBUFS;
		known = r->hashes.nr;
		got = tree__child(&r->hashes, 0, h);
		if (got < 0)
			return got;
		if (got == known)
			break;
		/* hashing the number again and again may never end */
		h = i ? h + 1 : file_hash_bytes(h, &f->number, sizeof(f->number));
	}
	f->hash = h;
	return 0;
}

/* The last part of the path. */
const char *rd_module_name(const struct stk_file *f)
{
	const char *slash = strrchr(f->path, '/');

	if (f->kind != STK_FILE_FILE)
		return f->kind == STK_FILE_VDSO ? "[vdso]" : "[jit]";
	if (slash && slash[1])
		return slash + 1;
	return *f->path ? f->path : "[unknown]";
}

/*
 * Returns the index for a name.  A name that adds a path to a known name replaces it; nr or beyond:
 * the name is new; negative: nothing new.
 */
static int name_index(const struct rd_file_name *names, unsigned int nr, struct view path,
		      struct view host)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct rd_file_name *n = &names[i];

		if (same(path, n->path) && (!host.len || same(host, n->host_path)))
			return -1;
		if (host.len && !*n->host_path && (!*n->path || same(path, n->path)))
			return i;
	}
	return nr && !path.len ? -1 : (int)nr;
}

static int add_name(struct stk_reader *r, struct rd_file *file, struct view path, struct view host)
{
	struct rd_file_name *names = file->names, name;
	unsigned int nr = file->f.nr_names;
	int at = name_index(names, nr, path, host);

	if (at < 0 || at == RD_MAX_NAMES)
		return 0;
	name.path = arena__string(&r->users, path.p, path.len);
	name.host_path = arena__string(&r->users, host.p, host.len);
	if (!name.path || !name.host_path)
		return -EBADMSG;
	if (at == (int)nr && !(nr & (nr - 1))) { /* full at each power of two */
		names = arena__alloc(&r->users, (nr ? 2 * nr : 1) * sizeof(*names));
		if (!names)
			return -EBADMSG;
		if (nr)
			memcpy(names, file->names, nr * sizeof(*names));
		file->names = names;
	}
	names[at] = name;
	file->f.nr_names += at == (int)nr;
	return 0;
}

/* Updates the fields of a known file, or fills those of a new one, which are all zero. */
static int update_file(struct stk_reader *r, struct rd_file *file, const struct stk_file *now,
		       struct view path, struct view host, struct view id)
{
	struct stk_file f = *now;
	int err;

	f.id_len = f.id_kind == STK_ID_NONE ? 0 : id.len;
	if (!f.id_len)
		f.id_kind = STK_ID_NONE;
	else if (f.id_len == file->f.id_len && !memcmp(id.p, file->f.id, id.len))
		f.id = file->f.id;
	else
		f.id = (const uint8_t *)arena__string(&r->users, id.p, id.len);
	if (f.id_len && !f.id)
		return -EBADMSG;
	err = add_name(r, file, path, host);
	if (err)
		return err;
	f.nr_names = file->f.nr_names;
	f.path = file->names[0].path;
	f.host_path = file->names[0].host_path;
	f.hash = file->f.hash;
	/* with a build id the hash is the same as on other machines */
	if (!file->f.number || (f.id_len && !file->f.id_len)) {
		err = rd_unique_hash(r, &f);
		if (err)
			return err;
	}
	file->f = f;
	file->module = rd_module_name(&f);
	return 0;
}

static int take_file(struct stk_reader *r, struct bytes_cur *c)
{
	struct stk_file f = { .number = bytes_get_max(c, STK_MAX_FILES) };
	struct view path, host, id;
	int err;

	f.kind = bytes_get_max(c, STK_FILE_JIT);
	f.flags = bytes_get_max(c, UINT32_MAX);
	path = get_view(c, STK_MAX_STRING);
	host = get_view(c, STK_MAX_STRING);
	f.dev_major = bytes_get_max(c, UINT32_MAX);
	f.dev_minor = bytes_get_max(c, UINT32_MAX);
	f.inode = bytes_get_varint(c);
	f.size = bytes_get_varint(c);
	f.mtime_ns = bytes_get_varint(c);
	f.id_kind = bytes_get_max(c, STK_ID_CONTENT);
	id = get_view(c, STK_MAX_ID);
	f.pid = bytes_get_max(c, UINT32_MAX);
	f.start_ns = bytes_get_varint(c);
	f.base = bytes_get_varint(c);
	if (c->bad || !f.number)
		return -EBADMSG;
	r->has_jit |= f.kind == STK_FILE_JIT;
	if (f.number >= r->nr_files) {
		err = rd_skip_numbers(r, f.number, &r->files, &r->cap_files, &r->nr_files,
				      sizeof(*r->files));
		if (err)
			return err;
		r->nr_files = f.number + 1;
	}
	return update_file(r, &r->files[f.number], &f, path, host, id);
}

int rd_take_files(struct stk_reader *r, struct bytes_cur *c)
{
	int err = 0;

	while (!err && bytes_left(c))
		err = take_file(r, c);
	return err;
}

void rd_files__free(struct stk_reader *r)
{
	for (size_t i = 1; i < r->nr_files; i++)
		free(r->files[i].symbols);
	free(r->files);
	tree__free(&r->hashes);
	arena__free(&r->users);
	tree__free(&r->queries);
	free(r->answers);
}

struct rd_file *rd_find_file(const struct stk_reader *r, uint32_t number)
{
	if (r->many)
		rd_many__refresh_files(r);
	return number && number < r->nr_files && r->files[number].f.number ? &r->files[number] :
									     NULL;
}

uint32_t stk_reader__nr_files(const struct stk_reader *r)
{
	return r->nr_files - 1;
}

int stk_reader__file(const struct stk_reader *r, uint32_t number, struct stk_file *ret_file)
{
	const struct rd_file *file = rd_find_file(r, number);

	if (!file)
		return -ENOENT;
	*ret_file = file->f;
	return 0;
}

int stk_reader__file_name(const struct stk_reader *r, uint32_t number, unsigned int i,
			  const char **ret_path, const char **ret_host_path)
{
	const struct rd_file *file = rd_find_file(r, number);

	if (!file || i >= file->f.nr_names)
		return -ENOENT;
	*ret_path = file->names[i].path;
	*ret_host_path = file->names[i].host_path;
	return 0;
}

bool stk_reader__has_symbols(const struct stk_reader *r, uint32_t number)
{
	const struct rd_file *file = rd_find_file(r, number);

	return file && file->has_symbols;
}

/* ---- symbols of the recording ---------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct rd_user_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* file order: the addresses of names in the arena say nothing */
	return CMP(x->seq, y->seq);
}

static void sort_symbols(struct rd_user_symbol *symbols, size_t nr)
{
	uint64_t reach = 0;

	qsort(symbols, nr, sizeof(*symbols), by_start);
	for (size_t i = 0; i < nr; i++) {
		uint64_t last = symbols[i].start + (symbols[i].size ? symbols[i].size - 1 : 0);

		if (last < symbols[i].start)
			last = UINT64_MAX;
		reach = MAX(reach, last);
		symbols[i].reach = reach;
	}
}

/* The innermost symbol that holds the offset; of symbols with the same start the last one. */
static const struct rd_user_symbol *find_stored(const struct rd_file *file, uint64_t at)
{
	const struct rd_user_symbol *s = file->symbols;
	size_t lo = array__bisect(file->nr_symbols, i, s[i].start <= at), end;

	end = lo;
	for (; lo && end - lo < RD_MAX_OVERLAP; lo--) {
		const struct rd_user_symbol *one = &s[lo - 1];

		/* a symbol of unknown size reaches to the next start */
		if (one->size ? at - one->start < one->size : one->start == s[end - 1].start)
			return one;
		if (one->reach < at && one->start != s[end - 1].start)
			break;
	}
	return NULL;
}

static int take_file_symbols(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t number = bytes_get_varint(c), nr = bytes_get_varint(c), start = 0;
	_cleanup_free_ struct rd_user_symbol *symbols = NULL;
	struct rd_file *file;

	/* a symbol takes at least three bytes */
	if (c->bad || nr > bytes_left(c) / 3)
		return -EBADMSG;
	if (nr) {
		if (!budget__take(&r->budget, nr * sizeof(*symbols)))
			return -ENOBUFS;
		symbols = malloc(nr * sizeof(*symbols));
		if (!symbols)
			return -ENOMEM;
	}
	for (uint64_t i = 0; i < nr; i++) {
		struct view name;

		start += bytes_get_svarint(c);
		symbols[i].start = start;
		symbols[i].size = bytes_get_varint(c);
		symbols[i].seq = i;
		name = get_view(c, STK_MAX_STRING);
		if (c->bad)
			return -EBADMSG;
		symbols[i].name = arena__string(&r->users, name.p, name.len);
		if (!symbols[i].name)
			return -EBADMSG;
	}
	file = number <= UINT32_MAX ? rd_find_file(r, number) : NULL;
	budget__give(&r->budget, (file ? file->nr_symbols : nr) * sizeof(*symbols));
	if (!file)
		return 0; /* lost with a bad block */
	if (nr)
		sort_symbols(symbols, nr);
	free(file->symbols);
	file->symbols = take_ptr(symbols);
	file->nr_symbols = nr;
	file->has_symbols = true;
	return 0;
}

int rd_take_user_symbols(struct stk_reader *r, struct bytes_cur *c)
{
	int err = 0;

	while (!err && bytes_left(c))
		err = take_file_symbols(r, c);
	return err;
}

/* ---- the symbolizer -------------------------------------------------------------------------- */

void stk_reader__set_symbolizer(struct stk_reader *r, stk_symbolize_fn fn, void *ctx)
{
	r->symbolize = fn;
	r->symbolize_ctx = ctx;
	tree__free(&r->queries);
	if (r->many)
		rd_many__set_symbolizer(r);
}

/* The slot for the answer about (file, offset); *ret_new: the slot is empty. */
static struct rd_answer *answer_slot(struct stk_reader *r, uint32_t file, uint64_t at,
				     bool *ret_new)
{
	uint32_t known;
	int64_t n;

	if (!r->queries.nr && tree__init(&r->queries, &r->budget))
		return NULL;
	known = r->queries.nr;
	/* first the room: an offset that is known has an answer */
	if (rd_reserve(&r->budget, &r->answers, &r->cap_answers, known, sizeof(*r->answers)))
		return NULL;
	n = tree__child(&r->queries, file, at);
	if (n < 0)
		return NULL;
	*ret_new = n == known;
	if (*ret_new)
		memset(&r->answers[n], 0, sizeof(r->answers[n]));
	return &r->answers[n];
}

/* Asks the symbolizer for the function at an offset, once per offset. */
static const struct rd_answer *query_symbolizer(struct stk_reader *r, const struct rd_file *file,
						uint64_t at)
{
	struct stk_user_symbol s = { 0 };
	struct rd_answer *a, *of_start, found;
	bool is_new;

	a = answer_slot(r, file->f.number, at, &is_new);
	if (!a || !is_new)
		return a;
	if (r->symbolize(r->symbolize_ctx, &file->f, at, &s) < 0 || !s.name || !*s.name ||
	    at < s.start || (s.size && at - s.start >= s.size))
		return a;
	/* the function's other offsets share its name */
	of_start = answer_slot(r, file->f.number | RD_START_OF, s.start, &is_new);
	if (!of_start)
		return NULL;
	if (is_new || !of_start->name || strcmp(of_start->name, s.name) != 0)
		of_start->name = arena__string(&r->strings, s.name, strlen(s.name));
	of_start->start = s.start;
	of_start->size = s.size;
	found = *of_start;
	a = answer_slot(r, file->f.number, at, &is_new); /* the array may have moved */
	if (a)
		*a = found;
	return a;
}

void rd_resolve_user(struct stk_reader *r, uint64_t frame, struct stk_frame *f)
{
	const struct rd_user_symbol *s;
	const struct rd_answer *a;
	const struct rd_file *file;
	uint64_t at;

	rd_look_ahead(r);
	file = rd_find_file(r, FRAME_FILE(frame));
	f->kind = STK_FRAME_USER;
	f->ip = FRAME_OFFSET(frame);
	f->mod = file ? file->module : "[unknown]";
	f->file = file ? file->f.number : 0;
	at = f->exact ? f->ip : f->ip - 1;
	if (!file || at > f->ip)
		return;
	if (file->has_symbols) {
		s = find_stored(file, at);
		if (!s || !*s->name)
			return;
		f->sym = s->name;
		f->off = f->ip - s->start;
		f->size = s->size;
	} else if (r->symbolize) {
		a = query_symbolizer(r, file, at);
		if (!a || !a->name)
			return;
		f->sym = a->name;
		f->off = f->ip - a->start;
		f->size = a->size;
	}
}
