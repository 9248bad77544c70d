// SPDX-License-Identifier: GPL-2.0-only
/* Finds tracefs and reads its list and formats of tracepoints. */
#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "slurp.h"

static int is_tracefs(const char *path)
{
	struct statfs st;

	return !statfs(path, &st) && st.f_type == TRACEFS_MAGIC;
}

const char *tracefs__mounted(void)
{
	static const char *const roots[] = { TRACEFS_ROOT, "/sys/kernel/debug/tracing" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(roots); i++)
		if (is_tracefs(roots[i]))
			return roots[i];
	return NULL;
}

int tracefs__root(const char **ret_root)
{
	const char *root = tracefs__mounted();

	if (!root && mount("nodev", TRACEFS_ROOT, "tracefs", 0, NULL))
		return -errno;
	*ret_root = root ?: TRACEFS_ROOT;
	return 0;
}

static int path_of(const char *name, char ret_path[PATH_MAX])
{
	const char *root;
	int err;

	err = tracefs__root(&root);
	if (err)
		return err;
	return snprintf(ret_path, PATH_MAX, "%s/%s", root, name) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int tracefs__may_record(void)
{
	char path[PATH_MAX];
	int err;

	err = path_of("instances", path);
	if (err)
		return err;
	return access(path, W_OK | X_OK) ? -errno : 0;
}

int tracefs__file(const char *name, char **ret_text)
{
	char path[PATH_MAX];
	int err;

	err = path_of(name, path);
	return err ?: slurp(path, ret_text, NULL);
}

int tracefs__format(const char *system, const char *name, char **ret_text)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "events/%s/%s/format", system, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return tracefs__file(path, ret_text);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Not from the directories in events/: those of probes come and go while they are listed. */
int tracefs__events(char ***ret_events, size_t *ret_nr)
{
	_cleanup_free_ char *text = NULL;
	char **events = NULL, *line, *rest;
	size_t nr = 0, cap = 0;
	int err;

	err = tracefs__file("available_events", &text);
	if (err)
		return err;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (array__grow(&events, nr, &cap) || !(events[nr] = strdup(line))) {
			tracefs__free_events(events, nr);
			return -ENOMEM;
		}
		nr++;
	}
	if (nr)
		qsort(events, nr, sizeof(*events), compare_names);
	*ret_events = events;
	*ret_nr = nr;
	return 0;
}

void tracefs__free_events(char **events, size_t nr)
{
	while (nr)
		free(events[--nr]);
	free(events);
}

int tracefs__try_filter(const char *system, const char *name, const char *expr)
{
	char instance[PATH_MAX], path[PATH_MAX + 300];
	_cleanup_close_ int fd = -1;
	const char *root;
	int err;

	err = tracefs__root(&root);
	if (err)
		return err;
	snprintf(instance, sizeof(instance), "%s/instances/stackonce-%d", root, getpid());
	if (mkdir(instance, 0700))
		return -errno;
	snprintf(path, sizeof(path), "%s/events/%s/%s/filter", instance, system, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	else if (write(fd, expr, strlen(expr)) < 0)
		err = errno == EINVAL ? -EINVAL : -errno;
	closep(&fd);
	fd = -1;
	rmdir(instance);
	return err;
}
