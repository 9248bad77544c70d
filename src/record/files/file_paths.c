// SPDX-License-Identifier: GPL-2.0-only
/* Finds a path by which this process can open a file that another one has mapped. */
#include "file_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "slurp.h"
#include "strbuf.h"

#define MAX_MOUNTINFO (32u << 20)

struct mounts {
	char *text;
	struct mount *v;
	size_t nr, cap;
};

/* ---- mountinfo ------------------------------------------------------------------------------- */

static bool is_octal(const char *s, const char *end)
{
	return end - s >= 3 && s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/* Replaces "\040" and the like by their characters, in place; drops NUL. */
static void unescape(char *s)
{
	char *end = s + strlen(s), *to = s;

	while (s < end) {
		int c = (unsigned char)*s++;

		if (c == '\\' && is_octal(s, end)) {
			c = (s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0');
			s += 3;
		}
		if (c)
			*to++ = c;
	}
	*to = '\0';
}

static bool parse_number(const char **s, uint64_t max, char end, uint64_t *ret_number)
{
	uint64_t v = 0;

	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		v = v * 10 + (**s - '0');
		if (v > max)
			return false;
	}
	if (**s != end)
		return false;
	if (end)
		(*s)++;
	*ret_number = v;
	return true;
}

static bool parse_device(const char *s, struct mount *m)
{
	uint64_t major, minor;

	if (!parse_number(&s, UINT32_MAX, ':', &major) ||
	    !parse_number(&s, UINT32_MAX, '\0', &minor))
		return false;
	m->major = major;
	m->minor = minor;
	return true;
}

/*
 * Parses "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS"; changes the
 * line in place.
 */
static bool parse_line(char *line, struct mount *m)
{
	enum { ID, PARENT, DEVICE, ROOT, POINT, OPTIONS, NR_HEAD };
	char *head[NR_HEAD], *word, *type, *options;
	const char *id;
	unsigned int i;

	for (i = 0; i < NR_HEAD; i++) {
		head[i] = strsep(&line, " ");
		if (!head[i])
			return false;
	}
	do {
		word = strsep(&line, " ");
	} while (word && strcmp(word, "-"));
	type = strsep(&line, " ");
	strsep(&line, " ");
	options = strsep(&line, " ");
	id = head[ID];
	if (!options || !parse_number(&id, UINT64_MAX / 16, '\0', &m->id) ||
	    !parse_device(head[DEVICE], m) || head[ROOT][0] != '/' || head[POINT][0] != '/')
		return false;
	unescape(head[ROOT]);
	unescape(head[POINT]);
	m->root = head[ROOT];
	m->point = head[POINT];
	m->type = type;
	m->options = options;
	return true;
}

static struct mount *new_mount(struct mounts *m)
{
	if (array__grow(&m->v, m->nr, &m->cap))
		return NULL;
	return &m->v[m->nr];
}

static void mounts_freep(struct mounts **m)
{
	mounts__free(*m);
}

int mounts__parse(const char *text, size_t len, struct mounts **ret_mounts)
{
	_cleanup_(mounts_freep) struct mounts *m = calloc(1, sizeof(*m));
	char *line, *rest;

	if (!m)
		return -ENOMEM;
	m->text = rest = strndup(text, len);
	if (!rest)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		struct mount *next = new_mount(m);

		if (!next)
			return -ENOMEM;
		if (parse_line(line, next))
			m->nr++;
	}
	*ret_mounts = take_ptr(m);
	return 0;
}

int mounts__read(const char *path, struct mounts **ret_mounts)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int err = fd < 0 ? -errno : slurp__fd(fd, MAX_MOUNTINFO, &text, &len);

	return err ?: mounts__parse(text, len, ret_mounts);
}

void mounts__free(struct mounts *m)
{
	if (!m)
		return;
	free(m->text);
	free(m->v);
	free(m);
}

size_t mounts__nr(const struct mounts *m)
{
	return m->nr;
}

const struct mount *mounts__at(const struct mounts *m, size_t i)
{
	return i < m->nr ? &m->v[i] : NULL;
}

const struct mount *mounts__by_id(const struct mounts *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		if (m->v[i].id == id)
			return &m->v[i];
	return NULL;
}

/* ---- paths ----------------------------------------------------------------------------------- */

const char *path_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	if (strncmp(path, dir, len))
		return NULL;
	path += len;
	return *path == '/' || !*path ? path : NULL;
}

size_t path_len_undeleted(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path), mark_len = sizeof(mark) - 1;

	if (len > mark_len && !strcmp(path + len - mark_len, mark))
		return len - mark_len;
	return len;
}

char *path_of_parts(const char *parts, size_t len, unsigned int nr_parts)
{
	char path[PATH_MAX], *to = path + sizeof(path) - 1;
	size_t at = 0;

	/* from the end, because the last part comes first */
	*to = '\0';
	if (!nr_parts)
		return NULL;
	while (nr_parts--) {
		size_t n = strnlen(parts + at, len - at);

		if (at + n == len || !n || memchr(parts + at, '/', n) ||
		    n + 1 > (size_t)(to - path))
			return NULL;
		to -= n + 1;
		*to = '/';
		memcpy(to + 1, parts + at, n);
		at += n + 1;
	}
	return strdup(to);
}

/* Joins a and b; two empty strings make "/". */
static bool join(char *path, size_t len, const char *a, const char *b)
{
	size_t n = strlen(a);

	while (n && a[n - 1] == '/')
		n--;
	if (n + strlen(b) + 2 > len)
		return false;
	memcpy(path, a, n);
	strcpy(path + n, n || *b ? b : "/");
	return true;
}

/* The path within the file system that is mounted at mnt. */
static bool inner_path(const struct mount *mnt, const char *path, char *ret_inner, size_t len)
{
	const char *below = path_below(path, mnt->point);

	return below && join(ret_inner, len, mnt->root, below);
}

char *mounts__translate(const struct mounts *ours, const struct mount *mnt, const char *path,
			try_path_fn try, void *ctx)
{
	char inner[PATH_MAX], candidate[PATH_MAX];
	const char *below;
	size_t i;

	if (!inner_path(mnt, path, inner, sizeof(inner)))
		return NULL;
	for (i = 0; i < ours->nr; i++) {
		const struct mount *m = &ours->v[i];

		if (m->major != mnt->major || m->minor != mnt->minor)
			continue;
		below = path_below(inner, m->root);
		if (below && join(candidate, sizeof(candidate), m->point, below) &&
		    try(ctx, candidate))
			return strdup(candidate);
	}
	return NULL;
}

/* Tries the layers of one option: paths separated by colons; a backslash escapes a colon. */
static char *try_layers(const char *list, const char *inner, try_path_fn try, void *ctx)
{
	char layer[PATH_MAX], candidate[PATH_MAX];
	size_t n;

	while (*list) {
		for (n = 0; *list && *list != ':'; list++) {
			if (*list == '\\' && list[1])
				list++;
			if (n < sizeof(layer) - 1)
				layer[n++] = *list;
		}
		list += *list == ':';
		layer[n] = '\0';
		/* relative paths depend on where mount(2) was called */
		if (layer[0] == '/' && join(candidate, sizeof(candidate), layer, inner) &&
		    try(ctx, candidate))
			return strdup(candidate);
	}
	return NULL;
}

static bool names_layers(const char *option)
{
	static const char *const names[] = { "upperdir", "lowerdir", "lowerdir+", "datadir+" };
	size_t i, len = strcspn(option, "=");

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !memcmp(option, names[i], len))
			return option[len];
	return false;
}

char *mount__translate_layers(const struct mount *mnt, const char *path, try_path_fn try, void *ctx)
{
	_cleanup_free_ char *options = strdup(mnt->options);
	char inner[PATH_MAX], *option, *rest = options, *found = NULL;

	if (strcmp(mnt->type, "overlay") || !inner_path(mnt, path, inner, sizeof(inner)))
		return NULL;
	while (!found && rest && (option = strsep(&rest, ","))) {
		if (!names_layers(option))
			continue;
		unescape(option);
		found = try_layers(strchr(option, '=') + 1, inner, try, ctx);
	}
	return found;
}
