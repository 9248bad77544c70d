// SPDX-License-Identifier: GPL-2.0-only
/* Prints frames and stacks as text and as JSON. */
#include "frames.h"

#include <inttypes.h>

#include "cleanup.h"
#include "out.h"

static void put_bytes(struct strbuf *b, const uint8_t *p, unsigned int n)
{
	while (n--)
		strbuf__hex(b, *p++, 2);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *id_key(const struct stk_file *file)
{
	return !file->id_len			? NULL :
	       file->id_kind == STK_ID_BUILD_ID ? "build_id" :
	       file->id_kind == STK_ID_CONTENT	? "sha256" :
						  NULL;
}

void file__id(struct strbuf *b, const struct stk_file *file, const char *before)
{
	if (!id_key(file))
		return;
	if (file->id_kind == STK_ID_CONTENT)
		strbuf__puts(b, before);
	put_bytes(b, file->id, file->id_len);
}

void file__where(struct strbuf *b, const struct stk_file *file)
{
	const char *key = id_key(file);

	strbuf__puts(b, "path=");
	strbuf__text(b, file->path);
	if (file->flags & STK_FILE_DELETED)
		strbuf__puts(b, " (deleted)");
	if (key) {
		strbuf__putc(b, ' ');
		strbuf__puts(b, key);
		strbuf__putc(b, '=');
		put_bytes(b, file->id, file->id_len);
	}
	if (file->kind == STK_FILE_JIT)
		strbuf__printf(b, " pid=%u", file->pid);
}

void file__map_line(struct strbuf *b, const struct stk_file *file)
{
	strbuf__puts(b, "file_map: hash=0x");
	strbuf__hex(b, file->hash, 8);
	strbuf__putc(b, ' ');
	file__where(b, file);
	if (file->kind == STK_FILE_FILE)
		strbuf__printf(b, " dev=%02x:%02x inode=%" PRIu64, file->dev_major, file->dev_minor,
			       file->inode);
	if (file->kind == STK_FILE_JIT)
		strbuf__printf(b, " base=0x%" PRIx64, file->base);
}

/* null, unless the id is of the kind that key names. */
static void put_json_id(struct json *j, const char *key, const struct stk_file *file)
{
	const char *kind = id_key(file);
	struct strbuf *b;

	if (!kind || strcmp(kind, key)) {
		json__null(j, key);
		return;
	}
	b = json__value(j, key);
	strbuf__putc(b, '"');
	put_bytes(b, file->id, file->id_len);
	strbuf__putc(b, '"');
}

void file__json(struct json *j, const struct stk_file *file)
{
	json__printf(j, "hash", "0x%08x", file->hash);
	json__string(j, "kind", file__kind(file));
	json__string(j, "path", file->path);
	json__string(j, "host_path", *file->host_path ? file->host_path : NULL);
	put_json_id(j, "build_id", file);
	if (file->id_kind == STK_ID_CONTENT && file->id_len)
		put_json_id(j, "sha256", file);
	if (file->kind == STK_FILE_FILE) {
		json__printf(j, "dev", "%02x:%02x", file->dev_major, file->dev_minor);
		json__u64(j, "inode", file->inode);
		json__u64(j, "size", file->size);
		json__u64(j, "mtime_ns", file->mtime_ns);
	}
	if (file->kind == STK_FILE_JIT) {
		json__u64(j, "pid", file->pid);
		json__printf(j, "base", "0x%" PRIx64, file->base);
	}
	if (file->flags & STK_FILE_DELETED)
		json__bool(j, "deleted", true);
	if (file->flags & STK_FILE_GONE)
		json__bool(j, "gone", true);
}

/* ---- frames ---------------------------------------------------------------------------------- */

void frame__module(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	struct stk_file file;

	if (frame__is_full(n, f) && f->file && !stk_reader__file(n->reader, f->file, &file)) {
		strbuf__putc(b, ' ');
		file__where(b, &file);
		return;
	}
	if (!f->mod)
		return;
	/* Names that are not file names, such as [vdso], have brackets already. */
	strbuf__puts(b, *f->mod == '[' ? " " : " [");
	strbuf__text(b, f->mod);
	strbuf__puts(b, *f->mod == '[' ? "" : "]");
}

static void put_symbol(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	strbuf__text(b, user_names__of_frame(n, f));
	/* [FTRACE TRAMPOLINE] and the like are not functions. */
	if (f->kind == STK_FRAME_KERNEL && *f->sym == '[')
		return;
	strbuf__puts(b, "+0x");
	strbuf__hex(b, f->off, 0);
	if (f->size) {
		strbuf__puts(b, "/0x");
		strbuf__hex(b, f->size, 0);
	}
}

/* The offset of a user frame in its file, the address of other frames and of code in no file. */
static uint64_t offset_of(const struct user_names *n, const struct stk_frame *f)
{
	struct stk_file file;
	bool is_jit = n && f->kind == STK_FRAME_USER && f->file &&
		      !stk_reader__file(n->reader, f->file, &file) && file.kind == STK_FILE_JIT;

	return is_jit ? f->ip + file.base : f->ip;
}

static void put_unnamed(const struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	strbuf__puts(b, "0x");
	strbuf__hex(b, offset_of(n, f), 0);
}

/* "<OFFSET> : " */
static void put_offset(const struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	strbuf__putc(b, '<');
	strbuf__hex(b, offset_of(n, f), 16);
	strbuf__puts(b, "> : ");
}

static void put_full(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	struct stk_file file;

	put_offset(n, b, f);
	if (f->file && !stk_reader__file(n->reader, f->file, &file))
		file__where(b, &file);
	else
		strbuf__puts(b, "[unknown]");
	if (f->sym) {
		strbuf__putc(b, ' ');
		put_symbol(n, b, f);
	}
}

void frame__text(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	if (f->guessed)
		strbuf__puts(b, "? ");
	if (frame__is_full(n, f)) {
		put_full(n, b, f);
		return;
	}
	if (f->sym)
		put_symbol(n, b, f);
	else
		put_unnamed(n, b, f);
	frame__module(n, b, f);
}

void frame__function(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	if (f->guessed)
		strbuf__puts(b, "? ");
	if (f->sym)
		strbuf__text(b, user_names__of_frame(n, f));
	else
		put_unnamed(n, b, f);
	frame__module(n, b, f);
}

void frame__guesses(struct strbuf *b, uint64_t guesses, uint64_t events)
{
	unsigned int percent = events ? (unsigned __int128)guesses * 100 / events : 0;

	if (guesses && guesses >= events)
		strbuf__puts(b, "? ");
	else if (percent)
		strbuf__printf(b, "?%u%% ", percent);
}

void frame__source(struct strbuf *b, const struct name_line *l)
{
	if (!l->source)
		return;
	strbuf__puts(b, " at ");
	strbuf__text(b, l->source);
	if (l->line)
		strbuf__printf(b, ":%u", l->line);
}

void frame__inlined(struct strbuf *b, const struct name_line *l)
{
	strbuf__text(b, l->function ?: "?");
	strbuf__puts(b, " (inlined)");
	frame__source(b, l);
	strbuf__putc(b, '\n');
}

void frame__put(struct user_names *n, struct strbuf *b, const char *indent,
		const struct stk_frame *f)
{
	const struct name_line *lines;
	unsigned int nr = user_names__lines(n, f, &lines), i;

	for (i = 0; i + 1 < nr; i++) {
		strbuf__pad(b, ' ', strlen(indent));
		frame__inlined(b, &lines[i]);
	}
	strbuf__puts(b, indent);
	frame__text(n, b, f);
	if (nr)
		frame__source(b, &lines[nr - 1]);
	strbuf__putc(b, '\n');
}

void frame__hash(struct user_names *n, struct strbuf *b, const struct stk_frame *f)
{
	struct stk_file file;

	if (f->guessed)
		strbuf__puts(b, "? ");
	put_offset(n, b, f);
	if (!f->file || stk_reader__file(n->reader, f->file, &file)) {
		strbuf__puts(b, "[unknown]");
		return;
	}
	strbuf__puts(b, "0x");
	strbuf__hex(b, file.hash, 8);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void frame__json_function(struct user_names *n, struct json *j, const struct stk_frame *f)
{
	json__string(j, "sym", user_names__of_frame(n, f));
	json__string(j, "mod", f->mod);
	if (f->kind == STK_FRAME_USER)
		json__maybe(j, "file", f->file, f->file);
}

static void put_json_file(struct user_names *n, struct json *j, const struct stk_frame *f)
{
	struct stk_file file = { 0 };
	bool known = f->file && !stk_reader__file(n->reader, f->file, &file);

	json__maybe(j, "file", known, f->file);
	json__string(j, "path", known ? file.path : NULL);
	put_json_id(j, "build_id", &file);
}

static void put_json_line(struct json *j, const struct name_line *l)
{
	json__string(j, "source", l->source);
	json__maybe(j, "line", l->line, l->line);
}

static void put_json_lines(struct user_names *n, struct json *j, const struct stk_frame *f)
{
	const struct name_line *lines;
	unsigned int nr = user_names__lines(n, f, &lines), i;

	if (!nr)
		return;
	put_json_line(j, &lines[nr - 1]);
	json__array(j, "inlined");
	for (i = 0; i + 1 < nr; i++) {
		json__object(j, NULL);
		json__string(j, "sym", lines[i].function);
		put_json_line(j, &lines[i]);
		json__end(j);
	}
	json__end(j);
}

void frame__json(struct user_names *n, struct json *j, const char *key, const struct stk_frame *f)
{
	json__object(j, key);
	json__printf(j, "ip", "0x%" PRIx64, f->ip);
	json__string(j, "sym", user_names__of_frame(n, f));
	json__maybe(j, "off", f->sym, f->off);
	json__string(j, "mod", f->mod);
	if (f->kind == STK_FRAME_USER) {
		put_json_file(n, j, f);
		put_json_lines(n, j, f);
	}
	if (f->guessed)
		json__bool(j, "guessed", true);
	json__end(j);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

unsigned int stack__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames)
{
	int n = number ? stk_reader__frames(r, number, ret_frames, STK_MAX_DEPTH) : 0;

	return n < 0 ? 0 : n > STK_MAX_DEPTH ? STK_MAX_DEPTH : n;
}

const char *stack__omitted(const struct stk_reader *r, uint32_t ustack)
{
	struct stk_stack st;

	if (!ustack || stk_reader__stack(r, ustack, &st) || st.end != STK_END_NOT_RECORDED)
		return NULL;
	return "stack not recorded (task not selected)";
}

void frames__put(struct user_names *n, struct strbuf *b, const char *indent,
		 const struct stk_frame *frames, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		frame__put(n, b, indent, &frames[i]);
}

void frames__json(struct user_names *n, struct json *j, const struct stk_frame *frames,
		  unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		frame__json(n, j, NULL, &frames[i]);
}

void stack__put(struct user_names *n, struct strbuf *b, const char *indent, uint32_t kstack,
		uint32_t ustack)
{
	const char *omitted = stack__omitted(n->reader, ustack);
	struct stk_frame frames[STK_MAX_DEPTH];

	frames__put(n, b, indent, frames, stack__frames(n->reader, kstack, frames));
	frames__put(n, b, indent, frames, stack__frames(n->reader, ustack, frames));
	if (omitted)
		strbuf__printf(b, "%s<%s>\n", indent, omitted);
}

static bool put_id(const struct stk_reader *r, struct strbuf *b, const char *what, uint32_t number)
{
	struct stk_stack st;

	if (!number || stk_reader__stack(r, number, &st))
		return false;
	strbuf__puts(b, what);
	strbuf__u64(b, st.id);
	if (st.end != STK_END_COMPLETE)
		strbuf__printf(b, " (%s)", stk_stack_end_name(st.end));
	return true;
}

bool stack__put_ids(const struct stk_reader *r, struct strbuf *b, uint32_t kstack, uint32_t ustack)
{
	bool any = put_id(r, b, " stack ", kstack);

	return put_id(r, b, " ustack ", ustack) || any;
}

void stack__json_frames(struct user_names *n, struct json *j, const char *key, uint32_t kstack,
			uint32_t ustack)
{
	struct stk_frame frames[STK_MAX_DEPTH];

	json__array(j, key);
	frames__json(n, j, frames, stack__frames(n->reader, kstack, frames));
	frames__json(n, j, frames, stack__frames(n->reader, ustack, frames));
	json__end(j);
}

uint32_t stack__id(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) ? st.id : 0;
}

void stack__json_id(const struct stk_reader *r, struct json *j, const char *key, uint32_t number)
{
	struct stk_stack st;

	/* 0 is a valid id in imported recordings. */
	if (number && !stk_reader__stack(r, number, &st))
		json__u64(j, key, st.id);
	else
		json__null(j, key);
}

void stack__json(struct user_names *n, struct json *j, uint32_t kstack, uint32_t ustack,
		 bool frames)
{
	stack__json_id(n->reader, j, "kstack", kstack);
	stack__json_id(n->reader, j, "ustack", ustack);
	if (frames)
		stack__json_frames(n, j, "frames", kstack, ustack);
}
