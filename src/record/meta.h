/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording says of the machine and of how it was made; keys as in stk-format(5). */
#ifndef RECORD_META_H
#define RECORD_META_H

struct ksyms;
struct rec_events;
struct recorder_opts;
struct stk_writer;

int meta__write(struct stk_writer *w, const struct recorder_opts *opts, struct ksyms *syms,
		const struct rec_events *events);

#endif /* RECORD_META_H */
