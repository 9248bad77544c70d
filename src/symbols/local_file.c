// SPDX-License-Identifier: GPL-2.0-only
/* Caches the identity and symbols of files on this machine. */
#include "local_file.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "elf_table.h"
#include "file_hash.h"
#include "line_reader.h"
#include "log.h"

struct local_files {
	void *tree; /* tsearch(3) */
	uint64_t hashed, max_hashed;
	bool warned; /* of the limit for hashes */
};

static int compare_times(const struct timespec *a, const struct timespec *b)
{
	return CMP(a->tv_sec, b->tv_sec) ?: CMP(a->tv_nsec, b->tv_nsec);
}

static int local_file_compare(const void *pa, const void *pb)
{
	const struct local_file *a = pa, *b = pb;
	int order = CMP(a->ino, b->ino) ?: CMP(a->dev, b->dev) ?: CMP(a->size, b->size);

	return order ?: compare_times(&a->mtime, &b->mtime) ?: compare_times(&a->ctime, &b->ctime);
}

static void local_file_free(void *file)
{
	struct local_file *f = file;

	elf_symbols__free(f->symbols);
	line_reader__free(f->lines);
	elf_file__done(&f->segments);
	free(f);
}

int local_files__new(uint64_t max_hashed, struct local_files **ret_files)
{
	struct local_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->max_hashed = max_hashed;
	*ret_files = files;
	return 0;
}

void local_files__free(struct local_files *files)
{
	if (!files)
		return;
	tdestroy(files->tree, local_file_free);
	free(files);
}

int local_files__get(struct local_files *files, int fd, struct local_file **ret_file)
{
	struct local_file **found, *f, key = { .id_err = 1, .content_err = 1 };
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	key.size = st.st_size;
	key.mtime = st.st_mtim;
	key.ctime = st.st_ctim;
	found = tfind(&key, &files->tree, local_file_compare);
	if (!found) {
		f = malloc(sizeof(*f));
		if (!f)
			return -ENOMEM;
		*f = key;
		f->segments.fd = -1;
		found = tsearch(f, &files->tree, local_file_compare);
		if (!found) {
			free(f);
			return -ENOMEM;
		}
	}
	*ret_file = *found;
	return 0;
}

int local_file__build_id(struct local_file *f, int fd)
{
	if (f->id_err > 0)
		f->id_err = elf_build_id__from_fd(fd, f->id, &f->id_len);
	return f->id_err;
}

int local_files__hash(struct local_files *files, struct local_file *f, int fd)
{
	if (f->content_err <= 0)
		return f->content_err;
	if (f->size > FILE_HASH_CONTENT_MAX || !local_file__build_id(f, fd))
		return f->content_err = -ENOENT;
	if (f->size > files->max_hashed - files->hashed) {
		if (!files->warned)
			log_warn("cannot hash more than %llu MiB of files without a build id: "
				 "functions of the remaining files have no names",
				 (unsigned long long)files->max_hashed >> 20);
		files->warned = true;
		return -EDQUOT;
	}
	files->hashed += f->size;
	return f->content_err = content_hash__from_fd(fd, f->size, f->content);
}
