/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of the machine at one moment, from /proc, as metadata of a recording: events show only
 * how tasks change.
 */
#ifndef RECORD_TASK_LIST_H
#define RECORD_TASK_LIST_H

struct strbuf;

/*
 * Adds a line for each thread: "PID TGID PPID NSPID START STATE COMM", numbers in decimal.  NSPID
 * is the PID in the thread's own PID namespace, START is in ns of the boot clock with the
 * resolution of a clock tick, STATE is a letter as in /proc/PID/stat.  Blanks, backslashes and
 * other bytes of COMM than printable ASCII are written as \xNN.  Tasks that end meanwhile are left
 * out.  Returns a negative errno if /proc cannot be read.
 */
int task_list__read(struct strbuf *out);

#endif /* RECORD_TASK_LIST_H */
