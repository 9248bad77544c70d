/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs and the recorder share: map values and ring records, fixed widths only.
 * The ring record is not the file record: src/trace/ encodes the file.
 */
#ifndef WIRE_H
#define WIRE_H

#include "stackonce-counters.h"
#include "trace_entry.h"

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
#define WIRE_MAX_CUTS 4 /* interrupted contexts that one stack is cut at; a power of two */
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
#define WIRE_SYMBOL_BATCH 64 /* addresses named in one go, see symbols.bpf.c */
#define WIRE_SYMBOL_LEN 256
#define WIRE_ANCHORS 32
#define WIRE_COUNT_EVENT 0x57ac0de /* in a counter's code: each copy has its event's index there */
#define WIRE_ENTRY_HOLES 8 /* parts of the entry text that are no interrupt entry */

enum rec_clock { REC_CLOCK_MONO, REC_CLOCK_BOOT, REC_CLOCK_TAI };

/* Ids the stack fields of a ring record may carry beside a stack map id. */
#define WIRE_STACK_NONE 0u /* not asked for, or empty */
#define WIRE_STACK_FULL 0xffffffffu /* the words follow the record's fields */
#define WIRE_STACK_FAILED 0xfffffffeu /* the walk failed */
#define WIRE_STACK_DEFERRED \
	0xfffffffdu /* user: a wire_copy came before; its tag is the last word */

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
	__wire_u8 marks; /* STK_MARK_... */
	__wire_u8 nr_words; /* kernel stack words after the fields (WIRE_STACK_FULL) */
	/* struct trace_entry */
	__wire_u16 common_type;
	__wire_u8 common_flags;
	__wire_u8 common_preempt_count;
	__wire_u32 common_pid;
};
static_assert(sizeof(struct wire_event) == 32, "wire_event is 32 bytes");
/* Behind the member head, as a field's row of the format says. */
#define WIRE_IS_AT(record, head, name, offset, size)                                         \
	static_assert(__builtin_offsetof(record, name) - __builtin_offsetof(record, head) == \
			      offset,                                                        \
		      #name " is where the format says");                                    \
	static_assert(sizeof(((record *)0)->name) == size,                                   \
		      #name " has the size that the format says");
#define WIRE_FIELD_IS(type, name, offset, size, is_signed) \
	WIRE_IS_AT(struct wire_event, common_type, name, offset, size)
TRACE_ENTRY_FIELDS(WIRE_FIELD_IS)
#undef WIRE_FIELD_IS

/*
 * Behind the kernel stack's words: those of the user stack and then their number (WIRE_STACK_FULL),
 * or the tag of a copy (WIRE_STACK_DEFERRED).
 */

#define WIRE_TASK 0xffffu
#define WIRE_COPY 0xfffeu

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

/* ---- user stacks ----------------------------------------------------------------------------- */

#define WIRE_USER_FRAMES 127
#define WIRE_MAX_FILES (1u << 16) /* in the kernel's file map */
#define WIRE_MAX_NAMES (1u << 15) /* of files; their entries follow */
#define WIRE_FILE_ENTRIES (WIRE_MAX_FILES + WIRE_MAX_NAMES)
#define WIRE_FILE_SLOTS (1u << 18)
#define WIRE_FILE_NAMES 64 /* of one file */
#define WIRE_FILE_PROBES 32
#define WIRE_VMAS 32 /* mappings that a copy brings along, and that a thread remembers: half */
#define WIRE_COPY_BYTES 32768 /* of user stack in a copy */
#define WIRE_NAME_BYTES 1024 /* of a path in struct wire_news */
#define WIRE_TABLE_SLABS 1024 /* of 1 MiB: the most that unwind tables may use */
#define WIRE_SLAB_CHUNKS 32 /* of UNW_CHUNK_WORDS each */

#define WIRE_KEY_WORDS 6

enum wire_file_kind {
	WIRE_KEY_FILE = 1, /* w: ino, generation, inode's address, mtime in ns, size, ctime */
	WIRE_KEY_JIT = 2, /* w: address >> 40 | execs << 32, tgid, start time (boot clock, ns) */
	WIRE_KEY_VDSO = 3,
	WIRE_KEY_NAME = 4, /* w: file id, dentry, its parent, hash of the name, mount */
};

/* What tells files (and names of files) apart while recording. */
struct wire_file_key {
	__wire_u32 kind; /* enum wire_file_kind */
	__wire_u32 dev; /* as the kernel has it: major << 20 | minor */
	__wire_u64 w[WIRE_KEY_WORDS];
};

enum wire_file_state {
	WIRE_FILE_NEW = 0, /* no table yet: stacks that need it are deferred */
	WIRE_FILE_LOADED = 1,
	WIRE_FILE_NO_CFI = 2, /* there is none to load: frame pointers */
};

/*
 * An entry of the file map in the kernel; its index is the file id in frames there (from 1).  The
 * BPF side writes the key once and `used`, the recorder the rest: state last when a table comes,
 * first when it goes, and then the generation of all tables (user_ctl.generation).
 */
struct wire_file {
	struct wire_file_key key;
	__wire_u32 state; /* enum wire_file_state */
	__wire_u32 table; /* address in words of the tables' space */
	__wire_u32 first_page, nr_pages;
	__wire_u32 rules; /* address in words */
	__wire_u32 used; /* user_ctl.epoch when a thread last asked for it */
	__wire_u32 announced; /* 0: struct wire_news has not been sent, the ring was full */
	__wire_u32 nr_names; /* that were interned */
};
static_assert(sizeof(struct wire_file) == 88, "wire_file has no hidden padding");

/* A file, or a name of one, that was not known; in the ring of news. */
struct wire_news {
	struct wire_file_key key; /* NAME: the file's */
	__wire_u32 file; /* id; of a name the file's */
	__wire_u32 is_name;
	__wire_u32 tgid, tid;
	__wire_u64 ts;
	__wire_u64 start, end, offset; /* of the mapping, bytes */
	__wire_u32 nr_parts; /* of the path */
	__wire_u32 len; /* bytes of parts */
	char parts[WIRE_NAME_BYTES]; /* each with NUL, the last one of the path first */
};

struct wire_regs { /* by DWARF number; those of a frame that is not exact: ip, fp, bx, sp */
	__wire_u64 r[16];
	__wire_u64 ip;
};

struct wire_vma {
	__wire_u64 start, end;
	__wire_u64 delta; /* address - offset in file */
	__wire_u32 file;
	__wire_u32 pad;
};

/*
 * What the recorder needs to unwind a stack itself, from where the kernel's side could not go on.
 * In a CPU's ring, before its event.
 */
struct wire_copy {
	__wire_u64 tag; /* of this recording */
	__wire_u32 tgid;
	__wire_u32 nr_frames; /* words that were found, markers included */
	__wire_u32 tid;
	__wire_u16 event; /* WIRE_COPY; see the assertion */
	__wire_u16 flags; /* enum unw_flags */
	struct wire_regs regs; /* as of the frame to go on with */
	__wire_u32 nr_vmas; /* code that the copied words may point to */
	__wire_u32 len; /* bytes of stack */
	__wire_u32 max_frames; /* of the whole stack */
	__wire_u16 interrupted; /* the first frame of all is exact */
	__wire_u16 partial; /* there was more of the stack */
	__wire_u64 sp; /* address of the first one: the stack pointer */
	struct wire_vma vmas[WIRE_VMAS];
	__wire_u64 frames[WIRE_USER_FRAMES + 9];
	__wire_u8 stack[WIRE_COPY_BYTES];
};

static_assert(__builtin_offsetof(struct wire_copy, event) ==
		      __builtin_offsetof(struct wire_event, event),
	      "told apart by event");
static_assert(sizeof(struct wire_copy) % 8 == 0, "wire_copy ends at a word");

/* Set by the recorder while recording. */
struct wire_user_ctl {
	__wire_u32 generation; /* of the tables: a thread's remembered mappings are asked anew */
	__wire_u32 epoch; /* seconds, for wire_file.used */
	/* by the kernel's side: */
	__wire_u32 nr_files, nr_names; /* ids given out */
	__wire_u32 files_full; /* times that a file found no room: its frames are unknown */
	__wire_u32 pad;
};

enum desc_flags {
	DESC_FILTER = 1u << 0, /* filters[filter] decides */
	DESC_USER = 1u << 1, /* a probe in a program: the registers are the program's */
	DESC_RETURN = 1u << 2, /* a function's return */
	DESC_FILLED = 1u << 3, /* fill[] makes the whole record out of the tracepoint's arguments */
};

/*
 * One field of a record made without the kernel's formatting, see src/record/kernel/nested_fields.c.  The task
 * is an argument of the tracepoint, or the current one.
 */
enum wire_fill_kind {
	WIRE_FILL_COMM, /* char[16] */
	WIRE_FILL_COMM_LOC, /* __data_loc char[] */
	WIRE_FILL_PID,
	WIRE_FILL_PRIO,
	WIRE_FILL_CPU, /* that the task is on */
	WIRE_FILL_PID_NR, /* of the argument, a struct pid */
	WIRE_FILL_BYTE, /* the argument itself */
	WIRE_FILL_STATE, /* prev_state of sched_switch(preempt, prev, next, prev_state) */
};

struct wire_fill {
	__wire_u8 kind; /* enum wire_fill_kind */
	__wire_u8 arg; /* from 1; 0: the current task */
	__wire_u16 off; /* of the field in the record, below WIRE_MAX_FILLED */
};

#define WIRE_MAX_FILLS 8
#define WIRE_FILL_ARGS 4
#define WIRE_MAX_FILLED 128 /* bytes of the fixed part of such a record; a power of two */

/* Tracepoints made of function probes, see src/record/select/synthetic.c. */
enum wire_synthetic {
	WIRE_SYNTHETIC_NONE = 0,
	WIRE_RMAP_WALK = 1, /* its start and its end */
};

enum wire_rmap_variant {
	WIRE_RMAP_ANON = 0, /* (folio, rwc, locked) */
	WIRE_RMAP_FILE = 1, /* the same */
	WIRE_RMAP_KSM = 2, /* (folio, rwc) */
	WIRE_RMAP_FILE_PAGES = 3, /* (folio, mapping, first, nr, rwc, locked); folio may be NULL */
};

/* The record of WIRE_RMAP_WALK, as the tracepoints proposed for mm/rmap.c have it. */
#define WIRE_RMAP_FIELDS(X)                         \
	X("unsigned long", folio_addr, 8, 8, 0)     \
	X("unsigned long", rwc_addr, 16, 8, 0)      \
	X("__data_loc char[]", page_type, 24, 4, 0) \
	X("bool", locked, 28, 1, 0)

struct wire_rmap {
	__wire_u64 common;
	__wire_u64 folio_addr, rwc_addr;
	__wire_u32 page_type;
	__wire_u8 locked;
	__wire_u8 pad[3];
	char text[8];
};
#define WIRE_FIELD_IS(type, name, offset, size, is_signed) \
	WIRE_IS_AT(struct wire_rmap, common, name, offset, size)
WIRE_RMAP_FIELDS(WIRE_FIELD_IS)
#undef WIRE_FIELD_IS

/*
 * The attach cookie of a function probe: event | variant << WIRE_PROBE_VARIANT | flags.  variant: which of
 * a synthetic event's functions.  SAVE: its arguments are kept for the return, TAKE: this is the return;
 * COUNT: the entry of a function in a program whose return is the event.
 */
#define WIRE_PROBE_EVENT 0xffffu
#define WIRE_PROBE_VARIANT 16
#define WIRE_PROBE_SAVE (1u << 31)
#define WIRE_PROBE_TAKE (1u << 30)
#define WIRE_PROBE_COUNT (1u << 29)
#define WIRE_PROBE_ARGS 6
#define WIRE_USDT_ARGS 12
#define WIRE_SAVED_SETS 1024
#define WIRE_SAVED_WAYS 4 /* calls under way, of one set */

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
	__wire_u8 synthetic; /* enum wire_synthetic */
	__wire_u8 nr_args; /* USDT: values behind ip */
	/* system calls */
	__wire_u16 nr_strings;
	__wire_u8 string_arg[WIRE_MAX_STRINGS]; /* bit 7: an argv */
	__wire_u16 string_loc[WIRE_MAX_STRINGS]; /* offset of its __data_loc word */
	/* events that are recorded nested */
	__wire_u16 nr_fills;
	__wire_u16 nr_fill_args; /* that fill[] names */
	__wire_u32 pad;
	struct wire_fill fill[WIRE_MAX_FILLS];
};
static_assert(sizeof(struct event_desc) == 128, "event_desc has no hidden padding");

/*
 * Events of one type lost on one CPU: how many so far, and when since the recorder last took the times
 * and left zeros.  The kernel's side writes the members in this order, the recorder takes them the other
 * way around: where begun and done agree, the times are those of what was done.
 */
struct wire_loss {
	__wire_u64 begun;
	__wire_u64 first, last; /* on the recording's clock; 0: none */
	__wire_u64 done;
};
#define WIRE_LOSS_ANY_FIRST 1ull /* interrupted too often: as early as can be */
#define WIRE_LOSS_ANY_LAST (~0ull) /* and as late */

/* Of one CPU's samples that a program was called for: the periods of the counter, in sum and the last. */
struct wire_periods {
	__wire_u64 sum, last;
};

struct event_counts {
	__wire_u64 c[STK_NR_COUNTERS]; /* by enum stk_counter */
	struct wire_loss loss;
	__wire_u64 agreed; /* how many stacks were walked when one last agreed with the kernel's */
	__wire_u64 agreed_ts; /* and when; 0: not yet */
};

struct task_slot {
	__wire_u32 tid, tgid;
	__wire_u64 comm[2];
};

/* Set while recording. */
struct wire_ctl {
	__wire_u32 armed;
	__wire_u32
		held; /* thread of our fork until its execve(2) becomes the command; 0: no such thread */
	__wire_u32 pad[14];
};

#endif /* WIRE_H */
