// SPDX-License-Identifier: GPL-2.0-only
/* From file events to a recording: numbers, tables, symbols.  The test plays the kernel side. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "children.h"
#include "files_test.h"

/* Functions of this program, whose file offset is known. */
__attribute__((noinline, used)) static int first_function(int x)
{
	return x * 3 + 1;
}

__attribute__((noinline, used)) static int second_function(int x)
{
	return x * 5 + 1;
}

struct place {
	uintptr_t addr;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *me, size_t size, void *arg)
{
	struct place *place = arg;
	uint64_t addr = place->addr - me->dlpi_addr;
	int i;

	for (i = 0; i < me->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &me->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && addr - p->p_vaddr < p->p_filesz)
			place->offset = addr - p->p_vaddr + p->p_offset;
	}
	return 1; /* the program itself comes first */
}

static uint64_t offset_of(int (*function)(int))
{
	struct place place = { .addr = (uintptr_t)function };

	dl_iterate_phdr(find_place, &place);
	assert_int_not_equal(place.offset, 0);
	return place.offset;
}

static void test_all_steps(void **state)
{
	const struct unwind_table *table;
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	struct user_files_stats stats;
	uint32_t generation = t->ctl.generation, a, b, d;
	struct stk_reader *r;

	files_test__take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_true(t->ctl.generation > generation);
	table = files_test__table(t, 1);
	assert_non_null(table);
	assert_int_equal(table->nr_pages, t->entries[1].nr_pages);
	assert_int_not_equal(unwind__find(table, offset_of(first_function)), UNW_ESCAPE | UNW_NONE);
	assert_null(files_test__table(t, 2));
	assert_null(files_test__table(t, 0));
	assert_null(files_test__table(t, WIRE_MAX_FILES));
	user_files__stats(t->files, &stats);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.loaded, 1);
	assert_true(stats.table_bytes > 0 && stats.cfi_bytes > 0);
	/* an unused file is not in the recording */
	n.file = 2;
	n.key.w[3]++;
	n.tgid = n.tid = 0x7fffffff;
	files_test__take(t, &n);
	assert_int_equal(files_test__number(t, 1), 1);
	assert_int_equal(files_test__number(t, 1), 1);
	assert_int_equal(files_test__number(t, 0), 0);
	assert_int_equal(files_test__number(t, 3), 0);
	assert_int_equal(files_test__number(t, WIRE_MAX_FILES), 0);
	a = files_test__note(t, 1, offset_of(first_function) + 2);
	b = files_test__note(t, 1, 1);
	d = files_test__note(t, 1, offset_of(second_function));
	child_end(&c);
	unlink(path);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);

	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_string_equal(files_test__info(r, 1).path, path);
	assert_string_equal(files_test__info(r, 1).host_path, path);
	assert_int_equal(files_test__info(r, 1).flags, 0);
	/*
	 * the file was modified shortly before the mapping, and is kept although it is gone at the
	 * end
	 */
	files_test__expect_symbol(r, a, "first_function", 2);
	files_test__expect_symbol(r, b, NULL, 0);
	files_test__expect_symbol(r, d, "second_function", 0);
	stk_reader__free(r);
}

/* Without a file event, a copied stack says where the file is mapped. */
static void test_copied_stack(void **state)
{
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	struct wire_copy copy = { .tgid = n.tgid, .tid = n.tid };
	struct wire_vma v = { n.start, n.end, n.start - n.offset, .file = 1 };
	struct stk_reader *r;

	t->entries[1].key = n.key;
	assert_non_null(user_files__table(t->files, &copy, &v, 0, false));
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_int_equal(files_test__number(t, 1), 1);
	files_test__note(t, 1, 1);
	child_end(&c);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	r = read_back(t->w, &t->f);
	assert_string_equal(files_test__info(r, 1).path, path);
	assert_int_equal(files_test__info(r, 1).flags, 0);
	stk_reader__free(r);
}

/* No table and no build id: the file gets a hash of its contents. */
static void test_no_elf(void **state)
{
	static const uint8_t sha256[20] = { 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf,
					    0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
					    0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3 }; /* of "abc" */
	struct test *t = *state;
	const char *path = in_dir("text");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct user_files_stats stats;
	struct stk_reader *r;
	struct wire_file_event n;
	struct child c;

	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	files_test__take(t, &n);
	child_end(&c);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NO_CFI);
	assert_null(files_test__table(t, 1));
	user_files__stats(t->files, &stats);
	assert_int_equal(stats.no_table, 1);
	assert_int_equal(files_test__number(t, 1), 1);
	files_test__note(t, 1, 1);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	r = read_back(t->w, &t->f);
	assert_int_equal(files_test__info(r, 1).id_kind, STK_ID_CONTENT);
	assert_int_equal(files_test__info(r, 1).id_len, 20);
	assert_memory_equal(files_test__info(r, 1).id, sha256, 20);
	assert_false(stk_reader__has_symbols(r, 1));
	stk_reader__free(r);
}

/* A long file is not hashed before the end. */
static void test_long(void **state)
{
	struct test *t = *state;
	const char *path = in_dir("long");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stk_reader *r;
	struct wire_file_event n;
	struct child c;

	assert_int_equal(ftruncate(fd, 5 << 20), 0);
	close(fd);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	files_test__take(t, &n);
	child_end(&c);
	assert_int_equal(files_test__number(t, 1), 1);
	assert_int_equal(user_files__finish(t->files, false, 0), 0);
	r = read_back(t->w, &t->f);
	assert_int_equal(files_test__info(r, 1).id_kind, STK_ID_CONTENT);
	stk_reader__free(r);
}

/* The first process is gone, but another one maps the file, too. */
static void test_gone(void **state)
{
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path), early = n;
	struct stk_reader *r;
	int i;

	early.tgid = early.tid = 0x7fffffff;
	early.nr_parts = early.len = 0;
	/* a single failure is not final: the kernel side is asked to send the event again */
	t->entries[1].announced = 1;
	files_test__take(t, &early);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	assert_int_equal(t->entries[1].announced, 0);
	/* the same for failures with other processes, up to a limit */
	for (i = 0; i < 6; i++) {
		early.tgid--;
		t->entries[1].announced = 1;
		files_test__take(t, &early);
		files_test__take(t, &early);
		assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
		assert_int_equal(t->entries[1].announced, 0);
	}
	early.tgid--;
	t->entries[1].announced = 1;
	files_test__take(t, &early);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NO_CFI);
	assert_int_equal(t->entries[1].announced, 1);
	assert_int_equal(files_test__number(t, 1), 1);
	files_test__take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_int_equal(files_test__number(t, 1), 1);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_int_equal(files_test__info(r, 1).flags, 0);
	stk_reader__free(r);
}

/*
 * A deferred stack needs the table of a file that could not be opened.  That is not final either,
 * and no reason to look at all mappings of all processes.
 */
static void test_gone_and_needed(void **state)
{
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path), early = n;

	early.tgid = early.tid = 0x7fffffff;
	early.nr_parts = early.len = 0;
	t->entries[1].announced = 1;
	files_test__take(t, &early);
	assert_null(files_test__table(t, 1));
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	assert_int_equal(t->entries[1].announced, 0);
	files_test__take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_non_null(files_test__table(t, 1));
	child_end(&c);
	stk_writer__free(t->w);
}

/* The file event is late: until it comes, only the kernel's key is known. */
static void test_late(void **state)
{
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	struct stk_reader *r;

	t->entries[1].key = n.key;
	assert_int_equal(files_test__number(t, 1), 1);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	files_test__take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	n.key.w[0]++;
	t->entries[2].key = n.key;
	assert_int_equal(files_test__number(t, 2), 2);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(files_test__info(r, 1).flags, 0);
	assert_int_equal(files_test__info(r, 2).flags, STK_FILE_GONE);
	assert_int_equal(files_test__info(r, 2).inode, n.key.w[0]);
	assert_int_equal(files_test__info(r, 2).size, n.key.w[4]);
	stk_reader__free(r);
}

/* Names: known and new ones. */
static void test_names(void **state)
{
	struct test *t = *state;
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	const char *name, *host;
	struct stk_reader *r;

	n.is_name = 1; /* before the file's own */
	files_test__take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	n.is_name = 0;
	files_test__take(t, &n);
	assert_int_equal(files_test__number(t, 1), 1);
	/* its ctime has changed, and the kernel side gave it another id */
	assert_int_equal(rename(path, in_dir("renamed")), 0);
	n = file_event_of(&c, in_dir("renamed"));
	n.file = 2;
	files_test__take(t, &n);
	assert_int_equal(files_test__number(t, 2), 1);
	n.is_name = 1;
	files_test__take(t, &n);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(files_test__info(r, 1).nr_names, 2);
	assert_int_equal(stk_reader__file_name(r, 1, 1, &name, &host), 0);
	assert_string_equal(name, in_dir("renamed"));
	assert_string_equal(host, in_dir("renamed"));
	stk_reader__free(r);
}

/* Evicted tables are loaded again on request. */
static void test_load_again(void **state)
{
	const struct unwind_table *table;
	struct test *t = *state;
	struct wire_file_event n[200];
	struct user_files_stats stats;
	uint32_t id, first_page, loaded;
	char name[16];

	for (id = 1; id < 200; id++) {
		struct child c = { 0 };

		snprintf(name, sizeof(name), "p%u", id);
		n[id] = file_event_of(&c, copy_self(name));
		n[id].file = id;
		n[id].tgid = n[id].tid = 0x7fffffff;
	}
	for (id = 1; id < 200; id++) {
		files_test__take(t, &n[id]);
		if (t->entries[id].state == WIRE_FILE_NEW)
			break; /* this one waits */
	}
	assert_in_range(id, 3, 199);
	loaded = id - 1;
	assert_non_null(files_test__table(t, id));
	files_test__await_table(t, id, UINT32_MAX);
	user_files__stats(t->files, &stats);
	assert_true(stats.evicted >= 1 && stats.evicted < loaded);
	for (id = 1; t->entries[id].state == WIRE_FILE_LOADED; id++)
		;
	assert_int_equal(t->entries[id].state, WIRE_FILE_NEW);
	first_page = t->entries[id].first_page;
	table = files_test__table(t, id);
	assert_non_null(table);
	assert_int_equal(table->first_page, first_page);
	stk_writer__free(t->w);
}

static void test_vdso(void **state)
{
	uintptr_t image = getauxval(AT_SYSINFO_EHDR);
	struct wire_file_event n = { .file = 3, .key = { .kind = WIRE_KEY_VDSO } };
	void *handle = dlopen("linux-vdso.so.1", RTLD_NOLOAD | RTLD_NOW);
	void *function = handle ? dlsym(handle, "__vdso_clock_gettime") : NULL;
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a;

	if (!image || !function) {
		print_message("skipped: this process has no vdso\n");
		stk_writer__free(t->w);
		skip();
	}
	files_test__take(t, &n);
	assert_int_equal(t->entries[3].state, WIRE_FILE_LOADED);
	assert_int_not_equal(unwind__find(files_test__table(t, 3), (uintptr_t)function - image),
			     UNW_ESCAPE | UNW_NONE);
	assert_int_equal(files_test__number(t, 3), 1);
	a = files_test__note(t, 1, (uintptr_t)function - image + 1);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	r = read_back(t->w, &t->f);
	assert_string_equal(files_test__info(r, 1).path, "[vdso]");
	assert_int_equal(files_test__info(r, 1).id_kind, STK_ID_BUILD_ID);
	assert_int_equal(stk_reader__has_symbols(r, 1), true);
	files_test__expect_symbol(r, a, "__vdso_clock_gettime", 1);
	stk_reader__free(r);
}

/* Invalid events in the ring change nothing. */
static void test_damaged(void **state)
{
	struct wire_file_event n = { .file = WIRE_MAX_FILES, .key = { .kind = WIRE_KEY_FILE } };
	struct test *t = *state;
	struct user_files_stats stats;

	assert_int_equal(user_files__take_file_event(t->files, &n), 0);
	n.file = 0;
	assert_int_equal(user_files__take_file_event(t->files, &n), 0);
	n.file = 1;
	n.key.kind = 0;
	assert_int_equal(user_files__take_file_event(t->files, &n), 0);
	n.key.kind = WIRE_KEY_NAME;
	assert_int_equal(user_files__take_file_event(t->files, &n), 0);
	user_files__stats(t->files, &stats);
	assert_int_equal(stats.files, 0);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	stk_writer__free(t->w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FILES_TEST(test_all_steps),  FILES_TEST(test_copied_stack),
		FILES_TEST(test_no_elf),     FILES_TEST(test_long),
		FILES_TEST(test_gone),	     FILES_TEST(test_gone_and_needed),
		FILES_TEST(test_late),	     FILES_TEST(test_names),
		FILES_TEST(test_load_again), FILES_TEST(test_vdso),
		FILES_TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
