// SPDX-License-Identifier: GPL-2.0-only
#include "probe.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "where.h"

#define MAX_HERES 400
#define BUFFER (1u << 20)
#define LINE 32768

struct heres {
	unsigned int nr;
	uint64_t pc[MAX_HERES];
};

static __thread struct heres first;
static __thread struct heres *other; /* of a coroutine */
static __thread bool busy;

/* All threads write to one file; a probe in a signal handler is skipped if its thread is in one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int next, modules_told;
static char buffer[BUFFER];
static size_t used;
static int fd = -1;

static void flush(void)
{
	size_t done = 0;
	ssize_t n;

	while (fd >= 0 && done < used) {
		n = write(fd, buffer + done, used - done);
		if (n <= 0)
			_exit(99);
		done += n;
	}
	used = 0;
}

/* Set when the process ends: from then on, nothing is buffered. */
static bool ending;

static void end(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	flush();
	pthread_mutex_unlock(&lock);
}

/* Goes on in a child process, which has another PID; this one ends as the child does. */
static void become_child(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (!child)
		return;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			_exit(1);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void probe__open(void)
{
	const char *dir = getenv("PROBE_DIR");
	char path[PATH_MAX];

	where__init();
	if (!dir)
		return;
	for (;;) {
		snprintf(path, sizeof(path), "%s/probes.%d", dir, getpid());
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			break;
		if (errno != EEXIST)
			err(1, "open '%s'", path);
		become_child(); /* a process that has ended had this PID */
	}
	if (atexit(end))
		errx(1, "atexit");
}

static struct heres *current(void)
{
	return other ?: &first;
}

void probe__push(uint64_t pc)
{
	struct heres *heres = current();

	if (heres->nr == MAX_HERES)
		abort();
	heres->pc[heres->nr++] = pc;
}

void probe__pop(void)
{
	current()->nr--;
}

void *probe__switch(void *to)
{
	struct heres *before = current();

	other = to ? to : calloc(1, sizeof(*other));
	if (!other)
		abort();
	return before;
}

unsigned int probe__depth(void)
{
	return current()->nr;
}

void probe__cut(unsigned int depth)
{
	current()->nr = depth;
}

bool probe__busy(void)
{
	return busy;
}

/* No stdio: this runs in signal handlers, too. */
static void put(const char *s)
{
	size_t n = strlen(s);

	memcpy(buffer + used, s, n);
	used += n;
}

static void put_hex(uint64_t v)
{
	char digits[17];
	int i = 16;

	digits[i] = 0;
	do
		digits[--i] = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	put(digits + i);
}

static void put_pc(uint64_t pc)
{
	const struct where_module *m = where__module(pc);

	put(" ");
	put_hex(m ? m->number : 0xffff);
	put("+");
	put_hex(m ? pc - m->delta : pc);
}

static void put_module(unsigned int number, const char *path)
{
	put("M ");
	put_hex(number);
	put(" ");
	put(path);
	put("\n");
}

static void write_probe(unsigned int k, void **frames, int nr)
{
	const struct heres *heres = current();
	char comm[17] = "";

	if (used > BUFFER - LINE)
		flush();
	/* look up all frames first, so that a new module is defined before its use */
	for (int i = 0; i < nr; i++) {
		const struct where_module *m = where__module((uint64_t)frames[i]);

		for (; m && m->number >= modules_told; modules_told++)
			put_module(modules_told, where__path(modules_told));
	}
	for (unsigned int i = 0; i < heres->nr; i++) {
		const struct where_module *m = where__module(heres->pc[i]);

		for (; m && m->number >= modules_told; modules_told++)
			put_module(modules_told, where__path(modules_told));
	}
	prctl(PR_GET_NAME, comm);
	put_hex(k);
	put(" ");
	put(comm);
	put("|");
	for (unsigned int i = heres->nr; i--;)
		put_pc(heres->pc[i]);
	put("|");
	for (int i = 0; i < nr; i++)
		put_pc((uint64_t)frames[i]);
	put("\n");
	if (ending)
		flush();
}

__attribute__((noinline)) void probe(void)
{
	static __thread void *frames[WHERE_MAX];
	unsigned int k;
	int nr;

	busy = true;
	nr = where__frames(frames, WHERE_MAX);
	pthread_mutex_lock(&lock);
	k = next++;
	write_probe(k, frames, nr);
	pthread_mutex_unlock(&lock);
	syscall(SYS_futex, PROBE_BASE + 4ull * k, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	busy = false;
}
