/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings in memory for bpf_drain, in place of those of BPF programs.  The program that is linked
 * with this needs the linker options of drain_input_args in meson.build: they replace the
 * functions of programs.h and stackmap.h that bpf_drain calls.
 */
#ifndef TEST_DRAIN_INPUT_H
#define TEST_DRAIN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct programs;

/* One at a time. */
void drain_input__open(unsigned int nr_cpus, size_t ring_size);
void drain_input__close(void);
/* What the drain gets as its programs. */
struct programs *drain_input__programs(void);

/* Appends a record to the ring of a CPU as the kernel does; false: it has no room. */
bool drain_input__put(unsigned int cpu, const void *record, size_t len);
/* Appends the name of a task, also WIRE_TASK. */
bool drain_input__put_task(unsigned int cpu, uint32_t tid, uint32_t tgid, const char *comm);

/*
 * The stack map has every id up to this one: DRAIN_INPUT_DEPTH kernel frames that differ from those
 * of the other ids.
 */
#define DRAIN_INPUT_IDS 65536
#define DRAIN_INPUT_DEPTH 8
uint64_t drain_input__frame(uint32_t id, unsigned int i);

#endif /* TEST_DRAIN_INPUT_H */
