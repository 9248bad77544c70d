/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The input of a reader: a file, a pipe or memory. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd; /* -1: memory */
	bool owned, seekable;
	bool sought; /* to data of which little may be needed */
	bool ended; /* the pipe's writers are gone: nothing follows */
	const uint8_t *data; /* buffered bytes */
	size_t len;
	uint8_t *buf;
	size_t cap, start; /* data is buf + start */
	uint64_t pos; /* of data, relative to where reading began */
	uint64_t base; /* file offset where reading began */
	uint64_t end; /* of the input, as pos; UINT64_MAX: wherever the file ends */
};

int input__open(struct input *in, const char *path);
void input__open_mem(struct input *in, const void *data, size_t len);
void input__close(struct input *in);

/* 1 when n bytes are at in->data, 0 when there are fewer (so far), or a negative errno. */
int input__need(struct input *in, size_t n);
/* Skips n bytes; 1, 0 or a negative errno as above. */
int input__skip(struct input *in, uint64_t n);
/*
 * Copies n bytes from `ahead` bytes after the read position, without consuming them.  1, 0 when
 * they are not available or the input is not seekable, or a negative errno.
 */
int input__peek(struct input *in, uint64_t ahead, void *buf, size_t n);

#endif /* TRACE_INPUT_H */
