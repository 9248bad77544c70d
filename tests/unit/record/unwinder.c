// SPDX-License-Identifier: GPL-2.0-only
/* Stacks that the kernel side has begun, continued by frame pointers. */
#include "record/files/unwinder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "stackonce.h"
#include "unwind/walk.h"

#define CODE 0x400000ull
#define SP 0x7fff0000ull
#define FILE_ID 5
#define WORD(at) FRAME_USER(FILE_ID, at)
#define GUESS FRAME_MARKER(FRAME_GUESS, 0)
#define END FRAME_MARKER(FRAME_END, STK_END_FALLBACK)

/* A stack at CODE + 0x20, whose callers are at CODE + 0x30 and, the outermost, at CODE + 0x40. */
static struct wire_copy begun(unsigned int flags)
{
	struct wire_copy c = {
		.flags = flags,
		.regs.ip = CODE + 0x20,
		.max_frames = 64,
		.stack_len = 48,
		.sp = SP,
		.nr_vmas = 1,
		.vmas[0] = { .start = CODE, .end = CODE + 0x1000, .delta = CODE, .file = FILE_ID },
	};
	const uint64_t stack[] = { SP + 16, CODE + 0x30, 0, CODE + 0x40, 0, 0 };

	c.regs.r[UNW_REG_SP] = SP;
	c.regs.r[UNW_REG_FP] = SP;
	memcpy(c.stack, stack, sizeof(stack));
	return c;
}

static void expect(const struct wire_copy *c, const uint64_t *words, unsigned int nr)
{
	uint64_t got[UNWINDER_WORDS];
	unsigned int got_nr, end;

	assert_int_equal(unwinder__walk(NULL, c, sizeof(*c), true, got, &got_nr, &end), 0);
	assert_int_equal(end, STK_END_FALLBACK);
	assert_int_equal(got_nr, nr);
	assert_memory_equal(got, words, nr * sizeof(*words));
}

/* Nothing was guessed before. */
static void test_guessed_here(void **state)
{
	const uint64_t words[] = { WORD(0x20), GUESS, WORD(0x30), WORD(0x40), END };
	struct wire_copy c = begun(0);

	(void)state;
	expect(&c, words, ARRAY_SIZE(words));
}

/* The frame to continue with was guessed from the one before; its marker is not written yet. */
static void test_first_guess(void **state)
{
	const uint64_t words[] = { WORD(0x10), GUESS, WORD(0x20), WORD(0x30), WORD(0x40), END };
	struct wire_copy c = begun(UNW_GUESSED);

	(void)state;
	c.nr_frames = 1;
	c.frames[0] = WORD(0x10);
	expect(&c, words, ARRAY_SIZE(words));
}

static void test_guessed_before(void **state)
{
	const uint64_t words[] = { WORD(0x8),  GUESS,	   WORD(0x10), WORD(0x20),
				   WORD(0x30), WORD(0x40), END };
	struct wire_copy c = begun(UNW_GUESSED);

	(void)state;
	c.nr_frames = 3;
	memcpy(c.frames, words, 3 * sizeof(*words));
	expect(&c, words, ARRAY_SIZE(words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guessed_here),
		cmocka_unit_test(test_first_guess),
		cmocka_unit_test(test_guessed_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
