/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Map values and ring records that the BPF programs and the recorder share; fixed widths only.
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
typedef int32_t __wire_s32;
typedef uint64_t __wire_u64;
typedef int64_t __wire_s64;
#else
typedef __u8 __wire_u8;
typedef __u16 __wire_u16;
typedef __u32 __wire_u32;
typedef __s32 __wire_s32;
typedef __u64 __wire_u64;
typedef __s64 __wire_s64;
#define static_assert _Static_assert
#endif

#define WIRE_MAX_FRAMES 127 /* of one walk: the kernel's own default limit */
#define WIRE_MAX_CUTS 4 /* interrupted contexts that one stack is cut at; a power of two */
#define WIRE_MAX_RECORD 8192 /* PERF_MAX_TRACE_SIZE: no tracepoint record is longer */
#define WIRE_MAX_DYN 16 /* dynamic fields of one event */
#define WIRE_MAX_CPUS 1024
#define WIRE_MAX_EVENTS 4096
#define WIRE_MAX_CGROUPS 64 /* selected */
#define WIRE_MAX_UIDS 64
#define WIRE_MAX_SYSCALLS 1024
#define WIRE_MAX_STRINGS 6 /* string arguments of one system call */
#define WIRE_STRING_LEN 256 /* bytes kept of a string argument, NUL included */
#define WIRE_ARGV_LEN 512 /* bytes kept of an argv */
#define WIRE_ARGV_MAX 16 /* strings kept of an argv */
#define WIRE_TASK_SLOTS 128 /* tasks that a CPU remembers having announced in its ring */
#define WIRE_PID_WORDS 65536 /* PID_MAX_LIMIT / 64 */
#define WIRE_SYMBOL_BATCH 64 /* addresses resolved by one run, see symbols.bpf.c */
#define WIRE_SYMBOL_LEN 256
#define WIRE_ANCHORS 32
#define WIRE_COUNT_EVENT 0x57ac0de /* in the counter program: replaced by the index of the event */
#define WIRE_NATIVE_ROLE 0x57ac0d1 /* in the front of a native event: by enum wire_role */
#define WIRE_NATIVE_IRQS 0x57ac012 /* the same, by enum native_irqs */
#define WIRE_ENTRY_HOLES 8 /* parts of the entry text that are not interrupt entries */

/* Programs that others go on with by a tail call. */
enum wire_tail {
	WIRE_TAIL_NESTED, /* see src/bpf/nested.bpf.h */
	WIRE_TAIL_FILTER, /* the others: see src/bpf/native.bpf.h */
	WIRE_TAIL_END,
	WIRE_TAIL_SLOW,
	WIRE_TAIL_USER,
	WIRE_TAIL_CHECK, /* see src/bpf/native_check.bpf.h */
	WIRE_NR_TAILS,
};

/* An event that may interrupt its own front has two of them. */
enum wire_role {
	WIRE_ROLE_ONLY,
	WIRE_ROLE_FIRST,
	WIRE_ROLE_SECOND, /* attached behind the first: records what the kernel skips that for */
};

enum rec_clock { REC_CLOCK_MONO, REC_CLOCK_BOOT, REC_CLOCK_TAI };

/* Values of a ring record's stack fields that are not stack map ids. */
#define WIRE_STACK_NONE 0u /* not requested, or empty */
#define WIRE_STACK_FULL 0xffffffffu /* the words follow the record's fields */
#define WIRE_STACK_FAILED 0xfffffffeu /* the walk failed */
#define WIRE_STACK_DEFERRED \
	0xfffffffdu /* user: a wire_copy precedes the event; its tag is the last word */
#define WIRE_STACK_NOT_RECORDED 0xfffffffcu /* user: the task is not selected */

/*
 * One event in a CPU's ring.  The last eight bytes are the record's own struct trace_entry.  The
 * rest of the record follows, from offset 8 on, padded to 8 bytes if stack words come after it.
 */
struct wire_event {
	__wire_u32 len; /* of all of it, in bytes; see src/bpf/ring.bpf.h */
	__wire_u16 event; /* WIRE_TASK: a struct wire_task instead */
	__wire_u8 marks; /* STK_MARK_... */
	__wire_u8 nr_words; /* kernel stack words after the fields (WIRE_STACK_FULL) */
	__wire_u64 ts;
	__wire_u32 kstack;
	__wire_u32 ustack;
	/* struct trace_entry */
	__wire_u16 common_type;
	__wire_u8 common_flags;
	__wire_u8 common_preempt_count;
	__wire_u32 common_pid;
};
static_assert(sizeof(struct wire_event) == 32, "wire_event is 32 bytes");
/* Checks that a member is at the offset from `head`, and has the size, that its format states. */
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
 * The words of the kernel stack are followed by those of the user stack and then their number
 * (WIRE_STACK_FULL), or by the tag of a copy (WIRE_STACK_DEFERRED).
 */

#define WIRE_TASK 0xffffu
#define WIRE_COPY 0xfffeu

/* Names a task in this CPU's ring, before the first event of the task. */
struct wire_task {
	__wire_u32 len;
	__wire_u16 event; /* WIRE_TASK */
	__wire_u16 pad;
	__wire_u32 tid, tgid;
	__wire_u64 comm[2];
};
static_assert(sizeof(struct wire_task) == 32, "wire_task is 32 bytes");

/* ---- user stacks ----------------------------------------------------------------------------- */

#define WIRE_USER_FRAMES 127
#define WIRE_MAX_FILES (1u << 16) /* in the kernel's file map */
#define WIRE_MAX_NAMES (1u << 15) /* of files; their entries follow */
#define WIRE_FILE_ENTRIES (WIRE_MAX_FILES + WIRE_MAX_NAMES)
#define WIRE_FILE_SLOTS (1u << 18)
#define WIRE_FILE_NAMES 64 /* of one file */
#define WIRE_FILE_PROBES 32
#define WIRE_VMAS 32 /* mappings in a copy; a thread remembers half as many */
#define WIRE_COPY_BYTES 32768 /* of user stack in a copy */
#define WIRE_NAME_BYTES 1024 /* of a path in struct wire_file_event */
#define WIRE_TABLE_SLABS 1024 /* of 1 MiB: the maximum for all unwind tables */
#define WIRE_SLAB_CHUNKS 32 /* of UNW_CHUNK_WORDS each */
#define WIRE_JIT_BITS 26 /* a window: so many address bits of generated code share a table */

#define WIRE_KEY_WORDS 6

enum wire_file_kind {
	WIRE_KEY_FILE = 1, /* w: ino, generation, inode's address, mtime in ns, size, ctime */
	/* w: address >> WIRE_JIT_BITS | execs << 32, tgid, start time (boot clock, ns) */
	WIRE_KEY_JIT = 2,
	WIRE_KEY_VDSO = 3,
	WIRE_KEY_NAME = 4, /* w: file id, dentry, its parent, hash of the name, mount */
};

/* Identifies files, and names of files, while recording. */
struct wire_file_key {
	__wire_u32 kind; /* enum wire_file_kind */
	__wire_u32 dev; /* as the kernel has it: major << 20 | minor */
	__wire_u64 w[WIRE_KEY_WORDS];
};

enum wire_file_state {
	WIRE_FILE_NEW = 0, /* no table yet: stacks that need it are deferred */
	WIRE_FILE_LOADED = 1,
	WIRE_FILE_NO_CFI = 2, /* there is no table to load: frame pointers are used */
};

/*
 * An entry of the file map; its index, from 1, is the file id in frames in the kernel.  The BPF
 * programs write `key` once, and `used`; the recorder writes the rest.  It writes `state` last when
 * it publishes a table and first when it removes one, and then changes the generation of all tables
 * (user_ctl.generation).
 */
struct wire_file {
	struct wire_file_key key;
	__wire_u32 state; /* enum wire_file_state */
	__wire_u32 table; /* address in words of the tables' space */
	__wire_u32 first_page, nr_pages;
	__wire_u32 rules; /* address in words */
	__wire_u32 used; /* user_ctl.epoch when a thread last looked it up */
	__wire_u32 announced; /* 0: no file event has been sent, or the ring was full */
	__wire_u32 nr_names; /* names interned */
};
static_assert(sizeof(struct wire_file) == 88, "wire_file has no hidden padding");

/* A file event: a new file, or a new name of a known one. */
struct wire_file_event {
	struct wire_file_key key; /* of the file, also in the event of a name */
	__wire_u32 file; /* id of the file, also in the event of a name */
	__wire_u32 is_name;
	__wire_u32 tgid, tid;
	__wire_u64 ts;
	__wire_u64 start, end, offset; /* of the mapping, bytes */
	__wire_u32 nr_parts; /* of the path */
	__wire_u32 len; /* bytes of parts */
	char parts[WIRE_NAME_BYTES]; /* path components with NUL, the last component first */
};

struct wire_regs { /* by DWARF number; of a frame that is not exact only ip, fp, bx, sp are valid */
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
 * A deferred stack: the state of the walk where the BPF program stopped, for the recorder to
 * continue it.  It precedes its event in the CPU's ring.
 */
struct wire_copy {
	__wire_u32 len;
	__wire_u16 event; /* WIRE_COPY */
	__wire_u16 flags; /* enum unw_flags */
	__wire_u64 tag; /* unique on this CPU in this recording */
	__wire_u32 tid, tgid;
	struct wire_regs regs; /* of the frame to continue with */
	__wire_u32 nr_frames; /* words found so far, markers included */
	__wire_u32 nr_vmas; /* mappings of code that the copied words may point to */
	__wire_u32 max_frames; /* of the whole stack */
	__wire_u32 stack_len; /* bytes of stack */
	__wire_u32 interrupted; /* the innermost frame is exact */
	__wire_u32 partial; /* the stack is longer than the copy */
	__wire_u64 sp; /* the stack pointer: address of the first byte copied */
	__wire_u64 ts; /* CLOCK_MONOTONIC: generated code may be replaced until it is unwound */
	struct wire_vma vmas[WIRE_VMAS];
	__wire_u64 frames[WIRE_USER_FRAMES + 9];
	__wire_u8 stack[WIRE_COPY_BYTES];
};

static_assert(sizeof(struct wire_copy) % 8 == 0, "wire_copy ends at a word");

/* ---- rings of events ------------------------------------------------------------------------- */

/* All records of a ring begin with such a word, which is written last. */
struct wire_head {
	__wire_u32 len; /* of the record in bytes; 0: it is not complete */
	__wire_u16 event;
	__wire_u16 other;
};
#define WIRE_HAS_HEAD(record)                                                      \
	static_assert(__builtin_offsetof(struct record, len) == 0 &&               \
			      __builtin_offsetof(struct record, event) ==          \
				      __builtin_offsetof(struct wire_head, event), \
		      #record " begins with a head");
WIRE_HAS_HEAD(wire_event)
WIRE_HAS_HEAD(wire_task)
WIRE_HAS_HEAD(wire_copy)
#undef WIRE_HAS_HEAD

/*
 * Positions in a CPU's ring: bytes since its beginning, which only grow.  The programs of the CPU
 * write one and the recorder the other, so each has a cache line; both write `wakeup`, but rarely.
 */
struct wire_ring_pos {
	__wire_u64 head; /* reserved so far */
	__wire_u64 pad[7];
	__wire_u64 tail; /* read and cleared so far */
	__wire_u32 wakeup; /* enum wire_wakeup */
	__wire_u32 pad2;
	__wire_u64 pad3[6];
};

/* The programs wake the recorder when a quarter of a ring is in use. */
#define WIRE_RING_FULL_PART 4
enum wire_wakeup {
	WIRE_WAKEUP_NONE = 0, /* set by the recorder when less than that is in use again */
	WIRE_WAKEUP_BEGUN = 1, /* a program of this CPU is about to wake it */
	WIRE_WAKEUP_SENT = 2,
};

/*
 * A longer ring consists of parts of this size, because the verifier refuses large offsets
 * (BPF_MAX_VAR_OFF, 512 MiB).
 */
#define WIRE_RING_PART (2u << 20)
/* Bytes behind each part, so that a record that begins in a part is in one piece. */
#define WIRE_RING_SLACK (36u << 10)
static_assert(sizeof(struct wire_copy) <= WIRE_RING_SLACK, "the longest record is in one piece");

/* How rings are divided. */
struct wire_rings {
	__wire_u64 bytes; /* of each ring, a power of two */
	__wire_u32 nr_parts; /* of each ring */
	__wire_u32 mask; /* of a position: the offset in its part; records begin at words */
};

/* Set by the recorder while recording. */
struct wire_user_ctl {
	__wire_u32 generation; /* of all tables; threads check their mappings after a change */
	__wire_u32 epoch; /* seconds, for wire_file.used */
	/* set by the BPF programs: */
	__wire_u32 nr_files, nr_names; /* ids given out */
};

/*
 * Where the kernel has all of physical memory mapped (page_offset_base), and how deep page tables
 * are, see user_page.bpf.h.
 */
struct wire_pages {
	__wire_u64 base; /* 0: unknown */
	__wire_u64 end; /* of physical memory that is RAM */
	__wire_u32 levels; /* 4 or 5 */
	__wire_u32 pad;
};

#define WIRE_PAGE_WORDS 8

/* The search for it, one place at a time. */
struct wire_page_search {
	__wire_u64 addr; /* of the words in the recorder's memory, within a page */
	__wire_u64 word[WIRE_PAGE_WORDS];
	__wire_u64 end; /* as in struct wire_pages */
	__wire_u64 below; /* the place to try, in GiB below that of the task's page tables */
};

enum desc_flags {
	DESC_FILTER = 1u << 0, /* the event has a filter: filters[filter] */
	DESC_USER = 1u << 1, /* a probe in a program: the registers are those of user space */
	DESC_RETURN = 1u << 2, /* the return of a function */
	/* its front counts it, and records it only if the kernel drops perf's program */
	DESC_BESIDE = 1u << 3,
	DESC_NATIVE = 1u << 4, /* the event has a front */
	DESC_CALL = 1u << 5, /* it is a system call's, or all system calls' */
	/* the event takes the old way on the CPUs whose counters say so, see old_way.bpf.h */
	DESC_OLD_WAY = 1u << 6,
	DESC_ASK = DESC_FILTER | DESC_BESIDE | DESC_OLD_WAY, /* struct event_counts has a copy */
};

/* Emulated events, see src/record/select/emulated.c. */
enum wire_emulated {
	WIRE_EMULATED_NONE = 0,
	WIRE_RMAP_WALK = 1, /* start and end of a walk */
};

enum wire_rmap_variant {
	WIRE_RMAP_ANON = 0, /* (folio, rwc, locked) */
	WIRE_RMAP_FILE = 1, /* (folio, rwc, locked) */
	WIRE_RMAP_KSM = 2, /* (folio, rwc) */
	WIRE_RMAP_FILE_PAGES = 3, /* (folio, mapping, first, nr, rwc, locked); folio may be NULL */
};

/* The record of WIRE_RMAP_WALK, as in the tracepoints proposed for mm/rmap.c. */
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
 * The attach cookie of a function probe: event | variant << WIRE_PROBE_VARIANT | flags.  The
 * variant says which function of an emulated event it is.  Flags: SAVE keeps the arguments for the
 * return, TAKE is set on that return, and COUNT is set on the entry of a function in a program
 * whose return is the event.
 */
#define WIRE_PROBE_EVENT 0xffffu
#define WIRE_PROBE_VARIANT 16
#define WIRE_PROBE_SAVE (1u << 31)
#define WIRE_PROBE_TAKE (1u << 30)
#define WIRE_PROBE_COUNT (1u << 29)
#define WIRE_PROBE_ARGS 6
#define WIRE_USDT_ARGS 12
#define WIRE_SAVED_SETS 1024
#define WIRE_SAVED_WAYS 4 /* pending calls of one set */

/* The description of an event type for the recorder program. */
struct event_desc {
	__wire_u64 tracer_start; /* text of this tracepoint's __traceiter_ function */
	__wire_u32 tracer_len;
	__wire_u32 flags; /* enum desc_flags */
	__wire_u32 filter;
	__wire_u16 common_type;
	__wire_u16 fixed_size; /* bytes before the dynamic part */
	__wire_u16 nr_dyn; /* dynamic fields; bit 15 of dyn_off: __rel_loc */
	__wire_u16 dyn_off[WIRE_MAX_DYN];
	__wire_u16 nr_pids; /* fields that name a task other than the running one */
	__wire_u16 pid_off[2];
	__wire_u8 pid_arg[2]; /* the tracepoint's arguments for these fields, from 1 */
	__wire_u8 emulated; /* enum wire_emulated */
	__wire_u8 nr_args; /* USDT: values that follow ip */
	/* system calls */
	__wire_u16 nr_strings;
	__wire_u8 string_arg[WIRE_MAX_STRINGS]; /* bit 7: an argv */
	__wire_u16 string_loc[WIRE_MAX_STRINGS]; /* offset of its __data_loc word */
};
static_assert(sizeof(struct event_desc) == 88, "event_desc has no hidden padding");

/*
 * Events of one type lost on one CPU: how many so far, and the times of the first and the last
 * since the recorder took the times and reset them to 0.  The BPF programs write the members in
 * this order and the recorder reads them in the opposite order, so if begun and done agree, the
 * times are those of the losses counted in done.
 */
struct wire_loss {
	__wire_u64 begun;
	__wire_u64 first, last; /* on the recording's clock; 0: none */
	__wire_u64 done;
};
#define WIRE_LOSS_ANY_FIRST 1ull /* interrupted too often: the earliest possible time */
#define WIRE_LOSS_ANY_LAST (~0ull) /* and the latest possible time */

/* Sample periods of one CPU for which the program was called: their sum, and the last one. */
struct wire_periods {
	__wire_u64 sum, last;
};

/* The first line is what a native event with a known stack uses. */
struct event_counts {
	__wire_u64 remembered; /* STK_C_WALK_REMEMBERED, which c[] does not count */
	__wire_u64 due; /* remembered stacks from which on the next one is to be verified */
	__wire_u32 first; /* see kwalk_begin_raw_noting(); 0: not known */
	__wire_u16 common_type; /* of the event's description */
	__wire_u8 ask; /* 0: the description has no flags that its front must know */
	__wire_u8 old_way; /* 1: this CPU has taken the old way of a native event */
	__wire_u64 c[STK_NR_COUNTERS]; /* by enum stk_counter */
	struct wire_loss loss;
	__wire_u64 agreed; /* stacks walked when one last agreed with the kernel's */
	__wire_u64 agreed_ts; /* time of that; 0: not yet */
	/*
	 * Ids of a walked stack that differed from the kernel's, and of the kernel's; both 0: none
	 * did; WIRE_STACK_FULL: the stack map was full.
	 */
	__wire_u32 differed_walked, differed_kernel;
} __attribute__((aligned(64))); /* CPUs share no cache line */
static_assert(__builtin_offsetof(struct event_counts, c[STK_C_FILTERED_EXPR]) == 56,
	      "what is counted for each event is in the first line");

/* The two fronts of a native event on one CPU, see src/bpf/native.bpf.h. */
struct native_hits {
	/* by level of interrupts: context of what the first has seen last; three unused ones */
	__wire_u64 seen[4 + 3];
	__wire_u64 taken; /* hits that are the second's, as the kernel skipped the first */
};

struct task_slot {
	__wire_u32 tid, tgid;
	__wire_u64 comm[2];
};

#define WIRE_SLOTS 4 /* events of a CPU that may be in progress: task, softirq, hardirq, NMI */

/*
 * What the programs of a CPU use at each event.  It begins at a page, of which the rest, behind it,
 * is where the first slot begins: the fewer pages, the fewer misses of the TLB.
 */
struct wire_cpu {
	struct task_slot tasks[WIRE_TASK_SLOTS]; /* named last, see announce_task() */
	struct wire_ring_pos ring;
	__wire_u32 busy[WIRE_SLOTS];
	__wire_u64 ctx[WIRE_SLOTS]; /* see src/bpf/native.bpf.h; 0: none */
	__wire_u64 preempt_count_at; /* address of the kernel's; 0: not known yet */
	__wire_u64 pad;
};
static_assert(sizeof(struct wire_cpu) <= 4096 - 512, "there is room in the page");
static_assert(__builtin_offsetof(struct wire_cpu, ring) % 64 == 0, "the ring has its own lines");

/* What limits a recording. */
enum wire_selection {
	WIRE_SELECT_IDS = 1u << 0, /* tasks by their ids, and their children */
	WIRE_SELECT_CGROUPS = 1u << 1,
	WIRE_SELECT_UIDS = 1u << 2,
	WIRE_SELECT_CPUS = 1u << 3,
};
/* Those that ask a task who it belongs to, and those that select tasks in any way. */
#define WIRE_SELECT_OWNERS (WIRE_SELECT_CGROUPS | WIRE_SELECT_UIDS)
#define WIRE_SELECT_TASKS (WIRE_SELECT_IDS | WIRE_SELECT_OWNERS)

/* A cgroup whose tasks are recorded, those of its children included. */
struct wire_cgroup {
	__wire_u64 id; /* the inode number of its directory */
	__wire_s32 level; /* in the hierarchy; 0: its root */
	__wire_u32 pad;
};

/* What programs read at each event, and what is hardly ever written: a line of its own. */
struct wire_ctl {
	__wire_u32 armed;
	/* thread of the forked child until its execve(2) makes it the command; 0: no such thread */
	__wire_u32 held;
	/* preempt_count() and migration_disabled as seen by a program in plain task context */
	__wire_u32 preempt_base, migrate_base;
	__wire_u32 raw_preempt_base, raw_migrate_base; /* the same for native.bpf.h */
	/* masks of thread_info.flags: reschedule, reschedule lazily; 0: unknown, or none */
	__wire_u64 tif_resched, tif_lazy;
	/* time at which a walked stack differed from the kernel's; 0: never */
	__wire_u64 walk_ended;
	__wire_u64 counts_unknown; /* preempt counts, of some CPU: they are 0 */
	__wire_u64 pad;
} __attribute__((aligned(64)));
static_assert(sizeof(struct wire_ctl) == 64, "wire_ctl is one line");

#endif /* WIRE_H */
