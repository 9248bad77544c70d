// SPDX-License-Identifier: GPL-2.0-only
/* Identifies a file without a build id by a hash of its content. */
#include "usyms.h"

#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"

#define CHUNK (64u << 10)

int content_hash__from_fd(int fd, uint64_t max_bytes, uint8_t ret_id[20])
{
	_cleanup_free_ uint8_t *buf = malloc(CHUNK);
	uint8_t digest[SHA256_DIGEST_LENGTH];
	uint64_t at = 0;
	SHA2_CTX sha;

	if (!buf)
		return -ENOMEM;
	SHA256Init(&sha);
	for (;;) {
		ssize_t n = pread(fd, buf, CHUNK, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		if ((uint64_t)n > max_bytes - at)
			return -EFBIG;
		SHA256Update(&sha, buf, n);
		at += n;
	}
	SHA256Final(digest, &sha);
	memcpy(ret_id, digest, 20);
	return 0;
}
