// SPDX-License-Identifier: GPL-2.0-only
/*
 * zombies KIND NR MS: makes NR zombies, and prints a JSON object for each with the times (ns)
 * between which it became one and was reaped, as /proc/PID/stat shows them.
 *
 * late       their parent reaps them after MS
 * dies       their parent ends after MS; whoever adopts them reaps them
 * subreaper  likewise, and the parent of that parent, a subreaper, reaps them after MS more
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "prog.h"

#define MAX_ZOMBIES 64
#define POLL_US 2000
#define PATIENCE_NS 10000000000ull

struct zombie {
	pid_t pid;
	uint64_t zombie0, zombie1, reap0, reap1; /* reap1 0: not reaped */
};

/* Shared with the parent that ends. */
static struct shared {
	struct zombie v[MAX_ZOMBIES];
	uint64_t left0; /* before that parent ended */
	pid_t parent;
} * shared;

/* Its state letter in /proc; 0: it does not exist. */
static char state_of(pid_t pid)
{
	char path[32], text[512], *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/*
 * A task is Z in /proc before its last switch, from which the time as a zombie counts.  On the CPU
 * of its parent, which it precedes, a child has done that switch once the parent runs again.
 */
static void end_before_parent(void)
{
	const struct sched_param urgent = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		err(1, "SCHED_FIFO");
	_exit(0);
}

static void make_zombies(unsigned int nr)
{
	unsigned int i;

	pin_to_cpu(sched_getcpu());
	shared->parent = getpid();
	for (i = 0; i < nr; i++) {
		struct zombie *z = &shared->v[i];
		pid_t pid;

		z->zombie0 = now_ns();
		pid = fork();
		if (pid < 0)
			err(1, "fork");
		if (!pid)
			end_before_parent();
		z->pid = pid;
		while (state_of(z->pid) != 'Z')
			usleep(POLL_US);
		z->zombie1 = now_ns();
	}
}

static void reap(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		shared->v[i].reap0 = now_ns();
		if (waitpid(shared->v[i].pid, NULL, 0) != shared->v[i].pid)
			err(1, "waitpid");
		shared->v[i].reap1 = now_ns();
	}
}

/* Notes when others have reaped all of them. */
static void watch(unsigned int nr)
{
	uint64_t until = now_ns() + PATIENCE_NS, now;
	unsigned int i, left = nr;

	for (; left && (now = now_ns()) < until; usleep(POLL_US)) {
		for (i = 0; i < nr; i++) {
			if (shared->v[i].reap1)
				continue;
			if (state_of(shared->v[i].pid) == 'Z') {
				shared->v[i].reap0 = now;
				continue;
			}
			shared->v[i].reap1 = now_ns();
			left--;
		}
	}
}

/* A child makes the zombies and ends. */
static void make_and_die(unsigned int nr, unsigned int ms)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		make_zombies(nr);
		usleep(ms * 1000);
		shared->left0 = now_ns();
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		err(1, "waitpid");
	for (unsigned int i = 0; i < nr; i++)
		shared->v[i].reap0 = shared->left0;
}

static void print(const char *kind, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct zombie *z = &shared->v[i];

		printf("{\"kind\":\"%s\",\"pid\":%d,\"parent\":%d,\"zombie0\":%" PRIu64
		       ",\"zombie1\":%" PRIu64 ",\"left0\":%" PRIu64 ",\"reap0\":%" PRIu64
		       ",\"reap1\":%" PRIu64 "}\n",
		       kind, z->pid, shared->parent, z->zombie0, z->zombie1, shared->left0,
		       z->reap0, z->reap1);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	unsigned int nr = arg_number(argc, argv, 2, 1, MAX_ZOMBIES);
	unsigned int ms = arg_number(argc, argv, 3, 100, 100000);

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	if (!strcmp(kind, "late")) {
		make_zombies(nr);
		usleep(ms * 1000);
		reap(nr);
	} else if (!strcmp(kind, "dies")) {
		make_and_die(nr, ms);
		watch(nr);
	} else if (!strcmp(kind, "subreaper")) {
		if (prctl(PR_SET_CHILD_SUBREAPER, 1))
			err(1, "PR_SET_CHILD_SUBREAPER");
		make_and_die(nr, ms);
		usleep(ms * 1000);
		reap(nr);
	} else {
		errx(2, "usage: zombies late|dies|subreaper NR MS");
	}
	print(kind, nr);
	return 0;
}
