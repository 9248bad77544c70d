/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints frames and stacks.  Strings from a recording are escaped.  n may be NULL where only kernel
 * frames occur.
 *
 * All commands print a frame in the same short form: "symbol+0x12/0x34 [module]" for the kernel,
 * "symbol+0x12/0x34 [file]" for a program, with the last component of the file's path.  With --full
 * (n->full), a user frame is "<OFFSET> : path=... build_id=... symbol+0x12/0x34", as in ftrace's
 * file map.
 */
#ifndef UI_FRAMES_H
#define UI_FRAMES_H

#include "json.h"
#include "stackonce.h"
#include "strbuf.h"
#include "names/user_names.h"

/* ---- frames ---------------------------------------------------------------------------------- */

/*
 * One frame in the form above.  Without a symbol: the address, or the offset of a user frame in its
 * file, followed by [file].  A guess, found without an unwind table: by frame pointers or by
 * following generated code, has "? " in front.
 */
void frame__text(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/*
 * "symbol [module]", without the offset; the address if there is no symbol.  With --full, the path
 * and the id of the file stand in place of [file].
 */
void frame__function(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/*
 * The mark of a frame that several stacks share, before the frame: "? " if it is a guess in all of
 * their events, "?3% " if it is in a smaller part of them, and nothing below 1 %, so that a few
 * guesses do not cast doubt on everything around them.
 */
void frame__guesses(struct strbuf *b, uint64_t guesses, uint64_t events);
/* " [module]", " path=... build_id=..." with --full, or nothing. */
void frame__module(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/* " at SOURCE:LINE", or nothing. */
void frame__source(struct strbuf *b, const struct name_line *l);
/* A line "symbol (inlined) at SOURCE:LINE". */
void frame__inlined(struct strbuf *b, const struct name_line *l);
/* The frame as a line; with --inline, the functions inlined there come first, a line each. */
void frame__put(struct user_names *n, struct strbuf *b, const char *indent,
		const struct stk_frame *f);
/* A user frame by the hash of its file: "<OFFSET> : 0xHASH". */
void frame__hash(struct user_names *n, struct strbuf *b, const struct stk_frame *f);
/* Whether the frame is printed with the path of its file. */
static inline bool frame__is_full(const struct user_names *n, const struct stk_frame *f)
{
	return n && n->full && f->kind == STK_FRAME_USER;
}

/*
 * {"ip":"0x...","sym":"...","off":18,"mod":null}; sym, off and mod are null if unknown.  User
 * frames have more members, see docs/json.md.
 */
void frame__json(struct user_names *n, struct json *j, const char *key, const struct stk_frame *f);
/* Members "sym" and "mod", and "file" for user frames. */
void frame__json_function(struct user_names *n, struct json *j, const struct stk_frame *f);

/* ---- files ----------------------------------------------------------------------------------- */

/* "path=... build_id=..." or "path=... sha256=..."; unknown parts are omitted. */
void file__where(struct strbuf *b, const struct stk_file *file);
/* "file_map: hash=0x... path=... build_id=... dev=... inode=...". */
void file__map_line(struct strbuf *b, const struct stk_file *file);
/* Members "hash", "kind", ... */
void file__json(struct json *j, const struct stk_file *file);
/* The build id, or before and the hash of the content, or nothing. */
void file__id(struct strbuf *b, const struct stk_file *file, const char *before);

/* ---- stacks ---------------------------------------------------------------------------------- */

/* At most STK_MAX_DEPTH frames, innermost first; returns their number, 0 for no stack. */
unsigned int stack__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames);
/* frame__put() for each of them. */
void frames__put(struct user_names *n, struct strbuf *b, const char *indent,
		 const struct stk_frame *frames, unsigned int nr);
/* frame__json() for each of them, in the open array. */
void frames__json(struct user_names *n, struct json *j, const struct stk_frame *frames,
		  unsigned int nr);
/* A line for each frame, indented: the kernel stack, then the user stack; 0: no such stack. */
void stack__put(struct user_names *n, struct strbuf *b, const char *indent, uint32_t kstack,
		uint32_t ustack);
/* "stack not recorded (task not selected)", if that is how this user stack ends; else NULL. */
const char *stack__omitted(const struct stk_reader *r, uint32_t ustack);
/* " stack 5 ustack 6 (truncated)": the stack ids and how the stacks end; false: no stack. */
bool stack__put_ids(const struct stk_reader *r, struct strbuf *b, uint32_t kstack, uint32_t ustack);
/* The stack id, as printed, of a stack number; 0 for no stack. */
uint32_t stack__id(const struct stk_reader *r, uint32_t number);
/* The same for JSON; null for no stack. */
void stack__json_id(const struct stk_reader *r, struct json *j, const char *key, uint32_t number);
/* An array of the frames of both stacks. */
void stack__json_frames(struct user_names *n, struct json *j, const char *key, uint32_t kstack,
			uint32_t ustack);
/* Members "kstack", "ustack" and, if frames is set, "frames". */
void stack__json(struct user_names *n, struct json *j, uint32_t kstack, uint32_t ustack,
		 bool frames);

#endif /* UI_FRAMES_H */
