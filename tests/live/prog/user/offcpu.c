// SPDX-License-Identifier: GPL-2.0-only
/*
 * offcpu ROUNDS: leaves the CPU in known ways, each in its own function and for a time that it
 * measures, and prints the truth, one fact per line as keys and values.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "futex_tools.h"

#define HERE static __attribute__((noipa))
#define KEEP() __asm__ volatile("" : : : "memory")

static unsigned int rounds;

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A clock that advances while this thread does not run. */
static uint64_t off_ns(void)
{
	return now_ns() - thread_ns();
}

/*
 * The time that a hypervisor has stolen from the CPUs, in the resolution of the kernel.  It is
 * neither CPU time of a thread nor time off CPU, so that off_ns() may be wrong by as much.
 */
static uint64_t stolen_ns(void)
{
	unsigned long long ticks;
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		errx(1, "/proc/stat");
	fclose(f);
	return ticks * (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK));
}

/* ---- asleep until a timer interrupt ---------------------------------------------------------- */

HERE uint64_t sleep_here(unsigned int ms)
{
	uint64_t from = off_ns(), to;

	sleep_ms(ms);
	to = off_ns();
	KEEP();
	return to - from;
}

static void do_sleep(void)
{
	uint64_t stolen = stolen_ns(), ns = 0;

	for (unsigned int i = 0; i < rounds; i++)
		ns += sleep_here(5 + i % 7);
	printf("sleep tid %d count %u ns %llu stolen %llu function sleep_here\n", gettid(), rounds,
	       (unsigned long long)ns, (unsigned long long)(stolen_ns() - stolen));
}

/* ---- asleep until another thread wakes it ---------------------------------------------------- */

struct reader {
	int fds[2];
	_Atomic(pid_t) tid;
	uint64_t ns;
};

HERE uint64_t read_here(int fd)
{
	uint64_t from = off_ns(), to;
	char c;

	if (read(fd, &c, 1) != 1)
		err(1, "read");
	to = off_ns();
	KEEP();
	return to - from;
}

HERE void write_here(int fd)
{
	if (write(fd, "x", 1) != 1)
		err(1, "write");
	KEEP();
}

static void *run_reader(void *arg)
{
	struct reader *r = arg;

	atomic_store(&r->tid, gettid());
	for (unsigned int i = 0; i < rounds; i++)
		r->ns += read_here(r->fds[0]);
	return NULL;
}

static void do_read(void)
{
	uint64_t stolen = stolen_ns();
	struct reader r = { 0 };
	pthread_t thread;

	if (pipe(r.fds))
		err(1, "pipe");
	start_thread(&thread, run_reader, &r);
	while (!atomic_load(&r.tid))
		sleep_us(100);
	for (unsigned int i = 0; i < rounds; i++) {
		until_in(r.tid, SYS_read);
		sleep_ms(4);
		write_here(r.fds[1]);
	}
	pthread_join(thread, NULL);
	printf("sleep tid %d count %u ns %llu stolen %llu function read_here waker %d\n", r.tid,
	       rounds, (unsigned long long)r.ns, (unsigned long long)(stolen_ns() - stolen),
	       gettid());
}

/* ---- uninterruptible: a parent until its vfork(2) child ends --------------------------------- */

HERE uint64_t vfork_here(pid_t *ret_child)
{
	uint64_t from = off_ns(), to;
	pid_t child = vfork();

	if (!child) {
		sleep_ms(15);
		_exit(0);
	}
	to = off_ns();
	*ret_child = child;
	KEEP();
	return to - from;
}

static void do_vfork(void)
{
	uint64_t stolen = stolen_ns(), ns = 0;
	pid_t child;

	for (unsigned int i = 0; i < rounds; i++) {
		ns += vfork_here(&child);
		waitpid(child, NULL, 0);
	}
	printf("disk tid %d count %u ns %llu stolen %llu function vfork_here\n", gettid(), rounds,
	       (unsigned long long)ns, (unsigned long long)(stolen_ns() - stolen));
}

/* ---- stopped --------------------------------------------------------------------------------- */

HERE uint64_t stop_here(void)
{
	uint64_t from = off_ns(), to;

	syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
	to = off_ns();
	KEEP();
	return to - from;
}

static void do_stop(void)
{
	uint64_t stolen, ns;
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		stolen = stolen_ns();
		ns = stop_here();
		printf("stopped tid %d count 1 ns %llu stolen %llu function stop_here\n", gettid(),
		       (unsigned long long)ns, (unsigned long long)(stolen_ns() - stolen));
		exit(0);
	}
	waitpid(child, &status, WUNTRACED);
	until_in(child, SYS_tgkill); /* its parent is notified before it leaves its CPU */
	sleep_ms(50);
	kill(child, SIGCONT);
	waitpid(child, NULL, 0);
}

/* ---- runnable: two threads on one CPU -------------------------------------------------------- */

struct spinner {
	pid_t tid;
	uint64_t ns;
};

/*
 * How long this thread has waited for a CPU, from its schedstat.  Its CPU time cannot be used:
 * stolen time is in neither.
 */
static uint64_t queued_ns(int schedstat)
{
	unsigned long long ran, queued;
	char text[128] = "";

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &ran, &queued) != 2)
		errx(1, "/proc/thread-self/schedstat");
	return queued;
}

HERE uint64_t spin_here(int schedstat, unsigned int ms)
{
	uint64_t from = queued_ns(schedstat), to, until = now_ns() + ms * 1000000ull;

	while (now_ns() < until)
		for (volatile unsigned int i = 0; i < 20000; i++)
			;
	to = queued_ns(schedstat);
	KEEP();
	return to - from;
}

static void *run_spinner(void *arg)
{
	struct spinner *s = arg;
	int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	pin_to_cpu(0);
	s->tid = gettid();
	s->ns = spin_here(schedstat, 400);
	close(schedstat);
	return NULL;
}

static void do_spin(void)
{
	struct spinner s[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		start_thread(&threads[i], run_spinner, &s[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		printf("preempted tid %d ns %llu function spin_here\n", s[i].tid,
		       (unsigned long long)s[i].ns);
	}
}

int main(int argc, char **argv)
{
	rounds = (unsigned int)arg_number(argc, argv, 1, 30, 1000);
	do_sleep();
	do_read();
	do_vfork();
	do_stop();
	do_spin();
	return 0;
}
