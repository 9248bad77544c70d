// SPDX-License-Identifier: GPL-2.0-only
/* From generated code to a recording: tables, names, whose they are, times. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch_regs.h"
#include "children.h"
#include "files_test.h"
#include "frame.h"
#include "log.h"
#include "record/files/jit_source.h"
#include "record/files/jit_tables.h"
#include "record/files/opener.h"
#include "unwind/builder.h"

#define JIT_BASE (0x7full << 40)

/* The file event, as file 5, of generated code in the child. */
static struct wire_file_event jit_event(const struct child *c, uint64_t base)
{
	struct wire_file_event n = { .file = 5, .tgid = c->pid, .tid = c->pid };

	n.key = (struct wire_file_key){ WIRE_KEY_JIT, 0, { base >> WIRE_JIT_BITS, c->pid } };
	n.key.w[2] = process__start_ns(c->pid);
	return n;
}

/* Takes the file event as that of the first file; returns a stack with a frame there at 0x1010. */
static uint32_t take_jit(struct test *t, const struct wire_file_event *n)
{
	files_test__take(t, n);
	assert_int_equal(files_test__number(t, 5), 1);
	return files_test__note(t, 1, 0x1010);
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

/* Ends the recording: the frame of the stack at 0x1010 has that name of a map file, or none. */
static void expect_name(struct test *t, pid_t pid, uint32_t stack, const char *name)
{
	struct stk_reader *r;

	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	unlink(map_path(pid));
	r = read_back(t->w, &t->f);
	files_test__expect_symbol(r, stack, name, name ? 0x10 : 0);
	assert_int_equal(stk_reader__has_symbols(r, 1), name != NULL);
	stk_reader__free(r);
}

static void test_jit(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, JIT_BASE);
	struct test *t = *state;
	struct stk_reader *r;
	uint32_t a, b, d;

	a = take_jit(t, &n);
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	b = files_test__note(t, 1, 0x2001);
	d = files_test__note(t, 1, 0x3001);
	child_end(&c);
	write_map(n.tgid, "7f0000001000 100 jitted::code(int)\n"
			  "7f0000002000 10 with space\n"
			  "800000000000 10 elsewhere\n");
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
	unlink(map_path(n.tgid));
	r = read_back(t->w, &t->f);
	assert_int_equal(files_test__info(r, 1).kind, STK_FILE_JIT);
	assert_int_equal(files_test__info(r, 1).pid, n.tgid);
	assert_true(files_test__info(r, 1).base == JIT_BASE);
	files_test__expect_symbol(r, a, "jitted::code(int)", 0x10);
	files_test__expect_symbol(r, b, "with space", 1);
	files_test__expect_symbol(r, d, NULL, 0);
	stk_reader__free(r);
}

/* A map file that is older than the process does not name its code. */
static void test_foreign_jit(void **state)
{
	struct timespec before[2] = { { 1, 0 }, { 1, 0 } };
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t a;

	a = take_jit(t, &n);
	write_map(n.tgid, "1000 100 old\n");
	assert_int_equal(utimensat(AT_FDCWD, map_path(n.tgid), before, 0), 0);
	expect_name(t, n.tgid, a, NULL);
	child_end(&c);
}

/* The map of a process is read when it exits: the next one with its PID writes another. */
static void test_jit_exits(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t a;

	a = take_jit(t, &n);
	write_map(n.tgid, "1000 100 mine\n");
	child_end(&c);
	assert_int_equal(user_files__poll(t->files), 0);
	write_map(n.tgid, "1000 100 of the next\n");
	expect_name(t, n.tgid, a, "mine");
}

/* A process that has got the PID of an earlier one says nothing about the earlier one's code. */
static void test_jit_of_next(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t a;

	n.key.w[2] -= 10000000000ull;
	a = take_jit(t, &n);
	write_map(n.tgid, "1000 100 of the next\n");
	expect_name(t, n.tgid, a, NULL);
	child_end(&c);
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

/* Ends the recording and reads the names of the innermost frames of its events. */
static void expect_names(struct test *t, const char *const *names)
{
	const struct stk_event *e;
	struct stk_frame frame;
	struct stk_reader *r;

	assert_int_equal(stk_writer__end_round(t->w, 1000, 1000), 0);
	assert_int_equal(user_files__finish(t->files, true, 0), 0);
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

/* Each 100 ns from 150 to last: an event at 0x1010 of the code, and one at 0x1030. */
static void add_events(struct test *t, const struct wire_file_event *n, uint64_t last)
{
	uint32_t a, b;

	assert_int_equal(stk_writer__type(t->w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	a = take_jit(t, n);
	b = files_test__note(t, 1, 0x1030);
	for (uint64_t ts = 150; ts <= last; ts += 100) {
		add_event(t->w, ts, a);
		add_event(t->w, ts + 1, b);
	}
}

/* Begins the dump of a process with events until last. */
static FILE *begin_times(struct test *t, uint64_t last, struct child *ret_child)
{
	struct wire_file_event n;

	*ret_child = child_mapping(NULL, "/proc/self/exe");
	n = jit_event(ret_child, 0);
	add_events(t, &n, last);
	return begin_dump(dump_path(n.tgid), 0);
}

static void end_times(struct test *t, FILE *f, struct child *c, const char *const *names)
{
	fclose(f);
	expect_names(t, names);
	unlink(dump_path(c->pid));
	child_end(c);
}

/* Functions that replace one another have their names at their times. */
static void test_jit_times(void **state)
{
	struct child c;
	FILE *f = begin_times(*state, 450, &c);

	dump_load(f, 100, 0x1000, 0x20, "first");
	dump_load(f, 200, 0x1000, 0x40, "second");
	dump_load(f, 210, 0x1000, 0x40, "second"); /* again */
	dump_load(f, 300, 0x2000, 0x40, "elsewhere");
	dump_load(f, 400, 0x1000, 0x18, "third");
	end_times(*state, f, &c,
		  (const char *const[]){ "first", "-", "second", "second", "second", "second",
					 "third", "second", NULL });
}

/* A function that is announced again takes back what another one had of it meanwhile. */
static void test_jit_again(void **state)
{
	struct child c;
	FILE *f = begin_times(*state, 350, &c);

	dump_load(f, 100, 0x1000, 0x40, "long");
	dump_load(f, 200, 0x1020, 0x20, "short");
	dump_load(f, 300, 0x1000, 0x40, "long");
	end_times(*state, f, &c,
		  (const char *const[]){ "long", "long", "long", "short", "long", "long", NULL });
}

/* Of so many functions at a place that their files would be too many, the last have no name. */
static void test_jit_many(void **state)
{
	struct child c;
	FILE *f = begin_times(*state, 450, &c);

	for (uint64_t ts = 100; ts < 400; ts++)
		dump_load(f, ts, 0x1000, 0x40, ts % 2 ? "odd" : "even");
	end_times(*state, f, &c,
		  (const char *const[]){ "even", "odd", "even", "odd", "even", "odd", "-", "-",
					 NULL });
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
	a = take_jit(t, &n);
	b = files_test__note(t, 1, 0x1030);
	d = files_test__note(t, 1, 0x2010);
	add_event(t->w, 150, a);
	add_event(t->w, 151, b);
	add_event(t->w, 152, d);
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

/* A child with a page of such code, whose file event is taken. */
static uint8_t *begin_code(struct test *t, const uint8_t *code, size_t len, struct child *ret_child)
{
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wire_file_event n;

	assert_ptr_not_equal(p, MAP_FAILED);
	memcpy(p, code, len);
	*ret_child = child_mapping(NULL, "/proc/self/exe");
	n = jit_event(ret_child, (uintptr_t)p);
	files_test__take(t, &n);
	return p;
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
	struct test *t = *state;
	struct child c;
	uint8_t *p = begin_code(t, code, sizeof(code), &c);
	uint32_t table;

	assert_true(jit_rule(t, p + 6) == UNW_SIMPLE(0, 2, 0, 0));
	assert_true(jit_rule(t, p + 18) == guess(16));
	assert_true(jit_rule(t, p + 13) == (UNW_ESCAPE | UNW_NONE));
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	table = t->entries[5].table;
	p[3] = p[9] = 24;
	files_test__await_table(t, 5, table);
	assert_true(jit_rule(t, p + 6) == UNW_SIMPLE(0, 4, 0, 0));
	child_end(&c);
	munmap(p, 4096);
	stk_writer__free(t->w);
}

static const uint8_t ret[] = { 0xc3 };

static int table_error; /* of unw_builder__finish(), unless 0 */
static unsigned int nr_errors; /* that it has returned */

int __real_unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			       struct unwind_table *t);
int __wrap_unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			       struct unwind_table *t);

int __wrap_unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			       struct unwind_table *t)
{
	nr_errors += table_error != 0;
	return table_error ?: __real_unw_builder__finish(b, rules, t);
}

/*
 * A window whose table cannot be built has none until it can; that is reported once, and does not
 * end the recording.
 */
static void test_jit_fails(void **state)
{
	struct test *t = *state;
	struct child c;
	uint8_t *p = begin_code(t, ret, sizeof(ret), &c);
	unsigned int before;

	jit_rule(t, p);
	*logged = '\0';
	log_set_sink(note_log, NULL);
	table_error = -ENOMEM;
	assert_int_equal(user_files__poll(t->files), 0);
	assert_non_null(strstr(logged, "allocate an unwind table"));
	assert_int_equal(t->entries[5].state, WIRE_FILE_NO_CFI);
	*logged = '\0';
	before = nr_errors;
	for (unsigned int i = 0; nr_errors == before && i < POLLS; i++) {
		usleep(10000);
		assert_int_equal(user_files__poll(t->files), 0);
	}
	assert_true(nr_errors > before);
	assert_string_equal(logged, "");
	table_error = 0;
	files_test__await_table(t, 5, UINT32_MAX);
	log_set_sink(NULL, NULL);
	child_end(&c);
	munmap(p, 4096);
	stk_writer__free(t->w);
}

/* A table that was evicted is built again when a stack needs it, and removed at the end. */
static void test_jit_evicted(void **state)
{
	struct test *t = *state;
	struct child c;
	uint8_t *p = begin_code(t, ret, sizeof(ret), &c);

	jit_rule(t, p);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	t->entries[5].state = WIRE_FILE_NEW;
	usleep(500000);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	jit_rule(t, p);
	files_test__await_table(t, 5, UINT32_MAX);
	child_end(&c);
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_NO_CFI);
	munmap(p, 4096);
	stk_writer__free(t->w);
}

/* Its files are searched for once, not for each window: that may be in a real-time thread. */
static void test_jit_once(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct wire_file_event n = jit_event(&c, 0);
	struct seen_context seen = { 0 };
	struct observed_file s;
	struct test *t = *state;

	assert_int_equal(observed_file__open(&seen, &n, false, &s), 0);
	assert_non_null(s.jit);
	observed_file__release(&s);
	n.key.w[0]++; /* another window */
	assert_int_equal(observed_file__open(&seen, &n, false, &s), 0);
	assert_null(s.jit);
	n.key.w[0] += 1ull << 32; /* another program */
	assert_int_equal(observed_file__open(&seen, &n, false, &s), 0);
	assert_non_null(s.jit);
	observed_file__release(&s);
	seen_context__free(&seen);
	child_end(&c);
	stk_writer__free(t->w);
}

/* A process cannot have as many windows with tables as it likes. */
static void test_jit_windows(void **state)
{
	struct child c = child_mapping(NULL, "/proc/self/exe"), other;
	struct wire_file_event n = jit_event(&c, 0);
	struct test *t = *state;
	uint32_t i;

	other = child_mapping(NULL, "/proc/self/exe");
	for (i = 0; i <= JIT_MAX_WINDOWS; i++) {
		n.file = 5 + i;
		n.key.w[0] = i;
		files_test__take(t, &n);
	}
	for (i = 0; i < JIT_MAX_WINDOWS; i++)
		assert_int_equal(t->entries[5 + i].state, WIRE_FILE_NEW);
	assert_int_equal(t->entries[5 + i].state, WIRE_FILE_NO_CFI);
	n = jit_event(&other, 0);
	n.file = 6 + i;
	files_test__take(t, &n);
	assert_int_equal(t->entries[6 + i].state, WIRE_FILE_NEW);
	child_end(&c);
	child_end(&other);
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
	files_test__take(t, &n);
	assert_true(jit_rule_at(t, at, 150) == UNW_SIMPLE(0, 2, 0, 0));
	assert_int_equal(user_files__poll(t->files), 0);
	assert_int_equal(t->entries[5].state, WIRE_FILE_LOADED);
	dump_frames(f, 200, 0x40, 64);
	dump_load(f, 200, 0x7f0000001000, 0x40, "second");
	fclose(f);
	for (unsigned int i = 0; jit_rule_at(t, at, 250) != UNW_SIMPLE(0, 8, 0, 0) && i < POLLS;
	     i++)
		usleep(10000);
	assert_true(jit_rule_at(t, at, 250) == UNW_SIMPLE(0, 8, 0, 0));
	assert_true(jit_rule_at(t, at + 0x2f, 250) == UNW_SIMPLE(0, 8, 0, 0));
	assert_true(jit_rule_at(t, at, 150) == UNW_SIMPLE(0, 2, 0, 0));
	assert_true(jit_rule_at(t, at, 50) == (UNW_ESCAPE | UNW_NONE));
	unlink(dump_path(c.pid));
	child_end(&c);
	stk_writer__free(t->w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FILES_TEST(test_jit),	      FILES_TEST(test_foreign_jit),
		FILES_TEST(test_jit_exits),   FILES_TEST(test_jit_code),
		FILES_TEST(test_jit_fails),   FILES_TEST(test_jit_evicted),
		FILES_TEST(test_jit_once),    FILES_TEST(test_jit_windows),
		FILES_TEST(test_jit_tables),  FILES_TEST(test_jit_times),
		FILES_TEST(test_jit_again),   FILES_TEST(test_jit_untimed),
		FILES_TEST(test_jit_of_next), FILES_TEST(test_jit_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
