// SPDX-License-Identifier: GPL-2.0-only
/*
 * umutant COUNT DIRECTORY LIBRARY: runs the code of COUNT copies of a tagged library that are
 * corrupted everywhere except in their code and data, and truncates some of them while they are
 * mapped.
 */
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "../prog.h"
#include "loader.h"
#include "tag.h"

#define CALLS 4
#define PLACE 0x620000000000ULL

static uint64_t state = 88172645463325252ULL;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The code and the block with the tag are not changed. */
static bool needed(const struct loader *l, const char *image, uint64_t len, uint64_t off)
{
	const char *block = memmem(image, len, TAG_MAGIC, 8);

	for (uint64_t i = 0; i < l->nr; i++)
		if (l->segments[i].prot & PROT_EXEC && off >= l->segments[i].off &&
		    off < l->segments[i].off + l->segments[i].len)
			return true;
	return block && off >= (uint64_t)(block - image) && off < (uint64_t)(block - image) + 16;
}

static void write_mutant(const struct loader *l, const char *path, const char *image, uint64_t len)
{
	static const uint64_t odd[] = { 0, ~0ull, 1ull << 63, 0x7fffffff, 0x80000000, 0xffff };
	char *copy = malloc(len);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (!copy || fd < 0)
		err(1, "make '%s'", path);
	memcpy(copy, image, len);
	for (unsigned int n = 1 + random64() % 30; n--;) {
		/* half of them in the headers */
		uint64_t off = random64() % (random64() & 1 ? 1024 : len - 8), value = random64();

		if (random64() & 1)
			value = odd[random64() % 6];
		if (!needed(l, image, len, off) && !needed(l, image, len, off + 7))
			memcpy(copy + off, &value, 1u << random64() % 4);
	}
	if (write(fd, copy, len) != (ssize_t)len)
		err(1, "write '%s'", path);
	close(fd);
	free(copy);
}

/*
 * The data is lost with its file even where the mapping is private: copies it to anonymous memory.
 */
static void own_data(const struct loader *l, char *base)
{
	for (uint64_t i = 0; i < l->nr; i++) {
		char *at = base + l->segments[i].addr, *copy = malloc(l->segments[i].len);
		uint64_t have = 0;

		if (!copy)
			err(1, "malloc");
		for (ssize_t n = 1; l->segments[i].prot & PROT_WRITE && n > 0; have += n)
			n = pread(l->fd, copy + have, l->segments[i].len - have,
				  (off_t)(l->segments[i].off + have));
		if (have && mmap(at, l->segments[i].len, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
			err(1, "mmap");
		memcpy(at, copy, have);
		free(copy);
	}
}

static uint64_t end_of_code(const struct loader *l)
{
	uint64_t end = 0;

	for (uint64_t i = 0; i < l->nr; i++)
		if (l->segments[i].prot & PROT_EXEC)
			end = l->segments[i].off + l->segments[i].len;
	return end;
}

int main(int argc, char **argv)
{
	unsigned long count = arg_number(argc, argv, 1, 0, 1000000), sum = 0;
	struct loader good, l;
	char path[PATH_MAX], *image;
	struct stat st;

	if (argc != 4)
		errx(2, "usage: umutant COUNT DIRECTORY LIBRARY");
	loader__open(&good, argv[3], argv[3]);
	if (fstat(good.fd, &st) ||
	    (image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, good.fd, 0)) == MAP_FAILED)
		err(1, "read '%s'", argv[3]);
	for (unsigned long i = 0; i < count; i++) {
		char *place = (char *)(PLACE + i * LOADER_SPAN);
		loader_fn f;

		snprintf(path, sizeof(path), "%s/mutant.%lu", argv[2], i);
		write_mutant(&good, path, image, st.st_size);
		loader__open(&l, argv[3], path);
		f = loader__map(&l, place);
		own_data(&l, place);
		for (unsigned long k = 0; k < CALLS; k++) {
			sum += f(k);
			if (k == i % (2 * CALLS) && truncate(path, (off_t)end_of_code(&l)))
				err(1, "truncate '%s'", path);
		}
		if (i % 3 == 0)
			unlink(path);
		munmap(place, LOADER_SPAN);
		loader__close(&l);
	}
	printf("calls %lu\n", count * CALLS);
	return sum == 1;
}
