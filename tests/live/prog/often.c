// SPDX-License-Identifier: GPL-2.0-only
/*
 * often [ROUNDS [SECONDS [KIND]]]: makes the events whose records programs can fill happen, most of
 * them once in each of ROUNDS rounds, for at most SECONDS seconds.  What is cheap is done more
 * often.  Of all kinds, or of this one only.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>

#include "prog.h"

#define WORKERS 2
#define SLEEPERS 48
#define PAGES 16384 /* more than the lists of free pages of a CPU hold in the test machines */
#define PACKETS 16 /* of a round */
#define NAPS 4
#define TIMERS 8 /* that are set and never expire */
#define WAITS 64 /* of a task that has no children */
#define LINE "/dev/ttyS2" /* serial port of the test machines; nothing reads it */

static const char *kind; /* NULL: all */

static bool wanted(const char *name)
{
	return !kind || !strcmp(kind, name);
}

/* A socket of UDP that is connected to itself. */
static int own_socket(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(a);

	if (fd < 0 || bind(fd, (void *)&a, len) || getsockname(fd, (void *)&a, &len) ||
	    connect(fd, (void *)&a, len))
		err(1, "a socket at the loopback address");
	return fd;
}

/* Waits in the kernel until a timer of the wheel expires, again and again. */
static void sleeper(unsigned long rounds, uint64_t end)
{
	const struct timeval tick = { .tv_usec = 1 };
	int fd = own_socket();
	unsigned long i;
	char byte;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick)))
		err(1, "SO_RCVTIMEO");
	for (i = 0; i < rounds && now_ns() < end; i++)
		(void)!recv(fd, &byte, 1, 0);
	_exit(0);
}

/*
 * Causes an interrupt in each round: of the serial port, when it has sent a byte, or of the disk,
 * when it has read a page, if there is no such port.
 */
static void interrupter(unsigned long rounds, uint64_t end)
{
	int line = open(LINE, O_WRONLY | O_NOCTTY),
	    disk = open("/proc/self/exe", O_RDONLY | O_DIRECT);
	unsigned long i;
	void *page;

	if (posix_memalign(&page, 4096, 4096))
		errx(1, "memory");
	for (i = 0; i < rounds && now_ns() < end; i++)
		if (line < 0 || write(line, "", 1) != 1 || tcdrain(line))
			(void)!pread(disk, page, 4096, 0);
	_exit(0);
}

static void faults(char *pages, unsigned long round, int zero)
{
	unsigned long at = round % (PAGES / 2) * 8192;

	if (!at && madvise(pages, PAGES * 4096, MADV_DONTNEED))
		err(1, "madvise");
	pages[at] = 1;
	if (read(zero, pages + at + 4096, 1) != 1)
		err(1, "read /dev/zero");
}

static void packets(int udp)
{
	char byte = 0;
	int i;

	for (i = 0; i < PACKETS; i++)
		if (send(udp, &byte, 1, 0) != 1 || recv(udp, &byte, 1, 0) != 1)
			err(1, "send to oneself");
}

static void naps(void)
{
	const struct timespec shortly = { .tv_nsec = 1 };
	int i;

	for (i = 0; i < NAPS; i++)
		nanosleep(&shortly, NULL);
}

static void timers(int timer)
{
	const struct itimerspec later = { .it_value.tv_sec = 3600 }, never = { 0 };
	int i;

	for (i = 0; i < TIMERS; i++)
		if (timerfd_settime(timer, 0, &later, NULL) ||
		    timerfd_settime(timer, 0, &never, NULL))
			err(1, "timerfd_settime");
}

static void files(void)
{
	int fds[2], tcp;

	if (pipe(fds))
		err(1, "pipe");
	close(fds[0]);
	close(fds[1]);
	tcp = socket(AF_INET, SOCK_STREAM, 0); /* it has timers */
	if (tcp < 0)
		err(1, "socket");
	close(tcp);
}

static void *nothing(void *arg)
{
	return arg;
}

static void thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
		errx(1, "a thread");
}

static void waits(void)
{
	int i;

	for (i = 0; i < WAITS; i++)
		if (waitpid(-1, NULL, 0) != -1)
			errx(1, "there is a child");
}

static void child(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		err(1, "a child process");
}

static void work(unsigned long rounds, uint64_t end)
{
	int udp = own_socket(), zero = open("/dev/zero", O_RDONLY);
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long i;
	char *pages;

	pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED || madvise(pages, PAGES * 4096, MADV_NOHUGEPAGE))
		err(1, "memory");
	prctl(PR_SET_TIMERSLACK, 1);
	for (i = 0; i < rounds && now_ns() < end; i++) {
		if (wanted("waits"))
			waits();
		if (wanted("packets"))
			packets(udp);
		if (wanted("faults"))
			faults(pages, i, zero);
		if (wanted("files"))
			files();
		if (wanted("naps"))
			naps();
		if (wanted("timers"))
			timers(timer);
		if (wanted("threads"))
			thread();
		if (wanted("children"))
			child();
	}
	_exit(0);
}

static pid_t start(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static const struct {
	const char *kind; /* NULL: work() has several */
	unsigned int nr; /* processes, which share the rounds */
	void (*run)(unsigned long rounds, uint64_t end);
} loads[] = {
	{ NULL, WORKERS, work },
	{ "sleepers", SLEEPERS, sleeper },
	{ "interrupts", 1, interrupter },
};

int main(int argc, char **argv)
{
	unsigned long rounds = arg_number(argc, argv, 1, 1000, 1000000000);
	uint64_t end = now_ns() + arg_number(argc, argv, 2, 60, 1000000) * 1000000000ull;
	unsigned int i, j;
	int status, rc = 0;

	kind = argc > 3 ? argv[3] : NULL;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (loads[i].kind && !wanted(loads[i].kind))
			continue;
		for (j = 0; j < loads[i].nr; j++)
			if (!start())
				loads[i].run(rounds / loads[i].nr + 1, end);
	}
	while (wait(&status) > 0)
		rc |= !!status;
	return rc;
}
