/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of versions that did not say when and where events were lost: with counters only. */
#ifndef OLD_FILE_H
#define OLD_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "trace/stk.h"
#include "trace/bytes.h"

/* Converts a recording without losses to the previous version; false: it could not be written. */
static inline bool old_file__make(const char *path)
{
	uint8_t head[STK_HEADER_SIZE];
	uint16_t minor = STK_MINOR_LOSSES - 1;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint32_t crc;
	bool done;

	done = fd >= 0 && pread(fd, head, sizeof(head), 0) == sizeof(head);
	memcpy(head + 10, &minor, sizeof(minor));
	crc = crc32c(0, head, 60);
	memcpy(head + 60, &crc, sizeof(crc));
	done = done && pwrite(fd, head, sizeof(head), 0) == sizeof(head);
	if (fd >= 0)
		close(fd);
	return done;
}

#endif /* OLD_FILE_H */
