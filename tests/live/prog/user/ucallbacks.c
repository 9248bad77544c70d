// SPDX-License-Identifier: GPL-2.0-only
/*
 * ucallbacks ALARMS [LIBRARY]: probes in callbacks of the C library, the loader and the kernel:
 * sorting, threads, exit, constructors, signals, coroutines, cancellation.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "../prog.h"
#include "probe.h"

#define ALONE static __attribute__((noinline))
#define KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

/* ---- sorting and walking --------------------------------------------------------------------- */

ALONE int by_byte(const void *a, const void *b)
{
	HERE();
	probe();
	GONE();
	return *(const char *)a - *(const char *)b;
}

ALONE void visit(const void *node, VISIT which, int depth)
{
	HERE();
	probe();
	GONE();
}

ALONE void sorting(void)
{
	char bytes[] = "stack";
	struct {
		char key;
		char rest[4000];
	} *large = calloc(5, sizeof(*large));
	void *root = NULL;

	HERE();
	qsort(bytes, 5, 1, by_byte);
	for (int i = 0; large && i < 5; i++)
		large[i].key = "order"[i];
	qsort(large, 5, sizeof(*large), by_byte);
	bsearch("k", bytes, 5, 1, by_byte);
	for (int i = 0; i < 5; i++)
		tsearch(bytes + i, &root, by_byte);
	twalk(root, visit);
	for (int i = 0; i < 5; i++)
		tdelete(bytes + i, &root, by_byte);
	free(large);
	GONE();
}

ALONE int on_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	HERE();
	probe();
	GONE();
	return 1;
}

ALONE int choose(const struct dirent *d)
{
	HERE();
	probe();
	GONE();
	return 0;
}

ALONE ssize_t cookie_write(void *cookie, const char *buf, size_t len)
{
	HERE();
	probe();
	GONE();
	return len;
}

ALONE void streams(void)
{
	cookie_io_functions_t io = { .write = cookie_write };
	FILE *f = fopencookie(NULL, "w", io);
	struct dirent **names;

	HERE();
	fprintf(f, "%d %s\n", 5, "five");
	fflush(f);
	fprintf(f, "%f\n", 2.5);
	fclose(f);
	nftw("/proc/self/fdinfo", on_file, 4, 0);
	scandir("/proc/self/fd", &names, choose, NULL);
	GONE();
}

/* ---- threads --------------------------------------------------------------------------------- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t waiting;

ALONE void key_gone(void *value)
{
	HERE();
	probe();
	GONE();
}

ALONE void run_once(void)
{
	HERE();
	probe();
	GONE();
}

ALONE void *thread(void *arg)
{
	HERE();
	pthread_setspecific(key, arg);
	pthread_once(&once, run_once);
	probe();
	GONE();
	return NULL;
}

/* A cancelled thread does not return: arg is the remaining depth. */
ALONE void cleaned(void *arg)
{
	probe__cut((uintptr_t)arg);
	HERE();
	probe();
	GONE();
}

ALONE void wait_for_ever(void)
{
	struct timespec hour = { 3600, 0 };

	HERE();
	sem_post(&waiting);
	nanosleep(&hour, NULL);
	GONE();
}

ALONE void *cancelled(void *arg)
{
	HERE();
	pthread_cleanup_push(cleaned, (void *)(uintptr_t)probe__depth());
	wait_for_ever();
	pthread_cleanup_pop(0);
	GONE();
	return NULL;
}

ALONE void leave(void)
{
	HERE();
	pthread_exit(NULL);
}

ALONE void *leaving(void *arg)
{
	HERE();
	pthread_cleanup_push(cleaned, (void *)(uintptr_t)probe__depth());
	leave();
	pthread_cleanup_pop(0);
	GONE();
	return NULL;
}

ALONE void join(void *(*fn)(void *), bool cancel)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, fn, &key);
	if (errno)
		err(1, "pthread_create");
	if (cancel) {
		while (sem_wait(&waiting))
			;
		usleep(10000);
		pthread_cancel(t);
	}
	pthread_join(t, NULL);
}

ALONE void fork_handler(void)
{
	HERE();
	probe();
	GONE();
}

ALONE void threads(void)
{
	pid_t child;

	HERE();
	sem_init(&waiting, 0, 0);
	pthread_key_create(&key, key_gone);
	join(thread, false);
	join(cancelled, true);
	join(leaving, false);
	pthread_atfork(fork_handler, fork_handler, NULL);
	child = fork();
	if (!child)
		_exit(0);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	GONE();
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms;
static int alarms_wanted;

/* One alarm, 300 us from now: none is pending when a handler that takes longer returns. */
static void next_alarm(void)
{
	struct itimerval soon = { .it_value = { 0, 300 } };

	if (alarms < alarms_wanted)
		setitimer(ITIMER_REAL, &soon, NULL);
}

ALONE void on_signal(int sig, siginfo_t *info, void *context)
{
	HERE();
	if (sig == SIGALRM)
		alarms++;
	if (!probe__busy())
		probe();
	if (sig == SIGUSR1)
		raise(SIGUSR2);
	if (sig == SIGSEGV)
		mprotect((void *)((uintptr_t)info->si_addr & ~4095ul), 4096,
			 PROT_READ | PROT_WRITE);
	if (sig == SIGALRM)
		next_alarm();
	GONE();
}

ALONE void take(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

	if (sigaction(sig, &sa, NULL))
		err(1, "sigaction");
}

ALONE unsigned int fault(volatile char *page)
{
	unsigned int r;

	HERE();
	r = page[17];
	GONE();
	return r + 1;
}

/* No function here has HERE: the signal may come at any instruction. */
ALONE unsigned long wander(unsigned int depth, unsigned long a, unsigned long b, unsigned long c)
{
	unsigned long d = a * 3, e = b * 5, r = c;
	struct timespec now;
	char text[32];

	if (depth) {
		r += wander(depth - 1, a + 1, d, e);
		KEEP(r);
		r += wander(depth - 1, r, a, b);
	} else {
		clock_gettime(CLOCK_MONOTONIC, &now);
		r += now.tv_nsec + snprintf(text, sizeof(text), "%lx", a);
		r += (unsigned long)getppid();
	}
	return r + d + e;
}

ALONE void at_any_instruction(int times)
{
	unsigned long r = 0;

	HERE();
	take(SIGALRM, SA_RESTART);
	alarms_wanted = times;
	next_alarm();
	while (alarms < times) {
		r += wander(10, alarms, 2, 3);
		KEEP(r);
	}
	GONE();
}

ALONE void on_timer(union sigval value)
{
	HERE();
	probe();
	sem_post(&waiting);
	GONE();
}

ALONE void timer_thread(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD };
	struct itimerspec soon = { .it_value = { 0, 1000000 } };
	timer_t timer;

	HERE();
	ev._sigev_un._sigev_thread._function = on_timer;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer))
		err(1, "timer_create");
	timer_settime(timer, 0, &soon, NULL);
	while (sem_wait(&waiting))
		;
	timer_delete(timer);
	GONE();
}

/* Interrupts read(2), which is then restarted. */
static int pipes[2];

ALONE void *reader(void *arg)
{
	char byte;

	HERE();
	sem_post(&waiting);
	if (read(pipes[0], &byte, 1) != 1)
		err(1, "read");
	GONE();
	return NULL;
}

ALONE void in_a_call(void)
{
	pthread_t t;

	HERE();
	if (pipe(pipes))
		err(1, "pipe");
	pthread_create(&t, NULL, reader, NULL);
	while (sem_wait(&waiting))
		;
	for (int i = 0; i < 5; i++) {
		usleep(5000);
		pthread_kill(t, SIGUSR2);
	}
	usleep(5000);
	if (write(pipes[1], "x", 1) != 1)
		err(1, "write");
	pthread_join(t, NULL);
	GONE();
}

ALONE void signals(int times)
{
	stack_t alternate = { .ss_sp = malloc(65536), .ss_size = 65536 };
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int r;

	HERE();
	take(SIGUSR2, SA_RESTART);
	take(SIGUSR1, 0);
	raise(SIGUSR1);
	if (times) { /* else the program's table may be missing: the recorder copies one stack */
		if (sigaltstack(&alternate, NULL))
			err(1, "sigaltstack");
		take(SIGUSR1, SA_ONSTACK);
		take(SIGSEGV, SA_ONSTACK);
		raise(SIGUSR1);
		r = fault(page);
		KEEP(r);
	}
	in_a_call();
	at_any_instruction(times);
	timer_thread();
	GONE();
}

/* ---- other control flow ---------------------------------------------------------------------- */

static ucontext_t back, coroutine;
static void *back_heres, *coroutine_heres;

ALONE void yield(void)
{
	HERE();
	probe();
	coroutine_heres = probe__switch(back_heres);
	swapcontext(&coroutine, &back);
	probe();
	GONE();
}

static void co_main(void)
{
	HERE();
	yield();
	GONE();
	coroutine_heres = probe__switch(back_heres);
}

ALONE void resume(void)
{
	HERE();
	back_heres = probe__switch(coroutine_heres);
	swapcontext(&back, &coroutine);
	probe();
	GONE();
}

static jmp_buf far;

ALONE void jump(volatile unsigned int n)
{
	HERE();
	probe();
	if (n)
		jump(n - 1);
	if (!n)
		longjmp(far, 1);
	GONE();
}

ALONE void jumps(void)
{
	volatile unsigned int depth;

	HERE();
	depth = probe__depth();
	if (!setjmp(far))
		jump(5);
	probe__cut(depth);
	probe();
	GONE();
}

/* A static program has no loader. */
#ifdef STATIC
static void library(const char *path)
{
	errx(2, "'%s': this program is static", path);
}
#else
ALONE void library(const char *path)
{
	void *lib;
	void (*f)(void);

	HERE();
	lib = dlopen(path, RTLD_LAZY);
	if (!lib)
		errx(1, "%s", dlerror());
	*(void **)&f = dlsym(lib, "library_function");
	if (!f)
		errx(1, "%s", dlerror());
	f();
	dlclose(lib);
	GONE();
}
#endif

ALONE void last(void)
{
	HERE();
	probe();
	GONE();
}

ALONE void last_with(int status, void *arg)
{
	HERE();
	probe();
	GONE();
}

__attribute__((constructor)) static void first(void)
{
	HERE();
	probe__open();
	probe();
	GONE();
}

__attribute__((destructor)) static void very_last(void)
{
	HERE();
	probe();
	GONE();
}

int main(int argc, char **argv)
{
	HERE();
	atexit(last);
	on_exit(last_with, NULL);
	sorting();
	streams();
	threads();
	signals((int)arg_number(argc, argv, 1, 100, 1000000));
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = malloc(65536);
	coroutine.uc_stack.ss_size = 65536;
	coroutine.uc_link = &back;
	coroutine_heres = probe__switch(NULL);
	coroutine_heres = probe__switch(coroutine_heres);
	makecontext(&coroutine, co_main, 0);
	resume();
	resume();
	jumps();
	if (argc > 2)
		library(argv[2]);
	GONE();
	return 0;
}
