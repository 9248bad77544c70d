/* SPDX-License-Identifier: GPL-2.0-only */
/* How frames and stacks are printed. */
#ifndef CMD_FRAMES_H
#define CMD_FRAMES_H

#include "stackonce.h"
#include "strbuf.h"

/* "symbol+0x12/0x34 [module]", or the address; symbols come from the recording: made safe. */
void frame__text(struct strbuf *b, const struct stk_frame *f);
/* {"ip":"0x...","sym":"...","off":18,"mod":null}; sym, off and mod are null when unknown. */
void frame__json(struct strbuf *b, const struct stk_frame *f);
/* "sym":"...","mod":null without the braces: the function alone. */
void frame__json_function(struct strbuf *b, const struct stk_frame *f);
/* "symbol [module]": the function alone, or the address. */
void frame__function(struct strbuf *b, const struct stk_frame *f);

/* A line per frame, each after prefix and before suffix. */
void stack__lines(struct strbuf *b, struct stk_reader *r, uint32_t number, const char *prefix,
		  const char *suffix);
/* [frame,...] */
void stack__json_frames(struct strbuf *b, struct stk_reader *r, uint32_t number);

/* The id people see for a stack number; 0 when there is none. */
uint32_t stack__id(const struct stk_reader *r, uint32_t number);

#endif /* CMD_FRAMES_H */
