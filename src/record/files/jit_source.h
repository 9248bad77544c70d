/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in which a process names its JIT code: /tmp/perf-PID.map, and a jitdump that it has
 * mapped.  They are read when the recording ends, and may outlive the process.
 */
#ifndef RECORD_JIT_SOURCE_H
#define RECORD_JIT_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

struct jit_source;
struct jit_symbols;

/* Finds these files; the process should still exist. */
int jit_source__new(pid_t pid, uint64_t start_ns, struct jit_source **ret_source);
void jit_source__free(struct jit_source *j);
/* The number of descriptors that it keeps open. */
unsigned int jit_source__nr_fds(const struct jit_source *j);
/* Closes them; the files may then no longer be found. */
void jit_source__drop_fds(struct jit_source *j);

/* -ENOENT: the process does not name its code. */
int jit_source__symbols(const struct jit_source *j, struct jit_symbols **ret_symbols);

#endif /* RECORD_JIT_SOURCE_H */
