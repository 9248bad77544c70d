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

static inline bool place__is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What is written under another name first, within the directory of the place. */
#define PLACE_TEMP 40
#define PLACE_TEMP_TRIES 100 /* until a name is free */

int place__random_name(char ret_name[static PLACE_TEMP]);
/* Renames to a name that must be free; -EEXIST if it is not. */
int place__rename_to_free(const struct place *p, const char *from, const char *to);
/* Whether the name still belongs to what was found; -EEXIST: no longer. */
int place__check_name(const struct place *p);
/*
 * Gives fd owner, group and mode of what it replaces.  Never grants rights: if the group cannot be
 * kept, the group's rights are removed.
 */
int place__copy_owner(const struct place *p, int fd);
/* Makes a new name survive a crash.  If this fails, a crash may bring back what it replaced. */
void place__sync(const struct place *p);

#endif /* OUTPUT_PLACE_H */
