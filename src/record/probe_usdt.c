// SPDX-License-Identifier: GPL-2.0-only
/* usdt:, probes that programs and libraries have themselves. */
#include "probe_internal.h"

#include <errno.h>

#include "log.h"

int probe_usdt__resolve(const char *spec, const char *rest, struct probe_events *l)
{
	return log_err(-EOPNOTSUPP, "event '%s'", spec);
}
