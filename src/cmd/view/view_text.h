/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command line selects, as options for a shell. */
#ifndef CMD_VIEW_TEXT_H
#define CMD_VIEW_TEXT_H

#include <stdbool.h>

struct pair_kinds;
struct selection;
struct strbuf;
struct user_names;

/* "-e 'sched:*' --cpu 0-3": each option with a blank before it; times of the recording's clock. */
void view_text__put_selection(struct strbuf *b, const struct selection *sel, bool has_times);
void view_text__put_pairs(struct strbuf *b, const struct pair_kinds *pairs);
/* Where names are from; not --no-symbols, without which there may be more. */
void view_text__put_names(struct strbuf *b, const struct user_names *names);
/* A blank and a word, quoted if a shell would change it. */
void view_text__put_word(struct strbuf *b, const char *word);

#endif /* CMD_VIEW_TEXT_H */
