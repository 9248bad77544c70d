// SPDX-License-Identifier: GPL-2.0-only
/* Which source covers which code: .debug_frame beside .eh_frame, and Go's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <zlib.h>
#include <zstd.h>

#include "frames.h"

/* ---- .debug_frame ---------------------------------------------------------------------------- */

/* A CIE and an FDE for each of nr ranges, {start, len, words of CFA}; absolute addresses. */
static size_t frame_section(uint8_t *to, bool debug, const uint64_t (*v)[3], size_t nr)
{
	const uint8_t cie[] = { 20, 0,	  0, 0, 0,    0, 0, 0, 1, 0, 1, 0x78,
				16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0 };
	size_t len = sizeof(cie);

	memcpy(to, cie, sizeof(cie));
	if (debug)
		memset(to + 4, 0xff, 4);
	for (size_t i = 0; i < nr; i++) {
		uint32_t head[2] = { 24, debug ? 0 : (uint32_t)len + 4 };
		uint64_t range[2] = { IMAGE_CODE + v[i][0], v[i][1] };
		const uint8_t insns[] = { 0x0e, (uint8_t)(v[i][2] * 8), 0, 0 };

		memcpy(to + len, head, 8);
		memcpy(to + len + 8, range, 16);
		memcpy(to + len + 24, insns, 4);
		len += 28;
	}
	return len;
}

static void add_debug_frame(struct image *im, const char *name, uint64_t flags, const void *bytes,
			    size_t len)
{
	image__add(im, name, SHT_PROGBITS, flags, bytes, len);
}

static void debug_fills_gaps(void **state)
{
	static const uint64_t eh[][3] = { { 0x100, 0x40, 2 }, { 0x200, 0x40, 3 } };
	static const uint64_t debug[][3] = { { 0x120, 0x40, 9 }, /* starts in covered code */
					     { 0x160, 0x100, 5 }, /* ends in covered code */
					     { 0x200, 0x40, 9 },
					     { 0x300, 0x40, 6 } };
	uint8_t a[256], b[256];
	struct image im = { 0 };

	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, a, frame_section(a, false, eh, 2));
	add_debug_frame(&im, ".debug_frame", 0, b, frame_section(b, true, debug, 4));
	assert_int_equal(make(&im), 0);
	assert_int_equal(table->sources, UNWIND_EH_FRAME | UNWIND_DEBUG_FRAME);
	assert_rules(0x100, 0x140, SP(2, 0, 0));
	assert_rules(0x140, 0x160, NONE);
	assert_rules(0x160, 0x200, SP(5, 0, 0));
	assert_rules(0x200, 0x240, SP(3, 0, 0));
	assert_rules(0x240, 0x300, NONE);
	assert_rules(0x300, 0x340, SP(6, 0, 0));
}

static const uint64_t plain[][3] = { { 0x100, 0x40, 2 } };

static int make_debug(const char *name, uint64_t flags, const void *bytes, size_t len)
{
	struct image im = { 0 };

	add_debug_frame(&im, name, flags, bytes, len);
	return make(&im);
}

/* .zdebug_frame, and SHF_COMPRESSED with both methods; and invalid data. */
static void compressed(void **state)
{
	uint8_t raw[256], to[512];
	size_t len = frame_section(raw, true, plain, 1);
	Elf64_Chdr h = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = len };
	uLongf packed = sizeof(to) - 64;
	uint64_t big = __builtin_bswap64(len);

	assert_int_equal(compress(to + 12, &packed, raw, len), Z_OK);
	memcpy(to, "ZLIB", 4);
	memcpy(to + 4, &big, 8);
	assert_int_equal(make_debug(".zdebug_frame", 0, to, packed + 12), 0);
	assert_rules(0x100, 0x140, SP(2, 0, 0));
	assert_int_equal(table->cfi_bytes, len);
	to[0] = 'X';
	assert_int_equal(make_debug(".zdebug_frame", 0, to, packed + 12), -ENOENT);

	memmove(to + sizeof(h), to + 12, packed);
	memcpy(to, &h, sizeof(h));
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed + sizeof(h)), 0);
	assert_rules(0x100, 0x140, SP(2, 0, 0));
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed), -ENOENT);
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, 20), -ENOENT);
	h.ch_size = 1ull << 40; /* a bomb */
	memcpy(to, &h, sizeof(h));
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed + sizeof(h)),
			 -ENOENT);
	h.ch_size = len + 1;
	memcpy(to, &h, sizeof(h));
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed + sizeof(h)),
			 -ENOENT);
	h.ch_type = 77;
	memcpy(to, &h, sizeof(h));
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed + sizeof(h)),
			 -ENOENT);

	h = (Elf64_Chdr){ .ch_type = 2, .ch_size = len };
	memcpy(to, &h, sizeof(h));
	packed = ZSTD_compress(to + sizeof(h), sizeof(to) - sizeof(h), raw, len, 1);
	assert_int_equal(make_debug(".debug_frame", SHF_COMPRESSED, to, packed + sizeof(h)), 0);
	assert_rules(0x100, 0x140, SP(2, 0, 0));
}

/* ---- Go -------------------------------------------------------------------------------------- */

struct go_func {
	uint32_t start, values;
	uint8_t flags;
	const char *name;
};

enum { GO_TOP = 1, GO_SP_WRITE = 2, GO_ASM = 4 };

struct go_version {
	uint32_t magic;
	bool relative, offsets; /* a table of offsets in the header, else all from the beginning */
	unsigned int header, name_at, sp_at, flags_at, func_len;
};

static const struct go_version go_versions[] = {
	{ 0xfffffffb, false, false, 16, 8, 20, 0, 40 },
	{ 0xfffffffa, false, true, 64, 8, 20, 0, 44 },
	{ 0xfffffff0, true, true, 72, 4, 16, 37, 40 },
	{ 0xfffffff1, true, true, 72, 4, 16, 41, 44 },
};

static const uint8_t go_values[] = {
	0, /* offset 0 means none */
	2, 16, 48, 16, 47, 32, 0, /* 1: -1 + 1 = 0 for 16 bytes, 24 for 16, 0 for 32 */
	2, 4,  16, 8,  48, 52, 0, /* 8: 0 for 4, 8 for 8, 32 for 52 */
	2, 64, 0, /* 15: 0 for all 64 */
	2, 4,  16, 0,  16, 60, 0, /* 18: a step of zero */
	2, 10, 11, 54, 0, /* 25: -6: not usable */
	2, 1,  16, 4,  16, 59, 0, /* 30: 0 for 1, 8 for 4, then 16 */
};

static void put_at(uint8_t *to, size_t at, uint64_t v, unsigned int len)
{
	memcpy(to + at, &v, len);
}

/* Offsets are relative to the table or to its parts, depending on the version. */
static size_t go_section(const struct go_version *v, uint8_t *to, uint64_t text,
			 const struct go_func *f, size_t nr)
{
	unsigned int n = v->relative ? 4 : 8;
	size_t names = v->header + (v->offsets ? 0 : (2 * nr + 1) * n + 16 + nr * v->func_len);
	size_t values = names + 512, table_at = v->offsets ? values + 64 : v->header;
	size_t func = table_at + (2 * nr + 1) * n + 8, base = v->offsets ? table_at : 0, name = 0;

	memset(to, 0, 4096);
	put_at(to, 0, v->magic, 4);
	put_at(to, 6, 0x0801, 2);
	put_at(to, 8, nr, 8);
	if (v->relative)
		put_at(to, 24, text, 8);
	if (v->offsets) {
		put_at(to, v->header - 40, names, 8);
		put_at(to, v->header - 16, values, 8);
		put_at(to, v->header - 8, table_at, 8);
	}
	memcpy(to + values, go_values, sizeof(go_values));
	for (size_t i = 0; i < nr; i++, func += v->func_len) {
		uint64_t start = f[i].start + (v->relative ? 0 : IMAGE_CODE);

		put_at(to, table_at + 2 * i * n, start, n);
		put_at(to, table_at + (2 * i + 1) * n, func - base, n);
		put_at(to, table_at + (2 * i + 2) * n, start + 64, n); /* or the next one's start */
		put_at(to, func, start, n);
		put_at(to, func + v->name_at, v->offsets ? name : names + name, 4);
		put_at(to, func + v->sp_at,
		       f[i].values ? f[i].values + (v->offsets ? 0 : values) : 0, 4);
		if (v->flags_at)
			to[func + v->flags_at] = f[i].flags;
		strcpy((char *)to + names + name, f[i].name);
		name += strlen(f[i].name) + 1;
	}
	assert_true(func <= 4096 && name <= 512);
	return 4096;
}

static const struct go_func go_funcs[] = {
	{ 0x100, 1, 0, "main.a" },
	{ 0x140, 8, 0, "main.b" },
	{ 0x180, 15, GO_TOP, "runtime.goexit" },
	{ 0x1c0, 1, GO_SP_WRITE, "runtime.gogo" },
	{ 0x200, 0, 0, "main.none" },
	{ 0x240, 18, 0, "main.stuck" },
	{ 0x280, 25, 0, "main.odd" },
	{ 0x2c0, 1, GO_ASM, "main.asm" },
	{ 0x300, 30, GO_ASM, "main.pushes" },
	{ 0x340, 15, GO_ASM, "runtime.sigreturn" },
	{ 0x380, 1, GO_TOP, "runtime.sigtramp" },
};
#define NR_GO (sizeof(go_funcs) / sizeof(*go_funcs))

static uint8_t go_code[CODE_LEN];

static void make_go(const struct go_version *v, uint64_t text, const uint8_t *module,
		    const Elf64_Rela *rela)
{
	uint8_t bytes[4096];
	struct image im = { .code = go_code };

	image__add(&im, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, bytes,
		   go_section(v, bytes, text, go_funcs, NR_GO));
	if (module)
		image__add(&im, ".go.module", SHT_PROGBITS, SHF_ALLOC, module, 256);
	if (rela)
		image__add(&im, ".rela", SHT_RELA, SHF_ALLOC, rela, sizeof(*rela));
	assert_int_equal(make(&im), 0);
	assert_int_equal(table->sources & ~UNWIND_SYNTHESISED, UNWIND_GOPCLNTAB);
}

static void put_go_code(void)
{
	memcpy(go_code + 0x2d0, "\x48\x89\x6c\x24\x10", 5); /* mov %rbp,0x10(%rsp) */
	memcpy(go_code + 0x300, "\x55", 1); /* push %rbp */
	memcpy(go_code + 0x340, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9); /* rt_sigreturn(2) */
}

static void go_tables(void **state)
{
	put_go_code();
	for (size_t i = 0; i < sizeof(go_versions) / sizeof(*go_versions); i++) {
		const struct go_version *v = &go_versions[i];
		bool pushes = i == 3, flags = v->flags_at;

		make_go(v, IMAGE_CODE, NULL, NULL);
		assert_rules(0x100, 0x110, SP(1, 0, 0));
		assert_rules(0x110, 0x115, SP(4, 0, 0)); /* the store of rbp takes five bytes */
		assert_rules(0x115, 0x120, SP(4, 2, 0));
		assert_rules(0x120, 0x140, SP(1, 0, 0));
		assert_rules(0x140, 0x144, SP(1, 0, 0));
		assert_rules(0x144, 0x148, SP(2, pushes ? 2 : 0, 0));
		assert_rules(0x148, 0x14c, SP(2, 2, 0));
		assert_rules(0x14c, 0x180, SP(5, 2, 0));
		assert_rules(0x180, 0x1c0, END);
		assert_int_equal(rule_at(0x1e0), flags ? NONE : SP(1, 0, 0));
		assert_rules(0x200, 0x240, NONE);
		assert_rules(0x240, 0x244, SP(1, 0, 0));
		assert_rules(0x244, 0x280, NONE);
		assert_rules(0x28a, 0x2c0, NONE);
		assert_rules(0x2d5, 0x2e0, SP(4, 2, 0));
		assert_rules(0x33f, 0x380, SIGNAL); /* from the byte before on */
		assert_rules(0x395, 0x3a0, SP(4, 2, 0));
		if (flags) { /* assembler that pushes rbp, and assembler that does not save it */
			assert_rules(0x301, 0x305, SP(2, 2, 0));
			assert_rules(0x305, 0x33f, SP(3, 2, 0));
		}
	}
	go_code[0x300] = 0x50;
	go_code[0x2d0] = 0x90;
	make_go(&go_versions[3], IMAGE_CODE, NULL, NULL);
	assert_true(rule_at(0x301) & UNW_ESCAPE && rule_at(0x301) != NONE);
}

/* The text's start: in the header, relocated, or only in the module's data. */
static void go_text(void **state)
{
	uint8_t module[256] = { 0 };
	Elf64_Rela rela = { .r_info = R_X86_64_RELATIVE, .r_addend = IMAGE_CODE };
	struct image im = { .code_len = CODE_LEN };
	uint8_t bytes[4096];

	put_go_code();
	image__add(&im, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, bytes, sizeof(bytes));
	image__add(&im, ".go.module", SHT_PROGBITS, SHF_ALLOC, module, sizeof(module));
	put_at(module, 176, IMAGE_CODE, 8);
	make_go(&go_versions[3], 0, module, NULL);
	assert_rules(0x115, 0x120, SP(4, 2, 0));
	put_at(module, 176, 0, 8);
	rela.r_offset = image__addr(&im, 1) + 176;
	make_go(&go_versions[3], 0, module, &rela);
	assert_rules(0x115, 0x120, SP(4, 2, 0));
	rela.r_offset = image__addr(&im, 0) + 24;
	make_go(&go_versions[2], 0, module, &rela);
	assert_rules(0x115, 0x120, SP(4, 2, 0));
}

/* With Go's own tables, its .debug_frame is ignored. */
static void go_and_debug_frame(void **state)
{
	static const uint64_t debug[][3] = { { 0x100, 0x40, 9 }, { 0x600, 0x40, 9 } };
	uint8_t bytes[4096], frame[256];
	struct image im = { 0 };

	image__add(&im, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, bytes,
		   go_section(&go_versions[3], bytes, IMAGE_CODE, go_funcs, NR_GO));
	add_debug_frame(&im, ".debug_frame", 0, frame, frame_section(frame, true, debug, 2));
	assert_int_equal(make(&im), 0);
	assert_int_equal(table->sources, UNWIND_GOPCLNTAB);
	assert_int_equal(rule_at(0x600), NONE);
}

/* An entry that refers to another function's description is ignored. */
static void go_mismatch(void **state)
{
	uint8_t bytes[4096];
	struct image im = { 0 };
	size_t len = go_section(&go_versions[3], bytes, IMAGE_CODE, go_funcs, NR_GO);

	memcpy(bytes + len - 4096 + 72 + 512 + 64 + 4, bytes + len - 4096 + 72 + 512 + 64 + 12, 4);
	image__add(&im, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, bytes, len);
	assert_int_equal(make(&im), 0);
	assert_rules(0x100, 0x140, NONE);
	assert_rules(0x14c, 0x180, SP(5, 2, 0));
}

/* Damaged in all ways: no crash, and no wrong rule. */
static void go_damaged(void **state)
{
	uint8_t bytes[4096];
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof(go_versions) / sizeof(*go_versions); i++) {
		for (int n = 0; n < 2000; n++) {
			struct image im = { 0 };

			go_section(&go_versions[i], bytes, IMAGE_CODE, go_funcs, NR_GO);
			for (int k = 0; k < 3; k++) {
				seed = seed * 1103515245 + 12345;
				bytes[(seed >> 8) % 1200] ^= (uint8_t)(seed >> 24);
			}
			image__add(&im, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, bytes,
				   200 + (seed >> 4) % 3800);
			make(&im);
		}
	}
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(debug_fills_gaps),   T(compressed),  T(go_tables),  T(go_text),
		T(go_and_debug_frame), T(go_mismatch), T(go_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
