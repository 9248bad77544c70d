/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * USDT probes of programs and libraries: notes as made by SystemTap's <sys/sdt.h>, see
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.  Files are untrusted.
 */
#ifndef SYMBOLS_USDT_NOTES_H
#define SYMBOLS_USDT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USDT_MAX_ARGS 12

struct usdt_notes; /* sorted by provider, name and offset */

struct usdt_note {
	const char *provider, *name; /* printable, without blanks and colons; owned by the notes */
	const char *args; /* "-4@%edi 8@8(%rbp)" */
	uint64_t offset; /* of the probe in the file */
};

/* -ENOEXEC: not an ELF file; -ENOENT: no notes. */
int usdt_notes__from_fd(int fd, struct usdt_notes **ret_notes);
int usdt_notes__from_image(const void *image, size_t len, struct usdt_notes **ret_notes);
void usdt_notes__free(struct usdt_notes *n);
size_t usdt_notes__nr(const struct usdt_notes *n);
void usdt_notes__get(const struct usdt_notes *n, size_t i, struct usdt_note *ret_note);
/* The number of notes skipped: broken, or not in executable code. */
size_t usdt_notes__bad(const struct usdt_notes *n);

struct usdt_arg {
	uint8_t size; /* 1, 2, 4 or 8 bytes */
	bool is_signed;
	bool is_float; /* not in an integer register */
};
/*
 * Parses the first USDT_MAX_ARGS of args; returns their number.  Arguments without a size have 8
 * bytes.
 */
unsigned int usdt_args__parse(const char *args, struct usdt_arg ret_args[USDT_MAX_ARGS]);

#endif /* SYMBOLS_USDT_NOTES_H */
