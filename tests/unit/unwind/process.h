/* SPDX-License-Identifier: GPL-2.0-only */
/* A traced process and its stacks, unwound by the tables of the files that it maps. */
#ifndef TESTS_UNWIND_PROCESS_H
#define TESTS_UNWIND_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "unwind/unwind.h"

#define PROCESS_MAX_MAPPINGS 64

struct mapping {
	uint64_t start, end, offset;
	char *path;
	struct unwind_table *table; /* NULL: the file has no table */
};

struct process {
	pid_t pid;
	struct mapping mappings[PROCESS_MAX_MAPPINGS]; /* executable ones */
	unsigned int nr_mappings;
};

/* Runs a program, stopped before its first instruction; skips the test if ptrace(2) is refused. */
void process__start(struct process *p, char *const *argv);
void process__kill(struct process *p);
/* Reads /proc/PID/maps again. */
void process__read_mappings(struct process *p);
/* Forgets them. */
void process__drop_mappings(struct process *p);
const struct mapping *process__mapping(const struct process *p, uint64_t addr);
/* Returns the number of bytes that could be read. */
size_t process__read(const struct process *p, uint64_t addr, void *buf, size_t len);

enum process_end {
	PROCESS_COMPLETE,
	PROCESS_NOTHING_KNOWN, /* no rule for the last frame's code */
	PROCESS_DEPTH,
	PROCESS_BROKEN,
};

/* The frames' addresses, innermost first; without a rule it stops, it does not guess. */
enum process_end process__unwind(const struct process *p, const struct user_regs_struct *regs,
				 uint64_t *ret_ips, unsigned int max, unsigned int *ret_nr);

#endif /* TESTS_UNWIND_PROCESS_H */
