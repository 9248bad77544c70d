// SPDX-License-Identifier: GPL-2.0-only
/* Fills the places of the template. */
#include "page.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "cleanup.h"
#include "output/output.h"
#include "strbuf.h"
#include "template.h"

#define COMPRESSION_LEVEL 6

struct writer {
	const struct output *o;
	uint64_t bytes;
	int err;
};

static void put(struct writer *w, const char *text, size_t len)
{
	w->err = w->err ?: output__write(w->o, text, len);
	w->bytes += len;
}

static void put_base64(struct writer *w, const void *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = data, *end = p + len;
	char text[4096];
	size_t nr = 0;

	for (; p < end && !w->err; p += 3) {
		uint32_t v = p[0] << 16 | (end - p > 1 ? p[1] << 8 : 0) | (end - p > 2 ? p[2] : 0);

		text[nr++] = digits[v >> 18];
		text[nr++] = digits[v >> 12 & 63];
		text[nr++] = end - p > 1 ? digits[v >> 6 & 63] : '=';
		text[nr++] = end - p > 2 ? digits[v & 63] : '=';
		if (nr == sizeof(text) || end - p <= 3) {
			put(w, text, nr);
			nr = 0;
		}
	}
}

static void put_title(struct writer *w, const char *title)
{
	_cleanup_(strbuf__free) struct strbuf safe = { 0 }, text = { 0 };
	size_t i;

	strbuf__text(&safe, title);
	for (i = 0; i < safe.len; i++) {
		if (safe.s[i] == '<')
			strbuf__puts(&text, "&lt;");
		else if (safe.s[i] == '&')
			strbuf__puts(&text, "&amp;");
		else
			strbuf__putc(&text, safe.s[i]);
	}
	if (strbuf__failed(&safe) || strbuf__failed(&text))
		w->err = w->err ?: -ENOMEM;
	else
		put(w, text.s ?: "", text.len);
}

static void put_data(struct writer *w, const struct strbuf *data)
{
	uLongf len = compressBound(data->len);
	_cleanup_free_ Bytef *packed = malloc(len);

	if (!packed ||
	    compress2(packed, &len, (const Bytef *)data->s, data->len, COMPRESSION_LEVEL) != Z_OK)
		w->err = w->err ?: -ENOMEM;
	else
		put_base64(w, packed, len);
}

/* What belongs in the place of this name, which ends with an @. */
static void put_place(struct writer *w, const struct view_page *page, const char *name)
{
	if (!strncmp(name, "title@", 6))
		put_title(w, page->title);
	else if (!strncmp(name, "data@", 5))
		put_data(w, page->data);
	else if (!strncmp(name, "perfetto@", 9) && page->perfetto)
		put_base64(w, page->perfetto->s, page->perfetto->len);
}

int view_page__write(const struct view_page *page, const struct output *o, uint64_t *ret_bytes)
{
	struct writer w = { .o = o };
	const char *text, *place, *end;
	size_t len;
	int err;

	err = view_template__get(&text, &len);
	if (err)
		return err;
	end = text + len;
	while ((place = memmem(text, end - text, VIEW_PLACE, strlen(VIEW_PLACE)))) {
		put(&w, text, place - text);
		place += strlen(VIEW_PLACE);
		text = memchr(place, '@', end - place);
		if (!text)
			return -EINVAL;
		put_place(&w, page, place);
		text++;
	}
	put(&w, text, end - text);
	if (!w.err)
		*ret_bytes = w.bytes;
	return w.err;
}
