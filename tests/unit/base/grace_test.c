// SPDX-License-Identifier: GPL-2.0-only
/* The ways to wait for a grace period, on kernels that refuse some of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>

#include "grace.h"

static struct kernel {
	int no_membarrier, no_bpf, no_update; /* errno, 0: not refused */
	unsigned int barriers, updates;
	int inner, outer; /* descriptors of the maps */
} kernel;

long __wrap_syscall(long nr, ...);

static int refuse(int error)
{
	errno = error;
	return error ? -1 : 0;
}

static int create(const union bpf_attr *attr)
{
	int fd = refuse(kernel.no_bpf) ?: open("/dev/null", O_RDONLY);

	if (attr->map_type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		assert_int_equal(attr->inner_map_fd, kernel.inner);
		kernel.outer = fd;
	} else {
		assert_int_equal(attr->map_type, BPF_MAP_TYPE_ARRAY);
		kernel.inner = fd;
	}
	return fd;
}

/* The kernel waits after an update of a map of maps, and of no other map. */
static int update(const union bpf_attr *attr)
{
	assert_int_equal(attr->map_fd, kernel.outer);
	assert_int_equal(*(uint32_t *)(uintptr_t)attr->key, 0);
	assert_int_equal(*(uint32_t *)(uintptr_t)attr->value, kernel.inner);
	if (refuse(kernel.no_update))
		return -1;
	kernel.updates++;
	return 0;
}

long __wrap_syscall(long nr, ...)
{
	const union bpf_attr *attr;
	va_list ap;
	int cmd;

	va_start(ap, nr);
	cmd = va_arg(ap, int);
	attr = nr == SYS_bpf ? va_arg(ap, const union bpf_attr *) : NULL;
	va_end(ap);
	if (nr == SYS_membarrier) {
		assert_int_equal(cmd, MEMBARRIER_CMD_GLOBAL);
		kernel.barriers += !kernel.no_membarrier;
		return refuse(kernel.no_membarrier);
	}
	assert_int_equal(nr, SYS_bpf);
	return cmd == BPF_MAP_CREATE ? create(attr) : update(attr);
}

/* Also with one CPU online, where membarrier(2) returns at once. */
static void by_map(void **state)
{
	kernel = (struct kernel){ .no_membarrier = EINVAL };
	assert_int_equal(grace__wait(), 0);
	assert_int_equal(kernel.updates, 1);
	assert_int_equal(fcntl(kernel.inner, F_GETFD), -1);
	assert_int_equal(fcntl(kernel.outer, F_GETFD), -1);
	kernel = (struct kernel){ 0 };
	assert_int_equal(grace__wait(), 0);
	assert_int_equal(kernel.updates, 1);
	assert_int_equal(kernel.barriers, 0);
}

static void by_membarrier(void **state)
{
	kernel = (struct kernel){ .no_bpf = EPERM };
	assert_int_equal(grace__wait(), 0);
	assert_int_equal(kernel.barriers, 1);
	kernel = (struct kernel){ .no_update = ENOMEM };
	assert_int_equal(grace__wait(), 0);
	assert_int_equal(kernel.barriers, 1);
	assert_int_equal(kernel.updates, 0);
}

/* EINVAL is the answer of a kernel with nohz_full. */
static void not_at_all(void **state)
{
	kernel = (struct kernel){ .no_membarrier = EINVAL, .no_bpf = EPERM };
	assert_int_equal(grace__wait(), -EPERM);
	kernel = (struct kernel){ .no_membarrier = EINVAL, .no_update = ENOMEM };
	assert_int_equal(grace__wait(), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_map),
		cmocka_unit_test(by_membarrier),
		cmocka_unit_test(not_at_all),
	};

	return cmocka_run_group_tests_name("grace", tests, NULL, NULL);
}
