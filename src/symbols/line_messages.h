/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the child that reads DWARF (line_child.c) and its parent (line_reader.c) say to each other, in
 * messages of a byte that says what it is and what follows.  The parent asks with an address, which
 * is all of that message.  The child answers with lines, {u32 number, function, NUL, source, NUL}; an
 * unknown string is empty.  Before it answers it may ask for a file, by its path; the parent replies
 * with a byte, and the open file if there is one that it may have.
 */
#ifndef SYMBOLS_LINE_MESSAGES_H
#define SYMBOLS_LINE_MESSAGES_H

#include <sys/types.h>

#define LINE_MESSAGE_ANSWER 'a'
#define LINE_MESSAGE_OPEN 'o'
#define LINE_MESSAGE_MAX (64u << 10) /* bytes: what does not fit is not said */

void line_child__main(pid_t parent, int socket, int fd, int alt_fd) __attribute__((noreturn));

#endif /* SYMBOLS_LINE_MESSAGES_H */
