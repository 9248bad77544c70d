// SPDX-License-Identifier: GPL-2.0-only
/*
 * native_main STACKS: the time that both unwinders take on this processor, for the stacks of tasks
 * of a test machine.  Prints "time STACKS FRAMES BEFORE AFTER": nanoseconds of a frame.
 *
 * The unwinders are linked into this program with the tables of that machine's kernel.  For them it
 * does what a kernel does for itself at boot: what calls the function tracer becomes a nop, and
 * returns become plain ones, or, if SAFE_RETURNS is 1, those by which the kernel protects itself
 * against SRSO.  Indirect calls go through retpolines.
 */
#include <asm/prctl.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "native.h"

#define MAX_STACKS 256
#define ROUNDS 41
#define TIMES 200 /* all stacks, in a round */
#define PERCPU_SIZE (64 << 20)

/* ---- what the unwinders refer to ------------------------------------------------------------- */

/*
 * Entries of the first table are distances of 32 bits to the kernel's text, so it has to lie in the
 * first 16 MiB, as all of this program does.
 */
#define TABLE(start, stop, file)                                                               \
	asm(".data\n\t.balign 64\n\t.globl " start ", " stop "\n" start ":\n\t.incbin \"" file \
	    "\"\n" stop ":\n\t.text")
TABLE("__start_orc_unwind_ip", "__stop_orc_unwind_ip", "orc_ip");
TABLE("__start_orc_unwind", "__stop_orc_unwind", "orc");
TABLE("orc_lookup", "orc_lookup_end", "orc_lookup");

extern int32_t __start_orc_unwind_ip[], __stop_orc_unwind_ip[];
extern char __executable_start[], etext[];

/* Lists of sites that the kernel patches: addresses, and distances. */
extern unsigned long __start___mcount_loc[], __stop___mcount_loc[];
extern int32_t __start_return_sites[], __stop_return_sites[];

/* As srso_alias_return_thunk: the return is never to where the processor expects it. */
asm(".text\n"
    ".globl __x86_return_thunk\n"
    "__x86_return_thunk:\n\t"
    "call 1f\n\t"
    "ud2\n"
    "1:\tlea 8(%rsp), %rsp\n\t"
    "ret\n\t"
    "int3\n");

#define RETPOLINE(reg)                               \
	asm(".text\n"                                \
	    ".globl __x86_indirect_thunk_" #reg "\n" \
	    "__x86_indirect_thunk_" #reg ":\n\t"     \
	    "call 2f\n"                              \
	    "1:\tpause\n\t"                          \
	    "lfence\n\t"                             \
	    "jmp 1b\n"                               \
	    "2:\tmov %" #reg ", (%rsp)\n\t"          \
	    "ret\n\t"                                \
	    "int3\n")
RETPOLINE(rax);
RETPOLINE(rbx);
RETPOLINE(rcx);
RETPOLINE(rdx);
RETPOLINE(rbp);
RETPOLINE(r8);
RETPOLINE(r9);
RETPOLINE(r10);
RETPOLINE(r11);
RETPOLINE(r12);
RETPOLINE(r13);
RETPOLINE(r14);
RETPOLINE(r15);

/* Called for nothing that is measured: no module is there, nothing is replaced. */
#define NOTHING(name)     \
	long name(void);  \
	long name(void)   \
	{                 \
		return 0; \
	}
NOTHING(__fentry__)
NOTHING(__SCT__preempt_schedule)
NOTHING(__module_address)
NOTHING(__module_text_address)
NOTHING(__stack_chk_fail)
NOTHING(_find_next_bit)
NOTHING(_printk_deferred)
NOTHING(ftrace_ops_trampoline)
NOTHING(in_gate_area_no_mm)
NOTHING(rcu_is_watching)
NOTHING(rethook_find_ret_addr)

/* Per-CPU data is at its address behind %gs. */
char pcpu_hot[64], const_pcpu_hot[64], __cpu_possible_mask[1024];
unsigned long __per_cpu_offset[1];
unsigned int nr_cpu_ids = 1;

static void prepare(void)
{
	long distance = KERNEL_ORC_IP - (long)__start_orc_unwind_ip;
	unsigned long text = (unsigned long)__executable_start & ~4095ul;
	void *percpu;

	if (distance + INT32_MAX < INT32_MIN || (unsigned long)etext >= 16 << 20)
		errx(1, "the tables are too far from the kernel's text");
	for (int32_t *p = __start_orc_unwind_ip; p < __stop_orc_unwind_ip; p++) {
		if (*p + distance != (int32_t)(*p + distance))
			errx(1, "an entry is too far from the kernel's text");
		*p += (int32_t)distance;
	}
	percpu = mmap(NULL, PERCPU_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (percpu == MAP_FAILED || syscall(SYS_arch_prctl, ARCH_SET_GS, percpu))
		err(1, "per-CPU data");
	if (mprotect((void *)text, (unsigned long)etext - text, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "text");
	for (unsigned long *p = __start___mcount_loc; p < __stop___mcount_loc; p++)
		memcpy((void *)*p, "\x0f\x1f\x44\x00\x00", 5);
	for (int32_t *p = __start_return_sites; !SAFE_RETURNS && p < __stop_return_sites; p++)
		memset(memset((char *)p + *p, 0xcc, 5), 0xc3, 1);
}

/* ---- the stacks ------------------------------------------------------------------------------ */

static struct native_stack stacks[MAX_STACKS];
static unsigned int nr_stacks;

/* A line is "SP END WORD...", all hexadecimal; what points into the stack follows it. */
static void add_stack(char *line)
{
	char *next = line, *buf = aligned_alloc(NATIVE_STACK, NATIVE_STACK);
	unsigned long sp = strtoul(next, &next, 16), end = strtoul(next, &next, 16), word;
	struct native_stack *s = &stacks[nr_stacks];
	unsigned long *to;

	if (!buf || end - sp > NATIVE_STACK || nr_stacks == MAX_STACKS)
		errx(1, "a stack is too large, or one too many");
	s->begin = (unsigned long)buf;
	s->end = s->begin + NATIVE_STACK;
	s->sp = s->end - (end - sp);
	for (to = (void *)s->sp; (unsigned long)to < s->end; to++) {
		word = strtoul(next, &next, 16);
		*to = word - sp < end - sp ? word - sp + s->sp : word;
	}
	nr_stacks++;
}

static void read_stacks(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		err(1, "%s", path);
	while (getline(&line, &size, f) > 0)
		add_stack(line);
	if (!nr_stacks)
		errx(1, "%s has no stacks", path);
	free(line);
	fclose(f);
}

/* ---- the time -------------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), by_size);
	return times[ROUNDS / 2];
}

/* The frames of all stacks; both unwinders must find the same. */
static unsigned int compare(void)
{
	unsigned long before[NATIVE_FRAMES], after[NATIVE_FRAMES];
	unsigned int i, n, frames = 0;

	for (i = 0; i < nr_stacks; i++) {
		n = before_native_walk(&stacks[i], before);
		for (int again = 0; again < 2; again++)
			if (after_native_walk(&stacks[i], after) != n || !n ||
			    memcmp(before, after, n * sizeof(*before)))
				errx(1, "stack %u differs, or has no frames", i);
		frames += n;
	}
	return frames;
}

static double round_of(unsigned int (*walk)(const struct native_stack *, unsigned long *))
{
	unsigned long to[NATIVE_FRAMES];
	double began = now();

	for (unsigned int n = 0; n < TIMES; n++)
		for (unsigned int i = 0; i < nr_stacks; i++)
			walk(&stacks[i], to);
	return now() - began;
}

int main(int argc, char **argv)
{
	double before[ROUNDS], after[ROUNDS], all;
	unsigned int frames;

	if (argc != 2)
		errx(2, "usage: native_main STACKS");
	read_stacks(argv[1]);
	prepare();
	frames = compare();
	for (int i = 0; i < ROUNDS; i++) {
		before[i] = round_of(before_native_walk);
		after[i] = round_of(after_native_walk);
	}
	all = (double)frames * TIMES;
	printf("time %u %u %.1f %.1f\n", nr_stacks, frames, median(before) / all,
	       median(after) / all);
	return 0;
}
