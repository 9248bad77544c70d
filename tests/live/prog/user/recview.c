// SPDX-License-Identifier: GPL-2.0-only
#include "recview.h"
#include "wire.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void recview__open(struct recview *r, const char *path)
{
	struct stk_reader_opts tables = { .size = sizeof(tables), .want = STK_WANT_FIELDS };
	const struct stk_event *e;
	int rc;

	memset(r, 0, sizeof(*r));
	r->path = path;
	rc = stk_reader__open(path, &tables, &r->files);
	if (!rc)
		rc = stk_reader__next(r->files, &e);
	if (!rc)
		rc = stk_reader__open(path, NULL, &r->reader);
	if (rc)
		errx(1, "%s: %s", path, strerror(-rc));
}

void recview__close(struct recview *r)
{
	for (uint32_t i = 0; i < r->nr_views; i++)
		elfview__free(r->views[i]);
	free(r->views);
	free(r->no_view);
	stk_reader__free(r->reader);
	stk_reader__free(r->files);
}

bool recview__next(struct recview *r, struct recview_event *ret_event)
{
	static struct stk_frame frames[STK_MAX_DEPTH];
	const struct stk_event *e;
	struct stk_stack stack;
	uint32_t number;
	int n, rc = stk_reader__next(r->reader, &e);

	if (rc < 0)
		errx(1, "%s: %s", r->path, strerror(-rc));
	if (!rc)
		return false;
	memset(ret_event, 0, sizeof(*ret_event));
	ret_event->event = e;
	ret_event->ts = stk_event__ts(e);
	ret_event->tid = stk_event__tid(e);
	ret_event->pid = stk_event__pid(e);
	ret_event->comm = stk_event__comm(e);
	ret_event->name = stk_event_type__name(stk_event__type(e));
	ret_event->kind = stk_event_type__kind(stk_event__type(e));
	ret_event->frames = frames;
	number = stk_event__ustack(e);
	ret_event->none = !number || stk_reader__stack(r->reader, number, &stack);
	if (ret_event->none)
		return true;
	n = stk_reader__frames(r->reader, number, frames, STK_MAX_DEPTH);
	if (n < 0)
		errx(1, "%s: stack %u: %s", r->path, number, strerror(-n));
	ret_event->depth = n < STK_MAX_DEPTH ? n : STK_MAX_DEPTH;
	ret_event->end = stack.end;
	return true;
}

/* "field:u32 * uaddr;	offset:16;	size:8;	signed:0;" */
static bool find_field(const char *format, const char *name, unsigned int *ret_off,
		       unsigned int *ret_size)
{
	size_t len = strlen(name);

	for (const char *p = format; (p = strstr(p, name)); p += len)
		if (p > format && (p[-1] == ' ' || p[-1] == '*') &&
		    sscanf(p + len, "; offset:%u; size:%u", ret_off, ret_size) == 2)
			return true;
	return false;
}

uint64_t recview__field(const struct recview_event *e, const char *name)
{
	const char *format = stk_event_type__format(stk_event__type(e->event));
	unsigned int off, size;
	uint64_t value = 0;
	const uint8_t *rec;
	size_t len;

	if (!find_field(format, name, &off, &size) || size > sizeof(value))
		return 0;
	rec = stk_event__record(e->event, &len);
	if (off + size <= len)
		memcpy(&value, rec + off, size);
	return value;
}

static bool same_file(const struct elfview *v, const struct stk_file *f)
{
	if (f->id_kind == STK_ID_BUILD_ID)
		return v->id_len == f->id_len && !memcmp(v->id, f->id, f->id_len);
	return v->ino == f->inode && v->len == f->size;
}

static struct elfview *view_of(const struct stk_file *f)
{
	const char *paths[] = { f->host_path, f->path };
	struct elfview *v;

	for (int i = 0; i < 2; i++) {
		if (f->kind != STK_FILE_FILE || paths[i][0] != '/')
			continue;
		v = elfview__open(paths[i]);
		if (v && same_file(v, f))
			return v;
		elfview__free(v);
	}
	return NULL;
}

struct elfview *recview__file(struct recview *r, uint32_t number)
{
	struct stk_file f;
	uint32_t n;

	if (!number || stk_reader__file(r->files, number, &f))
		return NULL;
	if (number >= r->nr_views) {
		n = (number + 64) & ~63u;
		r->views = realloc(r->views, n * sizeof(*r->views));
		r->no_view = realloc(r->no_view, n * sizeof(*r->no_view));
		if (!r->views || !r->no_view)
			err(1, "realloc");
		memset(r->views + r->nr_views, 0, (n - r->nr_views) * sizeof(*r->views));
		memset(r->no_view + r->nr_views, 0, (n - r->nr_views) * sizeof(*r->no_view));
		r->nr_views = n;
	}
	if (!r->views[number] && !r->no_view[number]) {
		r->views[number] = view_of(&f);
		r->no_view[number] = !r->views[number];
	}
	return r->views[number];
}

bool recview__is_full(const struct recview_event *e)
{
	unsigned int words = e->depth;
	bool guessed = false;

	for (unsigned int i = 0; i < e->depth; i++) {
		words += e->frames[i].exact + (e->frames[i].guessed && !guessed);
		guessed |= e->frames[i].guessed;
	}
	return e->end == STK_END_TRUNCATED && words == WIRE_USER_FRAMES;
}

uint64_t recview__pc(const struct recview_event *e, unsigned int i)
{
	return e->frames[i].ip - (i && !e->frames[i].exact);
}

const char *recview__function(struct recview *r, const struct recview_event *e, unsigned int i)
{
	const struct elfview_function *f;
	struct elfview *v = recview__file(r, e->frames[i].file);

	if (!v)
		return "?";
	f = elfview__function(v, recview__pc(e, i));
	if (f)
		return f->name;
	return elfview__in_plt(v, recview__pc(e, i)) ? "plt" : "?";
}

void recview__print(struct recview *r, const struct recview_event *e)
{
	struct stk_file f;

	printf("%llu.%09llu %s pid %u tid %u %s: %s\n", (unsigned long long)e->ts / 1000000000,
	       (unsigned long long)e->ts % 1000000000, e->comm, e->pid, e->tid, e->name,
	       e->none ? "no user stack" : stk_stack_end_name(e->end));
	for (unsigned int i = 0; !e->none && i < e->depth; i++) {
		bool known =
			e->frames[i].file && !stk_reader__file(r->files, e->frames[i].file, &f);

		printf("  %2u %s+0x%llx %s%s%s\n", i, known ? f.path : "unknown",
		       (unsigned long long)e->frames[i].ip, recview__function(r, e, i),
		       e->frames[i].guessed ? " guessed" : "", e->frames[i].exact ? " exact" : "");
	}
}
