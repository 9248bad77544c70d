/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a path leads, resolved once: what is done there goes by the directory's descriptor, so that
 * renaming directories or links meanwhile changes nothing.
 */
#ifndef OUTPUT_PLACE_H
#define OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir; /* O_PATH */
	char *name; /* in dir; no symbolic link, unless it is one of /proc to an open file */
	bool exists, open_file; /* open_file: such a link */
	struct stat st; /* of what exists; of an open file, the link's */
};

/*
 * Symbolic links at the end of path are followed where they and the directories they are in belong
 * to us or to root.  Logs its errors.
 */
int place__find(const char *path, struct place *ret_place);
void place__clear(struct place *p);

/*
 * Whether the file is another user's in a directory where everybody may put files, as the kernel
 * understands fs.protected_regular.
 */
bool place__is_foreign(const struct place *p);

#endif /* OUTPUT_PLACE_H */
