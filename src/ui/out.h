/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output to stdout: buffered and written in large pieces; on a terminal, through a pager and in
 * colour.
 *
 *   struct out o;
 *   out__open(&o, true);
 *   ... strbuf__puts(&o.b, ...), out__drain(&o) now and then; stop if it returns an error ...
 *   return out__close(&o, CMD_OK);
 */
#ifndef UI_OUT_H
#define UI_OUT_H

#include <stdbool.h>

#include "json.h"
#include "strbuf.h"
#include "text.h"

#define OUT_PIECE (128u << 10) /* bytes per write(2) */

struct out {
	struct strbuf b;
	struct json json; /* writes to b */
	int err; /* sticky negative errno of the first failed write */
	bool terminal, colour;
	bool heads; /* columns print their names */
	unsigned int width; /* columns of the terminal; 80 without one */
};

enum out_colour { OUT_PLAIN, OUT_HEAD, OUT_NUMBER, OUT_DIM, OUT_WARN };

void out__open(struct out *o, bool may_page);
int out__flush(struct out *o);

/* Writes if a piece is full; a negative errno once writing has failed. */
static inline int out__drain(struct out *o)
{
	return o->b.len >= OUT_PIECE || o->err ? out__flush(o) : 0;
}

/* The escape sequence, or nothing without colour. */
const char *out__colour(const struct out *o, enum out_colour c);
static inline void out__paint(struct out *o, enum out_colour c)
{
	strbuf__puts(&o->b, out__colour(o, c));
}

/* Pads the text that starts at from with blanks up to width; at least one blank. */
static inline void out__fill(struct strbuf *b, size_t from, size_t width)
{
	strbuf__pad(b, ' ', b->len - from < width ? width - (b->len - from) : 1);
}
/* part as a percentage of whole, "12.34" without the sign; "0.00" if whole is 0. */
void out__percent(struct strbuf *b, uint64_t part, uint64_t whole, int width);

/*
 * Writes the rest and waits for the pager.  Returns code, or CMD_FAILURE after a message if the
 * output could not be written; it is no failure if the reader of the output exited early.
 */
int out__close(struct out *o, int code);

#endif /* UI_OUT_H */
