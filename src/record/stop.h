/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals that end a recording: SIGINT, SIGTERM, SIGHUP.
 *
 * What was ignored when we were started stays ignored (nohup), but for SIGINT: shells ignore it
 * in what a script runs in the background, where kill -INT is meant all the same; only the
 * terminal's, which is meant for others, is ignored then.
 */
#ifndef RECORD_STOP_H
#define RECORD_STOP_H

/* From now on they are counted, and SIGPIPE is ignored. */
void stop__catch(void);
/* For a child that becomes another program: everything as before stop__catch(). */
void stop__restore(void);

/* How many came. */
unsigned int stop__count(void);
/* The last one; 0: none. */
int stop__signal(void);
/*
 * The signal to pass on to a command, once; 0: none.  The terminal sends its signals to the whole
 * foreground group: the command has got those.
 */
int stop__take_forward(void);

#endif /* RECORD_STOP_H */
