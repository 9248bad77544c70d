// SPDX-License-Identifier: GPL-2.0-only
/* Waits for a grace period by membarrier(2). */
#include "grace.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <linux/membarrier.h>

void grace__wait(void)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(200000);
}
