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
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../trace/written.h"
#include "arch_regs.h"
#include "children.h"
#include "frame.h"
#include "log.h"
#include "record/files/jit_source.h"
#include "record/files/user_files_priv.h"
#include "symbols/usyms.h"

#define MIB (1u << 20)

struct test {
	struct gen_file f;
	struct stk_writer *w;
	struct wire_file *entries;
	struct wire_user_ctl ctl;
	struct user_files *files;
};

static int setup(void **state)
{
	struct stk_writer_opts wo = { .nr_cpus = 1 };
	struct test *t = calloc(1, sizeof(*t));
	struct user_files_opts opts = { .ctl = &t->ctl,
					.slabs_fd = -1,
					.snapshot_fd = -1,
					.clock = CLOCK_MONOTONIC,
					.table_budget = MIB };

	opts.entries = t->entries = calloc(WIRE_MAX_FILES, sizeof(*t->entries));
	t->w = gen_open(&t->f, &wo);
	assert_int_equal(user_files__new(&opts, &t->files), 0);
	user_files__set_writer(t->files, t->w);
	*state = t;
	return children_begin() ? 0 : -1;
}

static int teardown(void **state)
{
	struct test *t = *state;

	user_files__free(t->files);
	gen_close(&t->f);
	free(t->entries);
	free(t);
	children_end();
	return 0;
}

static void take(struct test *t, const struct wire_file_event *n)
{
	t->entries[n->file].key = n->key;
	assert_int_equal(user_files__take_file_event(t->files, n), 0);
}

static uint32_t number(struct test *t, uint32_t id)
{
	uint32_t n = 99;

	assert_int_equal(user_files__number(t->files, id, &n), 0);
	return n;
}

/* As for a copied stack of a process that is gone. */
static const struct unwind_table *table_of(struct test *t, uint32_t id)
{
	static const struct wire_copy copy = { .tgid = 0x7fffffff, .tid = 0x7fffffff };

	return user_files__table(t->files, &copy, &(struct wire_vma){ .file = id }, 0, false);
}

/* Notes a stack of one exact frame; returns its number. */
static uint32_t note(struct test *t, uint32_t file, uint64_t offset)
{
	uint64_t words[2] = { FRAME_MARKER(FRAME_EXACT, 0), FRAME_USER(file, offset) };
	uint32_t stack = 0;

	assert_int_equal(stk_writer__stack(t->w, words, 2, &stack), 0);
	assert_int_equal(user_files__note_frame(t->files, file, offset), 0);
	return stack;
}

static void expect_symbol(struct stk_reader *r, uint32_t stack, const char *name, uint64_t off)
{
	struct stk_frame frame;

	assert_int_equal(stk_reader__frames(r, stack, &frame, 1), 1);
	if (!name) {
		assert_null(frame.sym);
		return;
	}
	assert_non_null(frame.sym);
	assert_string_equal(frame.sym, name);
	assert_int_equal(frame.off, off);
}

static struct stk_file info(struct stk_reader *r, uint32_t file)
{
	struct stk_file f = { 0 };

	assert_int_equal(stk_reader__file(r, file, &f), 0);
	return f;
}

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

	take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_true(t->ctl.generation > generation);
	table = table_of(t, 1);
	assert_non_null(table);
	assert_int_equal(table->nr_pages, t->entries[1].nr_pages);
	assert_int_not_equal(unwind__find(table, offset_of(first_function)), UNW_ESCAPE | UNW_NONE);
	assert_null(table_of(t, 2));
	assert_null(table_of(t, 0));
	assert_null(table_of(t, WIRE_MAX_FILES));
	user_files__stats(t->files, &stats);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.loaded, 1);
	assert_true(stats.table_bytes > 0 && stats.cfi_bytes > 0);
	/* an unused file is not in the recording */
	n.file = 2;
	n.key.w[3]++;
	n.tgid = n.tid = 0x7fffffff;
	take(t, &n);
	assert_int_equal(number(t, 1), 1);
	assert_int_equal(number(t, 1), 1);
	assert_int_equal(number(t, 0), 0);
	assert_int_equal(number(t, 3), 0);
	assert_int_equal(number(t, WIRE_MAX_FILES), 0);
	a = note(t, 1, offset_of(first_function) + 2);
	b = note(t, 1, 1);
	d = note(t, 1, offset_of(second_function));
	child_end(&c);
	unlink(path);
	assert_int_equal(user_files__finish(t->files, true), 0);

	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_string_equal(info(r, 1).path, path);
	assert_string_equal(info(r, 1).host_path, path);
	assert_int_equal(info(r, 1).flags, 0);
	/*
	 * the file was modified shortly before the mapping, and is kept although it is gone at the
	 * end
	 */
	expect_symbol(r, a, "first_function", 2);
	expect_symbol(r, b, NULL, 0);
	expect_symbol(r, d, "second_function", 0);
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
	assert_int_equal(number(t, 1), 1);
	note(t, 1, 1);
	child_end(&c);
	assert_int_equal(user_files__finish(t->files, true), 0);
	r = read_back(t->w, &t->f);
	assert_string_equal(info(r, 1).path, path);
	assert_int_equal(info(r, 1).flags, 0);
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
	take(t, &n);
	child_end(&c);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NO_CFI);
	assert_null(table_of(t, 1));
	user_files__stats(t->files, &stats);
	assert_int_equal(stats.no_table, 1);
	assert_int_equal(number(t, 1), 1);
	note(t, 1, 1);
	assert_int_equal(user_files__finish(t->files, true), 0);
	r = read_back(t->w, &t->f);
	assert_int_equal(info(r, 1).id_kind, STK_ID_CONTENT);
	assert_int_equal(info(r, 1).id_len, 20);
	assert_memory_equal(info(r, 1).id, sha256, 20);
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

	assert_int_equal(ftruncate(fd, 5 * MIB), 0);
	close(fd);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	take(t, &n);
	child_end(&c);
	assert_int_equal(number(t, 1), 1);
	assert_int_equal(user_files__finish(t->files, false), 0);
	r = read_back(t->w, &t->f);
	assert_int_equal(info(r, 1).id_kind, STK_ID_CONTENT);
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
	take(t, &early);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	assert_int_equal(t->entries[1].announced, 0);
	/* the same for failures with other processes, up to a limit */
	for (i = 0; i < 6; i++) {
		early.tgid--;
		t->entries[1].announced = 1;
		take(t, &early);
		take(t, &early);
		assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
		assert_int_equal(t->entries[1].announced, 0);
	}
	early.tgid--;
	t->entries[1].announced = 1;
	take(t, &early);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NO_CFI);
	assert_int_equal(t->entries[1].announced, 1);
	assert_int_equal(number(t, 1), 1);
	take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_int_equal(number(t, 1), 1);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_int_equal(info(r, 1).flags, 0);
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
	take(t, &early);
	assert_null(table_of(t, 1));
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	assert_int_equal(t->entries[1].announced, 0);
	take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	assert_non_null(table_of(t, 1));
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
	assert_int_equal(number(t, 1), 1);
	assert_int_equal(t->entries[1].state, WIRE_FILE_NEW);
	take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	n.key.w[0]++;
	t->entries[2].key = n.key;
	assert_int_equal(number(t, 2), 2);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(info(r, 1).flags, 0);
	assert_int_equal(info(r, 2).flags, STK_FILE_GONE);
	assert_int_equal(info(r, 2).inode, n.key.w[0]);
	assert_int_equal(info(r, 2).size, n.key.w[4]);
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
	take(t, &n);
	assert_int_equal(t->entries[1].state, WIRE_FILE_LOADED);
	n.is_name = 0;
	take(t, &n);
	assert_int_equal(number(t, 1), 1);
	/* its ctime has changed, and the kernel side gave it another id */
	assert_int_equal(rename(path, in_dir("renamed")), 0);
	n = file_event_of(&c, in_dir("renamed"));
	n.file = 2;
	take(t, &n);
	assert_int_equal(number(t, 2), 1);
	n.is_name = 1;
	take(t, &n);
	child_end(&c);
	r = read_back(t->w, &t->f);
	assert_int_equal(info(r, 1).nr_names, 2);
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
	struct timespec nap = { 1, 100000000 };
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
		take(t, &n[id]);
		if (t->entries[id].state == WIRE_FILE_NEW)
			break; /* this one waits */
	}
	assert_in_range(id, 3, 199);
	loaded = id - 1;
	assert_non_null(table_of(t, id));
	user_files__poll(t->files);
	nanosleep(&nap, NULL);
	user_files__poll(t->files);
	assert_int_equal(t->entries[id].state, WIRE_FILE_LOADED);
	user_files__stats(t->files, &stats);
	assert_true(stats.evicted >= 1 && stats.evicted < loaded);
	for (id = 1; t->entries[id].state == WIRE_FILE_LOADED; id++)
		;
	assert_int_equal(t->entries[id].state, WIRE_FILE_NEW);
	first_page = t->entries[id].first_page;
	table = table_of(t, id);
	assert_non_null(table);
	assert_int_equal(table->first_page, first_page);
	stk_writer__free(t->w);
}

#define JIT_BASE (0x7full << 40)

/* The file event, as file 5, of generated code in the child. */
static struct wire_file_event jit_event(const struct child *c, uint64_t base)
{
	struct wire_file_event n = { .file = 5, .tgid = c->pid, .tid = c->pid };

	n.key = (struct wire_file_key){ WIRE_KEY_JIT, 0, { base >> WIRE_JIT_BITS, c->pid } };
	n.key.w[2] = process__start_ns(c->pid);
	return n;
}

static const char *map_path(pid_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	return path;
}

static void write_map(pid_t pid, const char *text)
{
	FILE *f = fopen(map_path(pid), "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_jit(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, JIT_BASE);
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a, b, d;

	take(t, &n);
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	b = note(t, 1, 0x2001);
	d = note(t, 1, 0x3001);
	child_end(&c);
	write_map(n.tgid, "7f0000001000 100 jitted::code(int)\n"
			  "7f0000002000 10 with space\n"
			  "800000000000 10 elsewhere\n");
	assert_int_equal(user_files__finish(t->files, true), 0);
	unlink(map_path(n.tgid));
	r = read_back(t->w, &t->f);
	assert_int_equal(info(r, 1).kind, STK_FILE_JIT);
	assert_int_equal(info(r, 1).pid, n.tgid);
	assert_true(info(r, 1).base == JIT_BASE);
	expect_symbol(r, a, "jitted::code(int)", 0x10);
	expect_symbol(r, b, "with space", 1);
	expect_symbol(r, d, NULL, 0);
	stk_reader__free(r);
}

/* A map file that is older than the process does not name its code. */
static void test_foreign_jit(void **state)
{
	struct timespec before[2] = { { 1, 0 }, { 1, 0 } };
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a;

	take(t, &n);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	write_map(n.tgid, "1000 100 old\n");
	assert_int_equal(utimensat(AT_FDCWD, map_path(n.tgid), before, 0), 0);
	assert_int_equal(user_files__finish(t->files, true), 0);
	unlink(map_path(n.tgid));
	child_end(&c);
	r = read_back(t->w, &t->f);
	expect_symbol(r, a, NULL, 0);
	assert_false(stk_reader__has_symbols(r, 1));
	stk_reader__free(r);
}

/* The map of a process is read when it exits: the next one with its PID writes another. */
static void test_jit_exits(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a;

	take(t, &n);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	write_map(n.tgid, "1000 100 mine\n");
	child_end(&c);
	assert_int_equal(user_files__poll(t->files), 0);
	write_map(n.tgid, "1000 100 of the next\n");
	assert_int_equal(user_files__finish(t->files, true), 0);
	unlink(map_path(n.tgid));
	r = read_back(t->w, &t->f);
	expect_symbol(r, a, "mine", 0x10);
	stk_reader__free(r);
}

/* A process that has got the PID of an earlier one says nothing about the earlier one's code. */
static void test_jit_of_next(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a;

	n.key.w[2] -= 10000000000ull;
	take(t, &n);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	write_map(n.tgid, "1000 100 of the next\n");
	assert_int_equal(user_files__finish(t->files, true), 0);
	unlink(map_path(n.tgid));
	child_end(&c);
	r = read_back(t->w, &t->f);
	expect_symbol(r, a, NULL, 0);
	stk_reader__free(r);
}

/* Appends a record of a jitdump: a function that was loaded at a time. */
static void dump_load(FILE *f, uint64_t ts, uint64_t addr, uint64_t size, const char *name)
{
	uint32_t head[] = { 0, 16 + 40 + strlen(name) + 1 }, who[] = { 1, 1 };
	uint64_t where[] = { addr, addr, size, addr };

	fwrite(head, sizeof(head), 1, f);
	fwrite(&ts, sizeof(ts), 1, f);
	fwrite(who, sizeof(who), 1, f);
	fwrite(where, sizeof(where), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
}

static const char *dump_path(pid_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", pid);
	return path;
}

static FILE *begin_dump(const char *path, uint64_t flags)
{
	uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, 1 };
	uint64_t rest[] = { 0, flags };
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	return f;
}

static void add_event(struct test *t, uint64_t ts, uint32_t stack)
{
	uint64_t rec[2] = { 0 };
	struct stk_writer_event e = { .ts = ts, .ustack = stack, .record = rec, .record_len = 16 };

	assert_int_equal(stk_writer__event(t->w, &e), 0);
}

/* Ends the recording and reads the names of the innermost frames of its events. */
static void expect_names(struct test *t, const char *const *names)
{
	const struct stk_event *e;
	struct stk_frame frame;
	struct stk_reader *r;

	assert_int_equal(stk_writer__end_round(t->w, 1000, 1000), 0);
	assert_int_equal(user_files__finish(t->files, true), 0);
	assert_int_equal(stk_writer__finish(t->w, "done", 0), 0);
	stk_writer__free(t->w);
	gen_load(&t->f);
	assert_int_equal(stk_reader__open_mem(t->f.p, t->f.len, NULL, &r), 0);
	for (; stk_reader__next(r, &e) > 0; names++) {
		assert_int_equal(stk_reader__frames(r, stk_event__ustack(e), &frame, 1), 1);
		assert_non_null(*names);
		assert_string_equal(frame.sym ? frame.sym : "-", *names);
	}
	assert_null(*names);
	stk_reader__free(r);
}

/* Functions that replace one another have their names at their times. */
static void test_jit_times(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t a, b;
	FILE *f;

	assert_int_equal(stk_writer__type(t->w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	take(t, &n);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	b = note(t, 1, 0x1030);
	for (uint64_t ts = 150; ts <= 450; ts += 100) {
		add_event(t, ts, a);
		add_event(t, ts + 1, b);
	}
	f = begin_dump(dump_path(n.tgid), 0);
	dump_load(f, 100, 0x1000, 0x20, "first");
	dump_load(f, 200, 0x1000, 0x40, "second");
	dump_load(f, 210, 0x1000, 0x40, "second"); /* again */
	dump_load(f, 300, 0x2000, 0x40, "elsewhere");
	dump_load(f, 400, 0x1000, 0x18, "third");
	fclose(f);
	expect_names(t, (const char *const[]){ "first", "-", "second", "second", "second", "second",
					       "third", "second", NULL });
	unlink(dump_path(n.tgid));
	child_end(&c);
}

static char logged[512];

static void note_log(void *ctx, enum stk_log_level level, const char *msg)
{
	if (level == STK_LOG_WARN)
		snprintf(logged, sizeof(logged), "%s", msg);
}

/* Without times the last name applies: a perf map has none, and a dump may count cycles. */
static void test_jit_untimed(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t a, b, d;
	FILE *f;

	assert_int_equal(stk_writer__type(t->w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	take(t, &n);
	assert_int_equal(number(t, 5), 1);
	a = note(t, 1, 0x1010);
	b = note(t, 1, 0x1030);
	d = note(t, 1, 0x2010);
	add_event(t, 150, a);
	add_event(t, 151, b);
	add_event(t, 152, d);
	write_map(n.tgid, "1000 20 first\n1000 40 second\n1000 18 third\n");
	f = begin_dump(dump_path(n.tgid), 1);
	dump_load(f, 100, 0x2000, 0x20, "cycles");
	dump_load(f, 900, 0x2000, 0x20, "later");
	fclose(f);
	*logged = '\0';
	log_set_sink(note_log, NULL);
	expect_names(t, (const char *const[]){ "third", "second", "later", NULL });
	log_set_sink(NULL, NULL);
	assert_non_null(strstr(logged, "several names for 2 addresses"));
	unlink(dump_path(n.tgid));
	unlink(map_path(n.tgid));
	child_end(&c);
}

/* The rule for a call in generated code whose return address is at addr. */
static uint64_t jit_rule_at(struct test *t, const uint8_t *addr, uint64_t ts)
{
	struct wire_copy *copy = calloc(1, sizeof(*copy));
	uint64_t offset = ((uintptr_t)addr - 1) & ((1ull << FRAME_OFFSET_BITS) - 1);
	const struct unwind_table *table;
	uint32_t rule;
	uint64_t wide;

	copy->ts = ts;
	table = user_files__table(t->files, copy, &(struct wire_vma){ .file = 5 }, offset, false);
	free(copy);
	assert_non_null(table);
	rule = unwind__find(table, offset);
	if (rule < (UNW_ESCAPE | UNW_ESCAPE_RULES))
		return rule;
	rule -= UNW_ESCAPE | UNW_ESCAPE_RULES;
	memcpy(&wide, table->words + table->rules + 2 * rule, sizeof(wide));
	return wide;
}

static uint64_t jit_rule(struct test *t, const uint8_t *addr)
{
	return jit_rule_at(t, addr, UINT64_MAX);
}

static uint64_t guess(int off)
{
	return UNW_RULE(UNW_CFA_GUESS, UNW_REG_SP, 0, 0, 0, 0, 0, 0, off);
}

/* Code without tables: the way to its return is looked for, once, and again when it has changed. */
static void test_jit_code(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 8,	0xff, 0xd1, /* sub $8,%rsp; call *%rcx */
		0x48, 0x83, 0xc4, 8,	0xc3, /* add $8,%rsp; ret */
		0xff, 0xd1, 0xff, 0xe1, /* call *%rcx; jmp *%rcx */
		0x90, 0xff, 0xd1, /* nop; call *%rcx */
		0x90, 0x48, 0x83, 0xc4, 8,    0xc3, /* nop; add $8,%rsp; ret */
	};
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child c = { .pid = -1 };
	struct wire_file_event n;
	struct test *t = *state;
	uint32_t table;

	memcpy(p, code, sizeof(code));
	c = child_mapping(NULL, "/proc/self/exe");
	n = jit_event(&c, (uintptr_t)p);
	take(t, &n);
	assert_true(jit_rule(t, p + 6) == UNW_SIMPLE(0, 2, 0, 0));
	assert_true(jit_rule(t, p + 18) == guess(16));
	assert_true(jit_rule(t, p + 13) == (UNW_ESCAPE | UNW_NONE));
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	table = t->entries[5].table;
	p[3] = p[9] = 24;
	sleep(1);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	assert_true(t->entries[5].table != table);
	assert_true(jit_rule(t, p + 6) == UNW_SIMPLE(0, 4, 0, 0));
	child_end(&c);
	munmap(p, 4096);
	stk_writer__free(t->w);
}

/* Appends the tables of the next function: its CFA is at the stack pointer plus cfa. */
static void dump_frames(FILE *f, uint64_t ts, uint64_t size, uint8_t cfa)
{
	const uint8_t cie[] = { 20, 0,	  0,  0, 0,    0,    0, 0, 1,	 'z', 'R', 0,
				1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0 };
	const uint8_t program[] = { 0, 0x0e, cfa };
	uint32_t fde[] = { 12 + sizeof(program), 28, -(((size + 7) & ~7u) + 32), size };
	uint64_t sizes[] = { sizeof(cie) + sizeof(fde) + sizeof(program), 0, 0 };
	uint32_t head[] = { 4, 16 + 24 + sizes[0] };

	fwrite(head, sizeof(head), 1, f);
	fwrite(&ts, sizeof(ts), 1, f);
	fwrite(sizes, sizeof(sizes), 1, f);
	fwrite(cie, sizeof(cie), 1, f);
	fwrite(fde, sizeof(fde), 1, f);
	fwrite(program, sizeof(program), 1, f);
}

/* A dump has tables, also of code that was replaced after the stack was copied. */
static void test_jit_tables(void **state)
{
	const char *path = in_dir("dump");
	const uint8_t *at = (const uint8_t *)0x7f0000001010;
	struct test *t = *state;
	struct wire_file_event n;
	struct child c;
	FILE *f;

	f = begin_dump(path, 0);
	dump_frames(f, 100, 0x20, 16);
	dump_load(f, 100, 0x7f0000001000, 0x20, "first");
	dump_load(f, 100, 0x7f0000001030, 0x10, "has no table");
	fflush(f);
	c = child_mapping(NULL, path);
	assert_int_equal(rename(path, dump_path(c.pid)), 0); /* the mapping is that of a dump now */
	n = jit_event(&c, 0x7f0000001000);
	take(t, &n);
	assert_true(jit_rule_at(t, at, 150) == UNW_SIMPLE(0, 2, 0, 0));
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	dump_frames(f, 200, 0x40, 64);
	dump_load(f, 200, 0x7f0000001000, 0x40, "second");
	fclose(f);
	usleep(100000);
	assert_true(jit_rule_at(t, at, 250) == UNW_SIMPLE(0, 8, 0, 0));
	assert_true(jit_rule_at(t, at + 0x2f, 250) == UNW_SIMPLE(0, 8, 0, 0));
	assert_true(jit_rule_at(t, at, 150) == UNW_SIMPLE(0, 2, 0, 0));
	assert_true(jit_rule_at(t, at, 50) == (UNW_ESCAPE | UNW_NONE));
	unlink(dump_path(c.pid));
	child_end(&c);
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
	take(t, &n);
	assert_int_equal(t->entries[3].state, WIRE_FILE_LOADED);
	assert_int_not_equal(unwind__find(table_of(t, 3), (uintptr_t)function - image),
			     UNW_ESCAPE | UNW_NONE);
	assert_int_equal(number(t, 3), 1);
	a = note(t, 1, (uintptr_t)function - image + 1);
	assert_int_equal(user_files__finish(t->files, true), 0);
	r = read_back(t->w, &t->f);
	assert_string_equal(info(r, 1).path, "[vdso]");
	assert_int_equal(info(r, 1).id_kind, STK_ID_BUILD_ID);
	assert_int_equal(stk_reader__has_symbols(r, 1), true);
	expect_symbol(r, a, "__vdso_clock_gettime", 1);
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
	assert_int_equal(user_files__finish(t->files, true), 0);
	stk_writer__free(t->w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copied_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_elf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_and_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_jit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_exits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_untimed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_of_next, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
