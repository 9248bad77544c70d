/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which recording a command reads if no FILE is given: standard input if it is a pipe, a socket or
 * a regular file that begins as a recording, else the default file.
 *
 * Nothing is consumed, so the input is still there for another program of a script.  Where nothing
 * arrives for a second, a command waits in a pipeline only.  With the silent input of a service or
 * of ssh(1) it reads the default file, if that exists.  Where the user may have meant something
 * else, a warning says what is read.
 */
#ifndef UI_STANDARD_INPUT_H
#define UI_STANDARD_INPUT_H

/* "-" or file. */
const char *standard_input__or(const char *file);

#endif /* UI_STANDARD_INPUT_H */
