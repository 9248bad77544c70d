/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several kinds of pairs that are measured while a recording is read: those of presets, "offcpu",
 * from switch to switch of a thread, and one that the command line describes.  Without a choice,
 * those of all presets whose events the recording has.
 */
#ifndef UI_PAIR_KINDS_H
#define UI_PAIR_KINDS_H

#include "export/source.h"
#include "pair_query.h"

struct pair_kind;

struct pair_kinds {
	const char *presets; /* --pairs; NULL: not given */
	struct pair_query own; /* --start, --end, ... */
	/* Without a choice, the waits of threads are there, too: "runqueue" and "offcpu". */
	bool waits;
	struct export_pairs taker;
	/* private */
	struct pair_kind **v;
	unsigned int nr;
	bool all; /* the kinds are not those that the user asked for */
	unsigned int nr_types; /* seen so far */
};

/* Whether the user asked for pairs, or for none. */
static inline bool pair_kinds__are_given(const struct pair_kinds *pk)
{
	return pk->presets || pk->own.start || pk->own.end || pk->own.match || pk->own.start_if ||
	       pk->own.single;
}

/* Checks what the user asked for: an exit code, after a message. */
int pair_kinds__complete(struct pair_kinds *pk, const char *command);
/* The recording is open.  0 or -ENOMEM. */
int pair_kinds__start(struct pair_kinds *pk, struct reading *rd);
/* Takes an event, whether or not it is selected.  Negative errno, which may have been logged. */
int pair_kinds__add(struct pair_kinds *pk, struct reading *rd, const struct stk_event *e);
/* At the end: -ENOENT, after a message, if the recording lacks events that the user asked for. */
int pair_kinds__check(struct pair_kinds *pk);
/* By the number that they have in struct export_pair. */
const char *pair_kinds__name(const struct pair_kinds *pk, unsigned int kind);
const char *pair_kinds__summary(const struct pair_kinds *pk, unsigned int kind);
const char *pair_kinds__by(const struct pair_kinds *pk, unsigned int kind); /* NULL: one group */
/* Those that were not measured, as events may be missing in between. */
uint64_t pair_kinds__gaps(const struct pair_kinds *pk, unsigned int kind);
/* Appends the pairs that were not measured to the summary of an export. */
void pair_kinds__summarize(const struct pair_kinds *pk, struct strbuf *summary);
void pair_kinds__free(struct pair_kinds *pk);

#endif /* UI_PAIR_KINDS_H */
