// SPDX-License-Identifier: GPL-2.0-only
/* Parses a line of /proc/PID/maps. */
#include "usyms.h"

#include <errno.h>
#include <string.h>

/* Reads a number of at most max_bits that ends with stop; moves *p past stop. */
static bool take_number(const char **p, unsigned int base, unsigned int max_bits, char stop,
			uint64_t *ret_value)
{
	uint64_t value = 0, max = max_bits == 64 ? UINT64_MAX : (1ULL << max_bits) - 1;
	const char *s = *p;

	for (;; s++) {
		unsigned int digit;

		if (*s >= '0' && *s <= '9')
			digit = *s - '0';
		else if (*s >= 'a' && *s <= 'f')
			digit = *s - 'a' + 10;
		else
			break;
		if (digit >= base || value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (s == *p || *s != stop)
		return false;
	*p = s + 1;
	*ret_value = value;
	return true;
}

static bool take_perms(const char **p, char *ret_perms)
{
	static const char *const allowed[] = { "r-", "w-", "x-", "ps" };

	for (int i = 0; i < 4; i++) {
		if (!(*p)[i] || !strchr(allowed[i], (*p)[i]))
			return false;
		ret_perms[i] = (*p)[i];
	}
	ret_perms[4] = '\0';
	if ((*p)[4] != ' ')
		return false;
	*p += 5;
	return true;
}

/* The kernel escapes only the newline, not even the backslash. */
static void undo_escapes(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

static bool cut_suffix(char *path, const char *suffix)
{
	size_t len = strlen(path), cut = strlen(suffix);

	if (len <= cut || strcmp(path + len - cut, suffix))
		return false;
	path[len - cut] = '\0';
	return true;
}

int proc_mapping__parse(char *line, struct proc_mapping *ret_mapping)
{
	struct proc_mapping m = { .path = "" };
	const char *p = line;
	uint64_t major, minor;
	char *path;

	if (!take_number(&p, 16, 64, '-', &m.start) || !take_number(&p, 16, 64, ' ', &m.end) ||
	    m.start > m.end || !take_perms(&p, m.perms) ||
	    !take_number(&p, 16, 64, ' ', &m.offset) || !take_number(&p, 16, 32, ':', &major) ||
	    !take_number(&p, 16, 32, ' ', &minor))
		return -EINVAL;
	m.dev_major = major;
	m.dev_minor = minor;
	/* Without a name the kernel prints a blank after the inode; do not require it. */
	if (!take_number(&p, 10, 64, '\0', &m.inode)) {
		if (!take_number(&p, 10, 64, ' ', &m.inode))
			return -EINVAL;
		path = line + (p - line);
		path += strspn(path, " ");
		m.deleted = *path == '/' && cut_suffix(path, " (deleted)");
		undo_escapes(path);
		m.path = path;
	}
	*ret_mapping = m;
	return 0;
}
