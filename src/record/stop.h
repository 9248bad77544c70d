/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals that end a recording: SIGINT, SIGTERM, SIGHUP.
 *
 * A signal that was ignored when stackonce started stays ignored (nohup), except SIGINT.  Shells
 * ignore SIGINT in background commands of a script; there kill -INT still ends the recording, and
 * only a SIGINT from the terminal, which is meant for the foreground, is ignored.
 */
#ifndef RECORD_STOP_H
#define RECORD_STOP_H

/* Starts counting these signals, and ignores SIGPIPE. */
void stop__catch(void);
/* Call this in a child before execve(2): restores the state before stop__catch(). */
void stop__restore(void);

/* The number of signals so far. */
unsigned int stop__count(void);
/* The last one; 0: none. */
int stop__signal(void);
/*
 * Returns the signal to pass on to the command, once; 0: none.  Signals of the terminal are not
 * passed on: it sends them to the whole foreground process group, and so to the command.
 */
int stop__take_forward(void);

#endif /* RECORD_STOP_H */
