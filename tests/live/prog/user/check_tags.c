// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the recordings of tagged programs and libraries (tag.h): whether the file of every frame
 * is the one that the event came from, by build id, and its function the right one in that file.
 */
#include "checks.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tag.h"

/* A tagged file, and an unmodified copy of it; "-": code without a file. */
struct tagged {
	uint64_t tag;
	char *pristine;
	struct elfview *view;
	unsigned long events;
};

/* A mapping as /proc/PID/maps of a process has it. */
struct shown {
	unsigned long tag, inode;
	unsigned int pid, dev_major, dev_minor;
	char *path;
	struct shown *next;
};

struct tags {
	struct recview rec;
	const struct recview_event *e;
	struct tagged *tagged; /* by tag */
	size_t nr, max;
	struct shown *shown;
	bool own; /* only processes that wrote their maps: the rest is of other tests */
	const char *what;
	unsigned int printed[2]; /* by whether it is wrong */
	unsigned long events, right, unknown, unverified, none, wrong, names;
	unsigned long incomplete, unreadable;
};

static int by_tag(const void *a, const void *b)
{
	const struct tagged *x = a, *y = b;

	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Whether it is code without a file. */
static bool is_anonymous(const struct tagged *t)
{
	return !strcmp(t->pristine, "-");
}

static struct tagged *tagged_of(struct tags *c, uint64_t tag)
{
	struct tagged key = { .tag = tag };

	return c->nr ? bsearch(&key, c->tagged, c->nr, sizeof(key), by_tag) : NULL;
}

/* Reads lines "TAG PRISTINE". */
static void read_list(struct tags *c, const char *path)
{
	char pristine[PATH_MAX];
	unsigned long tag;
	FILE *f = fopen(path, "re");

	if (!f)
		err(1, "open '%s'", path);
	while (fscanf(f, "%lu %4095s", &tag, pristine) == 2) {
		if (c->nr == c->max) {
			c->max = c->max ? c->max * 2 : 64;
			c->tagged = realloc(c->tagged, c->max * sizeof(*c->tagged));
			if (!c->tagged)
				err(1, "realloc");
		}
		c->tagged[c->nr++] = (struct tagged){ .tag = tag, .pristine = strdup(pristine) };
	}
	fclose(f);
	qsort(c->tagged, c->nr, sizeof(*c->tagged), by_tag);
}

/* Reads lines "TAG PID MAJOR:MINOR INODE PATH", written by the programs themselves. */
static void read_maps(struct tags *c, const char *path)
{
	char name[PATH_MAX];
	struct shown s, *kept;
	FILE *f = fopen(path, "re");

	if (!f)
		err(1, "open '%s'", path);
	while (fscanf(f, "%lu %u %u:%u %lu %4095[^\n]", &s.tag, &s.pid, &s.dev_major, &s.dev_minor,
		      &s.inode, name) == 6) {
		kept = malloc(sizeof(*kept));
		if (!kept)
			err(1, "malloc");
		s.path = strdup(name);
		s.next = c->shown;
		*kept = s;
		c->shown = kept;
	}
	fclose(f);
}

static bool wrong(struct tags *c, const char *what)
{
	c->what = what;
	return false;
}

static struct elfview *view(struct tagged *t)
{
	if (!t->view)
		t->view = elfview__open(t->pristine);
	if (!t->view)
		err(1, "open '%s'", t->pristine);
	return t->view;
}

/* The mark of a deleted file is not part of its name. */
static bool same_path(const char *maps, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(maps, path, len) && (!maps[len] || !strcmp(maps + len, " (deleted)"));
}

static bool has_name(struct tags *c, const struct stk_file *f, const char *maps)
{
	const char *path, *host_path;

	for (unsigned int i = 0; i < f->nr_names; i++)
		if (!stk_reader__file_name(c->rec.files, f->number, i, &path, &host_path) &&
		    same_path(maps, path))
			return true;
	return false;
}

/*
 * The file must be as in one of the lines of the process's /proc/PID/maps; if the recorder could
 * not open it, the recording must say so.
 */
static bool shown_as(struct tags *c, const struct tagged *t, const struct stk_file *f)
{
	bool seen = false, named = false, device;

	if (f->flags & STK_FILE_GONE)
		return true;

	for (const struct shown *s = c->shown; s; s = s->next) {
		if (s->tag != t->tag || s->pid != c->e->pid)
			continue;
		c->names++;
		if (f->inode != s->inode)
			return wrong(c, "another inode than in /proc/PID/maps");
		seen = true;
		named = named || has_name(c, f, s->path);
	}
	if (seen && !named)
		return wrong(c, "another path than in /proc/PID/maps");
	/* one file in two overlays has two devices: that of the first is accepted */
	device = !seen;
	for (const struct shown *s = c->shown; s && !device; s = s->next)
		device = s->tag == t->tag && f->dev_major == s->dev_major &&
			 f->dev_minor == s->dev_minor;
	return device || wrong(c, "another device than in /proc/PID/maps");
}

enum verdict { UNKNOWN, UNVERIFIED, RIGHT };

/* Whether frame i is in the file of this tag; false: it is in another one. */
static bool in_file(struct tags *c, struct tagged *t, unsigned int i, enum verdict *ret_verdict)
{
	const struct stk_frame *fr = &c->e->frames[i];
	struct stk_file f;

	*ret_verdict = UNKNOWN;
	if (!fr->file || stk_reader__file(c->rec.files, fr->file, &f))
		return true;
	if (f.kind != STK_FILE_FILE)
		return is_anonymous(t) || wrong(c, "code of a file has no file");
	if (is_anonymous(t))
		return wrong(c, "code without a file has a file");
	*ret_verdict = f.id_kind == STK_ID_BUILD_ID ? RIGHT : UNVERIFIED;
	if (*ret_verdict == RIGHT &&
	    (f.id_len != view(t)->id_len || memcmp(f.id, view(t)->id, f.id_len)))
		return wrong(c, "another file");
	return shown_as(c, t, &f);
}

/* The call chain in a tagged file. */
static const char *const chain[] = { "tag_c", "tag_b", "tag_a" };

static bool judge(struct tags *c, struct tagged *t, enum verdict *ret_worst)
{
	const struct elfview_function *fn;
	enum verdict v;
	uint64_t target;

	*ret_worst = c->e->depth ? RIGHT : UNKNOWN;
	for (unsigned int i = 0; i < c->e->depth; i++) {
		struct elfview *file = recview__file(&c->rec, c->e->frames[i].file);

		/* code that is replaced is followed by what it was up to a second ago */
		if (is_anonymous(t) && c->e->frames[i].guessed)
			return true;
		if (i >= 3) { /* the caller: known, and after a call */
			if (file && !c->e->frames[i].exact && !c->e->frames[i].guessed &&
			    !elfview__after_call(file, c->e->frames[i].ip, &target))
				return wrong(c, "not a return address");
			continue;
		}
		if (!in_file(c, t, i, &v))
			return false;
		if (v < *ret_worst)
			*ret_worst = v;
		if (v == UNKNOWN)
			continue;
		fn = elfview__function(view(t), recview__pc(c->e, i));
		if (!fn || strcmp(fn->name, chain[i]))
			return wrong(c, "another function");
		if (i && (!elfview__after_call(view(t), c->e->frames[i].ip, &target) || !target ||
			  target != elfview__named(view(t), chain[i - 1])->start))
			return wrong(c, "not called from there");
	}
	if (c->e->depth < 3 && (c->e->end == STK_END_COMPLETE || c->e->end == STK_END_FALLBACK))
		return wrong(c, "frames are missing");
	return true;
}

static bool shows(const struct tags *c, const struct tagged *t)
{
	for (const struct shown *s = c->shown; s; s = s->next)
		if (s->tag == t->tag && s->pid == c->e->pid)
			return true;
	return false;
}

static void one(struct tags *c)
{
	uint64_t addr = recview__field(c->e, "uaddr");
	enum verdict worst;
	struct tagged *t;
	bool ok;

	if (addr < TAG_BASE || addr >= TAG_BASE + 4ull * TAG_MAX)
		return;
	t = tagged_of(c, (addr - TAG_BASE) / 4);
	if (c->own && (!t || !shows(c, t)))
		return;
	if (!t)
		errx(1, "tag %llu is not in the list", (unsigned long long)(addr - TAG_BASE) / 4);
	c->events++;
	t->events++;
	if (c->e->none) {
		c->none++;
		return;
	}
	ok = judge(c, t, &worst);
	if (!ok)
		c->wrong++;
	else if (worst == UNKNOWN)
		c->unknown++;
	else if (worst == UNVERIFIED)
		c->unverified++;
	else
		c->right++;
	c->incomplete += c->e->end != STK_END_COMPLETE;
	c->unreadable += c->e->end == STK_END_UNREADABLE;
	if ((!ok || worst != RIGHT || c->e->end != STK_END_COMPLETE) && c->printed[!ok]++ < 8) {
		printf("%s: tag %llu, %s\n", ok ? "UNKNOWN or incomplete" : "WRONG",
		       (unsigned long long)t->tag, ok ? t->pristine : c->what);
		recview__print(&c->rec, c->e);
	}
}

/*
 * tags RECORDING LIST [MAPS]: LIST has the tag of each file, MAPS the mappings of the programs.
 * With MAPS, only files in LIST and processes in MAPS are checked.  Frames are right, in a file
 * without a build id (unverified), in an unknown file, or wrong.
 */
int check_tags(int argc, char **argv)
{
	struct tags c = { 0 };
	struct recview_event e;
	size_t seen = 0;

	if (argc != 3 && argc != 4)
		errx(2, "usage: ucheck tags RECORDING LIST [MAPS]");
	recview__open(&c.rec, argv[1]);
	read_list(&c, argv[2]);
	c.own = argc == 4;
	if (c.own)
		read_maps(&c, argv[3]);
	c.e = &e;
	while (recview__next(&c.rec, &e))
		if (!strcmp(e.name, "sys_enter_futex"))
			one(&c);
	for (size_t i = 0; i < c.nr; i++) {
		seen += c.tagged[i].events > 0;
		elfview__free(c.tagged[i].view);
		free(c.tagged[i].pristine);
	}
	printf("events %lu\nfiles %zu\nfiles_seen %zu\nright %lu\nunverified %lu\nunknown %lu\n"
	       "wrong %lu\nincomplete %lu\nunreadable %lu\nnone %lu\nshown_as_in_maps %lu\n",
	       c.events, c.nr, seen, c.right, c.unverified, c.unknown, c.wrong, c.incomplete,
	       c.unreadable, c.none, c.names);
	free(c.tagged);
	for (struct shown *next; c.shown; c.shown = next) {
		next = c.shown->next;
		free(c.shown->path);
		free(c.shown);
	}
	recview__close(&c.rec);
	return c.wrong ? 1 : 0;
}
