/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe is a futex call beside which the program says where it is, in two ways that owe nothing to
 * each other: the functions that said HERE, and the return addresses that backtrace() finds.  Call k
 * of a process uses the address PROBE_BASE + 4 * k, and its truth is a line in the file
 * $PROBE_DIR/probes.PID:
 *   K COMM|HERES|FRAMES   each "MODULE+0xOFFSET" in hex of the file, innermost first, with blanks;
 *                         lines "M NUMBER PATH" name the modules.
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

void probe__open(void); /* to be called first, without a signal about to come */
void probe(void);
bool probe__busy(void); /* this thread is in probe(): no probe can be made now */

void probe__push(uint64_t pc);
void probe__pop(void);

/* A stack of its own for a coroutine: returns the one before; NULL makes a new one. */
void *probe__switch(void *heres);
/* How many said so, to go back to after a longjmp(). */
unsigned int probe__depth(void);
void probe__cut(unsigned int depth);

#ifdef __cplusplus
}
#endif

/* An address in the code of whoever says so, whatever it is called and wherever it was inlined. */
#define PROBE_PC()                                                 \
	({                                                         \
		uint64_t pc_;                                      \
		__asm__ volatile("leaq 0(%%rip), %0" : "=r"(pc_)); \
		pc_;                                               \
	})
#define HERE() probe__push(PROBE_PC())
#define GONE() probe__pop()

#endif /* STACKONCE_TEST_PROBE_H */
