/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a process says what its code without a file is called: /tmp/perf-PID.map, and a jitdump
 * that it has mapped.  Both are read when the recording ends, and may outlive the process.
 */
#ifndef RECORD_JIT_SOURCE_H
#define RECORD_JIT_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

struct jit_source;
struct jit_symbols;

/* Looks at the process while it is there. */
int jit_source__new(pid_t pid, uint64_t start_ns, struct jit_source **ret_source);
void jit_source__free(struct jit_source *j);
/* Descriptors that it keeps open, and without them. */
unsigned int jit_source__nr_fds(const struct jit_source *j);
void jit_source__drop_fds(struct jit_source *j);

/* -ENOENT: the process says nothing. */
int jit_source__symbols(const struct jit_source *j, struct jit_symbols **ret_symbols);

#endif /* RECORD_JIT_SOURCE_H */
