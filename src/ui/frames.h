/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How frames and stacks are printed.  Whatever comes from a recording is made safe; names may be
 * NULL where only kernel frames can come.
 */
#ifndef UI_FRAMES_H
#define UI_FRAMES_H

#include "json.h"
#include "stackonce.h"
#include "strbuf.h"
#include "user_names.h"

/* ---- frames ---------------------------------------------------------------------------------- */

/*
 * "symbol+0x12/0x34 [module]"; without a symbol the address, or a user frame's offset in its file,
 * and [file].  "? " in front: a guess, found by frame pointers.
 */
void frame__text(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/* "symbol [module]": the function alone, or the address. */
void frame__function(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/* "[module]" with a blank before it, or nothing. */
void frame__module(struct strbuf *b, const struct stk_frame *f);
/* " at SOURCE:LINE", or nothing. */
void frame__source(struct strbuf *b, const struct name_line *l);
/* A line "symbol (inlined) at SOURCE:LINE". */
void frame__inlined(struct strbuf *b, const struct name_line *l);
/* The frame's text as a line; with --inline, lines of what was inlined there stand before it. */
void frame__put(struct user_names *n, struct strbuf *b, const char *indent,
		const struct stk_frame *f);
/*
 * A user frame in the look of ftrace's file map: " <OFFSET> : path=... build_id=... symbol", or
 * with ids " <OFFSET> : 0xHASH".
 */
void frame__in_file(struct user_names *n, struct strbuf *b, const struct stk_frame *f, bool ids);

/*
 * {"ip":"0x...","sym":"...","off":18,"mod":null}; sym, off and mod are null when unknown.  User
 * frames have more, see docs/json.md.
 */
void frame__json(struct user_names *n, struct json *j, const char *key, const struct stk_frame *f);
/* Members "sym", "mod": the function alone; of user frames the file, too. */
void frame__json_function(struct user_names *n, struct json *j, const struct stk_frame *f);

/* ---- files ----------------------------------------------------------------------------------- */

/* "path=... build_id=..." or sha256=, without what is not known. */
void file__where(struct strbuf *b, const struct stk_file *file);
/* "file_map: hash=0x... path=... build_id=... dev=... inode=...". */
void file__map_line(struct strbuf *b, const struct stk_file *file);
/* Members "hash", "kind", ... */
void file__json(struct json *j, const struct stk_file *file);
const char *file__kind(const struct stk_file *file);
/* Its build id, or the hash of its content after before; or nothing. */
void file__id(struct strbuf *b, const struct stk_file *file, const char *before);

/* ---- stacks ---------------------------------------------------------------------------------- */

/* At most STK_MAX_DEPTH frames, innermost first; returns their number, 0 for no stack. */
unsigned int stack__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames);
/* A line for each frame, after indent: those of one stack after those of the other; 0: none. */
void stack__put(struct user_names *n, struct strbuf *b, const char *indent, uint32_t kstack,
		uint32_t ustack);
/* " stack 5 ustack 6 (truncated)": the ids people see, and how the stacks end; false: there are none. */
bool stack__put_ids(const struct stk_reader *r, struct strbuf *b, uint32_t kstack, uint32_t ustack);
/* The id people see for a stack number; 0 when there is none. */
uint32_t stack__id(const struct stk_reader *r, uint32_t number);
/* The same for JSON, null when there is none. */
void stack__json_id(const struct stk_reader *r, struct json *j, const char *key, uint32_t number);
/* An array of the frames of both stacks. */
void stack__json_frames(struct user_names *n, struct json *j, const char *key, uint32_t kstack,
			uint32_t ustack);
/* Members "kstack", "ustack" and, where they are asked for, "frames". */
void stack__json(struct user_names *n, struct json *j, uint32_t kstack, uint32_t ustack,
		 bool frames);

#endif /* UI_FRAMES_H */
