/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the running code is, as somebody else than stackonce sees it: return addresses by the C
 * library's backtrace() (or the compiler's unwinder), as offsets in files.
 */
#ifndef STACKONCE_TEST_WHERE_H
#define STACKONCE_TEST_WHERE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WHERE_MAX 512

/* Not every C library's compiler finds the kernel's headers. */
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/*
 * Writes the frames outward from the caller's caller to a new file: a line "0xOFFSET PATH" each.
 * An empty file where there is no backtrace().
 */
void where__am_i(const char *file);

struct where_module {
	uint64_t start, end, delta; /* delta: address - offset in file */
	const char *path;
	unsigned int number;
};

/* Prepares what must not be prepared within a signal handler. */
void where__init(void);
/* Return addresses from the caller's own on, innermost first; 0 without a backtrace(). */
int where__frames(void **ret_frames, int max);
/* The path of module n, which has been seen. */
const char *where__path(unsigned int number);
/* The module of an address, NULL: none (the vdso). */
const struct where_module *where__module(uint64_t addr);

#ifdef __cplusplus
}
#endif
#endif /* STACKONCE_TEST_WHERE_H */
