/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checkers' own ELF reader: functions by file offset, build id, and whether an address follows
 * a call.  Independent of stackonce's symbol code, which it tests.
 */
#ifndef STACKONCE_TEST_ELFVIEW_H
#define STACKONCE_TEST_ELFVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elfview_function {
	const char *name;
	uint64_t start, size; /* file offset and size */
};

struct elfview {
	char *path;
	dev_t dev;
	ino_t ino;
	uint8_t *data;
	size_t len;
	uint8_t id[64];
	unsigned int id_len;
	struct elfview_function *functions; /* sorted by start */
	size_t nr_functions;
	uint64_t plt_start[4], plt_end[4];
	unsigned int nr_plts;
};

/* NULL if it cannot be read or is not an ELF file. */
struct elfview *elfview__open(const char *path);
struct elfview *elfview__from_fd(int fd, const char *path);
void elfview__free(struct elfview *v);

/* NULL if there is no such function; the cold part of a function has the name of the function. */
const struct elfview_function *elfview__function(const struct elfview *v, uint64_t off);
const struct elfview_function *elfview__named(const struct elfview *v, const char *name);
bool elfview__in_plt(const struct elfview *v, uint64_t off);

/* Whether the instruction before off is a call; *ret_target: its target, 0 if it is indirect. */
bool elfview__after_call(const struct elfview *v, uint64_t off, uint64_t *ret_target);

/* The file offset of an address in the file's address space; 0 if it has none. */
uint64_t elfview__offset(const struct elfview *v, uint64_t addr);
uint64_t elfview__address(const struct elfview *v, uint64_t off);

#endif /* STACKONCE_TEST_ELFVIEW_H */
