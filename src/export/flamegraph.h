/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flame graphs of weighted call stacks, alone or compared with others, and their folded text.  A
 * weight is a count of events or a time in ns.  The SVG is one self-contained file with search and
 * zoom; kernel and user frames differ in colour.  Names are untrusted and escaped.  The same stacks
 * give the same bytes, in any order of addition.
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

/* For a difference: what a frame with its callers was in what it is compared with. */
struct flame_change {
	bool known; /* false: not compared */
	bool significant; /* the change is more than noise */
	uint64_t before; /* weight */
};

struct flame_frame {
	const char *name; /* any bytes; copied */
	const char *where; /* module or file, "" or NULL: none; copied; identifies the frame, too */
	enum flame_kind kind; /* FLAME_ROOT only by flamegraph__new() */
	/*
	 * Equal for equal frames with equal callers.  Once a frame of the graph has a known change,
	 * colours do not show kernel and user but more and less.
	 */
	struct flame_change change;
};

int flamegraph__new(struct flamegraph **ret_flame);
void flamegraph__free(struct flamegraph *f);
static inline void flamegraph__freep(struct flamegraph **f)
{
	flamegraph__free(*f);
}
/*
 * frames: outermost first (a group's frame, say of the comm, before the stack's), at least one.  A
 * weight of 0 adds nothing.  -ENOMEM, -EINVAL, or -EOVERFLOW if the sum overflows.
 */
int flamegraph__add(struct flamegraph *f, const struct flame_frame *frames, unsigned int nr,
		    uint64_t weight);
/* Bytes; drawing takes less than this in addition. */
uint64_t flamegraph__memory(const struct flamegraph *f);
uint64_t flamegraph__total(const struct flamegraph *f); /* of all that was added */

struct flame_text {
	const char *title, *subtitle; /* any bytes; NULL: none */
	const char *unit; /* "events", or "ns": times are then shown in suitable units */
};
/*
 * Writes the whole SVG; strbuf__failed() is true when out of memory.  The SVG stays below some 2
 * MB: if there are too many frames, the smallest are left out, and the subtitle says how many and
 * how small.
 */
void flamegraph__svg(const struct flamegraph *f, const struct flame_text *text, struct strbuf *out);
/*
 * One line "comm;outer;inner WEIGHT" per stack, sorted, as flamegraph.pl and speedscope read it.
 * The suffix "_[k]" means kernel, "_[i]" inlined; a semicolon in a name becomes \x3b.
 */
void flamegraph__folded(const struct flamegraph *f, struct strbuf *out);

#endif /* EXPORT_FLAMEGRAPH_H */
