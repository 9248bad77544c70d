// SPDX-License-Identifier: GPL-2.0-only
/* Reads imported files as a whole. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "slurp.h"

int input__read(const char *path, char **ret_data, size_t *ret_len)
{
	_cleanup_close_ int fd = -1;
	bool is_file = strcmp(path, "-") != 0;
	int err;

	if (is_file) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return log_err(-errno, "open '%s'", path);
	}
	err = slurp__fd(is_file ? fd : STDIN_FILENO, INPUT_MAX, ret_data, ret_len);
	return err ? log_err(err, "read '%s'", is_file ? path : "standard input") : 0;
}
