// SPDX-License-Identifier: GPL-2.0-only
/* The workload: children that make system calls of many kinds and call a probed function. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "filter_same.h"

#define UPROBES "/sys/kernel/tracing/uprobe_events"

const char *const workload_comms[NR_CHILDREN + 1] = { "alpha", "beta[1]*x", "fifteen_chars_x",
						      NULL };

/* Moved before the first child starts: the parent reads them at the addresses in the records. */
static const char *strings[] = {
	"",
	"a",
	"abc",
	"abcdef",
	"foo bar",
	"*",
	"a[b]c",
	"/etc/passwd",
	"0123",
	"\xc3\xa9t\xe9",
	"abcabcabd",
	"x!y",
	"abcdefghijk",
	"abcdefghijkl",
	"abcdefghijkm",
	"long string of more than sixty-four bytes, so that no buffer is quite right for it",
	"1abc*",
};

static const char *paths[] = {
	"/etc/passwd",
	"/proc/self/stat",
	"/nonexistent",
	"/",
};

static void pin(const char **texts, size_t nr, char **memory, size_t *left)
{
	size_t i, len;

	for (i = 0; i < nr; i++) {
		len = strlen(texts[i]) + 1;
		if (len > *left)
			errx(1, "no room for the strings");
		texts[i] = memcpy(*memory, texts[i], len);
		*memory += len;
		*left -= len;
	}
}

void workload__pin_strings(char *memory, size_t size)
{
	pin(strings, ARRAY_SIZE(strings), &memory, &size);
	pin(paths, ARRAY_SIZE(paths), &memory, &size);
}

__attribute__((noinline)) void filter_same_probed(const struct probe_args *args);
__attribute__((noinline)) void filter_same_probed(const struct probe_args *args)
{
	__asm__ volatile("" : : "r"(args) : "memory");
}

static char probe_group[32];
static unsigned int nr_probes;

static bool put_probe(const char *text)
{
	_cleanup_close_ int fd = open(UPROBES, O_WRONLY | O_APPEND | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uintptr_t at = (uintptr_t)filter_same_probed;
	unsigned long *ret = ctx;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && at >= start && at < start + p->p_filesz) {
			*ret = at - start + p->p_offset;
			return 1;
		}
	}
	return 0;
}

#ifdef __aarch64__
#define REG "%x0"
#else
#define REG "%di"
#endif

static bool define_one(unsigned int nr, const char *self, unsigned long offset)
{
	static const char args[] =
		"u8v=+0(" REG "):u8 s8v=+1(" REG "):s8 u16v=+2(" REG "):u16 s16v=+4(" REG "):s16 "
		"u32v=+8(" REG "):u32 s32v=+12(" REG "):s32 u64v=+16(" REG "):u64 "
		"s64v=+24(" REG "):s64 hex=+8(" REG "):x32 str=+0(+32(" REG ")):string "
		"cpu=+0(" REG "):u8 ptr=+40(" REG "):u64 arr=+48(" REG "):u8[4] "
		"two=+48(" REG "):u16[3]";
	char text[1024];

	snprintf(text, sizeof(text), "p:%s/probe%u %s:0x%lx %s\n", probe_group, nr, self, offset,
		 args);
	return put_probe(text);
}

bool probes__define(unsigned int nr, const char **ret_system)
{
	char self[256] = "";
	unsigned long offset = 0;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    !dl_iterate_phdr(find_offset, &offset))
		return false;
	snprintf(probe_group, sizeof(probe_group), "stackonce_%d", getpid());
	for (nr_probes = 0; nr_probes < nr; nr_probes++) {
		if (!define_one(nr_probes, self, offset))
			return false;
	}
	*ret_system = probe_group;
	return true;
}

void probes__undefine(void)
{
	char text[128];

	while (nr_probes) {
		snprintf(text, sizeof(text), "-:%s/probe%u\n", probe_group, --nr_probes);
		if (!put_probe(text))
			warnx("a uprobe event of %s could not be removed", probe_group);
	}
}

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 16;
}

/* Small numbers often, and the limits of ranges. */
static uint64_t some_value(uint64_t *state)
{
	static const uint64_t edges[] = { 0,
					  1,
					  0x7f,
					  0x80,
					  0xff,
					  0x7fff,
					  0x8000,
					  0xffff,
					  0x7fffffff,
					  0x80000000,
					  0xffffffff,
					  INT64_MAX,
					  (uint64_t)INT64_MIN,
					  UINT64_MAX };

	switch (next(state) % 4) {
	case 0:
		return edges[next(state) % ARRAY_SIZE(edges)];
	case 1:
		return next(state) % 8;
	case 2:
		return -(next(state) % 8);
	default:
		return next(state) << 32 ^ next(state);
	}
}

static void call_probed(uint64_t *state)
{
	struct probe_args args = {
		.u8 = some_value(state),
		.s8 = some_value(state),
		.u16 = some_value(state),
		.s16 = some_value(state),
		.u32 = some_value(state),
		.s32 = some_value(state),
		.u64 = some_value(state),
		.s64 = some_value(state),
	};
	uint64_t arr = some_value(state);
	const char *s = strings[next(state) % ARRAY_SIZE(strings)];

	memcpy(args.arr, &arr, sizeof(args.arr));
	args.str = s;
	args.ustr = s;
	filter_same_probed(&args);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void files_work(uint64_t *state)
{
	const char *path = paths[next(state) % ARRAY_SIZE(paths)];
	struct pollfd p = { .events = POLLIN };
	char buf[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	access(path, R_OK);
	if (fd < 0)
		return;
	if (read(fd, buf, next(state) % sizeof(buf)) < 0)
		p.events = 0;
	lseek(fd, next(state) % 100, SEEK_SET);
	p.fd = fd;
	poll(&p, 1, 0);
	close(fd);
}

static void memory_work(uint64_t *state)
{
	size_t len = (1 + next(state) % 16) * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	p[next(state) % len] = 1;
	mprotect(p, 4096, PROT_READ);
	munmap(p, len);
}

static void sockets_work(uint64_t *state)
{
	int pair[2];
	char c = next(state);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	if (write(pair[0], &c, 1) == 1 && read(pair[1], &c, 1) != 1)
		c = 0;
	close(pair[0]);
	close(pair[1]);
}

static void one_piece(uint64_t *state, int null, const char *comm)
{
	struct timespec pause = { 0, 1000 + next(state) % 50000 };
	char c = 0;

	switch (next(state) % 11) {
	case 0:
		files_work(state);
		break;
	case 1:
		memory_work(state);
		break;
	case 2:
		sockets_work(state);
		break;
	case 3:
		kill(getpid(), next(state) % 2 ? SIGUSR1 : 0);
		break;
	case 4:
		nanosleep(&pause, NULL);
		break;
	case 5:
		sched_yield();
		break;
	case 6:
		if (write(null, &c, next(state) % 2) < 0)
			c = 1;
		break;
	case 7:
		prctl(PR_SET_NAME, comm); /* task_rename has fixed strings */
		break;
	default:
		call_probed(state);
	}
}

static void __attribute__((noreturn)) child(int nr, int go, int done, uint64_t state)
{
	unsigned int rounds;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, workload_comms[nr]);
	signal(SIGUSR1, on_signal);
	while (read(go, &rounds, sizeof(rounds)) == sizeof(rounds)) {
		while (rounds--)
			one_piece(&state, null, workload_comms[nr]);
		if (write(done, "x", 1) != 1)
			break;
	}
	_exit(0);
}

void workload__start(struct workload *w, uint64_t seed)
{
	int i, go[2], done[2];

	for (i = 0; i < NR_CHILDREN; i++) {
		if (pipe2(go, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
			err(1, "pipe");
		w->pids[i] = fork();
		if (w->pids[i] < 0)
			err(1, "fork");
		if (!w->pids[i]) {
			close(go[1]);
			close(done[0]);
			child(i, go[0], done[1], seed + i);
		}
		close(go[0]);
		close(done[1]);
		w->go[i] = go[1];
		w->done[i] = done[0];
	}
}

/* Whether it has left its CPU in read(2): its state changes before the switch. */
static bool sleeps(int pid)
{
	char path[64], text[256] = "", want[32];
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	snprintf(want, sizeof(want), "%d ", SYS_read);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		err(1, "%s", path);
	return !strncmp(text, want, strlen(want));
}

void workload__run(struct workload *w, unsigned int rounds)
{
	struct timespec pause = { 0, 2000000 };
	char c;
	int i;

	for (i = 0; i < NR_CHILDREN; i++) {
		if (write(w->go[i], &rounds, sizeof(rounds)) != sizeof(rounds))
			err(1, "a child of the workload is gone");
	}
	for (i = 0; i < NR_CHILDREN; i++) {
		if (read(w->done[i], &c, 1) != 1)
			errx(1, "a child of the workload is gone");
	}
	for (i = 0; i < NR_CHILDREN; i++) {
		while (!sleeps(w->pids[i]))
			nanosleep(&pause, NULL);
	}
}

void workload__stop(struct workload *w)
{
	int i;

	for (i = 0; i < NR_CHILDREN; i++) {
		kill(w->pids[i], SIGKILL);
		close(w->go[i]);
		waitpid(w->pids[i], NULL, 0);
		close(w->done[i]);
	}
}

const char *workload__comm(const struct workload *w, int pid)
{
	int i;

	for (i = 0; i < NR_CHILDREN; i++) {
		if (w->pids[i] == pid)
			return workload_comms[i];
	}
	return NULL;
}
