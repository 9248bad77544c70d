/* SPDX-License-Identifier: GPL-2.0-only */
/* The recordings that make_recording writes, each in the file named after what it is about. */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Two CPUs, three event types, a module, an unknown address, a truncated stack, an event without
 * fields, accounting that adds up.
 */
void make_small(const char *path);
/*
 * The same without an end, in the version that has counters but no losses; with the time of day,
 * which passes midnight.
 */
void make_abrupt(const char *path);
/* Types and metadata, no event. */
void make_empty(const char *path);
/* Metadata in parts, and a list of what is missing; no event. */
void make_long(const char *path);
/* EVENTS sched_switch events with STACKS stacks of 8 to 24 frames. */
void make_large(const char *path, uint64_t nr_events, uint64_t nr_stacks);

/* Task names, fields, symbols and metadata with control bytes and markup. */
void make_hostile(const char *path);
/* The same in paths and names of user functions. */
void make_user_hostile(const char *path);

/* Imported stacks: ids of their own, references, one stack under two ids. */
void make_aliases(const char *path);
/* All kinds of losses: of one or any type, on one or any CPU, with or without a count. */
void make_losses(const char *path);
/* One event for each pair of flags and preempt count. */
void make_flags(const char *path);
/*
 * Kernel strings by address, known and unknown, a time in jiffies, an invalid print fmt; a clock
 * that was set.
 */
void make_strings(const char *path);

/*
 * User stacks with each stack end in four files, [vdso], [jit] and unknown memory; symbols for all
 * but one of the files.
 */
void make_user(const char *path);
/* User stacks of which some are guesses where others are not. */
void make_guesses(const char *path);
/*
 * Two stacks in generated code that is replaced: the events of one type meet the new code first in
 * one stack, those of the other type in the other.
 */
void make_replaced(const char *path);

/* Allocations and their frees, from code in the kernel, in a module and without a symbol. */
void make_addresses(const char *path);
/* Timer samples in functions of the same name: of the kernel, a module and two files. */
void make_annotate(const char *path);
/*
 * 100 timer samples of known calls: recursion, an interrupt of user code and of the idle loop, a
 * page fault, guesses.  Allocations, delays and signed results to weigh, some without fields.
 */
void make_profile(const char *path);

/* Event types that follow events: of a function, of a system call and of a late event. */
void make_late_types(const char *path);
/* System calls and interrupts of known duration, some in a gap, some without a start or an end. */
void make_latency(const char *path);
/*
 * An exit, a signal to threads, a child reaped by the kernel, one never freed, a zombie whose child
 * outlives it, a name with control bytes.
 */
void make_lifecycle(const char *path);
/* Zombies whose parent reaps them late, or ends, and whose reaping or free is not recorded. */
void make_zombies(const char *path);
/*
 * One task that goes off the CPU: twice preempted by interrupts in the kernel and twice in user
 * code, blocked in a mutex and in a page fault, and in work on the way back to user code; then two
 * futex waits.  Interrupts wake it.
 */
void make_stalls(const char *path);
/* Many tasks with one event each. */
void make_crowd(const char *path);
/* record -p: a selected task waits for a futex; tasks whose user stack is not recorded wake it. */
void make_wakers(const char *path);
/* record -p -G -u -C with presets that need -a: types, what was selected, and no event. */
void make_selected(const char *path);

/* before, after, rebuilt, quick, slow: two and more runs to compare; false: not one of these. */
bool make_diff(const char *kind, const char *path);

/*
 * The same program on two hosts with the same builds of kernel and files.  On the other one,
 * everything that has a number has another number, and the kernel, its module and generated code
 * are at other addresses.
 */
void make_fleet(const char *path);
void make_fleet_other(const char *path);

#endif /* RECORDINGS_H */
