// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#undef NDEBUG /* assert() has side effects here */
#include "gen.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct stk_writer *gen_open(struct gen_file *f, const struct stk_writer_opts *opts)
{
	char path[] = "/tmp/stk-test-XXXXXX";
	struct stk_writer *w;
	int fd = mkstemp(path);

	assert(fd >= 0 && !unlink(path));
	f->fd = dup(fd);
	f->p = NULL;
	f->len = 0;
	assert(f->fd >= 0 && !stk_writer__new(fd, opts, &w));
	return w;
}

void gen_load(struct gen_file *f)
{
	struct stat st;

	assert(!fstat(f->fd, &st));
	free(f->p);
	f->len = st.st_size;
	f->p = malloc(f->len + 1);
	assert(f->p && pread(f->fd, f->p, f->len, 0) == (ssize_t)f->len);
}

void gen_close(struct gen_file *f)
{
	free(f->p);
	close(f->fd);
}

uint64_t gen_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}
