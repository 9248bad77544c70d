/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of bytes that are written side by side and read one after the other: what a format wants
 * in columns while events come in rows.  The beginning of each stays in memory as long as all of
 * them are short; the rest goes to one temporary file.  Memory grows with the streams, by some
 * bytes each, and not with what is in them.
 */
#ifndef EXPORT_SPILL_H
#define EXPORT_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct output;

#define SPILL_CHUNK (64u << 10) /* bytes in the file */
#define SPILL_PAYLOAD (SPILL_CHUNK - 16) /* of these, of a stream */
#define SPILL_MEMORY (64u << 20) /* of what waits to be written */

struct spill_stream {
	char *buf; /* what is not in the file */
	uint32_t len, cap;
	uint64_t first, next; /* chunks in the file, from 1: of the beginning, for what comes */
	uint64_t total; /* bytes */
};

/* Zero but for output (borrowed), beside which the file is. */
struct spill {
	const struct output *output;
	int fd; /* + 1; 0: none yet */
	struct spill_stream *v;
	uint32_t nr, max;
	uint64_t held; /* bytes of all buffers */
	uint64_t chunks; /* in the file */
	char *chunk; /* of the reader */
};

/* Adds an empty stream; -ENOMEM. */
int spill__add(struct spill *s, uint32_t *ret_stream);
/* -ENOMEM, or -ECANCELED after a message. */
int spill__write(struct spill *s, uint32_t stream, const void *data, size_t len);
/*
 * Hands a stream to take() in pieces, from its beginning.  Where all writes have one size, and that
 * divides SPILL_PAYLOAD, the pieces have whole ones; others are cut anywhere.
 * Returns its first error, -ENOMEM, or -ECANCELED after a message.
 */
int spill__read(struct spill *s, uint32_t stream,
		int (*take)(void *ctx, const char *data, size_t len), void *ctx);
uint64_t spill__memory(const struct spill *s); /* bytes beside the buffers */
void spill__free(struct spill *s);

#endif /* EXPORT_SPILL_H */
