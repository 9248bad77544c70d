// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with known user stacks, for the tests of user stacks (user_*.sh).  Every function of
 * its call chain stores its return address, and the innermost one the address after its system
 * call, so that no unwinder is involved.
 *
 *   user_prog chain [N]      getppid N times from the chain; prints frames, path, build id
 *   user_prog futex [N]      the same with a wait of 20 ms on a futex
 *   user_prog wait SECONDS   once, with a wait that a signal (SIGUSR1) ends before that
 *   user_prog cost N WINDOWS the chain N times, in each of WINDOWS: prints the time of one in the
 *                            best window, in nanoseconds
 *   user_prog deep N         getppid once, with N frames more
 *   user_prog copy           the same from the program's text mapped a second time, somewhere else
 *   user_prog vdso           a page fault inside the vdso
 *   user_prog hostile KIND   getppid with an invalid frame pointer
 *   user_prog hole N         getppid N times with a frame pointer into a file without memory;
 *                            prints the "blocks" of the file then, and when it was "read"
 *   user_prog leaderless SECONDS
 *                            sleeps in its second thread, the first one ends
 *   user_prog many N         getppid N times, each with its own return address, in no file
 *   user_prog threads T N    T threads, each of which calls getppid N times
 *   user_prog crowd T        T threads that call getppid once at the end of standard input; prints
 *                            "ready" when they wait for it
 *   user_prog bare [N]       as chain, but the innermost function has no frame
 *   user_prog files N UID [TIMES [SECONDS]]
 *                            getppid from N files in memory, as that user, from each in turn,
 *                            TIMES times (1); prints "mapped" and sleeps
 *   user_prog exec           prints the frames of its chain, and calls execve() from there
 *   user_prog entries        where functions of the chain begin, "entry OFFSET", outermost first
 *   user_prog fork | exit | thread_exit | sleep SECONDS | spin SECONDS
 *
 * Frames are printed as "frame OFFSET", innermost first, OFFSET as the kernel prints it.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC optimize("no-omit-frame-pointer,no-optimize-sibling-calls")

#define MAX_FRAMES 16
#define BIG_STACK (64 << 10)

struct truth {
	long call; /* the system call at the end of the chain; bare reads it */
	bool bare; /* made by bare */
	long arg[4]; /* of the call */
	struct timespec time;
	uint32_t word;
	int nr;
	uintptr_t pc[MAX_FRAMES]; /* outermost first */
};

static inline void truth__add(struct truth *t, uintptr_t pc)
{
	t->pc[t->nr++] = pc;
}

#define NOTE_CALLER(t) truth__add(t, (uintptr_t)__builtin_return_address(0))

/*
 * Returns the address after the system call.  It may run in a copy of the code far away from all
 * data.
 */
static inline uintptr_t call_here(struct truth *t)
{
	register long fourth asm("r10") = t->arg[3];
	long ret = t->call;
	uintptr_t rip;

	asm volatile("syscall"
		     : "+a"(ret), "=c"(rip)
		     : "D"(t->arg[0]), "S"(t->arg[1]), "d"(t->arg[2]), "r"(fourth)
		     : "r11", "memory");
	return rip;
}

/* A function without a frame, bare(t): the frame pointer is that of its caller. */
void bare(struct truth *t);
extern const char bare_called[];
asm(".text\n"
    ".type bare, @function\n"
    "bare:\n\t"
    "mov (%rdi), %rax\n\t"
    "syscall\n"
    "bare_called:\n\t"
    "ret\n"
    ".size bare, . - bare\n");

__attribute__((noinline)) static void leaf(struct truth *t)
{
	NOTE_CALLER(t);
	truth__add(t, call_here(t));
	asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void three(struct truth *t)
{
	NOTE_CALLER(t);
	if (t->bare) {
		bare(t);
		truth__add(t, (uintptr_t)bare_called);
	} else {
		leaf(t);
	}
	asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void two(struct truth *t)
{
	NOTE_CALLER(t);
	three(t);
	asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void one(struct truth *t)
{
	NOTE_CALLER(t);
	two(t);
	asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void deep(struct truth *t, int frames)
{
	if (frames > 0)
		deep(t, frames - 1);
	else
		two(t);
	asm volatile("" ::: "memory");
}

/* Returns false if no file is mapped there. */
static bool offset_of(uintptr_t pc, uintptr_t *ret_offset, char path[4096])
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, pgoff;
	char line[8192];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &pgoff, path) <
		    3)
			continue;
		if (pc <= start || pc > end || path[0] != '/')
			continue;
		*ret_offset = pc - start + pgoff;
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static int print_build_id(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Nhdr) * note;
	const unsigned char *p, *end;

	(void)size, (void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		p = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		end = p + info->dlpi_phdr[i].p_memsz;
		for (; p + sizeof(*note) < end; p += sizeof(*note) + ((note->n_namesz + 3) & ~3U) +
						     ((note->n_descsz + 3) & ~3U)) {
			note = (const void *)p;
			if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4)
				continue;
			printf("build_id ");
			for (unsigned int n = 0; n < note->n_descsz; n++)
				printf("%02x", p[sizeof(*note) + 4 + n]);
			printf("\n");
			return 1;
		}
	}
	return 1;
}

static int truth__print(const struct truth *t)
{
	char path[4096], first[4096] = "";
	uintptr_t offset;

	for (int i = t->nr - 1; i >= 0; i--) {
		if (!offset_of(t->pc[i], &offset, path)) {
			fprintf(stderr, "no mapping of 0x%lx\n", t->pc[i]);
			return 1;
		}
		if (!first[0])
			strcpy(first, path);
		printf("frame %016lx\n", offset);
	}
	printf("path %s\n", first);
	dl_iterate_phdr(print_build_id, NULL);
	return 0;
}

static int run_chain(long call, bool is_bare, int times)
{
	struct truth t = {
		.call = call,
		.bare = is_bare,
		.time = { .tv_nsec = 20000000 },
		.arg = { (long)&t.word, FUTEX_WAIT_PRIVATE, 0, (long)&t.time },
	};

	for (int i = 0; i < times; i++) {
		t.nr = 0;
		one(&t);
	}
	return truth__print(&t);
}

__attribute__((noinline)) static void call_chain(struct truth *t)
{
	t->nr = 0;
	one(t);
	asm volatile("" ::: "memory");
}

/* The chain is called twice, as execve() does not come back to print what it was. */
static int run_exec(char *path)
{
	char *const args[] = { path, "exit", NULL };
	struct truth t = { .call = SYS_getppid };

	call_chain(&t);
	if (truth__print(&t) || fflush(stdout))
		return 1;
	t.call = SYS_execve;
	t.arg[0] = (long)path;
	t.arg[1] = (long)args;
	call_chain(&t);
	return 1;
}

static void nothing(int sig)
{
	(void)sig;
}

static int run_wait(int seconds)
{
	struct sigaction action = { .sa_handler = nothing };
	struct truth t = {
		.call = SYS_futex,
		.time = { .tv_sec = seconds },
		.arg = { (long)&t.word, FUTEX_WAIT_PRIVATE, 0, (long)&t.time },
	};

	if (sigaction(SIGUSR1, &action, NULL))
		return 1;
	one(&t);
	return truth__print(&t);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int run_cost(int times, int windows)
{
	struct truth t = { .call = SYS_getppid };
	double best = 0, took;

	for (int i = 0; i < windows; i++) {
		took = now();
		for (int n = 0; n < times; n++) {
			t.nr = 0;
			one(&t);
		}
		took = now() - took;
		best = !i || took < best ? took : best;
	}
	printf("%.1f\n", best / times);
	return 0;
}

/* Maps the executable part of this program once more and calls the chain there. */
static int run_copy(void)
{
	unsigned long start, end, pgoff;
	void (*there)(struct truth * t);
	FILE *f = fopen("/proc/self/maps", "re");
	struct truth t = { .call = SYS_getppid };
	char line[8192];
	char *copy;
	int fd;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &pgoff) == 3 &&
		    (uintptr_t)one >= start && (uintptr_t)one < end)
			break;
	}
	if (f)
		fclose(f);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	copy = mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, pgoff);
	if (copy == MAP_FAILED)
		return 1;
	there = (void *)(copy + ((uintptr_t)one - start));
	there(&t);
	/* Tests the innermost frame: the outermost one is in main(), which is not copied. */
	printf("moved %d\n", t.pc[t.nr - 1] < start || t.pc[t.nr - 1] >= end);
	return truth__print(&t);
}

/* clock_gettime writes into a page that is not present: the fault is in the vdso. */
static int run_vdso(void)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	struct timespec *ts =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!vdso || ts == MAP_FAILED)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, ts);
	return 0;
}

/* Words that end in a shared file mapping above the stack: frames that are not in memory. */
static uintptr_t *far_words(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uintptr_t *words;

	if (fd < 0 || ftruncate(fd, BIG_STACK))
		return NULL;
	words = mmap(NULL, BIG_STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return words == MAP_FAILED ? NULL : words;
}

/* getppid with these two registers. */
static void call_on(uintptr_t sp, uintptr_t fp)
{
	uintptr_t ret;

	asm volatile("mov %%rsp, %%rbx\n\tmov %%rbp, %%r12\n\tmov %3, %%rsp\n\tmov %2, %%rbp\n\t"
		     "syscall\n\tmov %%rbx, %%rsp\n\tmov %%r12, %%rbp"
		     : "=a"(ret)
		     : "a"((long)SYS_getppid), "r"(fp), "r"(sp)
		     : "rcx", "r11", "rbx", "r12", "memory");
}

/*
 * Runs with its stack pointer at the bottom of @words.  Prints the number of frames that the kernel
 * must find, including that of the system call.
 */
static int run_hostile(const char *kind)
{
	uintptr_t *w = far_words("/tmp/user_prog.stack"), fp;
	int frames = 1, n;

	if (!w)
		return 1;
	fp = (uintptr_t)(w + 512);
	w[512] = fp;
	w[513] = (uintptr_t)run_hostile;
	if (!strcmp(kind, "loop")) {
		frames = 2; /* the frame is its own caller */
	} else if (!strcmp(kind, "down")) {
		w[512] = (uintptr_t)(w + 256);
		frames = 2;
	} else if (!strcmp(kind, "unaligned")) {
		fp += 3;
	} else if (!strcmp(kind, "noncanonical")) {
		fp = 0x1234567890abcdf0;
	} else if (!strcmp(kind, "kernel")) {
		fp = 0xffffffff81000000;
	} else if (!strcmp(kind, "edge")) {
		fp = 0x7ffffffffff8;
	} else if (!strcmp(kind, "unmapped")) {
		fp = (uintptr_t)w + (1UL << 40);
	} else if (!strcmp(kind, "kernel_return")) {
		w[513] = 0xffffffff81000000;
	} else if (!strcmp(kind, "deep")) {
		for (n = 512; n < 512 + 4 * 200; n += 4) {
			w[n] = (uintptr_t)(w + n + 4);
			w[n + 1] = (uintptr_t)run_hostile;
		}
		frames = 128;
	} else if (!strcmp(kind, "away")) {
		/* Ten frames, each in a page that is not in memory. */
		for (n = 0; n < 10; n++) {
			w[512 + 512 * n] = n < 9 ? (uintptr_t)(w + 512 + 512 * (n + 1)) : 0;
			w[513 + 512 * n] = (uintptr_t)run_hostile;
		}
		msync(w, BIG_STACK, MS_SYNC);
		madvise((char *)w + 4096, BIG_STACK - 4096, MADV_DONTNEED);
		frames = 11;
	} else {
		return 2;
	}
	printf("frames %d\n", frames);
	fflush(stdout);
	call_on((uintptr_t)(w + 64), fp);
	return 0;
}

/*
 * The frame pointer is data: an address in a shared file mapping above the stack, where the file
 * has no memory.
 */
static int run_hole(int times)
{
	int fd = memfd_create("user_prog.hole", MFD_CLOEXEC);
	struct stat st;
	char *stack;

	stack = mmap(NULL, 2 * BIG_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (fd < 0 || stack == MAP_FAILED || ftruncate(fd, BIG_STACK) ||
	    mmap(stack + BIG_STACK, BIG_STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		return 1;
	for (int i = 0; i < times; i++)
		call_on((uintptr_t)stack + BIG_STACK / 2, (uintptr_t)stack + BIG_STACK + 4096);
	if (fstat(fd, &st))
		return 1;
	printf("blocks %ld\n", (long)st.st_blocks);
	/* What a read of it takes, so that the number means something. */
	(void)*(volatile char *)(stack + BIG_STACK + 4096);
	if (fstat(fd, &st))
		return 1;
	printf("read %ld\n", (long)st.st_blocks);
	return 0;
}

/* One frame whose return address is @pc. */
static int run_many(int times)
{
	uintptr_t frame[4] = {}, ret;

	for (int i = 0; i < times; i++) {
		frame[1] = 0x100000000000 + (uintptr_t)i * 16;
		asm volatile("mov %%rbp, %%r12\n\tmov %2, %%rbp\n\tsyscall\n\tmov %%r12, %%rbp"
			     : "=a"(ret)
			     : "a"((long)SYS_getppid), "r"(frame)
			     : "rcx", "r11", "r12", "memory");
	}
	return 0;
}

/* push %rbp; mov %rsp, %rbp; mov $SYS_getppid, %eax; syscall; pop %rbp; ret */
static const unsigned char stub[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, SYS_getppid, 0,
				      0,    0,	  0x0f, 0x05, 0x5d, 0xc3 };

typedef void (*code_t)(void);

static code_t map_stub(int nr)
{
	char name[200];
	void *code;
	int fd;

	snprintf(name, sizeof(name), "user_prog.%0180d", nr);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || write(fd, stub, sizeof(stub)) != sizeof(stub))
		return NULL;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return code == MAP_FAILED ? NULL : (code_t)code;
}

static int run_files(int files, int uid, int times, int seconds)
{
	code_t *code = calloc(files, sizeof(*code));

	if (!code || (uid && setresuid(uid, uid, uid)))
		return 1;
	for (int i = 0; i < files; i++) {
		code[i] = map_stub(i);
		if (!code[i])
			return 1;
	}
	printf("mapped\n");
	fflush(stdout);
	for (int i = 0; i < times * files; i++)
		code[i % files]();
	sleep(seconds);
	return 0;
}

static int print_entries(void)
{
	void (*functions[])(struct truth *) = { one, two, three, leaf, bare };
	uintptr_t offset;
	char path[4096];

	for (int i = 0; i < 5; i++) {
		if (!offset_of((uintptr_t)functions[i], &offset, path))
			return 1;
		printf("entry %lx\n", offset);
	}
	return 0;
}

/* A thread that ends from inside of the chain, while the process goes on. */
static void *ending_thread(void *arg)
{
	struct truth t = { .call = SYS_exit };

	(void)arg;
	two(&t);
	return NULL;
}

static int run_thread_exit(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, ending_thread, NULL))
		return 1;
	pthread_join(id, NULL);
	return 0;
}

static void *sleeping_thread(void *arg)
{
	sleep(*(int *)arg);
	exit(0);
}

/* Only this thread ends, and its stack stays. */
static int run_leaderless(int seconds)
{
	pthread_t id;

	if (pthread_create(&id, NULL, sleeping_thread, &seconds))
		return 1;
	return syscall(SYS_exit, 0);
}

static int thread_times;

static void *thread(void *arg)
{
	struct truth t = { .call = SYS_getppid };

	(void)arg;
	for (int i = 0; i < thread_times; i++) {
		t.nr = 0;
		two(&t);
	}
	return NULL;
}

static int run_threads(int threads, int times)
{
	pthread_t *ids = calloc(threads, sizeof(*ids));

	thread_times = times;
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, thread, NULL))
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static pthread_barrier_t crowd_called;
static atomic_int crowd_waiting;

/* Each keeps what it has until all have called. */
static void *crowd_thread(void *arg)
{
	struct truth t = { .call = SYS_getppid };
	char c;

	(void)arg;
	two(&t); /* its memory is there then */
	atomic_fetch_add(&crowd_waiting, 1);
	t.nr = 0;
	while (read(0, &c, 1) > 0)
		;
	two(&t);
	pthread_barrier_wait(&crowd_called);
	return NULL;
}

static int run_crowd(int threads)
{
	pthread_t *ids = calloc(threads, sizeof(*ids));

	pthread_barrier_init(&crowd_called, NULL, threads);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, crowd_thread, NULL))
			return 1;
	}
	while (atomic_load(&crowd_waiting) < threads)
		usleep(10000);
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static int run_fork(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			struct truth t = { .call = SYS_getppid };

			two(&t);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* All at once: system calls, faults, signals, forks. */
static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	struct truth t = { .call = SYS_getppid };

	(void)sig;
	ticks++;
	two(&t);
}

static int run_spin(int seconds)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	time_t until = time(NULL) + seconds;
	struct truth t = { .call = SYS_getppid };

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	while (time(NULL) < until) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		t.nr = 0;
		one(&t);
		*page = 1;
		munmap(page, 4096);
		usleep(100);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	if (!strcmp(what, "chain"))
		return run_chain(SYS_getppid, false, n);
	if (!strcmp(what, "futex"))
		return run_chain(SYS_futex, false, n);
	if (!strcmp(what, "wait"))
		return run_wait(n);
	if (!strcmp(what, "cost"))
		return run_cost(n, argc > 3 ? atoi(argv[3]) : 1);
	if (!strcmp(what, "bare"))
		return run_chain(SYS_getppid, true, n);
	if (!strcmp(what, "deep")) {
		deep(&(struct truth){ .call = SYS_getppid }, n);
		return 0;
	}
	if (!strcmp(what, "copy"))
		return run_copy();
	if (!strcmp(what, "vdso"))
		return run_vdso();
	if (!strcmp(what, "hostile"))
		return run_hostile(argc > 2 ? argv[2] : "");
	if (!strcmp(what, "hole"))
		return run_hole(n);
	if (!strcmp(what, "leaderless"))
		return run_leaderless(n);
	if (!strcmp(what, "many"))
		return run_many(n);
	if (!strcmp(what, "threads"))
		return run_threads(n, argc > 3 ? atoi(argv[3]) : 1);
	if (!strcmp(what, "crowd"))
		return run_crowd(n);
	if (!strcmp(what, "files"))
		return run_files(n, argc > 3 ? atoi(argv[3]) : 0, argc > 4 ? atoi(argv[4]) : 1,
				 argc > 5 ? atoi(argv[5]) : 0);
	if (!strcmp(what, "entries"))
		return print_entries();
	if (!strcmp(what, "thread_exit"))
		return run_thread_exit();
	if (!strcmp(what, "fork"))
		return run_fork();
	if (!strcmp(what, "spin"))
		return run_spin(n);
	if (!strcmp(what, "exec"))
		return run_exec(argv[0]);
	if (!strcmp(what, "exit"))
		_exit(0);
	if (!strcmp(what, "sleep"))
		return sleep(n);
	fprintf(stderr, "user_prog: unknown command; see the comment at its top\n");
	return 2;
}
