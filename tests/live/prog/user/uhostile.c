// SPDX-License-Identifier: GPL-2.0-only
/*
 * uhostile CALLS: futex calls from code with wrong unwind tables and with invalid stacks.  Case k
 * uses the address HOSTILE_BASE + 4 * k.  Prints a line "case K CALLS NAME" for each.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../prog.h"

#define HOSTILE_BASE 0x600000000000ULL
#define PAGE 4096ul

typedef void (*hostile_fn)(unsigned long n, unsigned long addr, void *sp);

#define SAVE                                                      \
	"push %rbx; push %rbp; push %r12; push %r13; push %r14\n" \
	"mov %rsp, %r12; mov %rdi, %rbx; mov %rsi, %r13; mov %rdx, %r14\n"
/* futex(addr, FUTEX_WAKE_PRIVATE, 1), rbx times */
#define CALLS                                                                                 \
	"1: mov $202, %eax; mov %r13, %rdi; mov $129, %esi; mov $1, %edx; xor %r10d, %r10d\n" \
	"syscall; dec %rbx; jnz 1b\n"
#define RESTORE "mov %r12, %rsp; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"

/*
 * void NAME(n, addr, sp): n calls with the stack pointer that body sets up.  The real stack pointer
 * is in r12, which body must not change; sp is in r14.
 */
#define FUNCTION(name, before, cfi, body, after)                                                \
	void name(unsigned long n, unsigned long addr, void *sp);                               \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name                   \
		":\n" before SAVE cfi "\n" body CALLS RESTORE after ".size " #name ", .-" #name \
		"\n")
/* With the rules of cfi, and without any. */
#define HOSTILE(name, cfi, body) FUNCTION(name, ".cfi_startproc\n", cfi, body, ".cfi_endproc\n")
#define BARE(name, body) FUNCTION(name, "", "", body, "")

/* Fills the memory below the stack pointer with return addresses to this very place. */
#define FILL_BELOW                              \
	"lea 2f(%rip), %rax\nmov $1536, %ecx\n" \
	"mov %rsp, %rdx\n"                      \
	"2: sub $8, %rdx\nmov %rax, (%rdx)\ndec %ecx\njnz 2b\n"

HOSTILE(cfa_stays, ".cfi_def_cfa %rsp, 0", FILL_BELOW);
HOSTILE(cfa_goes_down, ".cfi_def_cfa %rsp, -2048", FILL_BELOW);
HOSTILE(cfa_far_up, ".cfi_def_cfa %rsp, 0x7ffffff0", "");
HOSTILE(cfa_far_down, ".cfi_def_cfa %rsp, -0x7ffffff0", "");
HOSTILE(cfa_of_nothing, ".cfi_def_cfa %r14, 16", "mov $16, %r14\n");
/* CFA = the word at the stack pointer, plus 8: DW_OP_breg7 0, DW_OP_deref, DW_OP_plus_uconst 8 */
HOSTILE(cfa_from_memory, ".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8",
	"lea -64(%rsp), %rsp\nmovabs $0x123456789abcd, %rax\nmov %rax, (%rsp)\n");
HOSTILE(cfa_from_itself, ".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8",
	"lea -64(%rsp), %rsp\nlea -8(%rsp), %rax\nmov %rax, (%rsp)\n" FILL_BELOW);
/* an endless expression: DW_OP_skip -3 */
HOSTILE(endless_expression, ".cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff", "");
HOSTILE(undefined_operation, ".cfi_escape 0x0f, 2, 0xf3, 0xf4", "");
/* remember and restore unbalanced, and an advance beyond the function */
HOSTILE(unbalanced, ".cfi_remember_state\n.cfi_restore_state\n.cfi_escape 0x0b", "");
HOSTILE(far_advance, ".cfi_escape 0x04, 0xff, 0xff, 0xff, 0x7f", "");
HOSTILE(registers_lost, ".cfi_undefined %rsp\n.cfi_undefined %rbp\n.cfi_same_value %rip", "");
HOSTILE(ra_in_register, ".cfi_register %rip, %rbx\n.cfi_def_cfa %rbp, 16", "mov %rsp, %rbp\n");
HOSTILE(ra_signed, ".cfi_def_cfa_offset 48\n.cfi_offset %rip, 4096\n.cfi_offset %rbp, -65536", "");

/*
 * Without rules: the chain of frame pointers is a circle, goes down, or leads to unmapped memory.
 */
BARE(fp_circle, "sub $64, %rsp\nmov %rsp, %rbp\nmov %rbp, (%rbp)\n"
		"lea 1f(%rip), %rax\nmov %rax, 8(%rbp)\n");
BARE(fp_two_circle, "sub $64, %rsp\nmov %rsp, %rbp\nlea 16(%rsp), %rax\n"
		    "mov %rax, (%rbp)\nmov %rbp, 16(%rbp)\n"
		    "lea 1f(%rip), %rax\nmov %rax, 8(%rbp)\nmov %rax, 24(%rbp)\n");
BARE(fp_to_nowhere, "mov $0x7fff00000000, %rbp\n");
BARE(fp_odd, "lea 1(%rsp), %rbp\n");
BARE(fp_top, "mov $-16, %rbp\n");

/* The stack pointer is given by the case. */
HOSTILE(wild_stack, ".cfi_def_cfa_register %r12\n.cfi_def_cfa_offset 48", "mov %r14, %rsp\n");
HOSTILE(wild_stack_believed, ".cfi_def_cfa_offset 48", "mov %r14, %rsp\n");
BARE(wild_stack_no_rules, "mov %r14, %rsp\nmov %r14, %rbp\n");

static unsigned int next_case;
static unsigned long calls;

static void run(const char *name, hostile_fn f, void *sp)
{
	f(calls, HOSTILE_BASE + 4ul * next_case, sp);
	printf("case %u %lu %s\n", next_case++, calls, name);
}

static void run_stacks(const char *name, void *sp)
{
	run(name, wild_stack, sp);
	run(name, wild_stack_believed, sp);
	run(name, wild_stack_no_rules, sp);
}

/*
 * Machines that return to user space by iretq only kill a task with a non-canonical stack pointer.
 */
static bool survives(void *sp)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		wild_stack(1, HOSTILE_BASE - 4096, sp);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "fork");
	return WIFEXITED(status);
}

/* So deep that no stack is recorded in full. */
static __attribute__((noinline)) unsigned long deep(unsigned int n)
{
	volatile unsigned long r = n;

	if (n)
		r += deep(n - 1);
	if (!n)
		run("deep", cfa_far_up, NULL);
	return r + 1;
}

static void stacks(void)
{
	char *middle =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  memfd_create("gone", MFD_CLOEXEC), 0);

	if (middle == MAP_FAILED || file == MAP_FAILED || mprotect(middle, PAGE, PROT_NONE) ||
	    mprotect(middle + 2 * PAGE, PAGE, PROT_NONE))
		err(1, "mmap");
	memset(middle + PAGE, 0x55, PAGE);
	run_stacks("null", NULL);
	run_stacks("low", (void *)8);
	run_stacks("minus", (void *)-8l);
	run_stacks("kernel", (void *)0xffff888000000000);
	run_stacks("kernel_text", (void *)0xffffffff81000000);
	if (survives((void *)0x0000800000000000))
		run_stacks("not_canonical", (void *)0x0000800000000000);
	else
		printf("no case not_canonical: this machine kills programs with such a stack\n");
	run_stacks("last_user", (void *)0x00007ffffffffff8);
	run_stacks("last_word", middle + 2 * PAGE - 8);
	run_stacks("last_bytes", middle + 2 * PAGE - 3);
	run_stacks("first_word", middle + PAGE);
	run_stacks("no_right", middle);
	run_stacks("beyond_the_file", file);
	run_stacks("code", (void *)((uintptr_t)run & ~7ul));
}

int main(int argc, char **argv)
{
	calls = arg_number(argc, argv, 1, 100, 1000000);
#define RUN(f) run(#f, f, NULL)
	RUN(cfa_stays);
	RUN(cfa_goes_down);
	RUN(cfa_far_up);
	RUN(cfa_far_down);
	RUN(cfa_of_nothing);
	RUN(cfa_from_memory);
	RUN(cfa_from_itself);
	RUN(endless_expression);
	RUN(undefined_operation);
	RUN(unbalanced);
	RUN(far_advance);
	RUN(registers_lost);
	RUN(ra_in_register);
	RUN(ra_signed);
	RUN(fp_circle);
	RUN(fp_two_circle);
	RUN(fp_to_nowhere);
	RUN(fp_odd);
	RUN(fp_top);
	stacks();
	return deep(3000) == 1;
}
