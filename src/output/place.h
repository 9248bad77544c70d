/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target of a path, resolved once.  Later operations use the directory's descriptor, so
 * renaming directories or links meanwhile has no effect.
 */
#ifndef OUTPUT_PLACE_H
#define OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir; /* O_PATH */
	char *name; /* in dir; not a symbolic link, except one in /proc to an open file */
	bool exists, open_file; /* open_file: a link in /proc to an open file */
	struct stat st; /* of the existing file; of an open file, that of the link */
};

/*
 * Follows symbolic links at the end of path if they and their directories belong to this user or to
 * root.  Logs its errors.
 */
int place__find(const char *path, struct place *ret_place);
void place__clear(struct place *p);

/*
 * Whether the file belongs to another user in a sticky directory that others can write, as the
 * kernel applies fs.protected_regular.
 */
bool place__is_foreign(const struct place *p);

#endif /* OUTPUT_PLACE_H */
