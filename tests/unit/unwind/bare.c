// SPDX-License-Identifier: GPL-2.0-only
/* Code without tables: entry points, and a libc without tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "frames.h"

struct code {
	uint8_t v[CODE_LEN];
	size_t len;
};

static size_t emit(struct code *c, const char *bytes, size_t len)
{
	size_t at = c->len;

	memcpy(c->v + at, bytes, len);
	c->len += len;
	return at;
}

#define EMIT(c, bytes) emit(c, bytes, sizeof(bytes) - 1)

static void call(struct code *c, size_t to)
{
	int32_t rel = (int32_t)(to - (c->len + 5));

	EMIT(c, "\xe8");
	emit(c, (const char *)&rel, 4);
}

static uint32_t extra; /* type of a program header that identifies the kind of file */
static const char strings[] = "\0__libc_start_main\0other";

static int make_code(struct code *c, const Elf64_Sym *syms, size_t nr_syms, uint64_t entry)
{
	static const Elf64_Dyn needed = { .d_tag = DT_NEEDED };
	struct image im = { .code = c->v, .entry = entry };

	image__add(&im, ".dynstr", SHT_STRTAB, SHF_ALLOC, strings, sizeof(strings));
	image__add(&im, ".dynsym", SHT_DYNSYM, SHF_ALLOC, syms, nr_syms * sizeof(*syms));
	im.sections[1].link = 1;
	image__add_code(&im, ".text");
	if (extra) {
		image__add(&im, ".extra", SHT_PROGBITS, SHF_ALLOC, &needed, sizeof(needed));
		im.extra = extra;
	}
	return make(&im);
}

static Elf64_Sym function(uint32_t name, size_t start, size_t size)
{
	return (Elf64_Sym){ .st_name = name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = 3,
			    .st_value = IMAGE_CODE + start,
			    .st_size = size };
}

/* The entry point and the code that follows it without a call have no caller, in any file. */
static void entry_point(void **state)
{
	struct code c = { .len = 0x100 };

	EMIT(&c, "\x48\x89\xe7\xe8\x20\0\0\0\x50\xff\xe0"); /* mov, call, push, jmp *%rax */
	assert_int_equal(make_code(&c, NULL, 0, IMAGE_CODE + 0x100), 0);
	assert_int_equal(table->sources, UNWIND_SYNTHESISED);
	assert_rules(0x100, 0x10b, END);
	assert_rules(0x10b, 0x200, NONE);
	assert_int_equal(rule_at(0xff), NONE);
	assert_int_equal(make_code(&c, NULL, 0, 0), -ENOENT);
	/* the entry of a library is just the first address of its code */
	memcpy(c.v + 0x100, "\x48\x8d\x3d\0\0\0\0\x48\x39\xf8\x74\x05\xc3", 13);
	assert_int_equal(make_code(&c, NULL, 0, IMAGE_CODE + 0x100), -ENOENT);
}

static void libc_functions(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[3] = { { 0 } };
	size_t main_at, hidden, by_pointer, at[16];

	hidden = 0x200, by_pointer = 0x300;
	main_at = EMIT(&c, "\x41\x57\x55\x53"); /* push %r15, %rbp, %rbx */
	EMIT(&c, "\x48\x83\xec\x18"); /* sub $0x18,%rsp */
	at[0] = c.len;
	call(&c, hidden);
	EMIT(&c, "\x85\xc0\x74\x0a"); /* test; je over the next ten bytes */
	EMIT(&c, "\x48\x83\xc4\x18\x5b\x5d\x41\x5f\xc3\x90"); /* add, pop, pop, pop, ret, nop */
	at[1] = c.len;
	EMIT(&c, "\x48\x8d\x05"); /* lea by_pointer(%rip),%rax */
	emit(&c, (const char *)&(int32_t){ (int32_t)(by_pointer - (c.len + 4)) }, 4);
	at[2] = c.len;
	EMIT(&c, "\xeb\xed"); /* jmp to the add */
	at[3] = c.len;
	syms[1] = function(1, main_at, c.len - main_at);
	c.len = hidden;
	EMIT(&c, "\x55\x48\x89\xe5\x53\x48\x83\xec\x28"); /* push %rbp; mov; push %rbx; sub */
	at[4] = c.len;
	EMIT(&c, "\x48\x29\xc4\x31\xdb"); /* sub %rax,%rsp; xor %ebx,%ebx */
	at[5] = c.len;
	EMIT(&c, "\x48\x8b\x5d\xf8\xc9\xc3"); /* mov -8(%rbp),%rbx; leave; ret */
	c.len = by_pointer;
	EMIT(&c, "\x31\xed\x5f\xff\xd0\xf4"); /* xor %ebp,%ebp; pop; call *%rax; hlt: a thread */
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_int_equal(table->sources, UNWIND_SYNTHESISED);
	assert_rules(main_at, main_at + 2, SP(1, 0, 0));
	assert_int_equal(rule_at(main_at + 2), SP(2, 0, 0));
	assert_int_equal(rule_at(main_at + 3), SP(3, 3, 0));
	assert_int_equal(rule_at(main_at + 4), SP(4, 3, 4));
	assert_rules(at[0], at[0] + 9, SP(7, 3, 4));
	assert_int_equal(rule_at(at[1] - 6), SP(4, 3, 4));
	assert_int_equal(rule_at(at[1] - 2), SP(1, 0, 0));
	assert_rules(at[1], at[3], SP(7, 3, 4));
	assert_int_equal(rule_at(hidden), SP(1, 0, 0));
	assert_int_equal(rule_at(hidden + 1), SP(2, 2, 0));
	assert_int_equal(rule_at(at[4]), SP(8, 2, 3));
	assert_rules(at[5], at[5] + 4, FP(2, 2, 3));
	assert_int_equal(rule_at(at[5] + 4), FP(2, 2, 0));
	assert_int_equal(rule_at(at[5] + 5), SP(1, 0, 0));
	assert_int_equal(rule_at(by_pointer), SP(1, 0, 0));
	assert_rules(by_pointer + 2, by_pointer + 6, END);
}

/* Files that are not such a libc stay uncovered. */
static void other_files(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };

	EMIT(&c, "\x55\x5d\xc3");
	syms[1] = function(19, 0x20, 3);
	assert_int_equal(make_code(&c, syms, 2, 0), -ENOENT);
	syms[1] = function(1, 0x20, 3);
	syms[1].st_shndx = SHN_UNDEF;
	assert_int_equal(make_code(&c, syms, 2, 0), -ENOENT);
	syms[1] = function(1, 0x20, 3);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_int_equal(rule_at(0x21), SP(2, 2, 0));
	extra = PT_INTERP;
	assert_int_equal(make_code(&c, syms, 2, 0), -ENOENT);
	extra = PT_DYNAMIC;
	assert_int_equal(make_code(&c, syms, 2, 0), -ENOENT);
	extra = PT_NULL;
}

/* Paths that disagree, returns without a return address, invalid instructions. */
static void contradictions(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };

	EMIT(&c, "\x74\x02\x50\x50\x90\xeb\xfe"); /* je; push; push; nop: two depths; jmp -2 */
	syms[1] = function(1, 0x20, c.len - 0x20);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x20, 0x23, SP(1, 0, 0));
	assert_int_equal(rule_at(0x23), SP(2, 0, 0));
	assert_rules(0x24, 0x27, NONE);
	c.len = 0x20;
	EMIT(&c, "\x50\x50\xc3\x90\x90\x90\x90"); /* push; push; ret */
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x20, 0x27, NONE);
	c.len = 0x20;
	EMIT(&c, "\x50\x06\x90\x90\x90\x90\x90"); /* push, and an invalid instruction */
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_int_equal(rule_at(0x20), SP(1, 0, 0));
	assert_rules(0x21, 0x27, NONE);
}

/* vfork(2) returns twice: the return address must not be on the stack in between. */
static void popped_return_address(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };
	uint64_t rule;

	EMIT(&c, "\x5a\x0f\x05\x52\xc3\x5a\x31\xd2\x90"); /* pop %rdx; syscall; push %rdx; ret */
	syms[1] = function(1, 0x20, c.len - 0x20 - 4);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_int_equal(rule_at(0x20), SP(1, 0, 0));
	assert_int_equal(table->nr_rules, 1);
	assert_rules(0x21, 0x24, UNW_ESCAPE | UNW_ESCAPE_RULES);
	memcpy(&rule, table->words + table->rules, 8);
	assert_int_equal(rule, UNW_RULE(UNW_CFA_RA_REG, 7, 0, 0, 0, 0, 0, 1, 0));
	assert_int_equal(rule_at(0x24), SP(1, 0, 0));
	syms[1] = function(1, 0x25, 4); /* pop %rdx; xor %edx,%edx: the return address is lost */
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x28, 0x29, NONE);
}

/* A call that does not return has no effect on the code after it. */
static void call_without_return(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };

	EMIT(&c, "\x74\x06\x50\xe8\x10\0\0\0\x53\x5b\xc3"); /* je; push; call; push; pop; ret */
	syms[1] = function(1, 0x20, c.len - 0x20);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x23, 0x28, SP(2, 0, 0));
	assert_int_equal(rule_at(0x28), SP(1, 0, 0));
	assert_int_equal(rule_at(0x29), SP(2, 0, 2));
	assert_int_equal(rule_at(0x2a), SP(1, 0, 0));
}

/* A saved value is lost when it is overwritten. */
static void lost_slots(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };
	uint64_t rule = UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_LOST, 0, 0, 0, 0, 0, 8), found;
	static const char *const ways[] = { "\x55\x59\x90", "\x55\x48\x83\xc4\x08\x90",
					    "\x55\x48\x89\x0c\x24\x5d\x90" };
	static const uint8_t lens[] = { 3, 6, 7 }, at[] = { 2, 5, 6 };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		c.len = 0x20;
		emit(&c, ways[i], lens[i]);
		syms[1] = function(1, 0x20, lens[i]);
		assert_int_equal(make_code(&c, syms, 2, 0), 0);
		assert_true(table->nr_rules >= 1 && rule_at(0x20 + at[i]) & UNW_ESCAPE);
		memcpy(&found,
		       table->words + table->rules +
			       2 * ((rule_at(0x20 + at[i]) & (UNW_ESCAPE - 1)) - UNW_ESCAPE_RULES),
		       8);
		assert_int_equal(found, rule);
	}
}

/* clone(2) returns on two stacks: its result decides until the code has branched on it. */
static void both_sides_of_clone(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };

	EMIT(&c, "\x0f\x05\x85\xc0\x75\x05\x31\xed\x5f\xff\xd0\xc3"); /* ...; pop; call; ret */
	syms[1] = function(1, 0x20, c.len - 0x20);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x20, 0x22, SP(1, 0, 0));
	assert_int_equal(wide_at(0x22), UNW_RULE(UNW_CFA_FORK, 7, 0, 0, 0, 0, 0, 0, 8));
	assert_rules(0x22, 0x28, rule_at(0x22));
	assert_rules(0x28, 0x2b, END);
	assert_rules(0x2b, 0x2c, SP(1, 0, 0));
}

static void signal_return(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[3] = { { 0 } };

	EMIT(&c, "\xc3");
	syms[1] = function(1, 0x20, 1);
	c.len = 0x40;
	EMIT(&c, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05");
	syms[2] = function(19, 0x40, 9);
	assert_int_equal(make_code(&c, syms, 3, 0), 0);
	assert_rules(0x3f, 0x49, SIGNAL);
	assert_int_equal(rule_at(0x3e), NONE);
}

/* A switch: no jump with a known target leads to its cases. */
static void jump_tables(void **state)
{
	struct code c = { .len = 0x20 };
	Elf64_Sym syms[2] = { { 0 } };

	EMIT(&c, "\x53\x50\x3e\xff\x24\xc5\0\0\0\0"); /* push; push; notrack jmp *0(,%rax,8) */
	EMIT(&c, "\x58\x5b\xc3"); /* pop; pop; ret */
	EMIT(&c, "\x59\x5b\xc3");
	syms[1] = function(1, 0x20, c.len - 0x20);
	assert_int_equal(make_code(&c, syms, 2, 0), 0);
	assert_rules(0x22, 0x2b, SP(3, 0, 2));
	assert_int_equal(rule_at(0x2b), SP(2, 0, 2));
	assert_int_equal(rule_at(0x2d), SP(3, 0, 2));
	assert_int_equal(rule_at(0x2f), SP(1, 0, 0));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(entry_point),	   T(libc_functions),	     T(other_files),
		T(contradictions), T(popped_return_address), T(call_without_return),
		T(lost_slots),	   T(both_sides_of_clone),   T(signal_return),
		T(jump_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
