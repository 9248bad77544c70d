// SPDX-License-Identifier: GPL-2.0-only
/*
 * rmap_work DIR CGROUP [PAGES]: makes the kernel look up who maps pages of every kind (anonymous
 * pages, pages of a file in DIR, merged pages), shared with a child.  All walks of the reverse map
 * are in system calls of this one process, whose PID it prints first.
 *
 * In turn: msync() cleans the mapped file; node 1, where the pages are, is compacted; the pages are
 * moved to node 0; reclaim of the memory cgroup CGROUP looks for references and unmaps pages; huge
 * pages are split, which walks with the map already locked.
 */
#include "prog.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define PAGE 4096ul
#define HUGE (2ul << 20)
#define BALLAST 4096ul /* pages: 8 blocks */
#define KSM "/sys/kernel/mm/ksm/"

static const char *const kinds[] = { "anon", "file", "ksm" };
#define KINDS 3

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "write '%s' to %s", text, path);
	close(fd);
}

static unsigned long read_number(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		err(1, "read %s", path);
	close(fd);
	return strtoul(text, NULL, 10);
}

static char *map(size_t size, int flags, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		err(1, "mmap of %zu bytes", size);
	return p;
}

/* The contents are in no other page unless the number is the same. */
static void fill(char *page, unsigned long number)
{
	uint64_t *words = (uint64_t *)page;
	size_t i;

	for (i = 0; i < PAGE / sizeof(*words); i++)
		words[i] = 0x5ca1ab1e00000000u + (number << 12) + i;
}

static char *map_file(const char *dir, size_t size)
{
	char path[4096], *p;
	int fd;

	snprintf(path, sizeof(path), "%s/rmap_work", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		err(1, "%s", path);
	p = map(size, MAP_SHARED, fd);
	close(fd);
	return p;
}

/* Pairs of pages with the same contents, which the kernel merges. */
static char *map_merged(size_t pages)
{
	char *p = map(pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct timespec pause = { .tv_nsec = 100000000 };
	int tries;

	for (size_t i = 0; i < pages; i++)
		fill(p + i * PAGE, 1 + i / 2);
	if (madvise(p, pages * PAGE, MADV_MERGEABLE))
		err(1, "MADV_MERGEABLE");
	write_text(KSM "run", "1");
	for (tries = 0; read_number(KSM "pages_sharing") < pages / 2; tries++) {
		if (tries == 900)
			errx(1, "the pages were not merged");
		nanosleep(&pause, NULL);
	}
	write_text(KSM "run", "0");
	return p;
}

/* The page frames of size bytes; 0 where nothing is mapped. */
static void frames_of(const char *p, size_t pages, uint64_t *ret_frames)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t i;

	if (fd < 0 || pread(fd, ret_frames, pages * 8, (off_t)((uintptr_t)p / PAGE * 8)) !=
			      (ssize_t)(pages * 8))
		err(1, "pagemap");
	close(fd);
	for (i = 0; i < pages; i++)
		ret_frames[i] = ret_frames[i] >> 63 ? ret_frames[i] & ((1ull << 55) - 1) : 0;
}

/* A page of the ballast and its page frame. */
struct place {
	uint64_t frame;
	char *page;
};

static int lower_frame(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void give_back(struct place *places, size_t from, size_t to, size_t keep_every)
{
	for (size_t i = from; i < to; i++) {
		if (keep_every && i % keep_every == 0)
			continue;
		if (madvise(places[i].page, PAGE, MADV_DONTNEED))
			err(1, "MADV_DONTNEED");
	}
}

/*
 * Compaction moves pages up, into partly used blocks.  To give it work, memory is taken, and the
 * lowest frames are released first, for the pages that are mapped next, ...
 */
static struct place *take_ballast(size_t for_pages)
{
	char *p = map(BALLAST * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct place *places = calloc(BALLAST, sizeof(*places));
	uint64_t *frames = calloc(BALLAST, sizeof(*frames));

	if (!places || !frames)
		err(1, "calloc");
	if (madvise(p, BALLAST * PAGE, MADV_NOHUGEPAGE))
		err(1, "MADV_NOHUGEPAGE");
	for (size_t i = 0; i < BALLAST; i++)
		p[i * PAGE] = 1;
	frames_of(p, BALLAST, frames);
	for (size_t i = 0; i < BALLAST; i++)
		places[i] = (struct place){ frames[i], p + i * PAGE };
	free(frames);
	qsort(places, BALLAST, sizeof(*places), lower_frame);
	give_back(places, 0, for_pages, 0);
	return places;
}

/* ... and then most of the rest, leaving holes in the highest blocks. */
static void drop_ballast(struct place *places, size_t for_pages)
{
	give_back(places, for_pages, BALLAST / 2, 0);
	give_back(places, BALLAST / 2, BALLAST, 16);
	free(places);
}

/* Repeats while pages of a kind have not moved: compaction ends where its two scanners meet. */
static void compact(char *const regions[KINDS], size_t pages)
{
	uint64_t *before = calloc(KINDS * pages, 8), *after = calloc(pages, 8);
	size_t moved[KINDS] = { 0 };
	size_t i, k;
	int round;

	if (!before || !after)
		err(1, "calloc");
	for (k = 0; k < KINDS; k++)
		frames_of(regions[k], pages, before + k * pages);
	for (round = 0; round < 4 && !(moved[0] && moved[1] && moved[2]); round++) {
		write_text("/sys/devices/system/node/node1/compact", "1");
		for (k = 0; k < KINDS; k++) {
			frames_of(regions[k], pages, after);
			for (moved[k] = 0, i = 0; i < pages; i++)
				moved[k] += after[i] && after[i] != before[k * pages + i];
		}
	}
	for (k = 0; k < KINDS; k++)
		printf("compacted %s %zu of %zu\n", kinds[k], moved[k], pages);
	free(before);
	free(after);
}

/* Moves the pages to node 0.  A merged page occurs twice. */
static void migrate(char *const regions[KINDS], size_t pages)
{
	void **addresses = calloc(pages, sizeof(*addresses));
	int *nodes = calloc(pages, sizeof(*nodes)), *states = calloc(pages, sizeof(*states));
	size_t i, k, n, moved;

	if (!addresses || !nodes || !states)
		err(1, "calloc");
	for (k = 0; k < KINDS; k++) {
		for (i = 0, n = 0; i < pages; i += k == KINDS - 1 ? 2 : 1)
			addresses[n++] = regions[k] + i * PAGE;
		if (syscall(SYS_move_pages, 0, n, addresses, nodes, states, MPOL_MF_MOVE_ALL) < 0)
			err(1, "move_pages");
		for (moved = 0, i = 0; i < n; i++)
			moved += states[i] == 0;
		printf("migrated %s %zu of %zu\n", kinds[k], moved, n);
	}
	free(addresses);
	free(nodes);
	free(states);
}

/* The node for new pages: node 1 only, or any. */
static void use_node1(bool only)
{
	unsigned long node1 = 1ul << 1;

	if (syscall(SYS_set_mempolicy, only ? MPOL_BIND : MPOL_DEFAULT, only ? &node1 : NULL,
		    only ? sizeof(node1) * 8 : 0))
		err(1, "set_mempolicy");
}

/* Requests more than there is, so that the kernel tries hard; a partial result is no failure. */
static void reclaim(const char *cgroup, char *const regions[KINDS], size_t pages)
{
	uint64_t *frames = calloc(pages, 8);
	size_t k, i, left;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/memory.reclaim", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (!frames || fd < 0)
		err(1, "%s", path);
	if (write(fd, "1G", 2) < 0 && errno != EAGAIN)
		err(1, "write to %s", path);
	close(fd);
	for (k = 0; k < KINDS; k++) {
		frames_of(regions[k], pages, frames);
		for (left = 0, i = 0; i < pages; i++)
			left += !!frames[i];
		printf("reclaimed %s %zu of %zu\n", kinds[k], pages - left, pages);
	}
	free(frames);
}

/* Releasing a part of a huge page splits it. */
static void split(int flags)
{
	char *p = map(2 * HUGE, flags | MAP_ANONYMOUS, -1);
	char *huge = (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));

	if (madvise(huge, HUGE, MADV_HUGEPAGE))
		err(1, "MADV_HUGEPAGE");
	fill(huge, 1ul << 20);
	if (madvise(huge, 4 * PAGE, MADV_PAGEOUT))
		err(1, "MADV_PAGEOUT");
	munmap(p, 2 * HUGE);
}

/* Forks a process that maps the same pages; returns when the child has touched all of them. */
static pid_t share(char *const regions[KINDS], size_t pages)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < KINDS * pages; i++)
			(void)*(volatile char *)(regions[i / pages] + i % pages * PAGE);
		close(ready[0]);
		close(ready[1]);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 0)
		err(1, "read from the child");
	close(ready[0]);
	return pid;
}

int main(int argc, char **argv)
{
	size_t pages = arg_number(argc, argv, 3, 32, 512);
	char *regions[KINDS], path[4096], pid[16];
	struct place *ballast;
	pid_t child;

	if (argc < 3)
		errx(2, "usage: rmap_work DIR CGROUP [PAGES]");
	setlinebuf(stdout);
	pin_to_cpu(0); /* a CPU allocates the pages that it freed last */
	printf("pid %d\n", getpid());
	snprintf(path, sizeof(path), "%s/cgroup.procs", argv[2]);
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_text(path, pid);

	use_node1(true);
	ballast = take_ballast((KINDS + 1) * pages);
	regions[0] = map(pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	regions[1] = map_file(argv[1], pages * PAGE);
	for (size_t i = 0; i < pages; i++) {
		fill(regions[0] + i * PAGE, (1ul << 16) + i);
		fill(regions[1] + i * PAGE, (2ul << 16) + i);
	}
	regions[2] = map_merged(pages);
	drop_ballast(ballast, (KINDS + 1) * pages);
	use_node1(false);
	child = share(regions, pages);

	if (msync(regions[1], pages * PAGE, MS_SYNC))
		err(1, "msync");
	compact(regions, pages);
	migrate(regions, pages);
	reclaim(argv[2], regions, pages);
	split(MAP_PRIVATE);
	split(MAP_SHARED);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
