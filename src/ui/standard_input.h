/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which recording a command reads if no FILE is given: standard input if it is a pipe, a socket or
 * a regular file that begins as a recording, else the default file.
 *
 * Nothing is consumed, so the input is still there for another program of a script.  A pipe in
 * which nothing arrives for a second is the silent input of a script or of ssh(1): the default file
 * is read, if it exists.  Where that is not what was meant, a warning says what is read.
 */
#ifndef UI_STANDARD_INPUT_H
#define UI_STANDARD_INPUT_H

/* "-" or file. */
const char *standard_input__or(const char *file);

#endif /* UI_STANDARD_INPUT_H */
