// SPDX-License-Identifier: GPL-2.0-only
/* Files that are imported, as a whole. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "log.h"

/* Sizes of tracefs and proc files are 0 and pipes have none: read to the end, whatever stat says. */
static int read_all(int fd, const char *path, char **ret_data, size_t *ret_len)
{
	_cleanup_free_ char *data = NULL;
	size_t cap = 65536, len = 0;
	struct stat st;
	ssize_t n;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uintmax_t)st.st_size < INPUT_MAX)
		cap = (size_t)st.st_size + 2;
	data = malloc(cap);
	if (!data)
		return log_err(-ENOMEM, "read '%s'", path);
	for (;;) {
		if (len + 1 == cap) {
			char *more = cap > INPUT_MAX ? NULL : realloc(data, cap * 2);

			if (!more)
				return log_err(cap > INPUT_MAX ? -EFBIG : -ENOMEM, "read '%s'", path);
			data = more;
			cap *= 2;
		}
		n = read(fd, data + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return log_err(-errno, "read '%s'", path);
		if (!n)
			break;
		len += (size_t)n;
	}
	data[len] = '\0';
	*ret_data = take_ptr(data);
	*ret_len = len;
	return 0;
}

int input__read(const char *path, char **ret_data, size_t *ret_len)
{
	_cleanup_close_ int fd = -1;

	if (!strcmp(path, "-"))
		return read_all(STDIN_FILENO, "standard input", ret_data, ret_len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return log_err(-errno, "open '%s'", path);
	return read_all(fd, path, ret_data, ret_len);
}
