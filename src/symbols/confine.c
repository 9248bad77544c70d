// SPDX-License-Identifier: GPL-2.0-only
/* Drops the rights of a child process, with a hand-written seccomp filter. */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch_calls.h"
#include "cleanup.h"

#define OVERFLOW_ID 65534 /* nobody, nogroup */
#define MAX_KEPT 8
#define MAX_NEW_FDS 16 /* open at a time, beside those that stay open */

/* ---- system calls ---------------------------------------------------------------------------- */

/*
 * The allowed calls, beside those in the vDSO: for non-executable memory, the open files and
 * socket, and exit.  All others fail with EPERM, so that a C library that tries a new call and
 * falls back to an old one keeps working.
 */
static const int allowed[] = {
	SYS_read,      SYS_pread64,	 SYS_lseek,	     SYS_fstat,		SYS_close,
	SYS_sendto,    SYS_recvfrom,	 SYS_recvmsg,	     SYS_brk,		SYS_mremap,
	SYS_munmap,    SYS_madvise,	 SYS_futex,	     SYS_exit,		SYS_exit_group,
	SYS_getrandom, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_clock_gettime,
};

static const int trapped[] = {
#ifdef SYS_open
	SYS_open,   SYS_readlink,
#endif
	SYS_openat, SYS_readlinkat, SYS_newfstatat,
};

/* Calls allowed only if an argument has none of these bits. */
static const struct restricted {
	int call, arg;
	uint32_t refused;
} restricted[] = {
	{ SYS_mmap, 2, PROT_EXEC },
	{ SYS_mprotect, 2, PROT_EXEC },
	{ SYS_fcntl, 1, ~(uint32_t)(F_DUPFD | F_GETFD) },
};

#define MAX_FILTER \
	(8 + 2 * (ARRAY_SIZE(allowed) + ARRAY_SIZE(trapped)) + 5 * ARRAY_SIZE(restricted))

static void put_op(struct sock_fprog *p, uint16_t code, uint32_t k)
{
	p->filter[p->len++] = (struct sock_filter)BPF_STMT(code, k);
}

/* Skips the next `skip` instructions unless the loaded value compares this way with k. */
static void put_unless(struct sock_fprog *p, uint16_t how, uint32_t k, uint8_t skip)
{
	p->filter[p->len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, k, 0, skip);
}

static void put_load(struct sock_fprog *p, size_t offset)
{
	put_op(p, BPF_LD | BPF_W | BPF_ABS, offset);
}

static void put_calls(struct sock_fprog *p, const int *calls, size_t nr, uint32_t action)
{
	for (size_t i = 0; i < nr; i++) {
		put_unless(p, BPF_JEQ, calls[i], 1);
		put_op(p, BPF_RET | BPF_K, action);
	}
}

/* The kernel only looks at the low half of these arguments. */
static void put_restricted(struct sock_fprog *p, const struct restricted *r)
{
	put_unless(p, BPF_JEQ, r->call, 4);
	put_load(p, offsetof(struct seccomp_data, args) + r->arg * sizeof(uint64_t));
	put_unless(p, BPF_JSET, r->refused, 1);
	put_op(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	put_op(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

static int install_filter(void)
{
	struct sock_filter filter[MAX_FILTER];
	struct sock_fprog p = { .filter = filter };

	put_load(&p, offsetof(struct seccomp_data, arch));
	put_unless(&p, BPF_JEQ, ARCH_CALLS_AUDIT, 1);
	put_op(&p, BPF_JMP | BPF_JA, 1);
	put_op(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	put_load(&p, offsetof(struct seccomp_data, nr));
	put_unless(&p, BPF_JGE, ARCH_CALLS_END, 1);
	put_op(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	put_calls(&p, allowed, ARRAY_SIZE(allowed), SECCOMP_RET_ALLOW);
	put_calls(&p, trapped, ARRAY_SIZE(trapped), SECCOMP_RET_TRAP);
	for (size_t i = 0; i < ARRAY_SIZE(restricted); i++)
		put_restricted(&p, &restricted[i]);
	put_op(&p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return -errno;
	return 0;
}

/* ---- trapped calls --------------------------------------------------------------------------- */

static struct confine confined;

/* fstat(3) of an open file is newfstatat(2) with an empty path; any other path is refused. */
static long trapped_stat(int fd, const char *path, struct stat *st, int flags)
{
	if (!(flags & AT_EMPTY_PATH) || *path)
		return -ENOENT;
	return syscall(SYS_fstat, fd, st) ? -errno : 0; /* fstat(3) would trap again */
}

static long trapped_call(int call, const ucontext_t *context)
{
	/* The *at() forms of a call have one more argument. */
	unsigned int path = call == SYS_openat || call == SYS_readlinkat;

	switch (call) {
	case SYS_newfstatat:
		return trapped_stat(arch_calls__arg(context, 0),
				    (const char *)arch_calls__arg(context, 1),
				    (struct stat *)arch_calls__arg(context, 2),
				    arch_calls__arg(context, 3));
#ifdef SYS_open
	case SYS_open:
#endif
	case SYS_openat:
		return confined.open((const char *)arch_calls__arg(context, path));
	default:
		return confined.readlink((const char *)arch_calls__arg(context, path),
					 (char *)arch_calls__arg(context, path + 1),
					 arch_calls__arg(context, path + 2));
	}
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	arch_calls__set_result(context, trapped_call(info->si_syscall, context));
	errno = saved;
}

static void reset_signals(void)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigaction(SIGSYS, &trap, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- files, memory, user --------------------------------------------------------------------- */

static int fd_compare(const void *pa, const void *pb)
{
	int a = *(const int *)pa, b = *(const int *)pb;

	return CMP(a, b);
}

/* Returns the last descriptor that stays open, plus 1. */
static unsigned int close_others(const struct confine *c)
{
	unsigned int from = 0;
	int keep[MAX_KEPT];

	memcpy(keep, c->fds, c->nr_fds * sizeof(*keep));
	qsort(keep, c->nr_fds, sizeof(*keep), fd_compare);
	for (size_t i = 0; i < c->nr_fds; i++) {
		if (keep[i] < 0)
			continue;
		if (keep[i] > (int)from)
			close_range(from, keep[i] - 1, 0);
		from = keep[i] + 1;
	}
	close_range(from, ~0U, 0);
	return from;
}

/* Bytes mapped already, inherited from the parent. */
static uint64_t mapped_bytes(void)
{
	_cleanup_fclose_ FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!statm || fscanf(statm, "%llu", &pages) != 1)
		pages = 0;
	return pages * sysconf(_SC_PAGESIZE);
}

static int limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	limit.rlim_max = MIN(limit.rlim_max, value);
	limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
	return setrlimit(resource, &limit) ? -errno : 0;
}

static int limit_all(const struct confine *c, uint64_t mapped, unsigned int fds_end)
{
	int err = limit(RLIMIT_AS, mapped + c->memory);

	err = err ?: limit(RLIMIT_CPU, c->cpu_seconds);
	err = err ?: limit(RLIMIT_NOFILE, fds_end + MAX_NEW_FDS);
	err = err ?: limit(RLIMIT_FSIZE, 0);
	err = err ?: limit(RLIMIT_NPROC, 0);
	return err ?: limit(RLIMIT_CORE, 0);
}

/* Clears the strings themselves, as the child has a copy of the parent's memory. */
static void wipe_environment(void)
{
	for (char **variable = environ; variable && *variable; variable++)
		explicit_bzero(*variable, strlen(*variable));
	environ = NULL;
}

static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* In a user namespace without this user the capabilities are dropped nevertheless. */
	if (!geteuid()) {
		setgroups(0, NULL);
		if (setresgid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID) ||
		    setresuid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID))
			errno = 0;
	}
	syscall(SYS_capset, &head, none);
}

int confine__self(const struct confine *c)
{
	uint64_t mapped = mapped_bytes();
	unsigned int fds_end;
	int err;

	if (c->nr_fds > MAX_KEPT)
		return -EINVAL;
	confined = *c;
	reset_signals();
	fds_end = close_others(c);
	wipe_environment();
	drop_rights();
	err = limit_all(c, mapped, fds_end);
	/* Changing the user resets both. */
	if (!err && (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL)))
		err = -errno;
	if (!err && getppid() != c->parent)
		err = -ESRCH;
	return err ?: install_filter();
}
