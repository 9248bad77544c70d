/* SPDX-License-Identifier: GPL-2.0-only */
/* What many recordings have in common: event types, metadata, kernel symbols. */
#ifndef KERNEL_EVENTS_H
#define KERNEL_EVENTS_H

#include <stdint.h>

#include "trace/write/writer.h"

#define TEXT 0xffffffff81000000ULL
#define MODULE 0xffffffffc0200000ULL

extern const char switch_format[], exec_format[];

/* The types of add_types(). */
enum { EV_SWITCH, EV_EXEC, EV_SAMPLE };

struct switch_record {
	char common[8];
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

/* An event of these types without fields of its own, e.g. a sample. */
#define EMPTY_RECORD .record = "\0\0\0\0\0\0\0", .record_len = 8

void add_types(struct stk_writer *w);
void add_meta(struct stk_writer *w);
/* Nine functions of the kernel from TEXT on, and one in MODULE. */
void add_symbols(struct stk_writer *w);
void put_switch(struct stk_writer *w, uint64_t ts, uint32_t cpu, uint32_t task, uint32_t kstack,
		unsigned int marks, const char *prev, const char *next);
void put_exec(struct stk_writer *w, uint64_t ts, uint32_t task, uint32_t kstack, const char *file);

#endif /* KERNEL_EVENTS_H */
