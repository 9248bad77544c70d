// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* For all targets: an execution takes microseconds and makes some hundred allocations. */

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "malloc_context_size=4:quarantine_size_mb=8:allocator_release_to_os_interval_ms=-1";
}
