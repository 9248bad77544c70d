/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the running code is, independently of stackonce: return addresses from the C library's
 * backtrace() (or the compiler's unwinder), as file offsets.
 */
#ifndef STACKONCE_TEST_WHERE_H
#define STACKONCE_TEST_WHERE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WHERE_MAX 512

/* Not every C library's compiler finds the kernel headers. */
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/*
 * Writes the frames outside of the caller's caller to a new file, one line "0xOFFSET PATH" each.
 * The file is empty without a backtrace().
 */
void where__am_i(const char *file);

struct where_module {
	uint64_t start, end, delta; /* delta: address - offset in file */
	const char *path;
	unsigned int number;
};

/* Prepares what must not be prepared in a signal handler. */
void where__init(void);
/* Return addresses from the caller's own on, innermost first; 0 without a backtrace(). */
int where__frames(void **ret_frames, int max);
/* The path of module n, which must have been seen. */
const char *where__path(unsigned int number);
/* The module of an address, or NULL if it has none (the vdso). */
const struct where_module *where__module(uint64_t addr);

#ifdef __cplusplus
}
#endif
#endif /* STACKONCE_TEST_WHERE_H */
