/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of the machine at one moment, from /proc, as metadata of a recording: events show only
 * how tasks change.
 */
#ifndef RECORD_TASK_LIST_H
#define RECORD_TASK_LIST_H

struct strbuf;

/*
 * Adds a line for each thread in proc, which is "/proc": "PID TGID PPID NSPID START STATE COMM",
 * numbers in decimal.  NSPID is the PID in the thread's own PID namespace, START is in ns of the
 * boot clock with the resolution of a clock tick, STATE is a letter as in /proc/PID/stat.  Blanks,
 * backslashes and other bytes of COMM than printable ASCII are written as \xNN.  Tasks that end
 * meanwhile are left out.  Returns a negative errno if proc cannot be read.
 *
 * A large machine has so many tasks that reading them takes a second: meanwhile() is called every
 * few milliseconds, and a negative errno from it ends the reading and is returned.  NULL: nothing
 * is called.
 */
int task_list__read(const char *proc, struct strbuf *out, int (*meanwhile)(void *ctx), void *ctx);

#endif /* RECORD_TASK_LIST_H */
