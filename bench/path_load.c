// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same loads as the programs in tests/live/prog, but in processes that have the ring mapped, so
 * that they empty it themselves and no other program has to run meanwhile.
 */
#include "path_load.h"

#include <err.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 512

struct path_turn {
	const struct path_pause *pause;
	bool first;
	int from, to; /* the pipes from the previous task and to the next one */
};

static void pause_after(const struct path_turn *t, uint64_t events)
{
	if (!(events % t->pause->every))
		t->pause->call();
}

static void make_calls(const struct path_turn *t, uint64_t n)
{
	while (n--) {
		syscall(SYS_getppid);
		pause_after(t, n);
	}
}

static void make_faults(const struct path_turn *t, uint64_t n)
{
	volatile char *p = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t i;

	if (p == MAP_FAILED || madvise((void *)p, PAGES * 4096, MADV_NOHUGEPAGE))
		err(1, "memory");
	for (i = 0; i < n; i++) {
		if (i && !(i % PAGES) && madvise((void *)p, PAGES * 4096, MADV_DONTNEED))
			err(1, "madvise");
		(void)p[i % PAGES * 4096];
		pause_after(t, i);
	}
}

/* Each read is a switch to the task before, which then writes. */
static void make_switches(const struct path_turn *t, uint64_t n)
{
	char byte = 'x';

	while (n--) {
		if (t->first && write(t->to, &byte, 1) != 1)
			err(1, "write");
		if (read(t->from, &byte, 1) != 1)
			err(1, "read");
		if (t->first)
			pause_after(t, n);
		else if (write(t->to, &byte, 1) != 1)
			err(1, "write");
	}
}

const struct path_load *path_load__find(const char *name)
{
	static const struct path_load loads[] = {
		{ "getppid", "raw_syscalls:sys_enter", 1, make_calls },
		{ "pingpong", "sched:sched_switch", 2, make_switches },
		{ "pingpong-40", "sched:sched_switch", 40, make_switches },
		{ "faults", "exceptions:page_fault_user", 1, make_faults },
	};
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(loads[i].name, name))
			return &loads[i];
	return NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))
		err(1, "clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "run on CPU %u", cpu);
}

double path_load__measure(const struct path_load *l, unsigned int cpu, uint64_t n,
			  const struct path_pause *pause)
{
	uint64_t *sum = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct path_pause shared = { MAX(pause->every / l->tasks, 1), pause->call };
	int pipes[PATH_LOAD_TASKS][2], status;
	uint64_t each = n / l->tasks, ns;
	unsigned int i;
	pid_t pid;

	if (sum == MAP_FAILED)
		err(1, "memory");
	for (i = 0; i < l->tasks; i++)
		if (pipe(pipes[i]))
			err(1, "pipe");
	for (i = 0; i < l->tasks; i++) {
		struct path_turn t = { &shared, !i, pipes[i][0], pipes[(i + 1) % l->tasks][1] };

		pid = fork();
		if (pid < 0)
			err(1, "fork");
		if (pid)
			continue;
		pin(cpu);
		ns = cpu_ns();
		l->run(&t, each);
		__atomic_fetch_add(sum, cpu_ns() - ns, __ATOMIC_SEQ_CST);
		_exit(0);
	}
	for (i = 0; i < l->tasks; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a task of the load failed");
	for (i = 0; i < l->tasks; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	ns = *sum;
	munmap(sum, 4096);
	return (double)ns / (each * l->tasks);
}
