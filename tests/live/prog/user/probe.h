/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe is a futex call at which the program writes its call stack, in two independent ways: the
 * functions with HERE, and the return addresses of backtrace().  Call k of a process uses the
 * address PROBE_BASE + 4 * k, and its truth is a line in the file
 * $PROBE_DIR/probes.PID, which no other process has written:
 *   K COMM|HERES|FRAMES   each "MODULE+0xOFFSET" (file offset, hex), innermost first;
 *                         lines "M NUMBER PATH" define modules.
 */
#ifndef STACKONCE_TEST_PROBE_H
#define STACKONCE_TEST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define PROBE_BASE 0x300000000000ULL
#define PROBE_MAX (1ULL << 30)

#ifdef __cplusplus
extern "C" {
#endif

void probe__open(void); /* call it first, while no signal can arrive */
void probe(void);
bool probe__busy(void); /* this thread is in probe(): another probe is impossible */

void probe__push(uint64_t pc);
void probe__pop(void);

/* Switches to the stack of a coroutine and returns the previous one; NULL creates a new one. */
void *probe__switch(void *heres);
/* The present depth, to return to after a longjmp(). */
unsigned int probe__depth(void);
void probe__cut(unsigned int depth);

#ifdef __cplusplus
}
#endif

/* An address in the code of the function that uses it, even if it was inlined. */
#define PROBE_PC()                                                 \
	({                                                         \
		uint64_t pc_;                                      \
		__asm__ volatile("leaq 0(%%rip), %0" : "=r"(pc_)); \
		pc_;                                               \
	})
#define HERE() probe__push(PROBE_PC())
#define GONE() probe__pop()

#endif /* STACKONCE_TEST_PROBE_H */
