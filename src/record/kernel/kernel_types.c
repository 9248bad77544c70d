// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the types from the kernel's memory, if it maps them (since 6.16): a file of
 * sysfs is read page by page, in 1,500 system calls and 6 ms.
 */
#include "kernel_types.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/btf.h>

#include "cleanup.h"

static struct btf *from_memory(void)
{
	_cleanup_close_ int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct btf *btf;
	void *types;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	types = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (types == MAP_FAILED)
		return NULL;
	btf = btf__new(types, st.st_size); /* a copy */
	munmap(types, st.st_size);
	return btf;
}

struct btf *kernel_types__load(void)
{
	return from_memory() ?: btf__load_vmlinux_btf();
}
