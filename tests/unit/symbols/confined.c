// SPDX-License-Identifier: GPL-2.0-only
/*
 * The child that reads DWARF, after a hostile file has taken control of it: the stand-in for libdw
 * tries what an attacker would. confined [--as-user]: first becomes an ordinary user, if it is
 * root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/debug_file.h"
#include "symbols/line_reader.h"

#define USER 1000
#define SECRET "SECRET_OF_THE_TEST"

static struct {
	pid_t parent;
	int file, other_file; /* the child's file, and one that it must not have */
	char dir[32], fifo[64], written[64];
	const char *secret;
	char value[16]; /* memory of the parent */
	char stack[4096];
} t = { .value = "value" };

/* ---- attempts of the child ------------------------------------------------------------------- */

static long try_open(void)
{
	return open("/etc/shadow", O_RDONLY);
}

static long try_open_public(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static long try_open_program(void)
{
	return open("/proc/self/exe", O_RDONLY);
}

static long try_fifo(void)
{
	return open(t.fifo, O_RDONLY | O_NONBLOCK);
}

static long try_write(void)
{
	return open(t.written, O_WRONLY | O_CREAT, 0600);
}

static long try_openat2(void)
{
	uint64_t how[3] = { O_RDONLY };

	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", how, sizeof(how));
}

static long try_stat(void)
{
	struct stat st;

	return stat("/etc/passwd", &st);
}

static long try_unlink(void)
{
	return unlink(t.fifo);
}

static long try_inet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long try_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long try_trace(void)
{
	return ptrace(PTRACE_SEIZE, t.parent, NULL, NULL);
}

static long try_read_parent(void)
{
	char copy[sizeof(t.value)];
	struct iovec from = { t.value, sizeof(t.value) }, to = { copy, sizeof(copy) };

	return process_vm_readv(t.parent, &to, 1, &from, 1, 0);
}

static long try_signal(void)
{
	return kill(t.parent, 0);
}

static long try_root(void)
{
	return setuid(0);
}

static long try_same_user(void)
{
	return setuid(geteuid());
}

static long try_groups(void)
{
	return setgroups(1, &(gid_t){ 0 });
}

static long try_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid;
}

static int thread_main(void *arg)
{
	return 0;
}

static long try_thread(void)
{
	return clone(thread_main, t.stack + sizeof(t.stack), CLONE_VM, NULL);
}

static long try_exec(void)
{
	return execl("/bin/true", "true", NULL);
}

static long try_2_gib(void)
{
	void *p =
		mmap(NULL, 2ULL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static long try_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static long try_to_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static long try_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long try_limits(void)
{
	struct rlimit none = { 0 };

	return prlimit(t.parent, RLIMIT_NOFILE, NULL, &none);
}

static long try_unshare(void)
{
	return unshare(CLONE_NEWUSER);
}

static long try_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static long try_ring(void)
{
	char params[120] = { 0 };

	return syscall(SYS_io_uring_setup, 1, params);
}

static long try_other_file(void)
{
	return fcntl(t.other_file, F_GETFD);
}

static long try_stderr(void)
{
	return write(STDERR_FILENO, "", 0);
}

static long try_owner(void)
{
	return fcntl(t.file, F_SETOWN, t.parent);
}

static long try_secret(void)
{
	errno = ENOENT;
	return *t.secret || getenv(SECRET) ? 0 : -1;
}

/* clang-format off */
static const struct attempt {
	const char *name;
	long (*try)(void); /* < 0 and errno: refused */
} attempts[] = {
	{ "open /etc/shadow", try_open }, { "open /etc/passwd", try_open_public },
	{ "open the program", try_open_program }, { "open a FIFO", try_fifo },
	{ "write a file", try_write }, { "openat2", try_openat2 }, { "stat", try_stat },
	{ "unlink", try_unlink }, { "Internet socket", try_inet }, { "Unix socket", try_unix },
	{ "ptrace", try_trace }, { "process_vm_readv", try_read_parent }, { "kill", try_signal },
	{ "setuid(0)", try_root }, { "setuid(own)", try_same_user }, { "setgroups", try_groups },
	{ "fork", try_fork }, { "thread", try_thread }, { "exec", try_exec },
	{ "2 GiB", try_2_gib }, { "map code", try_code }, { "make code", try_to_code },
	{ "be dumpable", try_dumpable }, { "prlimit of the parent", try_limits },
	{ "unshare", try_unshare }, { "bpf", try_bpf }, { "io_uring", try_ring },
	{ "another file of the parent", try_other_file }, { "stderr", try_stderr },
	{ "F_SETOWN", try_owner }, { "the environment", try_secret },
};
/* clang-format on */

#define NR_ATTEMPTS (sizeof(attempts) / sizeof(*attempts))

enum { ASK_FILE = 1000, ASK_ALLOC, ASK_ABORT, ASK_LIES, ASK_FLOOD, ASK_32_BIT };

static long use_file(void)
{
	struct stat st;
	char c;

	return fstat(t.file, &st) || pread(t.file, &c, 1, 0) != 1 ||
			       mmap(NULL, 1, PROT_READ, MAP_PRIVATE, t.file, 0) == MAP_FAILED ?
		       -1 :
		       0;
}

/* The socket to the parent, the only open one. */
static int find_socket(void)
{
	int fd = 0;
	char c;

	while (fd < 1000 && recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno != EAGAIN)
		fd++;
	return fd;
}

static void send_invalid(int nr, const char *text, size_t len)
{
	while (nr--)
		send(find_socket(), text, len, 0);
}

static long misbehave(uint64_t what)
{
	void *p;

	switch (what) {
	case ASK_FILE:
		return use_file();
	case ASK_ALLOC:
		p = malloc(256 << 20);
		return p ? (memset(p, 1, 256 << 20), free(p), 0) : -1;
	case ASK_ABORT:
		abort();
	case ASK_LIES:
		send_invalid(1, "what is this?", 13);
		return 0;
	case ASK_FLOOD:
		send_invalid(100, "o/etc/passwd", 12);
		return 0;
	case ASK_32_BIT:
#ifdef __x86_64__
		__asm__ volatile("int $0x80" ::"a"(20L /* getpid */)
				 : "memory", "r8", "r9", "r10", "r11");
#else
		abort();
#endif
		return 0;
	default:
		return attempts[what].try();
	}
}

struct dwarf_lines {
	int fd;
};

struct dwarf_lines *dwarf_lines__new(int fd, int alt_fd)
{
	static struct dwarf_lines d;

	d.fd = fd;
	return &d;
}

/* The line is 0 if the attempt succeeded, else the error. */
unsigned int dwarf_lines__find(struct dwarf_lines *d, uint64_t what, struct usyms_line *ret_lines,
			       unsigned int max)
{
	ret_lines[0].source = NULL;
	ret_lines[0].function = "tried";
	ret_lines[0].line = misbehave(what) < 0 ? errno : 0;
	return 1;
}

/* ---- results --------------------------------------------------------------------------------- */

static struct line_reader *new_reader(void)
{
	static const char *const none[] = { NULL };
	static const struct debug_dirs dirs = { .sysroot = "", .dirs = none };
	struct line_reader *r;

	assert_int_equal(line_reader__new(&dirs, t.file, -1, &r), 0);
	return r;
}

/* Returns the error; -1: the child is gone. */
static int ask(struct line_reader *r, uint64_t what)
{
	struct usyms_line line;
	int nr = line_reader__find(r, what, &line, 1);

	if (nr == -EIO)
		return -1;
	assert_int_equal(nr, 1);
	assert_string_equal(line.function, "tried");
	return line.line;
}

static void test_refused(void **state)
{
	struct line_reader *r = new_reader();
	unsigned int possible = 0;

	for (size_t i = 0; i < NR_ATTEMPTS; i++) {
		int err = ask(r, i);

		if (err > 0)
			continue;
		print_message("%s: %s\n", attempts[i].name, err ? "the child is gone" : "possible");
		possible++;
		if (err) {
			line_reader__free(r);
			r = new_reader();
		}
	}
	line_reader__free(r);
	assert_int_equal(possible, 0);
	assert_int_equal(access(t.written, F_OK), -1);
	assert_int_equal(access(t.fifo, F_OK), 0);
}

static void test_allowed(void **state)
{
	struct line_reader *r = new_reader();

	assert_int_equal(ask(r, ASK_FILE), 0);
	assert_int_equal(ask(r, ASK_ALLOC), 0);
	assert_int_equal(ask(r, ASK_FILE), 0);
	line_reader__free(r);
}

/* If the child dies or sends invalid data, only its answer is missing. */
static void test_gone(void **state)
{
	static const int ways[] = { ASK_ABORT, ASK_LIES, ASK_FLOOD, ASK_32_BIT };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct line_reader *r = new_reader();

		assert_int_equal(ask(r, ASK_FILE), 0);
		assert_int_equal(ask(r, ways[i]), -1);
		assert_int_equal(ask(r, ASK_FILE), -1);
		line_reader__free(r);
		r = new_reader();
		assert_int_equal(ask(r, ASK_FILE), 0);
		line_reader__free(r);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A line of /proc/PID/status. */
static void expect_status(int pid, const char *key, const char *value)
{
	char path[40], line[200], rest[200] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			snprintf(rest, sizeof(rest), "%s", line + strlen(key) + 1);
	}
	fclose(f);
	rest[strcspn(rest, "\n")] = '\0';
	assert_string_equal(rest + strspn(rest, "\t "), value);
}

static int child_pid(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	int pid = 0;

	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

static void test_status(void **state)
{
	struct line_reader *r = new_reader();
	char ids[80];
	int pid;

	assert_int_equal(ask(r, ASK_FILE), 0);
	pid = child_pid();
	if (!pid) {
		print_message("/proc/thread-self/children does not have the child's PID\n");
		line_reader__free(r);
		skip();
	}
	expect_status(pid, "NoNewPrivs", "1");
	expect_status(pid, "Seccomp", "2");
	expect_status(pid, "CapPrm", "0000000000000000");
	expect_status(pid, "CapEff", "0000000000000000");
	if (!geteuid()) {
		expect_status(pid, "Uid", "65534\t65534\t65534\t65534");
		expect_status(pid, "Gid", "65534\t65534\t65534\t65534");
		expect_status(pid, "Groups", "");
	} else {
		snprintf(ids, sizeof(ids), "%u\t%u\t%u\t%u", getuid(), geteuid(), geteuid(),
			 geteuid());
		expect_status(pid, "Uid", ids);
	}
	line_reader__free(r);
	assert_int_equal(child_pid(), 0);
}

/* A process that asks a child, and passes the socket to another process when it ends. */
static void be_parent(int report, int until)
{
	int pid;

	ask(new_reader(), ASK_FILE);
	pid = child_pid();
	if (!fork())
		_exit(read(until, &pid, sizeof(pid)));
	_exit(write(report, &pid, sizeof(pid)) != sizeof(pid));
}

static void test_orphan(void **state)
{
	int report[2], until[2], pid, parent, tries;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	assert_int_equal(pipe2(until, O_CLOEXEC), 0);
	parent = fork();
	if (!parent) {
		close(until[1]);
		be_parent(report[1], until[0]);
	}
	close(report[1]);
	close(until[0]);
	assert_int_equal(read(report[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	for (tries = 0; tries < 1000 && waitpid(pid, NULL, WNOHANG) != pid; tries++)
		usleep(10000);
	assert_true(tries < 1000);
	close(report[0]);
	close(until[1]);
	assert_true(waitpid(-1, NULL, 0) > 0);
}

static int setup(void **state)
{
	snprintf(t.dir, sizeof(t.dir), "/tmp/stackonce-test.XXXXXX");
	if (!mkdtemp(t.dir))
		return -1;
	snprintf(t.fifo, sizeof(t.fifo), "%s/fifo", t.dir);
	snprintf(t.written, sizeof(t.written), "%s/written", t.dir);
	t.parent = getpid();
	t.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	t.other_file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	setenv(SECRET, "hidden", 1);
	t.secret = getenv(SECRET);
	return t.file < 0 || t.other_file < 0 || mkfifo(t.fifo, 0600) ? -1 : 0;
}

static int teardown(void **state)
{
	unlink(t.fifo);
	unlink(t.written);
	return rmdir(t.dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_gone),	cmocka_unit_test(test_status),
		cmocka_unit_test(test_orphan),
	};

	if (argc > 1 && !geteuid() &&
	    (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER)))
		return 1;
	return cmocka_run_group_tests(tests, setup, teardown);
}
