/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of the page of `stackonce view`: the events of a recording, added up by time, CPU, task,
 * event type and stack; pairs of events by latency; what was lost.
 *
 * Memory grows with tasks, stacks and their combinations, not with the events: time is divided into
 * at most VIEW_MAX_BINS bins, which become wider, and if there are too many cells all the same, the
 * least busy tasks and then the rarest stacks are merged.  What was merged is said in the data.
 * Sums are exact nevertheless.
 *
 * The data are a zlib stream of
 *
 *   u32 LE   length of the head in bytes
 *   head     JSON in UTF-8
 *   columns  of the tables, in the order in which the head lists them
 *
 * A number of a column is in LEB128, below 2^53, and unsigned; of one with the coding "delta" it is
 * the zigzag of its difference from the number of the row before.  Rows and strings count from 0.
 *
 * The head:
 *
 *   version       1
 *   tool          "stackonce 0.2.0"
 *   recordings    file, host, kernel, command; begin: the wall clock of the first event, in ISO
 *                 8601; duration_ns, from the first to the last.  null: unknown
 *   begin_ns      time of bin 0 in ns of the recording's clock: a string, as it may exceed 2^53
 *   begin_wall    the wall clock of bin 0; null: unknown
 *   bin_ns, bins  width of a bin, number of bins
 *   events_total  the sum of all n of cells
 *   lost_total    events that are known to be lost
 *   selection     the options that select events, or null
 *   thinned       sentences: what was merged or left out
 *   weights       name, unit ("" or "ns"); pair: whose times they are.  The first is the number of
 *                 events, column n of cells; the others are columns w1, w2, ...
 *   cpus          their numbers
 *   types         name, events, lost
 *   pairs         name, description, count; group: what they are grouped by, or null
 *   hosts         only if the recordings are of several boots: an array of names
 *   cpu_hosts     only then: the host of each CPU
 *   strings       what numbers of strings mean; any characters
 *   command_all   exports the same to Perfetto
 *   command       the same without --time, so that "--time A,B" may follow
 *   tables        by name: rows, columns (name, coding, bytes)
 *
 * The tables; bin, cpu, task, type, pair, frame and string are row numbers:
 *
 *   tasks       tid, pid, comm (string), host.  A thread that was renamed has several rows
 *   frames      name (string), kind (enum view_frame_kind), file (string)
 *   nodes       parent (node + 1, 0: none), frame.  Outermost first, user frames before those of
 *               the kernel.  Parents come before children.  A stack is its innermost node + 1, or 0
 *   cells       bin, cpu, task, type, stack, n, and the further weights; sorted by bin
 *   losses      begin, end (bins, both included), cpu + 1, type + 1 (0: any), count (0: unknown),
 *               skipped (1: samples that were not taken)
 *   pair_cells  pair, bin of the end, bucket, n.  A duration of d ns is in bucket
 *               floor(4 * log2(d)), or 0
 *   slow        pair, start (ns since begin_ns), duration (ns), task, cpu (of the start),
 *               start_stack, end_stack, value (string).  The slowest of each 40 bins
 *
 * The times of a pair are a weight: they are added to the cells of its start event, in the bin of
 * its end.  A cell may have times only, and an n of 0.
 */
#ifndef VIEW_DATA_H
#define VIEW_DATA_H

#include "stackonce.h"
#include "strbuf.h"

#define VIEW_MAX_BINS 2000
#define VIEW_FEWEST_BINS 500 /* before anything else is merged */
#define VIEW_MAX_TASKS 5000 /* rows: the page sums up each of them by bin */
#define VIEW_MAX_CELLS 400000 /* rows, if merging can achieve that */

struct export_pair;
struct user_names;
struct view_data;

/* A kind of pairs, by the number that they have in struct export_pair. */
struct view_pair_kind {
	const char *name, *description;
	const char *group; /* NULL: they are not grouped */
};

/* What only the command knows. */
struct view_head {
	const char *const *paths; /* of the recordings */
	const char *selection; /* NULL: none */
	const char *command, *command_all;
	const struct view_pair_kind *pairs;
	unsigned int nr_pairs;
	const char *const *notes; /* further sentences for `thinned` */
	unsigned int nr_notes;
	bool is_selection; /* events are left out: counters of the recording mean others, too */
};

/* r and names are borrowed; memory and work are charged to r. */
int view_data__new(struct stk_reader *r, struct user_names *names, struct view_data **ret_data);
void view_data__free(struct view_data *d);
static inline void view_data__freep(struct view_data **d)
{
	view_data__free(*d);
}
/* What is later than this, in ns, is in the bin of this time. */
void view_data__end_at(struct view_data *d, uint64_t ts);
/* These three take what is selected, in the order of the reader.  -ENOMEM, -ENOBUFS. */
int view_data__add(struct view_data *d, const struct stk_event *e);
int view_data__add_pair(struct view_data *d, const struct export_pair *pair);
int view_data__add_loss(struct view_data *d, const struct stk_loss *loss);
/* Call it after the last of them.  -ENOMEM, -ENOBUFS. */
int view_data__finish(struct view_data *d);

uint64_t view_data__events(const struct view_data *d);
uint64_t view_data__pairs(const struct view_data *d);
/* Appends the data, not compressed.  -ENOMEM. */
int view_data__put(const struct view_data *d, const struct view_head *head, struct strbuf *out);

#endif /* VIEW_DATA_H */
