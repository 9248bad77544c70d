// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the recordings of truth.c: compares every user frame of every event with the path that the
 * last futex call named, down to the start of the program.
 */
#include "checks.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

#define MAX_TAIL 32
#define MAX_TASKS 256

/* The outer frames of a program's first thread (0) or others (1). */
struct tail {
	unsigned int nr;
	uint64_t off[MAX_TAIL];
	char path[MAX_TAIL][PATH_MAX];
};

struct program {
	char comm[16];
	bool foreign; /* of another test: it has written no tail */
	struct tail tails[2];
	unsigned long exact[4]; /* events whose path is known, by kind */
	unsigned long valid, outside; /* on some path; outside of all paths */
	unsigned long wrong, incomplete, unreadable, none, frames, stacks;
	struct program *next;
};

static const char *const kinds[] = { "in calls", "switches in them", "samples at a leaf",
				     "other switches" };
enum { CALLS, SLEEPS, SAMPLES, OTHERS };

struct task {
	uint32_t tid;
	bool in_call, burning;
	uint32_t path;
};

struct paths {
	struct recview rec;
	const char *dir; /* of the tails; progs: prefix of the programs' names */
	const char *progs;
	struct program *programs;
	struct task tasks[MAX_TASKS];
	unsigned int nr_tasks, shown;
	uint64_t lost_until; /* futex events may be missing up to then */
	const struct recview_event *e;
	struct program *p;
	const char *what; /* the error */
	bool outside; /* outside of all paths; the C library may have no rules there */
};

static void tail_path(const struct paths *c, const struct program *p, int kind, char *ret_path)
{
	snprintf(ret_path, PATH_MAX, "%s/tail.%s.%d", c->dir, p->comm, kind);
}

static void read_tail(struct paths *c, struct program *p, int kind)
{
	struct tail *t = &p->tails[kind];
	unsigned long long off;
	char path[PATH_MAX];
	FILE *f;

	tail_path(c, p, kind, path);
	f = fopen(path, "re");
	if (!f)
		err(1, "open '%s'", path);
	while (t->nr < MAX_TAIL && fscanf(f, "%llx %4095s", &off, t->path[t->nr]) == 2)
		t->off[t->nr++] = off;
	fclose(f);
}

static struct program *program_of(struct paths *c, const char *comm)
{
	char path[PATH_MAX];
	struct program *p;

	for (p = c->programs; p; p = p->next)
		if (!strcmp(p->comm, comm))
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		err(1, "calloc");
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
	tail_path(c, p, 0, path);
	p->foreign = access(path, F_OK);
	if (!p->foreign) {
		read_tail(c, p, 0);
		read_tail(c, p, 1);
	}
	p->next = c->programs;
	c->programs = p;
	return p;
}

static struct task *task_of(struct paths *c, uint32_t tid)
{
	for (unsigned int i = 0; i < c->nr_tasks; i++)
		if (c->tasks[i].tid == tid)
			return &c->tasks[i];
	if (c->nr_tasks == MAX_TASKS)
		errx(1, "more than %d tasks", MAX_TASKS);
	c->tasks[c->nr_tasks] = (struct task){ .tid = tid };
	return &c->tasks[c->nr_tasks++];
}

static bool wrong(struct paths *c, const char *what)
{
	c->what = what;
	return false;
}

/* A missing frame is no error if the stack says that it is incomplete. */
static bool missing(struct paths *c, const char *what)
{
	bool guessed = c->e->depth && c->e->frames[c->e->depth - 1].guessed;

	if (c->e->end == STK_END_COMPLETE || (c->e->end == STK_END_FALLBACK && !guessed))
		return wrong(c, what);
	return true;
}

/* Nor is a wrong frame that is marked as a guess. */
static bool wrong_at(struct paths *c, unsigned int i, const char *what)
{
	return c->e->frames[i].guessed || wrong(c, what);
}

/* Whether the name is f_LEVEL_SHAPE, and both numbers. */
static bool on_path(const char *name, unsigned int *ret_level, unsigned int *ret_shape)
{
	int end;

	return sscanf(name, "f_%u_%u%n", ret_level, ret_shape, &end) == 2 && !name[end];
}

/* Whether frame i was called from where frame i + 1 returns to; checked for direct calls. */
static bool called_from(struct paths *c, unsigned int i)
{
	const struct stk_frame *in = &c->e->frames[i], *out = &c->e->frames[i + 1];
	struct elfview *vi = recview__file(&c->rec, in->file),
		       *vo = recview__file(&c->rec, out->file);
	const struct elfview_function *callee;
	unsigned int level, shape;
	uint64_t target;

	if (!vo)
		return wrong(c, "a file is unknown");
	if (out->exact || out->guessed)
		return true;
	if (!elfview__after_call(vo, out->ip, &target))
		return wrong(c, "not a return address");
	if (!target || vi != vo)
		return true;
	/* other functions end in jumps to further ones */
	callee = elfview__function(vi, recview__pc(c->e, i));
	if (callee && on_path(callee->name, &level, &shape) && target != callee->start)
		return wrong(c, "the call has another target");
	return true;
}

/* The frames from i on are those outside of truth_root. */
static bool tail_is(struct paths *c, unsigned int i)
{
	const struct tail *t = &c->p->tails[c->e->tid != c->e->pid];
	struct stk_file f;

	if (!t->nr) { /* without a backtrace() */
		for (; i < c->e->depth; i++)
			if (!strcmp(recview__function(&c->rec, c->e, i), "truth_main"))
				return true;
		return c->e->tid != c->e->pid || missing(c, "not from truth_main");
	}
	if (c->e->depth < i + t->nr)
		return missing(c, "the outermost frames are missing");
	if (c->e->depth > i + t->nr)
		return wrong_at(c, i, "frames outside of the outermost");
	for (unsigned int k = 0; k < t->nr; k++) {
		const struct stk_frame *fr = &c->e->frames[i + k];

		if (!fr->file || stk_reader__file(c->rec.files, fr->file, &f))
			return wrong_at(c, i + k, "the file of an outermost frame is unknown");
		if (fr->ip != t->off[k] || strcmp(f.path, t->path[k]))
			return wrong_at(c, i + k, "an outermost frame is another");
	}
	return true;
}

/* From frame i, a function of the path, to the outermost frame. */
static bool path_is(struct paths *c, unsigned int i, bool known, uint32_t path)
{
	unsigned int level = 0, shape, want = known ? PATH_LEVELS : 0;

	for (; i < c->e->depth; i++) {
		const char *name = recview__function(&c->rec, c->e, i);

		if (!strcmp(name, "truth_root"))
			break;
		if (!c->e->frames[i].file && i == c->e->depth - 1)
			return missing(c, "a frame of no file");
		if (!on_path(name, &level, &shape))
			return wrong_at(c, i, "a function that is on no path");
		if (want && level != want)
			return wrong_at(c, i, "a level is missing");
		if (known && shape != path_shape(path, level))
			return wrong_at(c, i, "a function of another path");
		if (i + 1 < c->e->depth && !called_from(c, i))
			return false;
		want = level - 1;
		if (!want)
			want = PATH_LEVELS + 1; /* only truth_root may follow */
	}
	if (i >= c->e->depth)
		return missing(c, "truth_root is missing");
	if (known && want != PATH_LEVELS + 1)
		return wrong_at(c, i, "truth_root comes too early");
	return tail_is(c, i + 1);
}

/*
 * GCC's rules for the end of a function that aligned its stack are wrong: they say that the frame
 * pointer is on the stack after it has been restored ("lea -8(%r10),%rsp; ret"). gdb is wrong
 * there, too.
 */
static bool rules_are_wrong(struct paths *c)
{
	static const uint8_t lea[] = { 0x49, 0x8d, 0x62, 0xf8, 0xc3 };
	struct elfview *v = recview__file(&c->rec, c->e->frames[0].file);
	uint64_t at = c->e->frames[0].ip;

	if (!c->e->depth || !v || !c->e->frames[0].exact || at < 4 || at + sizeof(lea) > v->len)
		return false;
	return !memcmp(v->data + at, lea, 5) || !memcmp(v->data + at - 4, lea, 5);
}

/* In a call of libc's: the caller is the leaf. */
static bool call_is(struct paths *c, uint32_t path)
{
	if (c->e->depth < 2)
		return missing(c, "no caller");
	if (strcmp(recview__function(&c->rec, c->e, 0), "syscall"))
		return wrong(c, "the innermost frame is not syscall()");
	return called_from(c, 0) && path_is(c, 1, true, path);
}

/* Anywhere: each frame returns to after a call, and the levels of a path are complete. */
static bool anything_is(struct paths *c, bool known, uint32_t path, bool *ret_outside)
{
	unsigned int level, shape, i;

	*ret_outside = true;
	for (i = 0; i < c->e->depth; i++) {
		const char *name = recview__function(&c->rec, c->e, i);

		if (on_path(name, &level, &shape)) {
			*ret_outside = false;
			return path_is(c, i, known, path);
		}
		if (!strcmp(name, "truth_root")) {
			*ret_outside = false;
			return known ? wrong(c, "it does not start at the leaf") :
				       tail_is(c, i + 1);
		}
		if (i + 1 < c->e->depth && recview__file(&c->rec, c->e->frames[i + 1].file) &&
		    !called_from(c, i))
			return false;
	}
	return !known || missing(c, "it is not on the path");
}

static bool judge(struct paths *c, struct task *t)
{
	bool on_switch = !strcmp(c->e->name, "sched_switch"), outside, ok;

	if (t->in_call) {
		c->p->exact[on_switch ? SLEEPS : CALLS]++;
		return call_is(c, t->path);
	}
	if (t->burning) {
		c->p->exact[on_switch ? OTHERS : SAMPLES]++;
		return anything_is(c, true, t->path, &outside);
	}
	ok = anything_is(c, false, 0, &outside);
	c->outside = outside;
	if (outside)
		c->p->outside++;
	else
		c->p->valid++;
	return ok;
}

/* A futex call of a path: from now on the task is on the path that its address names. */
static void enter(struct paths *c, struct task *t)
{
	uint64_t addr = recview__field(c->e, "uaddr"), val = recview__field(c->e, "val");

	if (addr < PATH_ARENA || addr >= PATH_ARENA + 4ull * PATH_COUNT)
		return;
	t->in_call = true;
	t->path = (addr - PATH_ARENA) / 4;
	t->burning = val == PATH_BURN;
}

static void forget(struct task *t)
{
	t->in_call = false;
	t->burning = false;
}

/* After a loss of futex events, the path of a task is unknown until its next call. */
static void take_losses(struct paths *c)
{
	struct stk_loss loss;

	while (stk_reader__next_loss(c->rec.reader, c->e->ts, &loss) == 1) {
		const char *name = loss.type ? stk_event_type__name(loss.type) : "futex";

		if (!strstr(name, "futex"))
			continue;
		if (loss.last_ts > c->lost_until)
			c->lost_until = loss.last_ts;
		for (unsigned int i = 0; i < c->nr_tasks; i++)
			forget(&c->tasks[i]);
	}
}

static void one(struct paths *c)
{
	struct task *t = task_of(c, c->e->tid);

	if (!strcmp(c->e->name, "sys_enter_futex"))
		enter(c, t);
	if (c->e->ts <= c->lost_until)
		forget(t);
	if (c->e->none) {
		c->p->none++;
	} else {
		c->what = NULL;
		c->outside = false;
		c->p->frames += c->e->depth;
		c->p->stacks++;
		if (rules_are_wrong(c)) {
			c->p->outside++;
			return;
		}
		if (!judge(c, t)) {
			c->p->wrong++;
			if (c->shown++ < 10) {
				printf("WRONG: %s; path %u\n", c->what, t->path);
				recview__print(&c->rec, c->e);
			}
		}
		if (c->e->end != STK_END_COMPLETE && !c->outside) {
			c->p->incomplete++;
			c->p->unreadable += c->e->end == STK_END_UNREADABLE;
			if (c->p->incomplete < 4) {
				printf("INCOMPLETE:\n");
				recview__print(&c->rec, c->e);
			}
		}
	}
	if (!strcmp(c->e->name, "sys_exit_futex"))
		t->in_call = false;
}

/*
 * paths RECORDING DIRECTORY PREFIX: checks programs whose names begin with PREFIX and whose tails
 * are in DIRECTORY.  The recording also has switches from programs of other tests to these.
 */
int check_paths(int argc, char **argv)
{
	struct paths c = { 0 };
	struct recview_event e;
	unsigned long bad = 0, incomplete = 0, unreadable = 0, stacks = 0, others = 0;

	if (argc != 4)
		errx(2, "usage: ucheck paths RECORDING DIRECTORY PREFIX");
	c.dir = argv[2];
	recview__open(&c.rec, argv[1]);
	c.e = &e;
	while (recview__next(&c.rec, &e)) {
		take_losses(&c);
		if (strncmp(e.comm, argv[3], strlen(argv[3])))
			continue;
		c.p = program_of(&c, e.comm);
		if (c.p->foreign)
			others++;
		else
			one(&c);
	}
	for (struct program *p = c.programs, *next; p; p = next) {
		next = p->next;
		if (p->foreign) {
			free(p);
			continue;
		}
		printf("%s: %lu frames;", p->comm, p->frames);
		for (int k = 0; k < 4; k++)
			printf(" %lu %s,", p->exact[k], kinds[k]);
		printf(" %lu on some path, %lu outside; %lu wrong, %lu incomplete, %lu without\n",
		       p->valid, p->outside, p->wrong, p->incomplete, p->none);
		bad += p->wrong;
		incomplete += p->incomplete;
		unreadable += p->unreadable;
		stacks += p->stacks;
		free(p);
	}
	printf("stacks %lu\nincomplete %lu\nunreadable %lu\nothers %lu\n", stacks, incomplete,
	       unreadable, others);
	recview__close(&c.rec);
	return bad ? 1 : 0;
}
