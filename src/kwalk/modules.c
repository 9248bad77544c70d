// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Text and unwind rules of modules: read at the start, and again after a load or unload. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "kwalk_copy.h"
#include "kwalk_copy.skel.h"
#include "kwalk_priv.h"
#include "log.h"

void module_tables__free(struct module_tables *t)
{
	free(t->modules);
	free(t->index);
	free(t->rows);
	*t = (struct module_tables){ 0 };
}

/* ---- the layout of struct module ------------------------------------------------------------- */

/* Adds the member's offset in the type to *at; *type becomes the member's type. */
static bool find_member(const struct btf *btf, const char *name, uint32_t *type, uint32_t *at)
{
	int id = btf__resolve_type(btf, *type);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	unsigned int i;

	for (i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *is = btf__name_by_offset(btf, m->name_off);
		uint32_t inner = m->type, before = *at + btf_member_bit_offset(t, i) / 8;

		if (!strcmp(is, name) || (!*is && find_member(btf, name, &inner, &before))) {
			*type = inner;
			*at = before;
			return true;
		}
	}
	return false;
}

/* The offset of outer.inner; 0: there is no such member. */
static uint32_t offset_of(const struct btf *btf, uint32_t module, const char *outer,
			  const char *inner)
{
	uint32_t type = module, at = 0;
	const struct btf_type *t;

	if (!find_member(btf, outer, &type, &at))
		return 0;
	t = btf__type_by_id(btf, type);
	if (t && btf_is_array(t)) /* its first element */
		type = btf_array(t)->type;
	return !inner || find_member(btf, inner, &type, &at) ? at : 0;
}

void module_layout__read(const struct btf *btf, struct kwalk_module_layout *ret_layout)
{
	int id = btf__find_by_name_kind(btf, "module", BTF_KIND_STRUCT);
	struct kwalk_module_layout l = { 0 };

	if (id > 0) {
		l.list = offset_of(btf, id, "list", NULL);
		l.state = offset_of(btf, id, "state", NULL);
		/* since 6.4, and before */
		l.text = offset_of(btf, id, "mem", "base") ?:
				 offset_of(btf, id, "core_layout", "base");
		l.size = offset_of(btf, id, "mem", "size") ?:
				 offset_of(btf, id, "core_layout", "text_size");
		l.ips = offset_of(btf, id, "arch", "orc_unwind_ip");
		l.entries = offset_of(btf, id, "arch", "orc_unwind");
		l.nr = offset_of(btf, id, "arch", "num_orcs");
	}
	*ret_layout = l;
}

/* enum module_state of the kernel. */
enum { MODULE_LIVE, MODULE_COMING, MODULE_GOING, MODULE_UNFORMED };

/* ---- tables ---------------------------------------------------------------------------------- */

static int list(const struct kwalk *k, struct kwalk_found **ret_found, uint32_t *ret_nr)
{
	struct kwalk_list l = { .head = k->modules_at, .module = k->module };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &l, .ctx_size_in = sizeof(l));
	int fd = bpf_map__fd(k->skel->maps.copied);
	struct kwalk_found *found;
	void *copied;

	*ret_nr = 0;
	*ret_found = NULL;
	if (!l.module.list || !l.module.text || !l.module.size) /* a kernel without modules */
		return 0;
	if (bpf_prog_test_run_opts(bpf_program__fd(k->skel->progs.list_modules), &o))
		return -errno;
	if (l.err || l.nr > KWALK_MAX_MODULES)
		return l.err ?: -EPROTO;
	found = malloc(MAX(l.nr, 1u) * sizeof(*found));
	if (!found)
		return -ENOMEM;
	copied = mmap(NULL, sizeof(struct kwalk_copied), PROT_READ, MAP_SHARED, fd, 0);
	if (copied == MAP_FAILED) {
		free(found);
		return -errno;
	}
	memcpy(found, copied, l.nr * sizeof(*found));
	munmap(copied, sizeof(struct kwalk_copied));
	*ret_found = found;
	*ret_nr = l.nr;
	return 0;
}

static int compile(const struct kwalk *k, const struct kwalk_found *f, struct orc_compiled *ret)
{
	_cleanup_free_ void *ips = NULL, *entries = NULL;
	struct orc_tables t = {
		.layout = &k->layout,
		.ips_at = f->ips,
		.nr = f->nr,
		.text = f->text,
		.text_end = f->text + f->size,
	};
	int err;

	/* Without ORC, the text range is all there is. */
	if (k->is.unwinder == KWALK_FRAME_POINTERS && f->size)
		return 0;
	if (!f->nr || f->nr > ORC_MAX_ENTRIES || !f->size)
		return -EBADMSG;
	err = kwalk__copy_kernel(k->skel, f->ips, f->nr * sizeof(int32_t), &ips) ?:
		      kwalk__copy_kernel(k->skel, f->entries, (size_t)f->nr * ORC_ENTRY_SIZE,
					 &entries);
	if (err)
		return err;
	t.ips = ips;
	t.entries = entries;
	return orc__compile(&t, ret);
}

/* Room for nr elements. */
#define resize(array, nr)                                                              \
	({                                                                             \
		void *_new = reallocarray(*(array), MAX((nr), 1u), sizeof(**(array))); \
		if (_new)                                                              \
			*(array) = _new;                                               \
		!_new;                                                                 \
	})

static int add(struct module_tables *t, const struct kwalk_found *f, const struct orc_compiled *c)
{
	uint32_t i;

	if (resize(&t->modules, t->nr + 1) || resize(&t->index, t->nr_blocks + c->nr_blocks) ||
	    resize(&t->rows, t->nr_rows + c->nr_rows))
		return -ENOMEM;
	t->modules[t->nr++] = (struct kwalk_module){
		.text = f->text,
		.size = f->size,
		.block = t->nr_blocks,
	};
	for (i = 0; i < c->nr_blocks; i++) {
		t->index[t->nr_blocks + i] = c->index[i];
		t->index[t->nr_blocks + i].first += t->nr_rows;
	}
	if (c->nr_rows)
		memcpy(t->rows + t->nr_rows, c->rows, c->nr_rows * sizeof(*c->rows));
	t->nr_blocks += c->nr_blocks;
	t->nr_rows += c->nr_rows;
	return 0;
}

static bool is_coming(const struct kwalk_found *f)
{
	return f->state == MODULE_COMING || f->state == MODULE_UNFORMED;
}

static int by_text(const void *a, const void *b)
{
	const struct kwalk_found *x = a, *y = b;

	return (x->text > y->text) - (x->text < y->text);
}

int module_tables__read(const struct kwalk *k, uint32_t room_blocks, uint32_t room_rows,
			struct module_tables *ret_tables)
{
	_cleanup_(module_tables__free) struct module_tables t = { 0 };
	_cleanup_free_ struct kwalk_found *found = NULL;
	uint32_t nr = 0, i;
	uint64_t end = 0;
	int err;

	err = k->modules_at ? list(k, &found, &nr) : 0;
	if (nr)
		qsort(found, nr, sizeof(*found), by_text);
	for (i = 0; i < nr && !err; i++) {
		_cleanup_(orc_compiled__free) struct orc_compiled c = { 0 };

		t.coming += is_coming(&found[i]);
		if (found[i].state != MODULE_LIVE)
			continue;
		if (found[i].text < end || compile(k, &found[i], &c) ||
		    c.nr_blocks > room_blocks - t.nr_blocks || c.nr_rows > room_rows - t.nr_rows)
			continue;
		end = found[i].text + found[i].size;
		err = add(&t, &found[i], &c);
	}
	if (err)
		return log_msg(STK_LOG_DEBUG, err, "read the unwind rules of modules");
	*ret_tables = t;
	t = (struct module_tables){ 0 };
	return 0;
}

/* ---- while attached -------------------------------------------------------------------------- */

static uint64_t load(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/* A walk that runs meanwhile may find inconsistent tables; it detects this and gives up. */
static void publish(struct kwalk *k, const struct module_tables *t, uint64_t changed)
{
	uint32_t own_blocks = k->nr_blocks, own_rows = k->nr_rows, i;
	struct kwalk_modules *m = k->modules;

	__atomic_store_n(&m->valid, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < t->nr_blocks; i++) {
		k->index[own_blocks + i] = t->index[i];
		k->index[own_blocks + i].first += own_rows;
	}
	if (t->nr_rows)
		memcpy(k->rows + own_rows, t->rows, t->nr_rows * sizeof(*t->rows));
	for (i = 0; i < t->nr; i++) {
		m->module[i] = t->modules[i];
		m->module[i].block += own_blocks;
	}
	m->nr = t->nr;
	__atomic_store_n(&m->valid, changed + 1, __ATOMIC_SEQ_CST);
}

/* Forces a reread once a module has finished loading: no event is raised when its init returns. */
static void check_coming(struct kwalk *k)
{
	_cleanup_free_ struct kwalk_found *found = NULL;
	uint32_t nr, coming = 0, i;

	if (!k->coming || list(k, &found, &nr))
		return;
	for (i = 0; i < nr; i++)
		coming += is_coming(&found[i]);
	if (coming != k->coming)
		__atomic_add_fetch(&k->modules->changed, 1, __ATOMIC_SEQ_CST);
}

int kwalk__refresh(struct kwalk *k)
{
	_cleanup_(module_tables__free) struct module_tables t = { 0 };
	uint64_t changed;
	int err;

	if (!k || !k->modules || k->failed)
		return 0;
	check_coming(k);
	changed = load(&k->modules->changed);
	if (load(&k->modules->valid) == changed + 1)
		return 0;
	err = module_tables__read(k, k->room_blocks, k->room_rows, &t);
	/* Modules came or went meanwhile: discard the tables or the error and try again later. */
	if (load(&k->modules->changed) != changed)
		return 0;
	if (!err) {
		publish(k, &t, changed);
		k->coming = t.coming;
		k->errors = 0;
		return 0;
	}
	/* The memory of a module may be gone before the list has been followed to it. */
	if (++k->errors < KWALK_TRIES)
		return 0;
	k->failed = true;
	return err;
}
