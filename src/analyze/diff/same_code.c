// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for the code of two recordings. */
#include "same_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "analyze/key_table.h"
#include "array.h"
#include "cleanup.h"
#include "strbuf.h"
#include "string_table.h"

#define STEPS_PER_FRAME 32 /* work of some ns, for the budget */

/* A place in code: what is equal in both recordings. */
struct place {
	uint32_t home; /* number in strings: the file, or the module of the kernel */
	uint32_t name; /* number in strings + 1; 0: offset decides */
	uint64_t offset;
};

struct caller { /* a stack as a frame and its callers */
	uint32_t caller, place;
};

struct home {
	uint32_t number; /* in strings, + 1; 0: not looked up yet */
	bool by_name;
};

struct recording {
	struct stk_reader *reader;
	struct string_table ids, names; /* of its files: ids, and last components of paths */
	struct home *homes; /* by file number */
	uint32_t nr_homes;
	struct charge charge;
	uint64_t steps;
};

struct same_code {
	struct recording side[2];
	bool same_kernel, same_boot;
	struct string_table strings;
	struct key_table places, stacks; /* numbered by their keys */
	unsigned int nr_by_name;
	const char *by_name; /* a path; borrowed from b's reader */
};

/* ---- files ----------------------------------------------------------------------------------- */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The id of a file with its kind; nothing if it has none. */
static void put_id(struct strbuf *b, const struct stk_file *f)
{
	if (f->id_kind == STK_ID_NONE || !f->id_len)
		return;
	strbuf__putc(b, f->id_kind == STK_ID_BUILD_ID ? 'b' : 'c');
	strbuf__add(b, (const char *)f->id, f->id_len);
}

static bool has_string(struct string_table *t, const char *s, size_t len)
{
	uint32_t number;

	/* With a limit of what is there already, nothing is added. */
	return string_table__number(t, s, len, t->nr, &number) == 0;
}

static int note_file(struct recording *r, uint32_t number)
{
	_cleanup_(strbuf__free) struct strbuf id = { 0 };
	struct stk_file f;
	uint32_t unused;
	const char *name;
	int err;

	if (stk_reader__file(r->reader, number, &f))
		return 0;
	put_id(&id, &f);
	if (strbuf__failed(&id))
		return -ENOMEM;
	name = last_component(f.path);
	err = string_table__number(&r->names, name, strlen(name), UINT32_MAX, &unused);
	if (err >= 0 && id.len)
		err = string_table__number(&r->ids, id.s, id.len, UINT32_MAX, &unused);
	return err < 0 ? err : 0;
}

static int note_files(struct recording *r)
{
	uint32_t nr = stk_reader__nr_files(r->reader), i;
	int err = 0;

	for (i = 1; i <= nr && !err; i++)
		err = note_file(r, i);
	return err;
}

static int intern(struct same_code *c, char kind, const char *s, size_t len, uint32_t *ret_number)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	int err;

	strbuf__putc(&b, kind);
	strbuf__add(&b, s, len);
	if (strbuf__failed(&b))
		return -ENOMEM;
	err = string_table__number(&c->strings, b.s, b.len, UINT32_MAX - 1, ret_number);
	return err < 0 ? err : 0;
}

static int find_home(struct same_code *c, unsigned int side, const struct stk_file *f,
		     struct home *ret_home)
{
	_cleanup_(strbuf__free) struct strbuf id = { 0 };
	const char *name = last_component(f->path);
	struct recording *other = &c->side[!side];
	struct home h = { 0 };
	uint32_t number;
	int err;

	put_id(&id, f);
	if (strbuf__failed(&id))
		return -ENOMEM;
	if (id.len && (has_string(&other->ids, id.s, id.len) ||
		       !has_string(&other->names, name, strlen(name)))) {
		err = intern(c, 'i', id.s, id.len, &number);
	} else {
		h.by_name = true;
		err = intern(c, 'n', name, strlen(name), &number);
	}
	if (err)
		return err;
	if (h.by_name && f->kind == STK_FILE_FILE && side && !c->nr_by_name++)
		c->by_name = f->path;
	h.number = number + 1;
	*ret_home = h;
	return 0;
}

static int home_of_file(struct same_code *c, unsigned int side, uint32_t number,
			struct home *ret_home)
{
	struct recording *r = &c->side[side];
	struct stk_file f;
	int err;

	if (!number || stk_reader__file(r->reader, number, &f)) {
		*ret_home = (struct home){ .by_name = true };
		return intern(c, 'u', "", 0, &ret_home->number);
	}
	if (array__reach(&r->homes, number, &r->nr_homes))
		return -ENOMEM;
	if (!r->homes[number].number) {
		err = find_home(c, side, &f, &r->homes[number]);
		if (err)
			return err;
	}
	*ret_home = r->homes[number];
	ret_home->number--;
	return 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int place_in_kernel(struct same_code *c, const struct stk_frame *f, bool function,
			   struct place *ret_place)
{
	const char *mod = f->mod ?: "";
	bool is_bpf = !strcmp(mod, "bpf");
	int err;

	err = intern(c, 'k', mod, strlen(mod), &ret_place->home);
	if (!err && f->sym)
		err = intern(c, 's', f->sym, strlen(f->sym), &ret_place->name);
	if (err)
		return err;
	if (f->sym)
		ret_place->name++;
	else if (c->same_boot)
		ret_place->offset = f->ip;
	if (f->sym && !function && c->same_kernel && !is_bpf)
		ret_place->offset = f->off;
	return 0;
}

static int place_in_file(struct same_code *c, unsigned int side, const struct stk_frame *f,
			 bool function, struct place *ret_place)
{
	struct home home;
	int err;

	err = home_of_file(c, side, f->file, &home);
	if (err)
		return err;
	ret_place->home = home.number;
	if (!home.by_name) {
		ret_place->offset = function && f->sym ? f->ip - f->off : f->ip;
		return 0;
	}
	if (!f->sym)
		return 0;
	err = intern(c, 's', f->sym, strlen(f->sym), &ret_place->name);
	ret_place->name++;
	return err;
}

static int place_of(struct same_code *c, unsigned int side, const struct stk_frame *f,
		    bool function, uint32_t *ret_number)
{
	struct place place = { 0 };
	int err;

	if (f->kind == STK_FRAME_USER)
		err = place_in_file(c, side, f, function, &place);
	else
		err = place_in_kernel(c, f, function, &place);
	if (!err)
		err = key_table__at(&c->places, &place, ret_number);
	return err < 0 ? err : 0;
}

static uint64_t memory(const struct same_code *c)
{
	return string_table__memory(&c->strings) + key_table__memory(&c->places) +
	       key_table__memory(&c->stacks);
}

static int callee_of(struct same_code *c, unsigned int side, uint32_t caller,
		     const struct stk_frame *f, bool function, uint32_t *ret_number)
{
	struct caller key = { .caller = caller };
	uint32_t number = 0;
	int err;

	err = place_of(c, side, f, function, &key.place);
	if (!err)
		err = key_table__at(&c->stacks, &key, &number);
	if (err < 0)
		return err;
	*ret_number = number + 1;
	return 0;
}

static int charge_side(struct same_code *c, unsigned int side, uint64_t was)
{
	struct recording *r = &c->side[side];

	return charge(&r->charge, r->reader, r->charge.memory + memory(c) - was, r->steps);
}

int same_code__function(struct same_code *c, unsigned int side, const struct stk_frame *f,
			uint32_t *ret_number)
{
	uint64_t was = memory(c);
	int err = place_of(c, side, f, true, ret_number);

	c->side[side].steps += STEPS_PER_FRAME;
	return err ?: charge_side(c, side, was);
}

int same_code__stack(struct same_code *c, unsigned int side, const struct stk_frame *frames,
		     unsigned int nr, uint32_t *ret_number)
{
	uint64_t was = memory(c);
	uint32_t number = 0;
	unsigned int i;
	int err = 0;

	for (i = nr; i && !err; i--)
		err = callee_of(c, side, number, &frames[i - 1], false, &number);
	c->side[side].steps += nr * STEPS_PER_FRAME;
	if (!err)
		err = charge_side(c, side, was);
	if (!err)
		*ret_number = number;
	return err;
}

int same_code__path(struct same_code *c, unsigned int side, uint32_t caller,
		    const struct stk_frame *f, uint32_t *ret_number)
{
	uint64_t was = memory(c);
	int err = callee_of(c, side, caller, f, true, ret_number);

	c->side[side].steps += STEPS_PER_FRAME;
	return err ?: charge_side(c, side, was);
}

/* ---- both recordings ------------------------------------------------------------------------- */

/* Whether both have this metadata, with the same value. */
static bool same_meta(const struct same_code *c, const char *key)
{
	const char *a = stk_reader__meta(c->side[0].reader, key);
	const char *b = stk_reader__meta(c->side[1].reader, key);

	return a && b && *a && !strcmp(a, b);
}

static bool has_meta(const struct same_code *c, const char *key)
{
	return stk_reader__meta(c->side[0].reader, key) || stk_reader__meta(c->side[1].reader, key);
}

static void compare_kernels(struct same_code *c)
{
	c->same_boot = same_meta(c, "boot_id");
	if (has_meta(c, "kernel.build_id"))
		c->same_kernel = same_meta(c, "kernel.build_id");
	else
		c->same_kernel = c->same_boot ||
				 (same_meta(c, "kernel.release") && same_meta(c, "kernel.version"));
}

int same_code__new(struct stk_reader *a, struct stk_reader *b, struct same_code **ret_code)
{
	_cleanup_(same_code__freep) struct same_code *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->side[0].reader = a;
	c->side[1].reader = b;
	key_table__init(&c->places, sizeof(struct place), 0);
	key_table__init(&c->stacks, sizeof(struct caller), 0);
	compare_kernels(c);
	err = note_files(&c->side[0]) ?: note_files(&c->side[1]);
	if (!err)
		*ret_code = take_ptr(c);
	return err;
}

void same_code__free(struct same_code *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < ARRAY_SIZE(c->side); i++) {
		string_table__clear(&c->side[i].ids);
		string_table__clear(&c->side[i].names);
		free(c->side[i].homes);
	}
	string_table__clear(&c->strings);
	key_table__clear(&c->places);
	key_table__clear(&c->stacks);
	free(c);
}

bool same_code__same_kernel(const struct same_code *c)
{
	return c->same_kernel;
}

unsigned int same_code__by_name(const struct same_code *c, const char **ret_path)
{
	*ret_path = c->by_name;
	return c->nr_by_name;
}
