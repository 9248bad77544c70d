// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's symbols, from a fake kernel that loads and unloads modules and BPF programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "symbols/ksyms.h"
#include "symbols/ksyms_image.h"

#define CORE(x) (0xffffffff81000000ull + (x))
#define MOD(x) (0xffffffffc0000000ull + (x))
#define BPF(x) (0xffffffffc1000000ull + (x))

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "0000000000001000 A cpu_hot\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T first\n"
			   "ffffffff81000100 t asm_exc_nmi\n"
			   "ffffffff81000180 T last\n"
			   "ffffffff81000180 T last_alias\n"
			   "ffffffff81000200 D _etext\n"
			   "ffffffff81000300 B data\n"
			   "ffffffff81000400 T init\n"
			   "ffffffff81000480 T _einittext\n"
			   "ffffffffc0000100 t mod_last\t[mod]\n"
			   "ffffffffc0000000 t mod_first\t[mod]\n"
			   "ffffffffc0000200 d mod_data\t[mod]\n"
			   "ffffffffc0000800 t other\t[other]\n"
			   "ffffffffc0000c00 t ftrace_trampoline\t[__builtin__ftrace]\n"
			   "ffffffffc1000000 t bpf_prog_a\t[bpf]\n"
			   "ffffffffc1000100 t bpf_prog_b\t[bpf]";

/* The code that is loaded at the moment. */
struct loaded {
	uint64_t start, size;
	const char *name, *module;
};

struct kernel {
	const struct loaded *v;
	unsigned int asked;
	int err;
};

static int ask(void *ctx, const uint64_t *addrs, unsigned int nr, char *texts, size_t text_len)
{
	struct kernel *kernel = ctx;

	kernel->asked += nr;
	for (unsigned int i = 0; i < nr && !kernel->err; i++) {
		char *out = texts + i * text_len;
		const struct loaded *l = kernel->v;

		while (l->size && addrs[i] - l->start >= l->size)
			l++;
		if (!l->size)
			snprintf(out, text_len, "0x%llx", (unsigned long long)addrs[i]);
		else
			snprintf(out, text_len, "%s+0x%llx/0x%llx%s%s%s", l->name,
				 (unsigned long long)(addrs[i] - l->start),
				 (unsigned long long)l->size, *l->module ? " [" : "", l->module,
				 *l->module ? "]" : "");
	}
	return kernel->err;
}

static struct ksyms *open_syms(struct kernel *kernel)
{
	struct ksyms *k;

	assert_int_equal(ksyms__parse(text, &k), 0);
	assert_false(ksyms__hidden(k));
	if (kernel)
		ksyms__set_resolver(k, ask, kernel);
	return k;
}

static void expect(struct ksyms *k, uint64_t addr, const char *name, uint64_t off, uint64_t size,
		   const char *module)
{
	struct ksym s;

	if (!name) {
		assert_int_equal(ksyms__find(k, addr, &s), -ENOENT);
		return;
	}
	assert_int_equal(ksyms__find(k, addr, &s), 0);
	assert_string_equal(s.name, name);
	assert_int_equal(addr - s.start, off);
	assert_int_equal(s.size, size);
	assert_string_equal(s.module, module);
}

static void test_core(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){ { 0 } } };
	struct ksyms *k = open_syms(&kernel);

	expect(k, CORE(0), "_stext", 0, 0x100, "");
	expect(k, CORE(0xff), "_stext", 0xff, 0x100, "");
	expect(k, CORE(0x100), "asm_exc_nmi", 0, 0x80, "");
	expect(k, CORE(0x1ff), "last", 0x7f, 0x80, "");
	expect(k, CORE(0x410), "init", 0x10, 0x80, "");
	assert_int_equal(kernel.asked, 0);
	/* data between two functions is in neither */
	expect(k, CORE(0x200), NULL, 0, 0, NULL);
	expect(k, CORE(0x3ff), NULL, 0, 0, NULL);
	expect(k, CORE(0) - 1, NULL, 0, 0, NULL);
	assert_int_equal(kernel.asked, 3);
	assert_true(ksyms__is_fixed(k, CORE(0)));
	assert_true(ksyms__is_fixed(k, CORE(0x480)));
	assert_false(ksyms__is_fixed(k, CORE(0) - 1));
	assert_false(ksyms__is_fixed(k, CORE(0x481)));
	assert_false(ksyms__is_fixed(k, MOD(0)));
	ksyms__free(k);
}

/* kallsyms was read while bpf_prog_a and bpf_prog_b were loaded. */
static void test_bpf_changes(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){ { BPF(0), 0x40, "bpf_prog_a", "" },
							 { BPF(0x100), 0x30, "bpf_prog_b", "" },
							 { 0 } } };
	struct ksyms *k = open_syms(&kernel);

	expect(k, BPF(0x3f), "bpf_prog_a", 0x3f, 0x40, "bpf");
	expect(k, BPF(0x90), NULL, 0, 0, NULL);
	/* the last symbol has no end in kallsyms */
	expect(k, BPF(0x110), "bpf_prog_b", 0x10, 0x30, "bpf");
	/* into the gap, and in place of another program */
	kernel.v = (struct loaded[]){ { BPF(0), 0x20, "bpf_prog_d", "" },
				      { BPF(0x80), 0x60, "bpf_prog_c", "" },
				      { 0 } };
	expect(k, BPF(0x90), "bpf_prog_c", 0x10, 0x60, "bpf");
	expect(k, BPF(0x1f), "bpf_prog_d", 0x1f, 0x20, "bpf");
	expect(k, BPF(0x3f), NULL, 0, 0, NULL);
	expect(k, BPF(0x110), NULL, 0, 0, NULL);
	ksyms__free(k);
}

static void test_bpf_module(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){
					 { BPF(0x1000), 0x10, "bpf_trampoline_1", "" },
					 { BPF(0x2000), 0x10, "bpf_dispatcher_xdp", "" },
					 { BPF(0x3000), 0x10, "bpf__ops_member", "" },
					 { BPF(0x4000), 0x10, "bpf_prog_1_f", "bpf" },
					 { MOD(0x4000), 0x10, "bpf_prog_x", "mod" },
					 { CORE(0x200), 0x10, "bpf_prog_active", "" },
					 { CORE(0x9000), 0x10, "jiffies", "" },
					 { 0 } } };
	struct ksyms *k = open_syms(&kernel);

	expect(k, BPF(0x1001), "bpf_trampoline_1", 1, 0x10, "bpf");
	expect(k, BPF(0x2001), "bpf_dispatcher_xdp", 1, 0x10, "bpf");
	expect(k, BPF(0x3001), "bpf__ops_member", 1, 0x10, "bpf");
	expect(k, BPF(0x4001), "bpf_prog_1_f", 1, 0x10, "bpf");
	expect(k, MOD(0x4001), "bpf_prog_x", 1, 0x10, "mod");
	expect(k, CORE(0x201), "bpf_prog_active", 1, 0x10, "");
	expect(k, CORE(0x9001), "jiffies", 1, 0x10, "");
	ksyms__free(k);
}

static void test_modules(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){ { MOD(0), 0x80, "mod_first", "mod" },
							 { MOD(0x100), 0x33, "mod_last", "mod" },
							 { 0 } } };
	struct ksyms *k = open_syms(&kernel);
	struct ksym s;

	expect(k, MOD(0x10), "mod_first", 0x10, 0x80, "mod");
	expect(k, MOD(0x132), "mod_last", 0x32, 0x33, "mod");
	expect(k, MOD(0x133), NULL, 0, 0, NULL);
	assert_int_equal(ksyms__by_name(k, "mod_last", &s), 0);
	assert_int_equal(s.start, MOD(0x100));
	assert_int_equal(s.size, 0x33);
	assert_int_equal(ksyms__by_name(k, "other", &s), 0);
	assert_int_equal(s.start, MOD(0x800));
	assert_int_equal(s.size, 0);
	/* unloaded, and another module loaded over it */
	kernel.v = (struct loaded[]){ { MOD(0x20), 0x200, "new_function", "new" }, { 0 } };
	expect(k, MOD(0x10), NULL, 0, 0, NULL);
	expect(k, MOD(0x130), "new_function", 0x110, 0x200, "new");
	ksyms__free(k);
}

static void test_no_resolver(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){ { 0 } }, .err = -EOPNOTSUPP };

	for (int i = 0; i < 2; i++) {
		struct ksyms *k = open_syms(i ? &kernel : NULL);

		expect(k, MOD(0x10), "mod_first", 0x10, 0x100, "mod");
		expect(k, MOD(0x110), NULL, 0, 0, NULL);
		expect(k, MOD(0xc10), NULL, 0, 0, NULL);
		expect(k, BPF(0x10), NULL, 0, 0, NULL);
		ksyms__free(k);
	}
}

static void test_resolver_fails(void **state)
{
	struct kernel kernel = { .v = (struct loaded[]){ { 0 } }, .err = -EIO };
	struct ksyms *k = open_syms(&kernel);
	struct ksym s;

	assert_int_equal(ksyms__find(k, CORE(0), &s), 0);
	assert_int_equal(ksyms__find(k, BPF(0), &s), -EIO);
	ksyms__free(k);
}

/* Few lookups search all names, many make an index: the answers are the same. */
static void test_by_name(void **state)
{
	struct ksyms *k = open_syms(NULL);
	unsigned int i;
	struct ksym s;

	for (i = 0; i < 10; i++) {
		assert_int_equal(ksyms__by_name(k, "last_alias", &s), 0);
		assert_int_equal(s.start, CORE(0x180));
		assert_int_equal(s.size, 0x80);
		assert_int_equal(ksyms__by_name(k, "other", &s), 0);
		assert_string_equal(s.module, "other");
		assert_int_equal(ksyms__by_name(k, "data", &s), -ENOENT);
		assert_int_equal(ksyms__by_name(k, "bpf_prog_a", &s), -ENOENT);
		assert_int_equal(ksyms__by_name(k, "ftrace_trampoline", &s), -ENOENT);
		assert_int_equal(ksyms__by_name(k, "", &s), -ENOENT);
	}
	ksyms__free(k);
}

static void test_walk(void **state)
{
	static char hidden[] = "0000000000000000 T _stext\n0000000000000000 T schedule\n";
	struct kernel kernel = { .v = (struct loaded[]){ { CORE(0), 0x40, "_stext", "" },
							 { CORE(0x40), 0x40, "asm_exc_nmi", "" },
							 { CORE(0x80), 0x80, "schedule", "" },
							 { CORE(0x100), 0x10, "mod_f", "mod" },
							 { BPF(0), 0x10, "bpf_prog_a", "" },
							 { 0 } } };
	struct ksym_range entry, holes[2];
	struct ksyms *k;
	struct ksym s;

	assert_int_equal(ksyms__parse(hidden, &k), 0);
	assert_true(ksyms__hidden(k));
	assert_int_equal(ksyms__walk(k, CORE(0x50)), -EOPNOTSUPP);
	ksyms__set_resolver(k, ask, &kernel);
	assert_int_equal(ksyms__walk(k, CORE(0x50)), 0);
	kernel.asked = 0;
	expect(k, CORE(0x3f), "_stext", 0x3f, 0x40, "");
	expect(k, CORE(0xff), "schedule", 0x7f, 0x80, "");
	assert_int_equal(kernel.asked, 0);
	expect(k, CORE(0x100), "mod_f", 0, 0x10, "mod");
	expect(k, BPF(1), "bpf_prog_a", 1, 0x10, "bpf");
	assert_int_equal(ksyms__by_name(k, "schedule", &s), 0);
	assert_int_equal(s.start, CORE(0x80));
	assert_false(ksyms__is_fixed(k, CORE(0x100)));
	assert_int_equal(ksyms__interrupt_entries(k, &entry, holes, 2), 0);
	assert_int_equal(entry.start, CORE(0x40));
	assert_int_equal(entry.len, 0x40);
	ksyms__free(k);
}

static void test_bad_text(void **state)
{
	static const char *const bad[] = { "x", "ffffffff81000000", "ffffffff81000000 T",
					   "ffffffff81000000 TT name", "ffffffff81000000\tT name" };
	struct ksyms *k;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ksyms__parse(bad[i], &k), -EINVAL);
	assert_int_equal(ksyms__parse("", &k), 0);
	assert_true(ksyms__hidden(k));
	ksyms__free(k);
	ksyms__free(NULL);
}

static int count_hidden(void *ctx)
{
	++*(unsigned int *)ctx;
	return -EPERM;
}

/* What a thread reads is what is read at once; without root it is hidden. */
static void test_beside(void **state)
{
	struct ksym_range entry[2] = { 0 }, holes[2][64] = { 0 };
	struct ksyms *at_once, *beside;
	unsigned int calls = 0, i;
	int err;

	assert_int_equal(ksyms__load(&at_once), 0);
	assert_int_equal(ksyms__load_beside(NULL, count_hidden, &calls, &beside), 0);
	err = ksyms__interrupt_entries(at_once, &entry[0], holes[0], 64);
	assert_int_equal(ksyms__interrupt_entries(beside, &entry[1], holes[1], 64), err);
	assert_memory_equal(&entry[0], &entry[1], sizeof(entry[0]));
	assert_memory_equal(holes[0], holes[1], sizeof(holes[0]));
	assert_int_equal(ksyms__hidden(beside), ksyms__hidden(at_once));
	for (i = 0; i < 2; i++) {
		assert_int_equal(ksyms__wait(beside), ksyms__hidden(at_once) ? -EPERM : 0);
		assert_int_equal(calls, ksyms__hidden(at_once));
	}
	ksyms__free(beside);
	ksyms__free(at_once);
	assert_int_equal(ksyms__load_beside(NULL, NULL, NULL, &beside), 0);
	ksyms__free(beside); /* while it is read */
}

/* A keeper in memory. */
struct kept {
	uint64_t first;
	void *image;
	size_t len;
	unsigned int found, added;
};

static bool get_kept(void *ctx, uint64_t first, void **ret_image, size_t *ret_len)
{
	struct kept *m = ctx;

	if (!m->image || m->first != first)
		return false;
	*ret_image = malloc(m->len);
	memcpy(*ret_image, m->image, m->len);
	*ret_len = m->len;
	m->found++;
	return true;
}

static void keep(void *ctx, uint64_t first, const void *image, size_t len)
{
	struct kept *m = ctx;

	m->first = first;
	free(m->image);
	m->image = malloc(len);
	memcpy(m->image, image, len);
	m->len = len;
	m->added++;
}

static struct ksyms *load_with(const struct ksyms_keeper *keeper)
{
	struct ksyms *k;

	assert_int_equal(ksyms__load_beside(keeper, NULL, NULL, &k), 0);
	assert_int_equal(ksyms__wait(k), 0);
	return k;
}

static void assert_same(const struct ksym *a, const struct ksym *b)
{
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->size, b->size);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->module, b->module);
}

/* Every answer of kept functions is that of kallsyms, which is read for modules only. */
static void check_kept(struct ksyms *kept, struct ksyms *fresh)
{
	struct ksym_range entry[2] = { 0 }, holes[2][64] = { 0 };
	size_t nr = ksyms__nr(fresh), i;
	struct ksym a, b;
	int err;

	err = ksyms__interrupt_entries(fresh, &entry[0], holes[0], 64);
	assert_int_equal(ksyms__interrupt_entries(kept, &entry[1], holes[1], 64), err);
	assert_memory_equal(&entry[0], &entry[1], sizeof(entry[0]));
	assert_memory_equal(holes[0], holes[1], sizeof(holes[0]));
	for (i = 0; i < nr; i++) {
		ksyms__get(fresh, i, &a);
		assert_int_equal(ksyms__is_fixed(kept, a.start), ksyms__is_fixed(fresh, a.start));
		err = ksyms__find(fresh, a.start, &a);
		assert_int_equal(ksyms__find(kept, a.start, &b), err);
		if (!err)
			assert_same(&a, &b);
	}
	for (i = 0; i < nr; i += 1 + i / 100) {
		ksyms__get(fresh, i, &b);
		assert_int_equal(ksyms__by_name(fresh, b.name, &a), 0);
		assert_int_equal(ksyms__by_name(kept, b.name, &b), 0);
		assert_same(&a, &b);
	}
	assert_int_equal(ksyms__by_name(kept, "no such function", &a), -ENOENT);
	assert_int_equal(ksyms__nr(kept), nr);
	for (i = 0; i < nr; i++) {
		ksyms__get(fresh, i, &a);
		ksyms__get(kept, i, &b);
		assert_same(&a, &b);
	}
}

static void test_kept(void **state)
{
	struct kept m = { 0 };
	struct ksyms_keeper keeper = { &m, get_kept, keep };
	struct ksyms *fresh, *kept;
	unsigned int i;

	assert_int_equal(ksyms__load(&fresh), 0);
	if (ksyms__hidden(fresh)) {
		kept = load_with(&keeper);
		assert_true(ksyms__hidden(kept));
		assert_int_equal(m.added, 0);
		ksyms__free(kept);
		ksyms__free(fresh);
		skip();
	}
	for (i = 0; i < 3; i++) { /* read, from memory, and of another run of the kernel */
		m.first += i == 2;
		kept = load_with(&keeper);
		assert_int_equal(m.found, i == 1 || i == 2);
		assert_int_equal(m.added, i == 2 ? 2 : 1);
		check_kept(kept, fresh);
		ksyms__free(kept);
	}
	/* damaged: read again */
	for (i = 0; i < 4; i++) {
		m.len -= i;
		m.found = m.added = 0;
		((uint8_t *)m.image)[8] ^= i == 0;
		kept = load_with(&keeper);
		assert_int_equal(m.found, 1);
		assert_int_equal(m.added, 1);
		assert_int_equal(ksyms__nr(kept), ksyms__nr(fresh));
		ksyms__free(kept);
	}
	free(m.image);
	ksyms__free(fresh);
}

/* Whatever the image says, no more is read than it has. */
static void test_images(void **state)
{
	struct ksyms_entry entries[] = {
		{ CORE(0), 16, 1, 0 },
		{ CORE(16), 0, 3, 0 },
		{ MOD(0), 8, 1, 5 },
	};
	char pool[] = "\0a\0b\0m";
	struct ksyms_table t = { .entries = entries, .nr = 3, .pool = pool }, r;
	unsigned int i, n, taken = 0;
	uint8_t *image, before;
	size_t len;

	assert_int_equal(ksyms_image__pack(&t, (void **)&image, &len), 0);
	assert_int_equal(ksyms_image__unpack(image, len, &r), 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.entries[1].start, CORE(16));
	assert_string_equal(r.pool + r.entries[1].name, "b");
	ksyms_table__free(&r);
	for (i = 0; i < len; i++)
		assert_int_equal(ksyms_image__unpack(image, i, &r), -EBADMSG);
	for (i = 0; i < len; i++) {
		before = image[i];
		for (n = 0; n < 256; n++) {
			image[i] = n;
			if (ksyms_image__unpack(image, len, &r))
				continue;
			taken++;
			assert_true(r.nr == 2 && strlen(r.pool + r.entries[0].name) < 4);
			assert_true(r.entries[0].start <= r.entries[1].start);
			ksyms_table__free(&r);
		}
		image[i] = before;
	}
	assert_true(taken > 256);
	free(image);
	entries[1].size = 1ull << 32;
	assert_int_equal(ksyms_image__pack(&t, (void **)&image, &len), -ERANGE);
	t.nr = 0;
	assert_int_equal(ksyms_image__pack(&t, (void **)&image, &len), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core),	    cmocka_unit_test(test_bpf_changes),
		cmocka_unit_test(test_bpf_module),  cmocka_unit_test(test_modules),
		cmocka_unit_test(test_no_resolver), cmocka_unit_test(test_resolver_fails),
		cmocka_unit_test(test_by_name),	    cmocka_unit_test(test_walk),
		cmocka_unit_test(test_bad_text),    cmocka_unit_test(test_beside),
		cmocka_unit_test(test_kept),	    cmocka_unit_test(test_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
