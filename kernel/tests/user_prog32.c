// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32 bit program with a known user stack, for user_ia32.sh: as `user_prog chain`.  It has no
 * library, so it needs no other than the compiler.
 */
#pragma GCC optimize("no-omit-frame-pointer,no-optimize-sibling-calls")

enum { NR_exit = 1, NR_write = 4, NR_getppid = 64 };

extern const char __executable_start[]; /* where the file begins in memory */
static unsigned long frames[4]; /* outermost first */

static long call(long nr, long a, long b, long c)
{
	asm volatile("int $0x80" : "+a"(nr) : "b"(a), "c"(b), "d"(c) : "memory");
	return nr;
}

static void print(unsigned long pc)
{
	unsigned long offset = pc - (unsigned long)__executable_start;
	char line[] = "frame 0000000000000000\n";

	for (int i = sizeof(line) - 3; offset; i--, offset /= 16)
		line[i] = "0123456789abcdef"[offset % 16];
	call(NR_write, 1, (long)line, sizeof(line) - 1);
}

__attribute__((noinline)) static void leaf(void)
{
	long nr = NR_getppid;

	frames[2] = (unsigned long)__builtin_return_address(0);
	asm volatile("int $0x80\n"
		     "1:\tmovl $1b, %1"
		     : "+a"(nr), "=m"(frames[3])
		     :
		     : "memory");
}

__attribute__((noinline)) static void two(void)
{
	frames[1] = (unsigned long)__builtin_return_address(0);
	leaf();
	asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void one(void)
{
	frames[0] = (unsigned long)__builtin_return_address(0);
	two();
	asm volatile("" ::: "memory");
}

/* Where the program begins the stack is aligned as it must be where a function is called. */
asm(".globl _start\n"
    "_start:\n\t"
    "call begin\n\t"
    "hlt\n");

__attribute__((noreturn, used)) static void begin(void)
{
	one();
	for (int i = 3; i >= 0; i--)
		print(frames[i]);
	for (;;)
		call(NR_exit, 0, 0, 0);
}
