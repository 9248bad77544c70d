// SPDX-License-Identifier: GPL-2.0-only
/*
 * steps PROGRAM...: single-steps each program from its first instruction, records its calls and
 * returns, and unwinds it at every step: the frames must be those recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "process.h"
#include "arch_regs.h"

#define MAX_CALLS 1024
#define MAX_FRAMES 64 /* checked */
#define MAX_SEEN (1 << 18)
#define MIN_STEPS 1000 /* checked */
#define MAX_INCOMPLETE 50 /* at most one in this many: crtbegin.o has no tables */
#define WRONG_SHOWN 10
#define RED_ZONE 128
#define SIGNAL_IP (8 + UNW_SIGNAL_OFF + 8 * UNW_SIGNAL_IP) /* from the handler's return address */

struct call { /* a call that has not returned */
	uint64_t ip; /* its return address */
	uint64_t at; /* where that is on the stack */
};

struct run {
	struct process p;
	struct user_regs_struct regs;
	struct call calls[MAX_CALLS];
	unsigned int nr_calls;
	uint64_t nr_steps, nr_checked, nr_wrong, nr_incomplete;
	uint64_t seen[MAX_SEEN]; /* hashes of address and stack: each is checked once */
};

static char **programs;
static int nr_programs;

/* ---- recording calls and returns ------------------------------------------------------------- */

static void add_call(struct run *r, uint64_t ip, uint64_t at)
{
	assert_true(r->nr_calls < MAX_CALLS);
	r->calls[r->nr_calls++] = (struct call){ ip, at };
}

static bool is_call(const struct run *r, uint64_t ip)
{
	uint8_t code[16] = { 0 };
	size_t i = 0;

	process__read(&r->p, ip, code, sizeof(code) - 2);
	while (code[i] == 0xf2 || code[i] == 0x66 || code[i] == 0x67 || code[i] == 0x3e ||
	       (code[i] & 0xf0) == 0x40)
		i++;
	return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

/* Records the effect of the last instruction, or of a signal instead of it. */
static void track_calls(struct run *r, const struct user_regs_struct *was, bool signal)
{
	const struct user_regs_struct *now = &r->regs;
	uint64_t ip = 0;

	while (r->nr_calls && r->calls[r->nr_calls - 1].at < now->rsp)
		r->nr_calls--;
	if (!signal && now->rsp != was->rsp - 8)
		return;
	if (process__read(&r->p, now->rsp, &ip, sizeof(ip)) != sizeof(ip))
		return;
	if (signal && now->rsp < was->rsp - RED_ZONE) {
		add_call(r, was->rip, now->rsp + SIGNAL_IP);
		add_call(r, ip, now->rsp);
	} else if (now->rsp == was->rsp - 8 && is_call(r, was->rip)) {
		add_call(r, ip, now->rsp);
	}
}

/* ---- one step -------------------------------------------------------------------------------- */

static void show(const struct run *r, uint64_t ip)
{
	const struct mapping *m = process__mapping(&r->p, ip);

	print_message(" %s+0x%llx", m ? m->path : "?",
		      (unsigned long long)(m ? ip - m->start + m->offset : ip));
}

static void wrong(struct run *r, unsigned int depth, uint64_t found, uint64_t expected)
{
	if (r->nr_wrong++ >= WRONG_SHOWN)
		return;
	print_message("  at");
	show(r, r->regs.rip);
	print_message(", frame %u: found", depth);
	show(r, found);
	print_message(", not");
	show(r, expected);
	print_message("\n");
}

static bool is_new(struct run *r)
{
	uint64_t key = (r->regs.rip << 20) ^ (r->regs.rip >> 40) ^ r->regs.rsp;
	uint64_t *seen = &r->seen[key * 0x9e3779b97f4a7c15 >> 46];

	if (*seen == key)
		return false;
	*seen = key;
	return true;
}

static void check_stack(struct run *r)
{
	uint64_t ips[MAX_FRAMES], expected;
	enum process_end end;
	unsigned int nr, i;

	end = process__unwind(&r->p, &r->regs, ips, MAX_FRAMES, &nr);
	for (i = 1; i < nr; i++) {
		expected = i <= r->nr_calls ? r->calls[r->nr_calls - i].ip : 0;
		if (ips[i] != expected) {
			wrong(r, i, ips[i], expected);
			return;
		}
	}
	r->nr_checked++;
	if (end == PROCESS_COMPLETE && nr - 1 != r->nr_calls) {
		wrong(r, nr, 0, r->calls[r->nr_calls - nr].ip);
	} else if (end != PROCESS_COMPLETE && end != PROCESS_DEPTH) {
		r->nr_incomplete++;
		if (getenv("VERBOSE")) {
			print_message("  no rule for");
			show(r, ips[nr - 1]);
			print_message("\n");
		}
	}
}

/* ---- a program ------------------------------------------------------------------------------- */

static void run_program(char *name, struct run *r)
{
	char *argv[] = { name, NULL };
	struct user_regs_struct was;
	int status, sig = 0;

	process__start(&r->p, argv);
	assert_int_equal(ptrace(PTRACE_GETREGS, r->p.pid, NULL, &r->regs), 0);
	for (;;) {
		if (!process__mapping(&r->p, r->regs.rip))
			process__read_mappings(&r->p);
		if (is_new(r))
			check_stack(r);
		was = r->regs;
		r->nr_steps++;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, r->p.pid, NULL, sig), 0);
		assert_int_equal(waitpid(r->p.pid, &status, 0), r->p.pid);
		if (!WIFSTOPPED(status))
			break;
		assert_int_equal(ptrace(PTRACE_GETREGS, r->p.pid, NULL, &r->regs), 0);
		track_calls(r, &was, sig);
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	process__drop_mappings(&r->p);
}

static void frames_match_calls(void **state)
{
	for (int i = 0; i < nr_programs; i++) {
		struct run *r = calloc(1, sizeof(*r));

		assert_non_null(r);
		run_program(programs[i], r);
		print_message("%s: %llu steps, %llu stacks checked, %llu wrong, %llu incomplete\n",
			      programs[i], (unsigned long long)r->nr_steps,
			      (unsigned long long)r->nr_checked, (unsigned long long)r->nr_wrong,
			      (unsigned long long)r->nr_incomplete);
		assert_int_equal(r->nr_wrong, 0);
		assert_true(r->nr_checked >= MIN_STEPS);
		assert_true(r->nr_incomplete <= r->nr_checked / MAX_INCOMPLETE);
		free(r);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(frames_match_calls) };

	programs = argv + 1;
	nr_programs = argc - 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
