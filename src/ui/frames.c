// SPDX-License-Identifier: GPL-2.0-only
/* Prints frames and stacks as text and as JSON. */
#include "frames.h"

#include <inttypes.h>

#include "cleanup.h"
#include "out.h"

static void put_text(struct strbuf *b, const char *s)
{
	out__safe(b, s, strlen(s));
}

static void put_json(struct strbuf *b, const char *key, const char *s)
{
	strbuf__puts(b, key);
	if (s)
		out__json(b, s, strlen(s));
	else
		strbuf__puts(b, "null");
}

static void put_address(struct strbuf *b, uint64_t ip)
{
	strbuf__puts(b, "0x");
	strbuf__hex(b, ip, 0);
}

static void put_bytes(struct strbuf *b, const uint8_t *p, unsigned int n)
{
	while (n--)
		strbuf__hex(b, *p++, 2);
}

/* ---- files ---------------------------------------------------------------------------------- */

const char *file__kind(const struct stk_file *file)
{
	static const char *const kinds[] = {
		[STK_FILE_FILE] = "file", [STK_FILE_VDSO] = "vdso", [STK_FILE_JIT] = "jit"
	};

	return (unsigned int)file->kind < ARRAY_SIZE(kinds) ? kinds[file->kind] : "unknown";
}

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
	put_text(b, file->path);
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

void file__json(struct strbuf *b, const struct stk_file *file)
{
	const char *key = id_key(file);

	strbuf__printf(b, "\"hash\":\"0x%08x\",\"kind\":\"%s\"", file->hash, file__kind(file));
	put_json(b, ",\"path\":", file->path);
	put_json(b, ",\"host_path\":", *file->host_path ? file->host_path : NULL);
	strbuf__puts(b, ",\"build_id\":");
	if (key && file->id_kind == STK_ID_BUILD_ID) {
		strbuf__putc(b, '"');
		put_bytes(b, file->id, file->id_len);
		strbuf__putc(b, '"');
	} else {
		strbuf__puts(b, "null");
	}
	if (key && file->id_kind == STK_ID_CONTENT) {
		strbuf__puts(b, ",\"sha256\":\"");
		put_bytes(b, file->id, file->id_len);
		strbuf__putc(b, '"');
	}
	if (file->kind == STK_FILE_FILE)
		strbuf__printf(b,
			       ",\"dev\":\"%02x:%02x\",\"inode\":%" PRIu64 ",\"size\":%" PRIu64
			       ",\"mtime_ns\":%" PRIu64,
			       file->dev_major, file->dev_minor, file->inode, file->size,
			       file->mtime_ns);
	if (file->kind == STK_FILE_JIT)
		strbuf__printf(b, ",\"pid\":%u,\"base\":\"0x%" PRIx64 "\"", file->pid, file->base);
	if (file->flags & STK_FILE_DELETED)
		strbuf__puts(b, ",\"deleted\":true");
	if (file->flags & STK_FILE_GONE)
		strbuf__puts(b, ",\"gone\":true");
}

/* ---- frames --------------------------------------------------------------------------------- */

static const char *function(struct names *n, const struct stk_frame *f)
{
	return n && f->sym && f->kind == STK_FRAME_USER ? names__function(n, f->sym) : f->sym;
}

void frame__module(struct strbuf *b, const struct stk_frame *f)
{
	if (!f->mod)
		return;
	/* What is no file of that name comes in brackets. */
	strbuf__puts(b, *f->mod == '[' ? " " : " [");
	put_text(b, f->mod);
	strbuf__puts(b, *f->mod == '[' ? "" : "]");
}

static void put_symbol(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	put_text(b, function(n, f));
	strbuf__puts(b, "+0x");
	strbuf__hex(b, f->off, 0);
	if (f->size) {
		strbuf__puts(b, "/0x");
		strbuf__hex(b, f->size, 0);
	}
}

void frame__text(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	if (f->guessed)
		strbuf__puts(b, "? ");
	if (f->sym)
		put_symbol(n, b, f);
	else
		put_address(b, f->ip);
	frame__module(b, f);
}

void frame__function(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	if (f->guessed)
		strbuf__puts(b, "? ");
	if (f->sym)
		put_text(b, function(n, f));
	else
		put_address(b, f->ip);
	frame__module(b, f);
}

void frame__source(struct strbuf *b, const char *before, const struct name_line *l)
{
	if (!l->source)
		return;
	strbuf__puts(b, before);
	put_text(b, l->source);
	if (l->line)
		strbuf__printf(b, ":%u", l->line);
}

void frame__inlined(struct strbuf *b, const struct name_line *l)
{
	put_text(b, l->function ?: "?");
	strbuf__puts(b, " (inlined)");
	frame__source(b, " at ", l);
}

void frame__in_file(struct names *n, struct strbuf *b, const struct stk_frame *f, bool ids)
{
	uint64_t ip = f->ip;
	struct stk_file file;
	bool known = f->file && !stk_reader__file(n->reader, f->file, &file);

	if (known && file.kind == STK_FILE_JIT)
		ip += file.base;
	strbuf__puts(b, f->guessed ? "? <" : " <");
	strbuf__hex(b, ip, 16);
	strbuf__puts(b, "> : ");
	if (ids && known) {
		strbuf__puts(b, "0x");
		strbuf__hex(b, file.hash, 8);
		return;
	}
	if (known)
		file__where(b, &file);
	else
		strbuf__puts(b, "[unknown]");
	if (f->sym && !ids) {
		strbuf__putc(b, ' ');
		put_symbol(n, b, f);
	}
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void frame__json_function(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	put_json(b, "\"sym\":", function(n, f));
	put_json(b, ",\"mod\":", f->mod);
	if (f->kind == STK_FRAME_USER && f->file)
		strbuf__printf(b, ",\"file\":%u", f->file);
	else if (f->kind == STK_FRAME_USER)
		strbuf__puts(b, ",\"file\":null");
	if (f->guessed)
		strbuf__puts(b, ",\"guessed\":true");
}

static void put_json_file(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	struct stk_file file;

	if (!f->file || stk_reader__file(n->reader, f->file, &file)) {
		strbuf__puts(b, ",\"file\":null,\"path\":null,\"build_id\":null");
		return;
	}
	strbuf__printf(b, ",\"file\":%u", f->file);
	put_json(b, ",\"path\":", file.path);
	strbuf__puts(b, ",\"build_id\":");
	if (file.id_kind != STK_ID_BUILD_ID || !file.id_len) {
		strbuf__puts(b, "null");
		return;
	}
	strbuf__putc(b, '"');
	put_bytes(b, file.id, file.id_len);
	strbuf__putc(b, '"');
}

static void put_json_line(struct strbuf *b, const struct name_line *l)
{
	put_json(b, "\"source\":", l->source);
	if (l->line)
		strbuf__printf(b, ",\"line\":%u", l->line);
	else
		strbuf__puts(b, ",\"line\":null");
}

static void put_json_lines(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	const struct name_line *lines;
	unsigned int nr = names__lines(n, f, &lines), i;

	if (!nr)
		return;
	strbuf__putc(b, ',');
	put_json_line(b, &lines[nr - 1]);
	strbuf__puts(b, ",\"inlined\":[");
	for (i = 0; i + 1 < nr; i++) {
		put_json(b, i ? ",{\"sym\":" : "{\"sym\":", lines[i].function);
		strbuf__putc(b, ',');
		put_json_line(b, &lines[i]);
		strbuf__putc(b, '}');
	}
	strbuf__putc(b, ']');
}

void frame__json(struct names *n, struct strbuf *b, const struct stk_frame *f)
{
	strbuf__puts(b, "{\"ip\":\"");
	put_address(b, f->ip);
	put_json(b, "\",\"sym\":", function(n, f));
	strbuf__puts(b, ",\"off\":");
	if (f->sym)
		strbuf__u64(b, f->off);
	else
		strbuf__puts(b, "null");
	put_json(b, ",\"mod\":", f->mod);
	if (f->kind == STK_FRAME_USER) {
		put_json_file(n, b, f);
		put_json_lines(n, b, f);
	}
	if (f->guessed)
		strbuf__puts(b, ",\"guessed\":true");
	strbuf__putc(b, '}');
}

/* ---- stacks --------------------------------------------------------------------------------- */

unsigned int stack__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames)
{
	int n = number ? stk_reader__frames(r, number, ret_frames, STK_MAX_DEPTH) : 0;

	return n < 0 ? 0 : n > STK_MAX_DEPTH ? STK_MAX_DEPTH : n;
}

void stack__json_frames(struct names *n, struct strbuf *b, uint32_t kstack, uint32_t ustack)
{
	const uint32_t stacks[] = { kstack, ustack };
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int i, k, nr;
	bool any = false;

	strbuf__putc(b, '[');
	for (k = 0; k < ARRAY_SIZE(stacks); k++) {
		nr = stack__frames(n->reader, stacks[k], frames);
		for (i = 0; i < nr; i++) {
			if (any)
				strbuf__putc(b, ',');
			frame__json(n, b, &frames[i]);
			any = true;
		}
	}
	strbuf__putc(b, ']');
}

uint32_t stack__id(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) ? st.id : 0;
}

void stack__json_id(const struct stk_reader *r, struct strbuf *b, uint32_t number)
{
	struct stk_stack st;

	/* An imported stack may well have the id 0. */
	if (number && !stk_reader__stack(r, number, &st))
		strbuf__u64(b, st.id);
	else
		strbuf__puts(b, "null");
}
