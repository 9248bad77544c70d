/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flame graphs of weighted call stacks, and their folded text.  A weight is a count of events or a
 * time in ns.  The SVG is one file without anything from outside: search, zoom, kernel and user
 * apart.  Names are untrusted and escaped.  The same stacks give the same bytes, in whatever order
 * they came.
 */
#ifndef EXPORT_FLAMEGRAPH_H
#define EXPORT_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdint.h>

struct flamegraph;
struct strbuf;

enum flame_kind {
	FLAME_ROOT = 0,
	FLAME_GROUP = 1,
	FLAME_KERNEL = 2,
	FLAME_USER = 3,
	FLAME_INLINED = 4
};

struct flame_frame {
	const char *name; /* any bytes; copied */
	const char *where; /* module or file, "" or NULL: none; copied.  Part of its identity */
	enum flame_kind kind; /* the root is made by flamegraph__new() and is no frame to add */
};

int flamegraph__new(struct flamegraph **ret_flame);
void flamegraph__free(struct flamegraph *f);
static inline void flamegraph__freep(struct flamegraph **f)
{
	flamegraph__free(*f);
}
/*
 * frames: outermost first (a group's frame, say of the comm, before the stack's), at least one.  A
 * weight of 0 adds nothing.  -ENOMEM, -EINVAL, or -EOVERFLOW where the sum no longer fits.
 */
int flamegraph__add(struct flamegraph *f, const struct flame_frame *frames, unsigned int nr,
		    uint64_t weight);
uint64_t flamegraph__memory(const struct flamegraph *f); /* bytes; drawing takes less again */
uint64_t flamegraph__total(const struct flamegraph *f); /* of all that was added */

struct flame_text {
	const char *title, *subtitle; /* any bytes; NULL: none */
	const char *unit; /* "events", or "ns": times are then shown with a unit that suits them */
};
/*
 * The whole SVG; strbuf__failed() says that memory ran out.  It stays below some 2 MB: the smallest
 * frames are left out where there are too many, and the subtitle says how many and how small.
 */
void flamegraph__svg(const struct flamegraph *f, const struct flame_text *text, struct strbuf *out);
/*
 * "comm;outer;inner WEIGHT" a line, sorted, as flamegraph.pl and speedscope read it.  "_[k]" behind
 * a name says kernel, "_[i]" inlined; a semicolon in a name is shown as \x3b.
 */
void flamegraph__folded(const struct flamegraph *f, struct strbuf *out);

#endif /* EXPORT_FLAMEGRAPH_H */
