// SPDX-License-Identifier: GPL-2.0-only
/* Tables of generated code, of functions that a jitdump describes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "record/files/jit_source.h"
#include "record/files/jit_window.h"
#include "symbols/jit_symbols.h"
#include "unwind/cfi.h"

#define START 0x7f0000001000
#define SIZE 16 /* of a function */
#define NR_FUNCTIONS 1000
#define FRAMES (1u << 20)

/* ---- the source ------------------------------------------------------------------------------ */

static struct jit_symbols *dumped;

struct jit_source *__wrap_jit_source__share(struct jit_source *j);
void __wrap_jit_source__free(struct jit_source *j);
int __wrap_jit_source__poll(struct jit_source *j);
const struct jit_symbols *__wrap_jit_source__dumped(const struct jit_source *j);
size_t __wrap_jit_source__nr_dumped(const struct jit_source *j);
ssize_t __wrap_jit_source__code(const struct jit_source *j, uint64_t addr, void *buf, size_t len);

struct jit_source *__wrap_jit_source__share(struct jit_source *j)
{
	return j;
}

void __wrap_jit_source__free(struct jit_source *j)
{
}

int __wrap_jit_source__poll(struct jit_source *j)
{
	return 0;
}

const struct jit_symbols *__wrap_jit_source__dumped(const struct jit_source *j)
{
	return dumped;
}

size_t __wrap_jit_source__nr_dumped(const struct jit_source *j)
{
	return dumped->nr;
}

ssize_t __wrap_jit_source__code(const struct jit_source *j, uint64_t addr, void *buf, size_t len)
{
	return -ESRCH;
}

/* ---- what is read ---------------------------------------------------------------------------- */

static uint64_t bytes_read;

int __real_unw_cfi__each(struct unw_cfi *cfi,
			 int (*fn)(void *ctx, uint64_t pos, const struct unw_fde *fde), void *ctx);

int __wrap_unw_cfi__each(struct unw_cfi *cfi,
			 int (*fn)(void *ctx, uint64_t pos, const struct unw_fde *fde), void *ctx);

int __wrap_unw_cfi__each(struct unw_cfi *cfi,
			 int (*fn)(void *ctx, uint64_t pos, const struct unw_fde *fde), void *ctx)
{
	bytes_read += cfi->bytes.len;
	return __real_unw_cfi__each(cfi, fn, ctx);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Fills the section with entries of other code. */
static void put_frames(uint8_t *p)
{
	static const uint8_t cie[] = { 20, 0,	 0,  0, 0,    0,    0, 0, 1,	'z', 'R', 0,
				       1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,	  0 };
	size_t at = sizeof(cie);

	memcpy(p, cie, sizeof(cie));
	for (; at + 20 <= FRAMES; at += 20) {
		uint32_t fde[] = { 16, at + 4, 0x1000, 1, 0 };

		memcpy(p + at, fde, sizeof(fde));
	}
}

/* Functions that were moved share their bytes of .eh_frame, which may be of no use. */
static void test_budget(void **state)
{
	uint64_t offset = START & ((1ull << FRAME_OFFSET_BITS) - 1);
	uint64_t last = offset + (NR_FUNCTIONS - 1) * SIZE;
	struct unwind_table *t;
	struct jit_window *w;

	assert_int_equal(jit_symbols__new(&dumped), 0);
	dumped->frames = calloc(1, FRAMES);
	assert_non_null(dumped->frames);
	put_frames(dumped->frames);
	for (uint64_t i = 0; i < NR_FUNCTIONS; i++) {
		struct jit_function f = { .start = START + i * SIZE, .name = JIT_NO_NAME };

		f.end = f.start + SIZE;
		f.frames = (struct jit_frames){ 0, FRAMES, f.end };
		assert_int_equal(jit_symbols__put(dumped, &f), 0);
	}
	assert_int_equal(jit_symbols__settle(dumped), 0);
	assert_int_equal(jit_window__new(START, NULL, &w), 0);
	assert_int_equal(jit_window__table(w, &t), 0);
	assert_int_equal(bytes_read, 64u << 20);
	assert_int_equal(unwind__find(t, offset), UNW_ESCAPE | UNW_NONE);
	/* as code that no dump describes */
	assert_int_equal(unwind__find(t, last), UNW_ESCAPE | UNW_UNSEEN);
	unwind__free(t);
	bytes_read = 0;
	assert_non_null(jit_window__at(w, last, true, UINT64_MAX));
	assert_true(bytes_read && bytes_read <= 8u << 20); /* twice: with the place, too */
	jit_window__free(w);
	jit_symbols__free(dumped);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
