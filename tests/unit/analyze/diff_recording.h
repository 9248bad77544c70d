/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of the same load, as often as needed: timer samples of DIFF_STACKS stacks whose rates
 * differ by chance only, unless a function is changed on purpose.  Equal seeds give equal files.
 *
 * Stack i is leaf_I, middle_I%8, root in the kernel, with a kernel build per version; stacks of odd
 * number also have a user stack in /usr/bin/app, whose build id and offsets depend on the version.
 */
#ifndef DIFF_RECORDING_H
#define DIFF_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#define DIFF_STACKS 40
#define DIFF_START_NS 5000000000ULL

struct diff_load {
	uint64_t seed;
	unsigned int seconds;
	double rate; /* samples per second of all stacks; 0: 1000 */
	bool bursty; /* each stack is busy or quiet for some 0.3 s, and all together vary */
	unsigned int changed; /* the leaf whose rate is multiplied by factor */
	double factor; /* 0: none is changed */
	double more; /* all rates, also of work:done, are multiplied by it; 0: 1 */
	unsigned int version; /* of the kernel and of the program */
	bool extra; /* has an event type of its own */
	double slow; /* work:begin to work:end takes 1 to 3 ms times this; 0: no such pairs */
};

/* Writes the recording to fd, which is closed. */
void diff_recording__write(int fd, const struct diff_load *load);

#endif /* DIFF_RECORDING_H */
