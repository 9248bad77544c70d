// SPDX-License-Identifier: GPL-2.0-only
/*
 * probed CALLS THREADS [wait]: calls functions a known number of times, with known arguments,
 * through known callers, for the tests of u:, ur: and usdt:.  Each of THREADS threads calls
 *   CALLS times   top -> middle -> leaf(i, -i, 7, thread), which returns 3 * i + thread, and passes
 *                 the USDT probe stackonce:leaf (i as int, -i as long, thread as unsigned char);
 *                 then stepped(i, 0)
 *   once          fall(CALLS), which calls itself down to 0: CALLS + 1 calls; then fall(40)
 *   once          jump(CALLS), out of depth CALLS % 100 by longjmp(3): calls that do not return
 * and prints the sums, so that the compiler keeps the calls.  With `wait` it starts at the end of
 * its standard input.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP static __attribute__((noinline, noclone, noipa))
#define MAX_THREADS 64

static unsigned int calls;

/* The expansion of DTRACE_PROBE3 in <sys/sdt.h>: see src/symbols/usdt_notes.h. */
#define PROBE3(provider, name, a, b, c)                                                     \
	__asm__ volatile(                                                                   \
		"990: nop\n"                                                                \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                              \
		".balign 4\n"                                                               \
		".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
		"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                 \
		"993: .8byte 990b, _.stapsdt.base, 0\n"                                     \
		".asciz \"" #provider "\"\n.asciz \"" #name "\"\n"                          \
		".asciz \"-4@%k0 -8@%1 1@%b2\"\n"                                           \
		"994: .balign 4\n.popsection\n"                                             \
		".ifndef _.stapsdt.base\n"                                                  \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                            \
		"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"                       \
		".popsection\n.endif\n" ::"r"(a),                                           \
		"r"(b), "q"(c))

KEEP uint64_t leaf(uint64_t i, int64_t minus, unsigned int seven, unsigned int thread)
{
	int as_int = i;
	long as_long = minus;
	unsigned char as_char = thread;

	PROBE3(stackonce, leaf, as_int, as_long, as_char);
	return 3 * i + thread + (seven - 7) + (minus + i);
}

KEEP uint64_t middle(uint64_t i, unsigned int thread)
{
	return leaf(i, -i, 7, thread) + 1;
}

KEEP uint64_t top(uint64_t i, unsigned int thread)
{
	return middle(i, thread) - 1;
}

/* Not a loop: the result is used. */
KEEP uint64_t fall(uint64_t n)
{
	uint64_t below = n ? fall(n - 1) : 0;

	__asm__ volatile("" : "+r"(below));
	return n ? below + 1 : 0;
}

KEEP void jump(uint64_t n, jmp_buf *out)
{
	if (!n && calls)
		longjmp(*out, 1);
	if (calls)
		jump(n - 1, out);
	__asm__ volatile("" ::: "memory");
}

KEEP void jump_out(uint64_t n)
{
	jmp_buf out;

	if (!setjmp(out))
		jump(n, &out);
}

/* Six bytes after its start, the second argument is twice the first. */
uint64_t stepped(uint64_t i, uint64_t before);
__asm__(".text\n.globl stepped\n.type stepped, @function\nstepped: .cfi_startproc\n"
	"mov %rdi, %rsi\nadd %rdi, %rsi\nmov %rsi, %rax\nret\n"
	".cfi_endproc\n.size stepped, . - stepped\n");

static void *work(void *arg)
{
	unsigned int thread = (uintptr_t)arg;
	uint64_t sum = 0, i;

	for (i = 0; i < calls; i++)
		sum += top(i, thread) + stepped(i, 0);
	sum += fall(calls) + fall(40);
	jump_out(calls % 100);
	return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 2 ? atoi(argv[2]) : 1, i;
	pthread_t ids[MAX_THREADS];
	void *sum;

	calls = argc > 1 ? atoi(argv[1]) : 1;
	while (argc > 3 && getchar() != EOF)
		;
	if (!threads || threads > MAX_THREADS)
		return 2;
	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i))
			return 1;
	for (i = 0; i < threads; i++) {
		if (pthread_join(ids[i], &sum))
			return 1;
		printf("%ju\n", (uintmax_t)(uintptr_t)sum);
	}
	return 0;
}
