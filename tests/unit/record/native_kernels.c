// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the instructions for every native event of three kernels, whose types and formats lie in
 * tests/unit/data/native, and executes them on objects that are laid out as in these kernels.  What
 * a record must have is read from the objects by other code than the generator's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/btf.h>

#include "call_formats.h"
#include "cleanup.h"
#include "events/format.h"
#include "native_check.h"
#include "kwalk/kwalk.h"
#include "native_machine.h"
#include "record/kernel/feature_table.h"
#include "record/kernel/native_masks.h"
#include "record/kernel/native_pages.h"
#include "record/kernel/native_probe.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/percpu.h"
#include "slurp.h"

#define PAGES 0xffffea0000000000ull
#define MAX_OBJECTS 64
#define SLAB_ACCOUNT_6_12 13 /* include/linux/slab.h: enum _slab_flag_bits */
#define GFP_ACCOUNT 22 /* include/linux/gfp_types.h */

static const char *directory;
static struct btf *types;
static void *objects[MAX_OBJECTS];
static size_t nr_objects;

/* ---- objects --------------------------------------------------------------------------------- */

static uint8_t *new_object(size_t size)
{
	uint8_t *o = malloc(size + 64);

	assert_non_null(o);
	assert_true(nr_objects < MAX_OBJECTS);
	for (size_t i = 0; i < size + 64; i++)
		o[i] = (uint8_t)(i * 37 + nr_objects * 11 + 1);
	objects[nr_objects++] = o;
	return o;
}

static void free_objects(void)
{
	while (nr_objects)
		free(objects[--nr_objects]);
}

static const struct btf_type *plain(uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(types, id);

	while (btf_is_mod(t) || btf_is_typedef(t))
		t = btf__type_by_id(types, t->type);
	return t;
}

/* The member of this name and its offset. */
static const struct btf_type *member(const struct btf_type *t, const char *name, size_t len,
				     size_t *offset)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(types, m->name_off);
		size_t inner = *offset + m->offset / 8;
		const struct btf_type *found = NULL;

		assert_false(BTF_INFO_KFLAG(t->info));
		if (strlen(its) == len && !memcmp(its, name, len))
			found = plain(m->type);
		else if (!*its && btf_is_composite(plain(m->type)))
			found = member(plain(m->type), name, len, &inner);
		if (found) {
			*offset = inner;
			return found;
		}
	}
	return NULL;
}

static size_t size_of(const struct btf_type *t)
{
	return btf_is_array(t) ? btf_array(t)->nelems : btf_is_ptr(t) ? 8 : t->size;
}

/*
 * Follows a path from an object; new objects are put behind pointers on the way if is_new.  Returns
 * the place of the member, or that of the string to which it points, and its type.
 */
static uint8_t *follow(uint8_t *object, const struct btf_type *t, const char *path, bool is_new,
		       const struct btf_type **ret_type)
{
	while (*path) {
		size_t len = strcspn(path, ".-"), offset = 0;

		t = member(t, path, len, &offset);
		assert_non_null(t);
		object += offset;
		path += len;
		if (*path == '-') {
			t = plain(t->type);
			if (is_new)
				memcpy(object, &(void *){ new_object(t->size) }, sizeof(void *));
			memcpy(&object, object, sizeof(object));
			path += 2;
		} else if (*path) {
			if (btf_is_array(t))
				t = plain(btf_array(t)->type);
			path++;
		}
	}
	*ret_type = t;
	return object;
}

/* ---- what the record must have --------------------------------------------------------------- */

struct expected {
	const struct native_event *event;
	const struct btf_type *proto;
	struct native_machine m;
};

static uint8_t *object_of(const struct expected *x, int arg, const struct btf_type **ret_type)
{
	int id = btf__find_by_name_kind(types, "task_struct", BTF_KIND_STRUCT);

	if (arg == NATIVE_CURRENT) {
		*ret_type = btf__type_by_id(types, (uint32_t)id);
		return (uint8_t *)(uintptr_t)x->m.task;
	}
	*ret_type = plain(plain(btf_params(x->proto)[arg + 1].type)->type);
	return (uint8_t *)(uintptr_t)x->m.args[arg];
}

/* Strings end in their arrays, and pointers to strings point to some. */
static void make_strings(struct expected *x, unsigned int variant)
{
	static const char *const texts[] = { "kworker/u8:3-ev", "", "x" };
	const struct native_field *f;

	for (f = x->event->fields; f->field; f++) {
		const struct btf_type *t;
		uint8_t *at;
		char *text;

		if (f->op != FILL_STRING)
			continue;
		at = object_of(x, f->arg, &t);
		at = follow(at, t, f->member, true, &t);
		text = btf_is_ptr(t) ? (char *)new_object(64) : (char *)at;
		strcpy(text, texts[(variant + (unsigned int)(f - x->event->fields)) % 3]);
		if (btf_is_ptr(t))
			memcpy(at, &(void *){ variant == 3 ? NULL : text }, sizeof(void *));
	}
}

static void make_args(struct expected *x, unsigned int variant)
{
	static const uint64_t numbers[] = { 0x8899aabbccdd6eff, 0, 0x40000402, 0x48 };
	int task = btf__find_by_name_kind(types, "task_struct", BTF_KIND_STRUCT);

	x->m.nr_args = btf_vlen(x->proto) - 1u;
	x->m.task = (uintptr_t)new_object(btf__type_by_id(types, (uint32_t)task)->size);
	for (unsigned int i = 0; i < x->m.nr_args; i++) {
		const struct btf_type *t = plain(btf_params(x->proto)[i + 1].type);
		uint64_t value = numbers[(variant + i) % 4];
		const struct btf_type *to = btf_is_ptr(t) && t->type ? plain(t->type) : NULL;
		const char *name = to ? btf__name_by_offset(types, to->name_off) : "";

		if (!strcmp(name, "page"))
			value = variant == 1 ? 0 : PAGES + 64 * (variant + 77);
		else if (to && (btf_is_struct(to) || btf_is_int(to)))
			value = (uintptr_t)new_object(size_of(to));
		else if (!btf_is_ptr(t) && t->size < 8)
			value &= (1ull << 8 * t->size) - 1;
		if (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL)
			value = variant == 2;
		x->m.args[i] = value;
	}
}

static uint64_t state_of(const struct expected *x, uint32_t exit_state)
{
	uint32_t state = (uint32_t)x->m.args[3], bit, highest = 0;

	if (x->m.args[0])
		return 0x100;
	if ((state & 0x402) == 0x402)
		return 0x80;
	for (bit = 1; bit <= 0x40; bit <<= 1)
		if ((state | exit_state) & bit)
			highest = bit;
	return highest;
}

static uint64_t number_of(const struct expected *x, const struct native_field *f)
{
	const struct btf_type *t;
	uint64_t value = 0;
	uint8_t *at;

	if (f->op == FILL_ARG)
		return x->m.args[f->arg];
	if (f->op == FILL_PFN)
		return x->m.args[f->arg] ? (x->m.args[f->arg] - PAGES) / 64 : UINT64_MAX;
	at = object_of(x, f->arg, &t);
	at = follow(at, t, f->member, false, &t);
	memcpy(&value, at, size_of(t));
	if (f->op == FILL_STATE)
		return state_of(x, (uint32_t)value);
	if (f->op == FILL_ACCOUNTED)
		return value >> SLAB_ACCOUNT_6_12 & 1 || x->m.args[3] >> GFP_ACCOUNT & 1;
	return value;
}

static void check_string(const struct expected *x, const struct native_field *f,
			 const struct ev_field *field)
{
	const struct btf_type *t;
	uint8_t *at = object_of(x, f->arg, &t);
	const char *want;
	size_t len;
	const char *got = ev_field__bytes(field, x->m.rec, x->m.size, &len);

	at = follow(at, t, f->member, false, &t);
	want = (const char *)at;
	if (btf_is_ptr(t)) {
		memcpy(&want, at, sizeof(want));
		want = want ?: "(null)";
	}
	assert_non_null(got);
	if (field->kind == EV_FIELD_STRING)
		assert_memory_equal(got, want, field->size);
	else
		assert_memory_equal(got, want, strlen(want) + 1);
	assert_true(len == (field->kind == EV_FIELD_STRING ? field->size : strlen(want) + 1));
}

static void check_field(const struct expected *x, const struct ev_field *field)
{
	const struct native_field *f = native_event__field(x->event, field->name);
	uint64_t want;

	assert_non_null(f);
	if (f->op == FILL_STRING) {
		check_string(x, f, field);
		return;
	}
	want = number_of(x, f);
	if (memcmp(x->m.rec + field->offset, &want, field->size))
		fail_msg("%s: %s is not %#llx", x->event->event, field->name,
			 (unsigned long long)want);
}

/* Every byte of the record is written: those between fields as 0. */
static void check_gaps(const struct expected *x, const struct ev_format *fmt)
{
	for (uint32_t at = 8; at < x->m.size; at++) {
		bool has_field = at >= ev_format__fixed_size(fmt);

		for (unsigned int i = 0; i < ev_format__nr_fields(fmt) && !has_field; i++) {
			const struct ev_field *f = ev_format__field(fmt, i);

			has_field = at >= f->offset && at < f->offset + f->size;
		}
		assert_true(x->m.written[at]);
		if (!has_field)
			assert_int_equal(x->m.rec[at], 0);
	}
}

static void check_variant(const struct native_code *code, const struct ev_format *fmt,
			  unsigned int variant)
{
	char name[128];
	struct expected x = { .event = code->event };
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", code->event->event);
	id = btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
	assert_true(id > 0);
	x.proto = plain(plain((uint32_t)id)->type);
	memset(x.m.rec, 0xee, sizeof(x.m.rec));
	make_args(&x, variant);
	make_strings(&x, variant);
	native_machine__run(&x.m, code);
	assert_true(x.m.size >= ev_format__fixed_size(fmt));
	check_gaps(&x, fmt);
	for (unsigned int i = 0; i < ev_format__nr_fields(fmt); i++)
		if (!ev_format__field(fmt, i)->is_common)
			check_field(&x, ev_format__field(fmt, i));
	free_objects();
}

/* ---- masks ----------------------------------------------------------------------------------- */

static uint64_t bytes_of(const uint64_t *mask, const struct ev_field *f)
{
	uint64_t set = 0;

	for (uint32_t at = f->offset; at < f->offset + f->size; at++)
		set += ((const uint8_t *)mask)[at] == 0xff;
	return set;
}

/* Which fields of an event a check takes for wrong if they differ. */
static void check_masks(const struct native_event *e, const struct ev_format *fmt)
{
	struct native_check c;
	uint32_t all = 0, set = 0, fixed = ev_format__fixed_size(fmt);
	bool has_strings = false, are_steady = true;

	native_masks__make(e, fmt, &c);
	for (unsigned int i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		bool changes = strstr(f->name, "comm") || strstr(f->name, "prio") ||
			       !strcmp(f->name, "prev_state") || !strcmp(f->name, "target_cpu");

		if (f->is_common)
			continue;
		assert_int_equal(bytes_of(c.fields, f), f->size);
		assert_int_equal(bytes_of(c.steady, f), changes ? 0 : f->size);
		has_strings |= f->kind == EV_FIELD_DATA_LOC;
		are_steady &= f->kind != EV_FIELD_DATA_LOC || !changes;
		all += f->size;
	}
	for (uint32_t at = 0; at < fixed; at++)
		set += ((const uint8_t *)c.fields)[at] == 0xff;
	assert_int_equal(set, all);
	/* all that is behind the fields belongs to the strings */
	for (uint32_t at = fixed; at < NATIVE_MAX_FIXED; at++) {
		assert_int_equal(((const uint8_t *)c.fields)[at], has_strings ? 0xff : 0);
		assert_int_equal(((const uint8_t *)c.steady)[at],
				 has_strings && are_steady ? 0xff : 0);
	}
	assert_true(c.steady_strings == (are_steady ? UINT64_MAX : 0));
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static const struct kernel {
	const char *name;
	unsigned int nr_events;
	enum native_reader reader;
	const char *refused, *why; /* the event that does not fit the rows */
} kernels[] = {
	{ "6.1", 36, NATIVE_BY_HELPER, "kmem_cache_alloc",
	  "accounted: which flags account an allocation is unknown" },
	{ "6.12", 36, NATIVE_BY_CAST, NULL, NULL },
	{ "6.18", 36, NATIVE_BY_CAST, NULL, NULL },
};

static void check_event(const struct kernel *k, const char *system, const char *text,
			enum native_reader reader)
{
	struct ev_format *fmt;
	struct native_code code;
	char why[NATIVE_WHY];
	int err;

	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	err = native_code__make(system, ev_format__name(fmt), fmt, text, types, reader, &code, why);
	if (k->refused && !strcmp(k->refused, ev_format__name(fmt))) {
		assert_int_equal(err, -EOPNOTSUPP);
		assert_string_equal(why, k->why);
	} else {
		if (err)
			fail_msg("%s: %s: %s", k->name, ev_format__name(fmt), why);
		native_code__set_pages(&code, PAGES);
		check_masks(code.event, fmt);
		for (unsigned int variant = 0; variant < 4; variant++)
			check_variant(&code, fmt, variant);
	}
	ev_format__free(fmt);
}

static void check_call(const struct kernel *k, bool is_exit, const char *text)
{
	struct ev_format *fmt;
	char why[NATIVE_WHY];

	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	if (native_code__check_call(is_exit, fmt, text, types, why))
		fail_msg("%s: sys_%s: %s", k->name, is_exit ? "exit" : "enter", why);
	ev_format__free(fmt);
}

static void check_kernel(const struct kernel *k)
{
	_cleanup_free_ char *text = NULL;
	char path[4096], *p, *end, *system;
	unsigned int nr = 0;

	snprintf(path, sizeof(path), "%s/%s.btf", directory, k->name);
	types = btf__parse(path, NULL);
	assert_non_null(types);
	assert_int_equal(native_code__reader(types), k->reader);
	snprintf(path, sizeof(path), "%s/%s.formats", directory, k->name);
	assert_int_equal(slurp(path, &text, NULL), 0);
	for (p = text; (p = strstr(p, "system: ")); nr++) {
		system = p + strlen("system: ");
		p = strchr(system, '\n');
		assert_non_null(p);
		*p++ = '\0';
		end = strstr(p, "\n\nsystem: ");
		if (end)
			*end = '\0';
		check_event(k, system, p, NATIVE_BY_HELPER);
		if (k->reader == NATIVE_BY_CAST)
			check_event(k, system, p, NATIVE_BY_CAST);
		if (!end)
			break;
		p = end + 1;
	}
	assert_int_equal(nr + 1, k->nr_events);
	check_call(k, false, ENTRY_FORMAT);
	check_call(k, true, EXIT_FORMAT);
	btf__free(types);
}

static void known(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		check_kernel(&kernels[i]);
}

/* ---- the feature that doctor shows ----------------------------------------------------------- */

static struct running {
	const char *kernel; /* which one it is */
	bool other_calls, no_levels, no_stacks, no_pages;
} running;

struct btf *__wrap_btf__load_vmlinux_btf(void);
int __wrap_tracefs__format(const char *system, const char *name, char **ret_text);
int __wrap_percpu__layout(const struct btf *btf, struct percpu_layout *ret_layout);
int __wrap_kwalk__new_btf(const struct btf *btf, struct kwalk **ret_kwalk);
bool __wrap_kwalk__walks_raw(const struct kwalk *k);
int __wrap_native_pages__set(struct native_pages *pages, const struct btf *btf,
			     struct native_code *code, char ret_why[NATIVE_WHY]);

struct btf *__wrap_btf__load_vmlinux_btf(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.btf", directory, running.kernel);
	return btf__parse(path, NULL);
}

int __wrap_tracefs__format(const char *system, const char *name, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	char path[4096], head[128], *start, *end;

	if (!strcmp(system, "raw_syscalls")) {
		*ret_text = strdup(!strcmp(name, "sys_exit") == running.other_calls ? ENTRY_FORMAT :
										      EXIT_FORMAT);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/%s.formats", directory, running.kernel);
	assert_int_equal(slurp(path, &text, NULL), 0);
	snprintf(head, sizeof(head), "system: %s\nname: %s\n", system, name);
	start = strstr(text, head);
	if (!start)
		return -ENOENT;
	start += strlen("system: ") + strlen(system) + 1;
	end = strstr(start, "\n\nsystem: ");
	*ret_text = end ? strndup(start, (size_t)(end - start)) : strdup(start);
	return 0;
}

int __wrap_percpu__layout(const struct btf *btf, struct percpu_layout *ret_layout)
{
	*ret_layout = (struct percpu_layout){ .preempt_count = running.no_levels ? UINT32_MAX : 8 };
	return 0;
}

int __wrap_kwalk__new_btf(const struct btf *btf, struct kwalk **ret_kwalk)
{
	return 0;
}

bool __wrap_kwalk__walks_raw(const struct kwalk *k)
{
	return !running.no_stacks;
}

int __wrap_native_pages__set(struct native_pages *pages, const struct btf *btf,
			     struct native_code *code, char ret_why[NATIVE_WHY])
{
	if (!running.no_pages || !code->pages_at)
		return 0;
	strcpy(ret_why, "no pages");
	return -EOPNOTSUPP;
}

/* What doctor says of a kernel. */
static void says(struct running now, int err, const char *expected)
{
	char detail[FEATURE_DETAIL];

	running = now;
	assert_int_equal(native_probe(detail, sizeof(detail)), err);
	assert_string_equal(detail, expected);
}

static void feature(void **state)
{
	says((struct running){ .kernel = "6.18" }, 0, "all 38, system calls among them");
	says((struct running){ .kernel = "6.1" }, -EOPNOTSUPP,
	     "37 of 38, system calls among them\n"
	     "kmem:kmem_cache_alloc: accounted: which flags account an allocation is unknown");
	says((struct running){ .kernel = "6.18", .no_pages = true }, -EOPNOTSUPP,
	     "33 of 38, system calls among them\n"
	     "kmem:mm_page_alloc, kmem:mm_page_free, kmem:mm_page_free_batched, "
	     "kmem:mm_page_alloc_zone_locked, kmem:mm_page_pcpu_drain: no pages");
	says((struct running){ .kernel = "6.18", .other_calls = true }, -EOPNOTSUPP,
	     "36 of 38\n"
	     "raw_syscalls:sys_enter, syscalls:sys_enter_*: "
	     "its print fmt is unknown (0x143a4b4b642a76fc)\n"
	     "raw_syscalls:sys_exit, syscalls:sys_exit_*: "
	     "its print fmt is unknown (0x7af6eaa30c64b588)");
	says((struct running){ .kernel = "6.18", .no_stacks = true }, -EOPNOTSUPP,
	     "all 38, system calls among them, but only with --no-kernel-stacks: "
	     "programs of raw tracepoints cannot walk kernel stacks");
	says((struct running){ .kernel = "6.18", .no_levels = true }, -EOPNOTSUPP,
	     NATIVE_NO_LEVELS);
}

/* Offsets that pahole prints for these kernels. */
static void offsets(void **state)
{
	static const struct {
		const char *kernel, *type, *member;
		uint32_t offset, size;
	} rows[] = {
		{ "6.1", "task_struct", "comm", 2976, 16 },
		{ "6.12", "task_struct", "comm", 2976, 16 },
		{ "6.18", "task_struct", "comm", 1752, 16 },
		{ "6.18", "task_struct", "thread_info.cpu", 20, 4 },
		{ "6.18", "pt_regs", "ip", 128, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct native_place p;
		char path[4096];
		struct btf *btf;
		int id;

		snprintf(path, sizeof(path), "%s/%s.btf", directory, rows[i].kernel);
		btf = btf__parse(path, NULL);
		assert_non_null(btf);
		id = btf__find_by_name_kind(btf, rows[i].type, BTF_KIND_STRUCT);
		assert_int_equal(native_types__member(btf, (uint32_t)id, rows[i].member, &p), 0);
		assert_int_equal(p.nr, 1);
		assert_int_equal(p.off[0], rows[i].offset);
		assert_int_equal(p.size, rows[i].size);
		btf__free(btf);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(offsets),
		cmocka_unit_test(feature),
	};

	directory = argv[1];
	return argc == 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
