// SPDX-License-Identifier: GPL-2.0-only
/*
 * hung_fs DIR FILE: mounts a FUSE file system on DIR whose only file, "program", has the contents
 * of FILE, and serves it until a signal makes it hang.  Prints
 *   hung         after SIGUSR1: from now on it takes requests and answers none
 *   asked N PID  for each of them: its opcode, see linux/fuse.h, and the task that it is from
 *   dropped      after SIGUSR2: the first page of the file is not in memory any more
 * The kernel keeps what it knows of the file and what it has read of it, and does not ask again.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_NODE (FUSE_ROOT_ID + 1)
#define PAGE 4096
#define KEPT 3600 /* seconds */

struct hung_fs {
	int fuse; /* requests come from there, answers go there */
	int signals;
	const char *data; /* of the file */
	size_t size;
	bool hung;
};

union request {
	struct fuse_in_header in; /* what it asks for follows */
	char bytes[64 << 10];
};

static struct fuse_attr hung_fs__attr(const struct hung_fs *fs, uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = PAGE };

	attr.mode = (node == FILE_NODE ? S_IFREG : S_IFDIR) | 0755;
	attr.size = node == FILE_NODE ? fs->size : 0;
	return attr;
}

/* Answers a request; or notifies the kernel, with @unique 0 and the code of the notification. */
static void hung_fs__send(const struct hung_fs *fs, uint64_t unique, int code, const void *data,
			  size_t size)
{
	struct fuse_out_header out = { .unique = unique, .error = code };
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, size } };

	out.len = (uint32_t)(sizeof(out) + size);
	if (writev(fs->fuse, parts, 2) < 0)
		err(1, "answer or notification");
}

static void hung_fs__init(const struct hung_fs *fs, uint64_t unique, const struct fuse_init_in *in)
{
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.flags = FUSE_ASYNC_READ,
		.max_write = PAGE,
	};

	hung_fs__send(fs, unique, 0, &out, sizeof(out));
}

static void hung_fs__look_up(const struct hung_fs *fs, uint64_t unique, const char *name)
{
	const struct fuse_entry_out out = {
		.nodeid = FILE_NODE,
		.entry_valid = KEPT,
		.attr_valid = KEPT,
		.attr = hung_fs__attr(fs, FILE_NODE),
	};

	if (!strcmp(name, "program"))
		hung_fs__send(fs, unique, 0, &out, sizeof(out));
	else
		hung_fs__send(fs, unique, -ENOENT, NULL, 0);
}

static void hung_fs__getattr(const struct hung_fs *fs, uint64_t unique, uint64_t node)
{
	const struct fuse_attr_out out = { .attr_valid = KEPT, .attr = hung_fs__attr(fs, node) };

	hung_fs__send(fs, unique, 0, &out, sizeof(out));
}

static void hung_fs__open(const struct hung_fs *fs, uint64_t unique)
{
	const struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE };

	hung_fs__send(fs, unique, 0, &out, sizeof(out));
}

static void hung_fs__read(const struct hung_fs *fs, uint64_t unique, const struct fuse_read_in *in)
{
	size_t start = in->offset < fs->size ? in->offset : fs->size;
	size_t size = in->size < fs->size - start ? in->size : fs->size - start;

	hung_fs__send(fs, unique, 0, fs->data + start, size);
}

static void hung_fs__answer(const struct hung_fs *fs, const struct fuse_in_header *in)
{
	const void *what = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		hung_fs__init(fs, in->unique, what);
		break;
	case FUSE_LOOKUP:
		hung_fs__look_up(fs, in->unique, what);
		break;
	case FUSE_GETATTR:
		hung_fs__getattr(fs, in->unique, in->nodeid);
		break;
	case FUSE_OPEN:
		hung_fs__open(fs, in->unique);
		break;
	case FUSE_READ:
		hung_fs__read(fs, in->unique, what);
		break;
	default:
		hung_fs__send(fs, in->unique, -ENOSYS, NULL, 0);
	}
}

/* FUSE_INTERRUPT may have one, but a server may also ignore it. */
static bool wants_answer(const struct fuse_in_header *in)
{
	return in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET &&
	       in->opcode != FUSE_INTERRUPT;
}

static void hung_fs__take_request(const struct hung_fs *fs)
{
	static union request request;

	if (read(fs->fuse, &request, sizeof(request)) < 0) {
		/* who asked may have given up */
		if (errno == EAGAIN || errno == ENOENT)
			return;
		err(1, "request");
	}
	if (!wants_answer(&request.in))
		return;
	if (fs->hung)
		printf("asked %u %u\n", request.in.opcode, request.in.pid);
	else
		hung_fs__answer(fs, &request.in);
}

static void hung_fs__take_signal(struct hung_fs *fs)
{
	const struct fuse_notify_inval_inode_out first_page = { .ino = FILE_NODE, .len = PAGE };
	struct signalfd_siginfo info;

	if (read(fs->signals, &info, sizeof(info)) != sizeof(info))
		err(1, "signal");
	if (info.ssi_signo == SIGUSR1) {
		fs->hung = true;
		printf("hung\n");
	} else {
		hung_fs__send(fs, 0, FUSE_NOTIFY_INVAL_INODE, &first_page, sizeof(first_page));
		printf("dropped\n");
	}
}

static void hung_fs__serve(struct hung_fs *fs)
{
	struct pollfd fds[] = { { .fd = fs->signals, .events = POLLIN },
				{ .fd = fs->fuse, .events = POLLIN } };

	while (poll(fds, 2, -1) > 0) {
		if (fds[0].revents)
			hung_fs__take_signal(fs);
		if (fds[1].revents)
			hung_fs__take_request(fs);
	}
	err(1, "poll");
}

static void hung_fs__load(struct hung_fs *fs, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	fs->size = (size_t)st.st_size;
	fs->data = mmap(NULL, fs->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fs->data == MAP_FAILED)
		err(1, "mmap %s", path);
	close(fd);
}

static void hung_fs__take_signals(struct hung_fs *fs)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fs->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (fs->signals < 0)
		err(1, "signalfd");
}

static void hung_fs__mount(struct hung_fs *fs, const char *dir)
{
	char options[100];

	fs->fuse = open("/dev/fuse", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fs->fuse < 0)
		err(1, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fs->fuse);
	if (mount("hung_fs", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		err(1, "mount %s", dir);
}

int main(int argc, char **argv)
{
	struct hung_fs fs = { .hung = false };

	if (argc != 3)
		errx(2, "hung_fs DIR FILE");
	setvbuf(stdout, NULL, _IOLBF, 0);
	hung_fs__load(&fs, argv[2]);
	hung_fs__take_signals(&fs);
	hung_fs__mount(&fs, argv[1]);
	hung_fs__serve(&fs);
	return 1;
}
