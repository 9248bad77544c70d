// SPDX-License-Identifier: GPL-2.0-only
/* Finds the address of the first struct page. */
#include "native_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "native_priv.h"
#include "native_rows.h"

#define PAGE_BYTES 4096
#define PAGEMAP_PRESENT (1ull << 63) /* Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_NUMBER ((1ull << 55) - 1)
#define ENTRY_TAGS 3 /* include/linux/xarray.h: an entry that is no pointer to a page has some */

/* A file of one page, which is in memory. */
struct sample {
	int fd;
	char *page;
};

static void sample__close(struct sample *s)
{
	if (s->page)
		munmap(s->page, PAGE_BYTES);
	closep(&s->fd);
}

static int sample__open(struct sample *s)
{
	void *page;

	s->fd = memfd_create("stackonce-page", MFD_CLOEXEC);
	if (s->fd < 0 || ftruncate(s->fd, PAGE_BYTES))
		return -errno;
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	s->page = page;
	*(volatile char *)s->page = 1;
	return 0;
}

/* The number of its page. */
static int sample__number(const struct sample *s, uint64_t *ret_number)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)s->page / PAGE_BYTES * sizeof(uint64_t));
	uint64_t entry;

	if (fd < 0)
		return -errno;
	if (pread(fd, &entry, sizeof(entry), at) != sizeof(entry))
		return -EIO;
	if (!(entry & PAGEMAP_PRESENT) || !(entry & PAGEMAP_NUMBER))
		return -EOPNOTSUPP;
	*ret_number = entry & PAGEMAP_NUMBER;
	return 0;
}

static uint32_t struct_of(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? 0 : (uint32_t)id;
}

/*
 * The program: follows the running task to the file with this descriptor and to the only page of
 * its mapping, and returns half of the address, the upper one if its first argument is not 0.
 */
static int make_program(const struct btf *btf, int fd, struct native_code *ret_code)
{
	struct native_maker m = {
		.btf = btf,
		.reader = native_code__reader(btf),
		.cast = native_types__function(btf, "bpf_rdonly_cast"),
		.any_word = native_types__any_word(btf),
		.code = ret_code,
	};
	struct native_place files, file = { .nr = 1 }, page;
	unsigned int lower;

	if (native_types__member(btf, struct_of(btf, "task_struct"), "files->fdt", &files) ||
	    native_types__member(btf, struct_of(btf, "fdtable"), "fd", &file) ||
	    native_types__member(btf, struct_of(btf, "file"), "f_mapping->i_pages.xa_head", &page))
		return -EOPNOTSUPP;
	ret_code->nr = 0;
	native_op_register(&m, NATIVE_SET, NATIVE_CTX, BPF_REG_1);
	native_op_register(&m, NATIVE_SET, NATIVE_RECORD, BPF_REG_10);
	native_op(&m, NATIVE_ADD, NATIVE_RECORD, -NATIVE_ROOM);
	native_find(&m, NATIVE_CURRENT, &files);
	native_follow(&m);
	native_op(&m, NATIVE_ADD, BPF_REG_1, (int32_t)file.off[0]);
	native_follow(&m);
	native_op(&m, NATIVE_ADD, BPF_REG_1, 8 * fd);
	native_follow(&m);
	native_op(&m, NATIVE_ADD, BPF_REG_1, (int32_t)page.off[0]);
	native_follow(&m);
	native_op(&m, NATIVE_ADD, BPF_REG_1, (int32_t)page.off[1]);
	native_follow(&m);
	native_load_arg(&m, BPF_REG_2, 0);
	lower = native_jump(&m, BPF_JEQ, BPF_REG_2, 0);
	native_op(&m, NATIVE_RIGHT, BPF_REG_1, 32);
	native_land(&m, lower);
	native_op_register(&m, NATIVE_SET, BPF_REG_0, BPF_REG_1);
	native_exit(&m);
	return 0;
}

static int half(int prog, uint64_t which, uint32_t *ret_half)
{
	uint64_t ctx[NATIVE_MAX_ARGS] = { which };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = sizeof(ctx));

	if (bpf_prog_test_run_opts(prog, &opts))
		return -errno;
	*ret_half = opts.retval;
	return 0;
}

/* The address of its struct page. */
static int sample__address(const struct sample *s, const struct btf *btf, uint64_t *ret_address)
{
	struct native_code code;
	_cleanup_close_ int prog = -1;
	uint32_t lower = 0, upper = 0;
	int err = make_program(btf, s->fd, &code);

	if (err)
		return err;
	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "stk_pages", "GPL", code.insns, code.nr,
			     NULL);
	if (prog < 0)
		return -errno;
	err = half(prog, 0, &lower) ?: half(prog, 1, &upper);
	if (err)
		return err;
	*ret_address = (uint64_t)upper << 32 | lower;
	return *ret_address & ENTRY_TAGS || !*ret_address ? -EOPNOTSUPP : 0;
}

static int find_once(const struct btf *btf, uint64_t *ret_address)
{
	int64_t size = btf__resolve_size(btf, struct_of(btf, "page"));
	_cleanup_(sample__close) struct sample s = { .fd = -1 };
	uint64_t number = 0, again = 0, address = 0;
	int err = sample__open(&s);

	if (!err)
		err = sample__number(&s, &number);
	if (!err)
		err = sample__address(&s, btf, &address);
	if (!err)
		err = sample__number(&s, &again);
	if (err || size <= 0)
		return err ?: -EOPNOTSUPP;
	if (number != again)
		return -EAGAIN;
	*ret_address = address - (uint64_t)size * number;
	return 0;
}

/* A page may be moved at any time: two of them must agree. */
int native_pages__find(const struct btf *btf, uint64_t *ret_address)
{
	uint64_t first, second;
	int err = -EAGAIN, tries;

	for (tries = 0; tries < 4 && err == -EAGAIN; tries++) {
		err = find_once(btf, &first) ?: find_once(btf, &second);
		if (!err && first != second)
			err = -EAGAIN;
	}
	if (!err)
		*ret_address = first;
	return err;
}

int native_pages__set(struct native_pages *pages, const struct btf *btf, struct native_code *code,
		      char ret_why[NATIVE_WHY])
{
	if (!code->pages_at)
		return 0;
	if (!pages->looked)
		pages->err = native_pages__find(btf, &pages->address);
	pages->looked = true;
	if (pages->err) {
		snprintf(ret_why, NATIVE_WHY, "the address of the first struct page is unknown: %s",
			 strerror(-pages->err));
		return -EOPNOTSUPP;
	}
	native_code__set_pages(code, pages->address);
	return 0;
}
