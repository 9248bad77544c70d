/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes recordings of process lifecycles and reads back what the analysis reports. */
#ifndef LIFECYCLE_RECORDING_H
#define LIFECYCLE_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "analyze/lifecycle/lifecycle.h"

enum ev {
	FORK,
	NEWTASK,
	EXEC,
	EXIT,
	FREE,
	SWITCH,
	RENAME,
	SENT,
	SIGNAL,
	EXIT_GROUP,
	EXIT_CALL,
	CLONED,
	WAIT4,
	WAIT4_RET,
	WAITID,
	WAITID_RET,
	PROCESS_WAIT,
	NR_EV
};

#define Z 0x20 /* sched_switch's prev_state */
#define X 0x10

struct recording;

/* without: a mask of 1 << enum ev, event types that the recording lacks. */
struct recording *begin(uint32_t without);
#define NO_GROUP_DEAD (1u << 31) /* sched_process_exit has no such field */
#define OLD_NAME (1u << 30) /* task_rename has `oldcomm`, in the first two numbers, and no pid */
void meta(struct recording *r, const char *key, const char *value);
/* An event at ts (us) in thread tid of pid: its number fields, then its string. */
void ev(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid, enum ev kind, int64_t a,
	int64_t b, int64_t c, const char *text);
void no_fields(struct recording *r, uint64_t ts, uint32_t pid, enum ev kind);
/* Events of that kind were lost on an unknown CPU between first and last (us). */
void lose(struct recording *r, enum ev kind, uint64_t first, uint64_t last);
void count(struct recording *r, enum ev kind, unsigned int counter, uint64_t n);

/* Common sequences of events, from ts (us) on. */
void born(struct recording *r, uint64_t ts, uint32_t parent, uint32_t pid, uint32_t ns_pid);
void thread(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid);
void ends(struct recording *r, uint64_t ts, uint32_t pid, int code, int state); /* ts, +1, +2 */
void waits(struct recording *r, uint64_t ts, uint32_t pid, uint32_t number); /* wait4(): ts, +1 */
void wait_id(struct recording *r, uint64_t ts, uint32_t pid, int which, uint32_t number,
	     int options);
void freed(struct recording *r, uint64_t ts, uint32_t tid, const char *comm);

/* Ends the recording, analyzes it and frees r. */
void read_back(struct recording *r);
/* The nth reported process, or the thread, with that number; the test fails if it is missing. */
const struct life *process(uint32_t pid, unsigned int nth);
const struct life *reported_thread(uint32_t tid);
unsigned int nr_reported(void);
extern struct lifecycle_counts counts;
extern struct life_gap gaps[64];
extern unsigned int nr_gaps;

void assert_at(struct life_time t, uint64_t at);
void assert_between(struct life_time t, uint64_t from, uint64_t to);
void assert_us(struct life_span s, uint64_t min, uint64_t max);
void assert_exit(const struct life *l, int code);
void assert_signal(const struct life *l, int sig);

#endif /* LIFECYCLE_RECORDING_H */
