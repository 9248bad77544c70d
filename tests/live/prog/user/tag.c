// SPDX-License-Identifier: GPL-2.0-only
#include "tag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The block, and the note of the GNU build id: name size 4, data size 20, type 3, "GNU". */
static const char note[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU";

int tag__set(void *image, uint64_t len, uint64_t tag)
{
	char *block = memmem(image, len, TAG_MAGIC, 8);
	char *id = memmem(image, len, note, sizeof(note));

	if (!block || !id || memmem(block + 8, len - (block + 8 - (char *)image), TAG_MAGIC, 8))
		return -EINVAL;
	memcpy(block + 8, &tag, sizeof(tag));
	memcpy(id + sizeof(note), &tag, sizeof(tag));
	return 0;
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}

int tag__write(const char *template, const char *path, uint64_t tag)
{
	int in = open(template, O_RDONLY | O_CLOEXEC), out = -1, err = -EIO;
	char *image = NULL;
	struct stat st;

	if (in < 0)
		return -errno;
	if (!fstat(in, &st) && (image = malloc(st.st_size + 1)) &&
	    read(in, image, st.st_size) == st.st_size)
		err = tag__set(image, st.st_size, tag);
	close(in);
	if (!err) {
		out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
		err = out < 0 ? -errno : write_all(out, image, st.st_size);
	}
	if (out >= 0)
		close(out);
	free(image);
	return err;
}
