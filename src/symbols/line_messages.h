/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages between the child that reads DWARF (line_child.c) and its parent (line_reader.c).  A
 * query consists of an address only.  The child's messages start with a type byte: an answer, with
 * lines of {u32 number, function, NUL, source, NUL}, where an unknown string is empty, or, before
 * the answer, requests for files by path.  The parent replies to a request with a byte, and with
 * the open file if it exists and the child may have it.
 */
#ifndef SYMBOLS_LINE_MESSAGES_H
#define SYMBOLS_LINE_MESSAGES_H

#include <sys/types.h>

#define LINE_MESSAGE_ANSWER 'a'
#define LINE_MESSAGE_OPEN 'o'
#define LINE_MESSAGE_MAX (64u << 10) /* bytes; lines that do not fit are left out */

void line_child__main(pid_t parent, int socket, int fd, int alt_fd) __attribute__((noreturn));

#endif /* SYMBOLS_LINE_MESSAGES_H */
