/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file may have several paths: the one that /proc shows to the recorder, the one that the process
 * sees (chroot, mount namespace), and one by which the recorder can open it.  All text is
 * untrusted.
 */
#ifndef RECORD_FILE_PATHS_H
#define RECORD_FILE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of /proc/PID/mountinfo, see proc(5). */
struct mount {
	uint64_t id;
	uint32_t major, minor; /* of the file system, as in /proc/PID/maps */
	const char *root; /* directory of the file system that is mounted, unescaped */
	const char *point; /* mount point, below the process's root, unescaped */
	const char *type, *options; /* of the file system; options not unescaped */
};

struct mounts; /* of a mount namespace */

/* text: len bytes; invalid lines are skipped. */
int mounts__parse(const char *text, size_t len, struct mounts **ret_mounts);
int mounts__read(const char *path, struct mounts **ret_mounts);
void mounts__free(struct mounts *m);
size_t mounts__nr(const struct mounts *m);
const struct mount *mounts__at(const struct mounts *m, size_t i);
const struct mount *mounts__by_id(const struct mounts *m, uint64_t id); /* NULL: none */

/*
 * The part of path below dir, both absolute and without "." and "..": "/b" for "/a/b" and "/a", ""
 * if they are equal; NULL: path is not below dir.
 */
const char *path_below(const char *path, const char *dir);

/* The length of path without " (deleted)" at its end. */
size_t path_len_undeleted(const char *path);

/*
 * Joins parts to a path of at most 4095 bytes, to be freed.  Each part ends with NUL, and the last
 * part of the path comes first.  NULL: invalid parts or out of memory.
 */
char *path_of_parts(const char *parts, size_t len, unsigned int nr_parts);

typedef bool (*try_path_fn)(void *ctx, const char *path);

/*
 * path is below mnt, a mount of another namespace.  Tries the paths where the same file may be in
 * `ours`.  Returns the first one that try() accepts, to be freed; NULL: none.
 */
char *mounts__translate(const struct mounts *ours, const struct mount *mnt, const char *path,
			try_path_fn try, void *ctx);
/* The same for the layers of an overlay mount. */
char *mount__translate_layers(const struct mount *mnt, const char *path, try_path_fn try,
			      void *ctx);

#endif /* RECORD_FILE_PATHS_H */
