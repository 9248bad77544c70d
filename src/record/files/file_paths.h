/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file, several paths: as /proc shows it to us, as the process sees it (chroot, mount
 * namespace), and where we find it ourselves.  All text is untrusted.
 */
#ifndef RECORD_FILE_PATHS_H
#define RECORD_FILE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of /proc/PID/mountinfo, see proc(5). */
struct mount {
	uint64_t id;
	uint32_t major, minor; /* of the file system, as /proc/PID/maps shows it */
	const char *root; /* what of the file system is mounted, escapes undone */
	const char *point; /* where, below the process's root, escapes undone */
	const char *type, *options; /* of the file system, options as they stand there */
};

struct mounts; /* of a mount namespace */

/* text: of len bytes; lines that are none are passed over. */
int mounts__parse(const char *text, size_t len, struct mounts **ret_mounts);
int mounts__read(const char *path, struct mounts **ret_mounts);
void mounts__free(struct mounts *m);
size_t mounts__nr(const struct mounts *m);
const struct mount *mounts__at(const struct mounts *m, size_t i);
const struct mount *mounts__by_id(const struct mounts *m, uint64_t id); /* NULL: none */

/*
 * What of path lies below dir, both absolute and without "." and "..": "/b" of "/a/b" and "/a",
 * "" of equal ones; NULL: it does not.
 */
const char *path_below(const char *path, const char *dir);

/* path less a " (deleted)" at its end: the length of the rest, or of all. */
size_t path_len_undeleted(const char *path);

/*
 * A path of at most 4095 bytes made of parts, each with its NUL, the last one of the path first;
 * malloc(3)ed.  NULL: they are not parts, or no memory.
 */
char *path_of_parts(const char *parts, size_t len, unsigned int nr_parts);

typedef bool (*try_path_fn)(void *ctx, const char *path);

/*
 * path is below `there`, a mount of another namespace.  Tries where `ours` may have the same file,
 * until one is accepted, whose path is returned, malloc(3)ed; NULL: none.
 */
char *mounts__translate(const struct mounts *ours, const struct mount *there, const char *path,
			try_path_fn try, void *ctx);
/* The same for the layers of an overlay. */
char *mount__translate_layers(const struct mount *there, const char *path, try_path_fn try,
			      void *ctx);

#endif /* RECORD_FILE_PATHS_H */
