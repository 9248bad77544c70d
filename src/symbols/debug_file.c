// SPDX-License-Identifier: GPL-2.0-only
/* Finds debug files by build id and by debug link, below a root. */
#include "debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cleanup.h"
#include "elf_file.h"
#include "usyms.h"

#define MAX_ID 64
#define MAX_LINK (PATH_MAX + 256u) /* bytes of a section that refers to another file */
#define CHUNK (64u << 10)
#define MAX_CRC (4ULL << 30) /* bytes of a debug file that is identified by its checksum */

/* The identity that the wanted file must have. */
struct wanted {
	uint8_t id[MAX_ID];
	unsigned int id_len; /* 0: none to compare */
	bool has_crc;
	uint32_t crc;
};

static bool has_crc(int fd, uint32_t crc)
{
	_cleanup_free_ unsigned char *buf = malloc(CHUNK);
	uint32_t sum = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n = -1;

	while (buf && at < MAX_CRC && (n = pread(fd, buf, CHUNK, at)) > 0) {
		sum = crc32(sum, buf, n);
		at += n;
	}
	return !n && sum == crc;
}

static bool is_wanted(int fd, const struct wanted *w)
{
	uint8_t id[MAX_ID];
	unsigned int len;

	if (w->id_len &&
	    (elf_build_id__from_fd(fd, id, &len) || len != w->id_len || memcmp(id, w->id, len)))
		return false;
	return (w->id_len || w->has_crc) && (!w->has_crc || has_crc(fd, w->crc));
}

/* Tries the path under the sysroot, then without it. */
static int open_wanted(const struct debug_dirs *d, const struct wanted *w, int *ret_fd,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int open_wanted(const struct debug_dirs *d, const struct wanted *w, int *ret_fd,
		       const char *fmt, ...)
{
	const char *roots[] = { d->sysroot, "" };
	char path[PATH_MAX];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENOENT;
	for (size_t i = *d->sysroot ? 0 : 1; i < ARRAY_SIZE(roots); i++) {
		_cleanup_close_ int fd = -1;

		if (!root__open(roots[i], path, &fd) && is_wanted(fd, w)) {
			*ret_fd = take_fd(fd);
			return 0;
		}
	}
	return -ENOENT;
}

static int open_by_id(const struct debug_dirs *d, const struct wanted *w, bool debug, int *ret_fd)
{
	char hex[2 * MAX_ID + 1];
	int err = -ENOENT;

	if (w->id_len < 2)
		return -ENOENT;
	for (unsigned int i = 0; i < w->id_len; i++)
		sprintf(hex + 2 * i, "%02x", w->id[i]);
	for (const char *const *dir = d->dirs; *dir && err; dir++)
		err = open_wanted(d, w, ret_fd, "%s/.build-id/%.2s/%s%s", *dir, hex, hex + 2,
				  debug ? ".debug" : "");
	return err;
}

static int open_from_server(const struct debug_dirs *d, const struct wanted *w, bool debug,
			    int *ret_fd)
{
	_cleanup_close_ int fd = -1;

	if (!d->debuginfod || !w->id_len || debuginfod__open(w->id, w->id_len, debug, &fd) ||
	    !is_wanted(fd, w))
		return -ENOENT;
	*ret_fd = take_fd(fd);
	return 0;
}

int debug_dirs__open_id(const struct debug_dirs *d, const uint8_t *id, unsigned int id_len,
			int *ret_fd)
{
	struct wanted w = { .id_len = id_len };

	if (id_len > MAX_ID)
		return -ENOENT;
	memcpy(w.id, id, id_len);
	return open_by_id(d, &w, false, ret_fd) ? open_from_server(d, &w, false, ret_fd) : 0;
}

/*
 * Reads a section that begins with a file name; up to max bytes after the name's NUL are copied to
 * ret_rest.
 */
static int read_link(int fd, const char *section_name, char **ret_name, void *ret_rest, size_t max,
		     size_t *ret_len)
{
	_cleanup_free_ char *data = NULL;
	const Elf64_Shdr *section = NULL;
	struct elf_file f;
	size_t name_len, size = 0;
	int err = elf_file__from_fd(fd, &f);

	if (err)
		return err;
	err = elf_file__load_sections(&f);
	if (!err)
		section = elf_file__section(&f, section_name);
	if (section && section->sh_size <= MAX_LINK) {
		size = section->sh_size;
		err = elf_file__load(&f, section->sh_offset, size, &data);
	}
	elf_file__done(&f);
	if (err || !data)
		return err ?: -ENOENT;
	name_len = strnlen(data, size);
	if (!name_len || name_len == size)
		return -ENOENT;
	*ret_len = MIN(max, size - name_len - 1);
	memcpy(ret_rest, data + name_len + 1, *ret_len);
	*ret_name = take_ptr(data);
	return 0;
}

/* .gnu_debuglink: a name without directories, padded to four bytes, and the file's CRC32. */
static int open_by_link(const struct debug_dirs *d, int fd, const char *path, struct wanted w,
			int *ret_fd)
{
	_cleanup_free_ char *name = NULL;
	int dir_len = strrchr(path, '/') ? strrchr(path, '/') - path : 0;
	size_t len, pad;
	char rest[8];
	int err;

	err = read_link(fd, ".gnu_debuglink", &name, rest, sizeof(rest), &len);
	if (err)
		return err;
	pad = -(strlen(name) + 1) & 3;
	if (strchr(name, '/') || len < pad + sizeof(w.crc))
		return -ENOENT;
	memcpy(&w.crc, rest + pad, sizeof(w.crc));
	w.has_crc = true;
	err = open_wanted(d, &w, ret_fd, "%.*s/%s", dir_len, path, name);
	if (err)
		err = open_wanted(d, &w, ret_fd, "%.*s/.debug/%s", dir_len, path, name);
	for (const char *const *dir = d->dirs; *dir && err; dir++)
		err = open_wanted(d, &w, ret_fd, "%s%.*s/%s", *dir, dir_len, path, name);
	return err;
}

int debug_dirs__open_debug(const struct debug_dirs *d, int fd, const char *path, int *ret_fd)
{
	struct wanted w = { 0 };

	if (elf_build_id__from_fd(fd, w.id, &w.id_len))
		w.id_len = 0;
	if (!open_by_id(d, &w, true, ret_fd) || !open_by_link(d, fd, path, w, ret_fd))
		return 0;
	return open_from_server(d, &w, true, ret_fd);
}

/* .gnu_debugaltlink: a path, relative to the debug file, and the build id. */
int debug_dirs__open_alt(const struct debug_dirs *d, int debug_fd, int *ret_fd)
{
	const struct debug_dirs no_root = { .sysroot = "", .dirs = d->dirs };
	_cleanup_free_ char *name = NULL;
	char self[64], own[PATH_MAX];
	struct wanted w = { 0 };
	ssize_t own_len;
	size_t len;
	int err;

	err = read_link(debug_fd, ".gnu_debugaltlink", &name, w.id, sizeof(w.id), &len);
	if (err)
		return err;
	w.id_len = len;
	if (*name == '/' && !open_wanted(d, &w, ret_fd, "%s", name))
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", debug_fd);
	own_len = readlink(self, own, sizeof(own) - 1);
	own[MAX(own_len, 0)] = '\0';
	if (*name != '/' && strrchr(own, '/')) {
		*strrchr(own, '/') = '\0';
		if (!open_wanted(&no_root, &w, ret_fd, "%s/%s", own, name))
			return 0;
	}
	return open_by_id(d, &w, true, ret_fd) ? open_from_server(d, &w, true, ret_fd) : 0;
}

/* Any path may be asked for; the child gets only files with split DWARF. */
static bool is_split(int fd)
{
	const Elf64_Shdr *section = NULL;
	struct elf_file f;

	if (elf_file__from_fd(fd, &f))
		return false;
	if (!elf_file__load_sections(&f))
		section = elf_file__section(&f, ".debug_info.dwo");
	elf_file__done(&f);
	return section;
}

int debug_dirs__open_split(const struct debug_dirs *d, const char *path, int *ret_fd)
{
	const char *roots[] = { d->sysroot, "" };

	for (size_t i = *d->sysroot ? 0 : 1; *path == '/' && i < ARRAY_SIZE(roots); i++) {
		_cleanup_close_ int fd = -1;

		if (!root__open(roots[i], path, &fd) && is_split(fd)) {
			*ret_fd = take_fd(fd);
			return 0;
		}
	}
	return -ENOENT;
}

/* Bytes of the first section with this name or, if NULL, this type. */
static uint64_t section_size(const struct elf_file *f, const char *name, uint32_t type)
{
	const Elf64_Shdr *section =
		name ? elf_file__section(f, name) : elf_file__section_of_type(f, type);

	return section ? section->sh_size : 0;
}

bool debug_file__has_symbols(int fd)
{
	struct elf_file f;
	uint64_t size = 0;

	if (elf_file__from_fd(fd, &f))
		return false;
	/* Some stripped programs keep a few symbols: fewer than they export. */
	if (!elf_file__load_sections(&f))
		size = section_size(&f, NULL, SHT_SYMTAB);
	size = size >= section_size(&f, NULL, SHT_DYNSYM) ? size : 0;
	elf_file__done(&f);
	return size;
}

bool debug_file__has_lines(int fd)
{
	struct elf_file f;
	uint64_t size = 0;

	if (elf_file__from_fd(fd, &f))
		return false;
	if (!elf_file__load_sections(&f))
		size = section_size(&f, ".debug_line", 0) + section_size(&f, ".zdebug_line", 0);
	elf_file__done(&f);
	return size;
}
