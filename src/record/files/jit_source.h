/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process says about the code that it generates: /tmp/perf-PID.map, and a jitdump that it
 * has mapped.  The dump is read while it grows, because it may contain unwind tables.  Both are
 * read to the end when the process exits, before another one can get its PID, or when the recording
 * ends.
 */
#ifndef RECORD_JIT_SOURCE_H
#define RECORD_JIT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "index.h"
#include "wire.h"

#define JIT_SOURCES_MAX (512ull << 20) /* bytes of names of all processes together */

struct jit_source;
struct jit_symbols;

/* Whether two keys of kind WIRE_KEY_JIT are of the same program in the same process. */
static inline bool jit_key__same_program(const struct wire_file_key *a,
					 const struct wire_file_key *b)
{
	return a->w[1] == b->w[1] && a->w[2] == b->w[2] && a->w[0] >> 32 == b->w[0] >> 32;
}

/* The hash of this program, for an index. */
static inline uint64_t jit_key__program(const struct wire_file_key *key)
{
	return index__hash(key->w[2] ^ key->w[1] << 32 ^ key->w[0] >> 32);
}

/* What the names of several sources take. */
struct jit_memory {
	size_t used;
	bool warned; /* that names were dropped */
};

/*
 * Finds these files.  start_ns: start of the process on the boot clock; if another process has the
 * PID meanwhile, there are none.
 */
int jit_source__new(pid_t pid, uint64_t start_ns, struct jit_source **ret_source);
/* One more owner; each calls jit_source__free(). */
struct jit_source *jit_source__share(struct jit_source *j);
void jit_source__free(struct jit_source *j);
/* Notes one more window with a table; returns their number. */
unsigned int jit_source__add_window(struct jit_source *j);
/* Its names count there, and are dropped beyond the limit.  m is borrowed. */
void jit_source__set_memory(struct jit_source *j, struct jit_memory *m);
/* The number of descriptors that it keeps open. */
unsigned int jit_source__nr_fds(const struct jit_source *j);

/* Reads what is new in the dump; after the exit of the process also the map, and then no more. */
int jit_source__poll(struct jit_source *j);
/* Whether jit_source__poll() has found that the process has exited. */
bool jit_source__has_exited(const struct jit_source *j);
/* It has exited, no stack of it is left to be walked, and nothing of that kind is kept. */
bool jit_source__is_done(const struct jit_source *j);
/*
 * The functions that the dump describes so far; their ranges cover the first nr_dumped of them.
 * Freed some time after the process has exited, when all its stacks have been walked.
 */
const struct jit_symbols *jit_source__dumped(const struct jit_source *j);
size_t jit_source__nr_dumped(const struct jit_source *j);
/* Reads code of the process; returns the number of bytes, or a negative errno. */
ssize_t jit_source__code(const struct jit_source *j, uint64_t addr, void *buf, size_t len);

/* All functions, owned by j.  -ENOENT: the process does not name its code. */
int jit_source__symbols(struct jit_source *j, struct jit_symbols **ret_symbols);

/* The start of a process on the boot clock, in ns, as exact as /proc has it; 0: unknown. */
uint64_t process__start_ns(pid_t pid);

#endif /* RECORD_JIT_SOURCE_H */
