/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs and the recorder share: map values and ring records, fixed widths only.
 * The ring record is not the file record: src/trace/ encodes the file.
 */
#ifndef WIRE_H
#define WIRE_H

#ifndef __bpf__
#include <assert.h>
#include <stdint.h>
typedef uint8_t __wire_u8;
typedef uint16_t __wire_u16;
typedef uint32_t __wire_u32;
typedef uint64_t __wire_u64;
#else
typedef __u8 __wire_u8;
typedef __u16 __wire_u16;
typedef __u32 __wire_u32;
typedef __u64 __wire_u64;
#define static_assert _Static_assert
#endif

#define WIRE_MAX_FRAMES 127 /* of one walk: the kernel's own default limit */
#define WIRE_MAX_RECORD 8192 /* PERF_MAX_TRACE_SIZE: no tracepoint record is longer */
#define WIRE_MAX_DYN 16 /* dynamic fields of one event */
#define WIRE_MAX_CPUS 1024
#define WIRE_MAX_EVENTS 4096
#define WIRE_MAX_SYSCALLS 1024
#define WIRE_MAX_STRINGS 6 /* string arguments of one system call */
#define WIRE_STRING_LEN 256 /* bytes kept of a string argument, NUL included */
#define WIRE_ARGV_LEN 512 /* bytes kept of an argv */
#define WIRE_ARGV_MAX 16 /* strings kept of an argv */
#define WIRE_TASK_SLOTS 256 /* tasks a CPU remembers having named in its ring */
#define WIRE_PID_WORDS 65536 /* PID_MAX_LIMIT / 64 */
#define WIRE_NR_COUNTERS 24 /* enum stk_counter, rounded up */
#define WIRE_SYMBOL_BATCH 64 /* addresses named in one go, see symbols.bpf.c */
#define WIRE_SYMBOL_LEN 256
#define WIRE_ANCHORS 32
#define WIRE_ENTRY_HOLES 8 /* parts of the entry text that are no interrupt entry */

/* Ids the stack fields of a ring record may carry beside a stack map id. */
#define WIRE_STACK_NONE 0u /* not asked for, or empty */
#define WIRE_STACK_FULL 0xffffffffu /* the words follow the record's fields */
#define WIRE_STACK_FAILED 0xfffffffeu /* the walk failed */

enum wire_ext {
	WIRE_EXT_NO_FIELDS = 1u << 0, /* STK_MARK_NO_FIELDS */
	WIRE_EXT_CUT = 1u << 1, /* STK_MARK_CUT */
	WIRE_EXT_NO_IRQFLAG = 1u << 2, /* STK_MARK_NO_IRQFLAG */
};

/*
 * One event in a CPU's ring.  The last eight bytes are the record's own struct trace_entry, the
 * fields follow from offset 8 of the record, padded to 8 bytes when stack words come after them.
 */
struct wire_event {
	__wire_u64 ts;
	__wire_u32 kstack;
	__wire_u32 ustack;
	__wire_u32 tgid;
	__wire_u16 event; /* WIRE_TASK: a struct wire_task instead */
	__wire_u8 ext; /* enum wire_ext */
	__wire_u8 nr_words; /* stack words after the fields (WIRE_STACK_FULL) */
	/* struct trace_entry */
	__wire_u16 common_type;
	__wire_u8 common_flags;
	__wire_u8 common_preempt_count;
	__wire_u32 common_pid;
};
static_assert(sizeof(struct wire_event) == 32, "wire_event is 32 bytes");

#define WIRE_TASK 0xffffu

/* Names a task in this CPU's ring, before the first event that needs the name. */
struct wire_task {
	__wire_u64 comm[2];
	__wire_u32 tgid;
	__wire_u16 event; /* WIRE_TASK; where wire_event has its event */
	__wire_u16 pad;
	__wire_u32 tid;
	__wire_u32 pad2;
};
static_assert(sizeof(struct wire_task) == 32, "wire_task is 32 bytes");
static_assert(__builtin_offsetof(struct wire_task, event) ==
		      __builtin_offsetof(struct wire_event, event),
	      "told apart by event");

enum desc_flags {
	DESC_FILTER = 1u << 0, /* filters[filter] decides */
};

/* What the recorder program must know of an event. */
struct event_desc {
	__wire_u64 tracer_start; /* text of this tracepoint's __traceiter_ function */
	__wire_u32 tracer_len;
	__wire_u32 flags; /* enum desc_flags */
	__wire_u32 filter;
	__wire_u16 common_type;
	__wire_u16 fixed_size; /* bytes before the dynamic part */
	__wire_u16 nr_dyn; /* dynamic fields; bit 15 of dyn_off: __rel_loc */
	__wire_u16 dyn_off[WIRE_MAX_DYN];
	__wire_u16 nr_pids; /* fields that name a task, beside the running one */
	__wire_u16 pid_off[2];
	__wire_u8 pid_arg[2]; /* the same as arguments of the tracepoint, from 1 */
	/* system calls */
	__wire_u16 pad;
	__wire_u16 nr_strings;
	__wire_u8 string_arg[WIRE_MAX_STRINGS]; /* bit 7: an argv */
	__wire_u16 string_loc[WIRE_MAX_STRINGS]; /* offset of its __data_loc word */
};
static_assert(sizeof(struct event_desc) == 88, "event_desc has no hidden padding");

struct event_counts {
	__wire_u64 c[WIRE_NR_COUNTERS]; /* by enum stk_counter */
};

struct task_slot {
	__wire_u32 tid, tgid;
	__wire_u64 comm[2];
};

/* Set while recording. */
struct wire_ctl {
	__wire_u32 armed;
	__wire_u32 pad[15];
};

#endif /* WIRE_H */
