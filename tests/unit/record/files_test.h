/* SPDX-License-Identifier: GPL-2.0-only */
/* From file events to a recording: what tests of user_files.h share.  They play the kernel side. */
#ifndef FILES_TEST_H
#define FILES_TEST_H

#include "../trace/written.h"
#include "record/files/user_files_priv.h"

#define POLLS 1000 /* every 10 ms: a limit for a hang */

struct test {
	struct gen_file f;
	struct stk_writer *w;
	struct wire_file *entries;
	struct wire_user_ctl ctl;
	struct user_files *files;
};

int files_test__setup(void **state);
int files_test__teardown(void **state);
#define FILES_TEST(function) \
	cmocka_unit_test_setup_teardown(function, files_test__setup, files_test__teardown)
void files_test__take(struct test *t, const struct wire_file_event *n);
uint32_t files_test__number(struct test *t, uint32_t id);
/* Polls until the entry has a table, and not this one: other, or UINT32_MAX. */
void files_test__await_table(struct test *t, uint32_t id, uint32_t other);
/* As for a copied stack of a process that is gone. */
const struct unwind_table *files_test__table(struct test *t, uint32_t id);
/* Notes a stack of one exact frame; returns its number. */
uint32_t files_test__note(struct test *t, uint32_t file, uint64_t offset);
void files_test__expect_symbol(struct stk_reader *r, uint32_t stack, const char *name,
			       uint64_t off);
struct stk_file files_test__info(struct stk_reader *r, uint32_t file);

#endif /* FILES_TEST_H */
