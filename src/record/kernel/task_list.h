/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of the machine at one moment, from /proc, as metadata of a recording: events tell how
 * processes change, this what there was.
 */
#ifndef RECORD_TASK_LIST_H
#define RECORD_TASK_LIST_H

struct strbuf;

/*
 * Adds a line for each thread: "PID TGID PPID NSPID START STATE COMM", decimal; NSPID its number in its
 * own PID namespace, START in ns of the boot clock (to the clock tick), STATE a letter as in
 * /proc/PID/stat.  Bytes of COMM that are no printable ASCII, blanks and backslashes are \xNN.  Tasks that end
 * meanwhile are left out.  A negative errno when /proc cannot be read.
 */
int task_list__read(struct strbuf *out);

#endif /* RECORD_TASK_LIST_H */
