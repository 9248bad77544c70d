// SPDX-License-Identifier: GPL-2.0-only
/*
 * chains CHAINS PROGRAM [ARG...]: waits until all threads of the program sleep, then unwinds them.
 * Each chain "CALLEE<CALLER<...<OUTERMOST" of the list, separated by blanks, must match one of
 * their stacks, which must be complete.  A star matches any number of frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "process.h"
#include "symbols/usyms.h"

#define MAX_FRAMES 128
#define MAX_STACKS 64
#define STACK_TEXT 8192

static char *chains;
static char **program;

struct stacks {
	char *v[MAX_STACKS]; /* names, innermost first, with '<' between */
	unsigned int nr;
};

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 10000000 };

	nanosleep(&t, NULL);
}

static void append_name(char *text, const struct process *p, uint64_t ip, bool exact)
{
	const struct mapping *m = process__mapping(p, ip);
	struct elf_symbols *symbols = NULL;
	struct elf_symbol s = { .name = "?" };
	_cleanup_close_ int fd = -1;
	size_t len = strlen(text);

	if (m)
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !elf_symbols__from_fd(fd, -1, &symbols))
		elf_symbols__find(symbols, ip - m->start + m->offset - !exact, &s);
	snprintf(text + len, STACK_TEXT - len, "%s%s", len ? "<" : "", s.name);
	elf_symbols__free(symbols);
}

static void add_stack(struct stacks *s, const struct process *p, pid_t tid)
{
	uint64_t ips[MAX_FRAMES];
	struct user_regs_struct regs;
	enum process_end end;
	unsigned int nr;
	char *text = calloc(1, STACK_TEXT);

	assert_non_null(text);
	assert_int_equal(ptrace(PTRACE_GETREGS, tid, NULL, &regs), 0);
	end = process__unwind(p, &regs, ips, MAX_FRAMES, &nr);
	for (unsigned int i = 0; i < nr; i++)
		append_name(text, p, ips[i], !i);
	print_message("%s%s\n", text, end == PROCESS_COMPLETE ? "" : " ...");
	assert_true(s->nr < MAX_STACKS);
	if (end == PROCESS_COMPLETE)
		s->v[s->nr++] = text;
	else
		free(text);
}

/* Whether the thread sleeps in a system call. */
static bool sleeps(pid_t pid, const char *tid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char name[512], state = 0;

	snprintf(name, sizeof(name), "/proc/%d/task/%s/stat", pid, tid);
	f = fopen(name, "re");
	return f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
}

/* Calls fn for each thread.  Returns the number of threads, -1: not all of them sleep. */
static int each_thread(struct process *p, struct stacks *stacks)
{
	struct dirent *d;
	char name[64];
	int nr = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", p->pid);
	dir = opendir(name);
	assert_non_null(dir);
	while ((d = readdir(dir)) && nr >= 0) {
		if (d->d_name[0] == '.')
			continue;
		if (stacks)
			add_stack(stacks, p, (pid_t)atoi(d->d_name));
		else if (!sleeps(p->pid, d->d_name))
			nr = -2;
		nr++;
	}
	closedir(dir);
	return nr;
}

static void seize_threads(const struct process *p)
{
	struct dirent *d;
	char name[64];
	int status;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", p->pid);
	dir = opendir(name);
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (d->d_name[0] == '.')
			continue;
		assert_int_equal(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
		assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
		assert_int_equal(waitpid(tid, &status, __WALL), tid);
	}
	closedir(dir);
}

/* Whether the stack contains the chain, at its outermost end. */
static bool matches(const char *stack, const char *chain, size_t len)
{
	size_t n = strcspn(chain, "< "), m;

	if (!len)
		return !*stack;
	n = n < len ? n : len;
	if (n == 1 && *chain == '*') {
		for (;; stack += *stack == '<') {
			if (matches(stack, chain + n + (n < len), len - n - (n < len)))
				return true;
			if (!*stack)
				return false;
			stack += strcspn(stack, "<");
		}
	}
	m = strcspn(stack, "<");
	if (m != n || memcmp(stack, chain, n))
		return false;
	return matches(stack + m + (stack[m] == '<'), chain + n + (n < len), len - n - (n < len));
}

static void check_chains(const struct stacks *s)
{
	const char *chain = chains;
	unsigned int i;
	size_t len;

	for (; *chain; chain += len + (chain[len] == ' ')) {
		len = strcspn(chain, " ");
		for (i = 0; i < s->nr && !matches(s->v[i], chain, len); i++)
			;
		if (i == s->nr)
			fail_msg("no complete stack is %.*s", (int)len, chain);
	}
}

static void sleeping_threads(void **state)
{
	struct stacks stacks = { .nr = 0 };
	struct process p;
	int nr = -1, now, tries;

	process__start(&p, program);
	assert_int_equal(ptrace(PTRACE_DETACH, p.pid, NULL, NULL), 0);
	for (tries = 0;; tries++, nr = now) {
		nap();
		now = each_thread(&p, NULL);
		if (now > 0 && now == nr && tries > 20)
			break;
	}
	seize_threads(&p);
	process__read_mappings(&p);
	each_thread(&p, &stacks);
	process__kill(&p);
	check_chains(&stacks);
	while (stacks.nr)
		free(stacks.v[--stacks.nr]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sleeping_threads) };

	if (argc < 3)
		return 2;
	chains = argv[1];
	program = argv + 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
