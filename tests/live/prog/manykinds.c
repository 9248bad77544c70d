/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manykinds DIRECTORY: does a little of everything, so that many different tracepoints fire.  Works
 * in DIRECTORY and in new namespaces; skips what the kernel refuses.
 */
#include "prog.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* in 6.1, but not in the headers of Debian 12 */
#endif

static char buf[1 << 16];

/* The result of a call is ignored; only the call matters. */
static void did(long answer)
{
	(void)answer;
}

static void do_files(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 10 };
	int fd = open("a file", O_CREAT | O_RDWR | O_TRUNC, 0640), dir, out;

	for (int i = 0; i < 8; i++)
		did(write(fd, buf, sizeof(buf)));
	did(fsync(fd));
	did(fcntl(fd, F_SETLK, &lock));
	did(flock(fd, LOCK_EX));
	did(fcntl(fd, F_SETLEASE, F_WRLCK));
	did(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 8192));
	did(fallocate(fd, FALLOC_FL_ZERO_RANGE, 32768, 8192));
	did(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 65536, 65536));
	did(fallocate(fd, FALLOC_FL_INSERT_RANGE, 65536, 65536));
	did(fsetxattr(fd, "user.name", "value", 5, 0));
	did(pwrite(fd, "x", 1, 1 << 20));
	did(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	did(fdatasync(fd));
	did(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	did(readahead(fd, 0, 65536));
	did(pread(fd, buf, 4096, 0));
	did(ftruncate(fd, 12345));
	did(fchmod(fd, 0600));
	out = open("copy", O_CREAT | O_RDWR, 0600);
	did(sendfile(out, fd, NULL, 4096));
	did(copy_file_range(fd, NULL, out, NULL, 4096, 0));
	close(out);
	out = open("direct", O_CREAT | O_RDWR | O_DIRECT, 0600);
	did(write(out, (void *)(((uintptr_t)buf + 4095) & ~4095ul), 8192));
	did(pread(out, (void *)(((uintptr_t)buf + 4095) & ~4095ul), 4096, 0));
	close(out);
	close(fd);
	did(rename("a file", "b\nfile"));
	did(link("b\nfile", "hard"));
	did(symlink("hard", "soft"));
	did(readlink("soft", buf, 100));
	did(mkdir("dir", 0700));
	dir = open("dir", O_RDONLY | O_DIRECTORY);
	did(syscall(SYS_getdents64, dir, buf, 4096));
	did(fsync(dir));
	close(dir);
	did(mknod("fifo", S_IFIFO | 0600, 0));
	did(access("no such file", R_OK));
	did(unlink("soft"));
	did(unlink("hard"));
	did(unlink("b\nfile"));
	did(unlink("copy"));
	did(unlink("direct"));
	did(unlink("fifo"));
	did(rmdir("dir"));
	fd = open(".", O_RDONLY | O_DIRECTORY);
	did(syncfs(fd));
	close(fd);
}

static void do_memory(void)
{
	size_t size = 8 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("memory", 0);

	if (p == MAP_FAILED)
		return;
	did(madvise(p, size, MADV_HUGEPAGE));
	memset(p, 1, size);
	did(madvise(p, size / 2, MADV_COLD));
	did(madvise(p, size / 2, MADV_PAGEOUT));
	did(madvise(p, size / 4, MADV_DONTNEED));
	did(madvise(p, size / 4, MADV_COLLAPSE));
	did(mprotect(p, 4096, PROT_READ));
	did(mlock(p, 8192));
	p = mremap(p, size, size * 2, MREMAP_MAYMOVE);
	did(munmap(p, size * 2));
	did(ftruncate(fd, 65536));
	p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		memset(p, 2, 65536);
	did(msync(p, 65536, MS_SYNC));
	did(munmap(p, 65536));
	close(fd);
	fd = shmget(IPC_PRIVATE, 65536, 0600 | IPC_CREAT);
	p = shmat(fd, NULL, 0);
	did(shmdt(p));
	did(shmctl(fd, IPC_RMID, NULL));
}

static void on_signal(int sig)
{
}

static void do_timers(void)
{
	const struct itimerval it = { .it_value.tv_usec = 1000 };
	const struct itimerspec its = { .it_value.tv_nsec = 1000000 };
	const struct timespec ms = { .tv_nsec = 2000000 };
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	union sigval value = { .sival_int = 5 };
	timer_t t;

	signal(SIGALRM, on_signal);
	signal(SIGVTALRM, on_signal);
	signal(SIGUSR1, on_signal);
	did(setitimer(ITIMER_REAL, &it, NULL));
	did(setitimer(ITIMER_VIRTUAL, &it, NULL));
	if (!timer_create(CLOCK_MONOTONIC, &se, &t)) {
		did(timer_settime(t, 0, &its, NULL));
		did(clock_nanosleep(CLOCK_REALTIME, 0, &ms, NULL));
		timer_delete(t);
	}
	did(timerfd_settime(fd, 0, &its, NULL));
	did(read(fd, buf, 8));
	close(fd);
	did(nanosleep(&ms, NULL));
	did(sigqueue(getpid(), SIGUSR1, value));
	for (volatile long i = 0; i < 3000000; i++)
		;
}

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "a thread=x");
	did(syscall(SYS_futex, arg, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){ .tv_nsec = 3000000 },
		    NULL, 0));
	did(sched_yield());
	return NULL;
}

static void do_tasks(void)
{
	struct sched_param param = { .sched_priority = 1 };
	static int word;
	int status, pipes[2];
	pthread_t t;
	pid_t child;

	if (!pthread_create(&t, NULL, thread, &word)) {
		did(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
		pthread_join(t, NULL);
	}
	child = fork();
	if (!child) {
		did(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		raise(SIGSTOP);
		did(setpriority(PRIO_PROCESS, 0, 5));
		did(sched_setscheduler(0, SCHED_FIFO, &param));
		pin_to_cpu(0);
		raise(SIGSEGV);
	}
	did(waitpid(child, &status, 0));
	did(ptrace(PTRACE_CONT, child, NULL, NULL));
	did(waitpid(child, &status, 0));
	did(ptrace(PTRACE_CONT, child, NULL, SIGKILL));
	did(waitpid(child, &status, 0));
	child = vfork();
	if (!child) {
		execl("/bin/true", "true", "an argument", "", "and \"another\"", NULL);
		_exit(1);
	}
	did(waitpid(child, &status, 0));
	if (!pipe(pipes)) {
		did(write(pipes[1], "x", 1));
		did(read(pipes[0], buf, 1));
		close(pipes[0]);
		did(write(pipes[1], "x", 1)); /* SIGPIPE is ignored */
		close(pipes[1]);
	}
}

/* Two ends of a stream over family's loopback: connect, send, close, and a refused one. */
static void do_tcp(int family)
{
	struct sockaddr_storage sa = { .ss_family = family };
	struct sockaddr_in6 *in6 = (void *)&sa;
	struct sockaddr_in *in = (void *)&sa;
	socklen_t len = sizeof(sa);
	int listener = socket(family, SOCK_STREAM, 0), a, b, one = 1;
	int udp = socket(family, SOCK_DGRAM, 0);

	if (family == AF_INET)
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		in6->sin6_addr = in6addr_loopback;
	did(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	if (bind(listener, (void *)&sa, len) || listen(listener, 1)) {
		close(listener);
		close(udp);
		return;
	}
	did(getsockname(listener, (void *)&sa, &len));
	a = socket(family, SOCK_STREAM, 0);
	did(connect(a, (void *)&sa, len));
	b = accept(listener, NULL, NULL);
	did(setsockopt(a, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
	for (int i = 0; i < 20; i++) {
		did(send(a, buf, sizeof(buf) / 4, MSG_DONTWAIT));
		did(recv(b, buf, sizeof(buf), MSG_DONTWAIT));
	}
	close(b);
	did(send(a, buf, 100, MSG_NOSIGNAL));
	did(send(a, buf, 100, MSG_NOSIGNAL));
	close(a);
	close(listener);
	a = socket(family, SOCK_STREAM, 0);
	did(connect(a, (void *)&sa, len));
	close(a);
	did(sendto(udp, "x", 1, 0, (void *)&sa, len));
	did(sendto(udp, "x", 1, 0, (void *)&sa, len));
	in->sin_addr.s_addr = family == AF_INET ? inet_addr("10.11.12.13") : in->sin_addr.s_addr;
	did(sendto(udp, "x", 1, MSG_DONTWAIT, (void *)&sa, len));
	close(udp);
}

static void do_route_dump(void)
{
	struct {
		struct nlmsghdr h;
		struct rtgenmsg g;
	} req = { .h = { .nlmsg_len = sizeof(req),
			 .nlmsg_type = RTM_GETLINK,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  .g.rtgen_family = AF_UNSPEC };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	did(send(fd, &req, sizeof(req), 0));
	did(recv(fd, buf, sizeof(buf), 0));
	close(fd);
}

static void do_net(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct icmphdr icmp = { .type = ICMP_ECHO };
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), pair[2];

	did(ioctl(fd, SIOCSIFFLAGS, &ifr));
	close(fd);
	do_tcp(AF_INET);
	do_tcp(AF_INET6);
	do_route_dump();
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	did(sendto(fd, &icmp, sizeof(icmp), 0, (void *)&sa, sizeof(sa)));
	close(fd);
	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
		did(write(pair[0], "x", 1));
		did(read(pair[1], buf, 1));
		close(pair[0]);
		close(pair[1]);
	}
}

static void do_waiting(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0), fd = eventfd(0, 0), in = inotify_init1(IN_NONBLOCK);
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct sembuf up = { .sem_op = 1 };
	int sem = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
	mqd_t mq = mq_open("/stackonce-test", O_CREAT | O_RDWR | O_EXCL, 0600, NULL);

	did(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	did(epoll_wait(ep, &ev, 1, 1));
	did(eventfd_write(fd, 1));
	did(poll(&pfd, 1, 1));
	did(inotify_add_watch(in, ".", IN_ALL_EVENTS));
	did(semop(sem, &up, 1));
	did(semctl(sem, 0, IPC_RMID));
	if (mq >= 0) {
		did(mq_send(mq, "x", 1, 0));
		mq_close(mq);
		mq_unlink("/stackonce-test");
	}
	close(in);
	close(fd);
	close(ep);
}

static void do_io_uring(void)
{
	struct io_uring_params params = { 0 };
	int fd = syscall(SYS_io_uring_setup, 4, &params);
	struct io_uring_sqe *sqe;
	unsigned int *ring, *tail;

	if (fd < 0)
		return;
	ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (ring != MAP_FAILED && sqe != MAP_FAILED) {
		memset(sqe, 0, 4 * sizeof(*sqe));
		sqe[1].opcode = 200; /* no such operation */
		for (unsigned int i = 0; i < 4; i++)
			ring[params.sq_off.array / 4 + i] = i;
		tail = ring + params.sq_off.tail / 4;
		__atomic_store_n(tail, 2, __ATOMIC_RELEASE);
		did(syscall(SYS_io_uring_enter, fd, 2, 1, 1, NULL, 0));
	}
	close(fd);
}

static void do_name_spaces(void)
{
	did(mkdir("mnt", 0700));
	did(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	if (!mount("tmpfs", "mnt", "tmpfs", 0, "size=1m")) {
		did(close(open("mnt/file", O_CREAT | O_RDWR, 0600)));
		umount("mnt");
	}
	did(rmdir("mnt"));
	did(mkdir("/sys/fs/cgroup/stackonce-test", 0700));
	did(rmdir("/sys/fs/cgroup/stackonce-test"));
	did(syscall(SYS_add_key, "user", "a key", "payload", 7, -3));
	did(prctl(PR_SET_NAME, "a very long name of a task"));
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]))
		errx(2, "usage: manykinds DIRECTORY");
	signal(SIGPIPE, SIG_IGN);
	did(unshare(CLONE_NEWNS));
	did(unshare(CLONE_NEWNET));
	do_files();
	do_memory();
	do_timers();
	do_tasks();
	do_net();
	do_waiting();
	do_io_uring();
	do_name_spaces();
	return 0;
}
