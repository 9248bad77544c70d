/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where a reader gets its bytes: a file, a pipe, memory. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd; /* -1: memory */
	bool owned, seekable;
	bool ended; /* a pipe's other end is closed: nothing will ever follow */
	const uint8_t *data; /* what is buffered */
	size_t len;
	uint8_t *buf;
	size_t cap, start; /* data is buf + start */
	uint64_t pos; /* of data, from where reading began */
	uint64_t base; /* where that was in the file */
};

int input__open(struct input *in, const char *path);
void input__open_mem(struct input *in, const void *data, size_t len);
void input__close(struct input *in);

/* 1 when n bytes lie at in->data, 0 when there are not that many (yet), negative errno. */
int input__need(struct input *in, size_t n);
/* Go on n bytes further; 1, 0 or negative errno as above. */
int input__skip(struct input *in, uint64_t n);
/*
 * n bytes from so many behind what was consumed last, which stay where they are: 1, 0 when they are
 * not there or cannot be reached, a negative errno.
 */
int input__peek(struct input *in, uint64_t ahead, void *buf, size_t n);

#endif /* TRACE_INPUT_H */
