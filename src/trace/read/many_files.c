// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Finds by content what a member's files are in the whole. */
#include "many.h"

#include "cleanup.h"
#include "frame.h"

static bool is_of_member(const struct rd_many_file *f, const struct rd_member *m)
{
	for (uint32_t i = 0; i < f->nr_origins; i++)
		if (f->origins[i].member == m->nr)
			return true;
	return false;
}

static bool is_of_boot(const struct rd_many *many, const struct rd_many_file *f, uint32_t boot)
{
	for (uint32_t i = 0; i < f->nr_origins; i++)
		if (many->members[f->origins[i].member].boot == boot)
			return true;
	return false;
}

static const struct rd_file *own_file(const struct rd_many *many, const struct rd_origin *from)
{
	return rd_find_file(many->members[from->member].r, from->number);
}

/* ---- identity -------------------------------------------------------------------------------- */

/* The slot for a file with the key that was appended to the dictionary at off; NULL: no memory. */
static uint32_t *slot_of(struct stk_reader *whole, struct dict *d, size_t off, uint32_t **files,
			 size_t *cap)
{
	uint32_t known = d->nr;
	int64_t i = dict__intern(d, off);

	if (i < 0 || rd_reserve(&whole->budget, files, cap, i, sizeof(**files)))
		return NULL;
	if (i == known)
		(*files)[i] = 0;
	return &(*files)[i];
}

/* Within a boot, a file is the same at the same place. */
static uint32_t *by_place(struct stk_reader *whole, const struct rd_member *m,
			  const struct stk_file *f)
{
	struct rd_many *many = whole->many;
	struct bytes_buf *b = &many->file_places.keys;
	const uint64_t place[] = { m->boot, f->kind,	 f->dev_major, f->dev_minor, f->inode,
				   f->pid,  f->start_ns, f->base,      f->id_kind };
	size_t off = b->len;

	bytes_put(b, place, sizeof(place));
	bytes_put(b, f->id, f->id_len);
	if (!f->inode)
		bytes_put(b, f->path, strlen(f->path));
	return slot_of(whole, &many->file_places, off, &many->file_of_place,
		       &many->cap_file_of_place);
}

static uint32_t *by_id(struct stk_reader *whole, const struct stk_file *f)
{
	struct rd_many *many = whole->many;
	struct bytes_buf *b = &many->file_ids.keys;
	size_t off = b->len;

	bytes_put(b, &f->id_kind, sizeof(f->id_kind));
	bytes_put(b, f->id, f->id_len);
	return slot_of(whole, &many->file_ids, off, &many->file_of_id, &many->cap_file_of_id);
}

/*
 * A file of this id that no recording of this boot has: the one with the same path if there is one.
 * Copies of a file in one boot are several files, of which each is that of another host once.
 */
static int64_t find_id(struct rd_member *m, const struct stk_file *f, uint32_t first)
{
	struct rd_many *many = m->whole->many;
	uint32_t found = 0;

	for (uint32_t i = first; i; i = many->files[i].next) {
		const struct rd_file *other;

		if (!budget__work(&m->whole->budget, 1 + many->files[i].nr_origins))
			return -ENOBUFS;
		if (is_of_boot(many, &many->files[i], m->boot))
			continue;
		other = own_file(many, &many->files[i].origins[0]);
		if (other && !strcmp(other->f.path, f->path))
			return i;
		found = found ?: i;
	}
	return found;
}

static int64_t add_file(struct stk_reader *whole)
{
	struct rd_many *many = whole->many;
	uint32_t number = whole->nr_files;
	int err;

	if (number > STK_MAX_FILES)
		return -ENOBUFS;
	err = rd_reserve(&whole->budget, &whole->files, &whole->cap_files, number,
			 sizeof(*whole->files));
	err = err   ?:
		      rd_reserve(&whole->budget, &many->files, &many->cap_files, number,
				 sizeof(*many->files));
	if (err)
		return err;
	memset(&whole->files[number], 0, sizeof(*whole->files));
	memset(&many->files[number], 0, sizeof(*many->files));
	return whole->nr_files++;
}

/* The file of the whole with the same content, added if it is new. */
static int64_t find_file(struct rd_member *m, const struct stk_file *f)
{
	struct stk_reader *whole = m->whole;
	uint32_t *place = by_place(whole, m, f), *id = f->id_len ? by_id(whole, f) : NULL;
	struct rd_many *many = whole->many;
	int64_t number;

	if (!place || (f->id_len && !id) || !budget__take(&whole->budget, 256 + strlen(f->path)))
		return -ENOMEM;
	if (*place && !is_of_member(&many->files[*place], m))
		return *place;
	number = id ? find_id(m, f, *id) : 0;
	if (!number) {
		number = add_file(whole);
		if (number > 0 && id) {
			many->files[number].next = *id;
			*id = number;
		}
	}
	if (number > 0 && !*place)
		*place = number;
	return number;
}

static int add_origin(struct rd_member *m, uint32_t own, uint32_t number)
{
	struct rd_many_file *f = &m->whole->many->files[number];
	struct rd_origin *more = f->origins;

	if (!(f->nr_origins & (f->nr_origins - 1))) { /* full at each power of two */
		more = realloc(more, (f->nr_origins ? 2 * f->nr_origins : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->origins = more;
	}
	f->origins[f->nr_origins++] = (struct rd_origin){ m->nr, own };
	m->files[own] = number;
	return 0;
}

int64_t rd_many__file(struct rd_member *m, uint32_t own)
{
	const struct rd_file *file;
	int64_t number;
	int err;

	while (m->cap_files <= own) {
		size_t was = m->cap_files;

		err = rd_reserve(&m->whole->budget, &m->files, &m->cap_files, was,
				 sizeof(*m->files));
		if (err)
			return err;
		memset(m->files + was, 0, (m->cap_files - was) * sizeof(*m->files));
	}
	if (m->files[own])
		return m->files[own];
	rd_look_ahead(m->r);
	file = rd_find_file(m->r, own);
	/* one that the recording does not describe is no other recording's */
	number = file ? find_file(m, &file->f) : add_file(m->whole);
	err = number < 0 ? number : add_origin(m, own, number);
	return err ?: number;
}

/* ---- what users see -------------------------------------------------------------------------- */

static bool has_name(const struct rd_file *file, const struct rd_file_name *name)
{
	for (unsigned int i = 0; i < file->f.nr_names; i++)
		if (!strcmp(file->names[i].path, name->path) &&
		    !strcmp(file->names[i].host_path, name->host_path))
			return true;
	return false;
}

/* The names that all origins have, to see whether there are new ones. */
static uint32_t count_names(const struct rd_many *many, const struct rd_many_file *from)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < from->nr_origins; i++) {
		const struct rd_file *own = own_file(many, &from->origins[i]);

		nr += own ? own->f.nr_names : 0;
	}
	return nr;
}

/* The names of all origins, each once. */
static int join_names(struct stk_reader *whole, struct rd_file *file,
		      const struct rd_many_file *from)
{
	uint32_t nr = MIN(count_names(whole->many, from), (uint32_t)RD_MAX_NAMES);
	struct rd_file_name *names = arena__alloc(&whole->strings, nr * sizeof(*names));

	if (!names)
		return -ENOMEM;
	file->names = names;
	file->f.nr_names = 0;
	for (uint32_t i = 0; i < from->nr_origins; i++) {
		const struct rd_file *own = own_file(whole->many, &from->origins[i]);

		for (unsigned int k = 0; own && k < own->f.nr_names; k++)
			if (file->f.nr_names < nr && !has_name(file, &own->names[k]))
				names[file->f.nr_names++] = own->names[k];
	}
	return 0;
}

/* The row is a copy of that of the first recording which has one, with names from all. */
static int refresh_file(struct stk_reader *whole, uint32_t number)
{
	struct rd_many_file *from = &whole->many->files[number];
	struct rd_file *file = &whole->files[number];
	const struct rd_file *own = NULL;
	struct stk_file was = file->f;
	uint32_t nr = count_names(whole->many, from);

	file->has_symbols = false;
	for (uint32_t i = from->nr_origins; i--;) {
		const struct rd_file *one = own_file(whole->many, &from->origins[i]);

		own = one ?: own;
		file->has_symbols |= one && one->has_symbols;
	}
	if (!own)
		return 0;
	file->f = own->f;
	file->f.number = number;
	file->f.hash = was.hash;
	file->module = own->module;
	file->f.nr_names = was.nr_names;
	if (from->shown != nr && join_names(whole, file, from))
		return -ENOMEM;
	from->shown = nr;
	if (!was.number || (file->f.id_len && !was.id_len))
		return rd_unique_hash(whole, &file->f);
	return 0;
}

void rd_many__refresh_files(const struct stk_reader *r)
{
	struct stk_reader *whole = r->many->members[0].whole; /* r, not const */
	uint64_t changes = rd_many__changes(r->many).files + whole->nr_files;
	int err = 0;

	if (r->many->refreshed.files == changes)
		return;
	r->many->refreshed.files = changes;
	rd_many__update_budget(whole);
	err = budget__work(&whole->budget, whole->nr_files) ? 0 : -ENOBUFS;
	for (uint32_t i = 1; i < whole->nr_files && !err; i++)
		err = refresh_file(whole, i);
	if (err)
		whole->budget.exhausted = true; /* the next call of stk_reader__next() says so */
}

void rd_many__free_files(struct stk_reader *whole)
{
	struct rd_many *many = whole->many;

	for (uint32_t i = 1; many->files && i < whole->nr_files; i++)
		free(many->files[i].origins);
	free(many->files);
	dict__free(&many->file_ids);
	dict__free(&many->file_places);
	free(many->file_of_id);
	free(many->file_of_place);
}

/* ---- names of functions ---------------------------------------------------------------------- */

/* A recording that has the file's symbols, else the first one. */
void rd_many__resolve_user(struct stk_reader *whole, uint64_t frame, struct stk_frame *f)
{
	const struct rd_many *many = whole->many;
	const struct rd_many_file *file = NULL;
	struct rd_origin from = { 0, 0 };
	uint32_t number = FRAME_FILE(frame), i;

	if (number && number < whole->nr_files)
		file = &many->files[number];
	for (i = 0; file && i < file->nr_origins; i++) {
		const struct rd_file *own = own_file(many, &file->origins[i]);

		if (!i || (own && own->has_symbols))
			from = file->origins[i];
		if (own && own->has_symbols)
			break;
	}
	rd_resolve_user(many->members[from.member].r, FRAME_USER(from.number, FRAME_OFFSET(frame)),
			f);
	f->file = f->file ? number : 0;
}

static int symbolize(void *ctx, const struct stk_file *file, uint64_t offset,
		     struct stk_user_symbol *ret_symbol)
{
	struct rd_member *m = ctx;
	struct stk_file shown = *file;
	int64_t number = rd_many__file(m, file->number);

	if (number < 0 || stk_reader__file(m->whole, number, &shown))
		return -ENOENT;
	return m->whole->symbolize(m->whole->symbolize_ctx, &shown, offset, ret_symbol);
}

void rd_many__set_symbolizer(struct stk_reader *whole)
{
	for (uint32_t i = 0; i < whole->many->nr; i++)
		stk_reader__set_symbolizer(whole->many->members[i].r,
					   whole->symbolize ? symbolize : NULL,
					   &whole->many->members[i]);
}
