// SPDX-License-Identifier: GPL-2.0-only
/* What tests of user_files.h share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "children.h"
#include "files_test.h"
#include "frame.h"

#define MIB (1u << 20)

int files_test__setup(void **state)
{
	struct stk_writer_opts wo = { .nr_cpus = 1 };
	struct test *t = calloc(1, sizeof(*t));
	struct user_files_opts opts = {
		.ctl = &t->ctl, .slabs_fd = -1, .snapshot_fd = -1, .table_budget = MIB
	};

	opts.entries = t->entries = calloc(WIRE_MAX_FILES, sizeof(*t->entries));
	t->w = gen_open(&t->f, &wo);
	assert_int_equal(user_files__new(&opts, &t->files), 0);
	user_files__set_writer(t->files, t->w);
	*state = t;
	return children_begin() ? 0 : -1;
}

int files_test__teardown(void **state)
{
	struct test *t = *state;

	user_files__free(t->files);
	gen_close(&t->f);
	free(t->entries);
	free(t);
	children_end();
	return 0;
}

void files_test__take(struct test *t, const struct wire_file_event *n)
{
	t->entries[n->file].key = n->key;
	assert_int_equal(user_files__take_file_event(t->files, n), 0);
}

uint32_t files_test__number(struct test *t, uint32_t id)
{
	uint32_t n = 99;

	assert_int_equal(user_files__number(t->files, id, &n), 0);
	return n;
}

void files_test__await_table(struct test *t, uint32_t id, uint32_t other)
{
	const struct wire_file *e = &t->entries[id];
	unsigned int i;

	for (i = 0; (e->state != WIRE_FILE_LOADED || e->table == other) && i < POLLS; i++) {
		usleep(10000);
		assert_int_equal(user_files__poll(t->files), 0);
	}
	assert_int_equal(e->state, WIRE_FILE_LOADED);
	assert_true(e->table != other);
}

const struct unwind_table *files_test__table(struct test *t, uint32_t id)
{
	static const struct wire_copy copy = { .tgid = 0x7fffffff, .tid = 0x7fffffff };

	return user_files__table(t->files, &copy, &(struct wire_vma){ .file = id }, 0, false);
}

uint32_t files_test__note(struct test *t, uint32_t file, uint64_t offset)
{
	uint64_t words[2] = { FRAME_MARKER(FRAME_EXACT, 0), FRAME_USER(file, offset) };
	uint32_t stack = 0;

	assert_int_equal(stk_writer__stack(t->w, words, 2, &stack), 0);
	assert_int_equal(user_files__note_frame(t->files, file, offset), 0);
	return stack;
}

void files_test__expect_symbol(struct stk_reader *r, uint32_t stack, const char *name, uint64_t off)
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

struct stk_file files_test__info(struct stk_reader *r, uint32_t file)
{
	struct stk_file f = { 0 };

	assert_int_equal(stk_reader__file(r, file, &f), 0);
	return f;
}
