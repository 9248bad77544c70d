// SPDX-License-Identifier: GPL-2.0-only
/* Loads of settings become their values, and only those that no other path can reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "record/bpf/fold.h"

#define FD 7
#define OTHER_FD 8

static const struct {
	uint64_t large, minus; /* at 0 and 8 */
	uint32_t word; /* 16 */
	uint16_t half; /* 20 */
	uint8_t byte; /* 22 */
} settings = { 1ull << 40, -5, 0xfedcba98, 0x1234, 0xab };

static const struct fold_map maps[] = { { FD, &settings, sizeof(settings) } };

/* clang-format off */
#define POINTER(dst, fd, offset) \
	{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = dst, .src_reg = BPF_PSEUDO_MAP_VALUE, \
	  .imm = fd }, \
	{ .imm = offset }
#define LOAD(size, dst, src, offset) \
	{ .code = BPF_LDX | BPF_MEM | size, .dst_reg = dst, .src_reg = src, .off = offset }
#define STORE(dst, src) { .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = dst, .src_reg = src }
#define MOV(dst, src) { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = dst, .src_reg = src }
#define ADD(dst, value) { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = dst, .imm = value }
#define IF_ZERO(dst, distance) \
	{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = dst, .off = distance }
#define GOTO(distance) { .code = BPF_JMP | BPF_JA, .off = distance }
#define GOTO_FAR(distance) { .code = BPF_JMP32 | BPF_JA, .imm = distance }
#define CALL(helper) { .code = BPF_JMP | BPF_CALL, .imm = helper }
#define CALL_OWN(distance) \
	{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = distance }
#define ATOMIC(dst, src) \
	{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = dst, .src_reg = src, .imm = BPF_XCHG }
#define EXIT { .code = BPF_JMP | BPF_EXIT }
#define IS(dst, value) \
	{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = dst, .imm = (int32_t)(value) }
#define IS_64(dst, value) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = dst, .imm = value }
#define NOTHING GOTO(0), GOTO(0)
/* clang-format on */

static void expect(struct bpf_insn *insns, size_t nr, const struct bpf_insn *want, int folded)
{
	assert_int_equal(fold__loads(insns, nr, maps, ARRAY_SIZE(maps)), folded);
	assert_memory_equal(insns, want, nr * sizeof(*insns));
}

#define EXPECT(folded, insns, ...)                                     \
	do {                                                           \
		const struct bpf_insn want[] = { __VA_ARGS__ };        \
		assert_int_equal(ARRAY_SIZE(want), ARRAY_SIZE(insns)); \
		expect(insns, ARRAY_SIZE(insns), want, folded);        \
	} while (0)

#define EXPECT_SAME(insns)                                 \
	do {                                               \
		struct bpf_insn same[ARRAY_SIZE(insns)];   \
		memcpy(same, insns, sizeof(insns));        \
		expect(insns, ARRAY_SIZE(insns), same, 0); \
	} while (0)

static void test_sizes(void **state)
{
	struct bpf_insn insns[] = {
		POINTER(1, FD, 16),   LOAD(BPF_W, 1, 1, 0),  POINTER(2, FD, 20),
		LOAD(BPF_H, 2, 2, 0), POINTER(3, FD, 0),     LOAD(BPF_B, 3, 3, 22),
		POINTER(4, FD, 8),    LOAD(BPF_DW, 4, 4, 0), EXIT,
	};

	EXPECT(4, insns, NOTHING, IS(1, 0xfedcba98), NOTHING, IS(2, 0x1234), NOTHING, IS(3, 0xab),
	       NOTHING, IS_64(4, -5), EXIT);
}

/* The pointer stays where it may be read again. */
static void test_used(void **state)
{
	struct bpf_insn insns[] = {
		POINTER(1, FD, 16),
		LOAD(BPF_DW, 2, 1, -16),
		LOAD(BPF_W, 1, 1, 0), /* one stays */
		POINTER(1, FD, 16),
		LOAD(BPF_W, 2, 1, 0),
		LOAD(BPF_W, 1, 1, 0), /* none does */
		POINTER(1, FD, 16),
		STORE(10, 1),
		LOAD(BPF_W, 1, 1, 0), /* kept elsewhere */
		POINTER(1, FD, 16),
		MOV(3, 1),
		LOAD(BPF_W, 1, 1, 0),
		POINTER(1, FD, 16),
		IF_ZERO(5, 1),
		LOAD(BPF_W, 1, 1, 0),
		EXIT,
	};

	EXPECT(6, insns, POINTER(1, FD, 16), LOAD(BPF_DW, 2, 1, -16), IS(1, 0xfedcba98), NOTHING,
	       IS(2, 0xfedcba98), IS(1, 0xfedcba98), POINTER(1, FD, 16), STORE(10, 1),
	       IS(1, 0xfedcba98), POINTER(1, FD, 16), MOV(3, 1), IS(1, 0xfedcba98),
	       POINTER(1, FD, 16), IF_ZERO(5, 1), IS(1, 0xfedcba98), EXIT);
}

/* As is: an unknown map, outside it, a value that no instruction can set, a changed pointer. */
static void test_kept(void **state)
{
	struct bpf_insn insns[] = {
		POINTER(1, OTHER_FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		POINTER(1, FD, 20),
		LOAD(BPF_W, 1, 1, 4),
		POINTER(1, FD, 0),
		LOAD(BPF_W, 1, 1, -4),
		POINTER(1, FD, 0),
		LOAD(BPF_DW, 1, 1, 0),
		POINTER(1, FD, 0),
		ADD(1, 16),
		LOAD(BPF_W, 1, 1, 0),
		POINTER(1, FD, 0),
		ATOMIC(6, 1),
		LOAD(BPF_W, 1, 1, 16),
		POINTER(1, FD, 0),
		CALL(5),
		LOAD(BPF_W, 2, 1, 16),
		EXIT,
	};

	EXPECT_SAME(insns);
}

/* A load that a jump leads to, from wherever, may load from something else. */
static void test_targets(void **state)
{
	struct bpf_insn insns[] = {
		IF_ZERO(5, 2),
		POINTER(1, FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		GOTO(2),
		POINTER(1, FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		GOTO_FAR(2),
		POINTER(1, FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		CALL_OWN(2),
		POINTER(1, FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		POINTER(6, FD, 16),
		EXIT,
		LOAD(BPF_W, 1, 6, 0),
		POINTER(6, FD, 16),
		LOAD(BPF_W, 1, 1, 0),
		IF_ZERO(5, -2),
		EXIT,
	};

	EXPECT_SAME(insns);
}

/* A register that calls leave alone is known after one. */
static void test_across_call(void **state)
{
	struct bpf_insn insns[] = {
		POINTER(6, FD, 0), CALL(5), LOAD(BPF_W, 0, 6, 16), LOAD(BPF_B, 6, 6, 22), EXIT,
	};

	EXPECT(2, insns, NOTHING, CALL(5), IS(0, 0xfedcba98), IS(6, 0xab), EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	    cmocka_unit_test(test_used),
		cmocka_unit_test(test_kept),	    cmocka_unit_test(test_targets),
		cmocka_unit_test(test_across_call),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
