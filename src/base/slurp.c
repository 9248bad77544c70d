// SPDX-License-Identifier: GPL-2.0-only
/* Reads whole files, mainly of /proc, /sys and tracefs. */
#include "slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "cleanup.h"

#define FIRST_ROOM 16384

int slurp__fd(int fd, size_t max, char **ret_text, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	size_t cap = 0, len = 0, room = FIRST_ROOM;
	struct stat st;
	ssize_t n = 1;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		room = (size_t)st.st_size < max ? (size_t)st.st_size + 2 : max + 2;
	while (n) {
		if (array__reserve(&text, len + room, &cap))
			return -ENOMEM;
		n = read(fd, text + len, cap - len - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += MAX(n, 0);
		if (len > max)
			return -EFBIG;
		room = 2;
	}
	text[len] = '\0';
	*ret_text = take_ptr(text);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int slurp(const char *path, char **ret_text, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : slurp__fd(fd, SLURP_MAX, ret_text, ret_len);
}

int slurp__start(int fd, char *ret_text, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n && len < size - 1) {
		n = read(fd, ret_text + len, size - 1 - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += MAX(n, 0);
	}
	ret_text[len] = '\0';
	return (int)len;
}

int slurp__line(const char *path, char *ret_line, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int len = fd < 0 ? -errno : slurp__start(fd, ret_line, size);

	if (len <= 0)
		return len ?: -ENODATA;
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return 0;
}

int slurp__number(const char *path, unsigned int *ret_number)
{
	char line[32];
	int err = slurp__line(path, line, sizeof(line));

	if (err)
		return err;
	return sscanf(line, "%u", ret_number) == 1 ? 0 : -EINVAL;
}
