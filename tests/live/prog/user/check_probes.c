// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the recordings of programs with probes (probe.h): compares every frame with their truth.
 */
#include "checks.h"

#include <dirent.h>
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define MAX_MODULES 256
#define MAX_PCS 512
#define NO_MODULE 0xffff

struct pc {
	unsigned int module;
	uint64_t off;
};

/* The truth of a process: the lines of its file, by number. */
struct process {
	uint32_t pid;
	char *text;
	char **lines;
	size_t nr_lines, seen;
	char *modules[MAX_MODULES];
	struct elfview *views[MAX_MODULES];
	uint64_t *said; /* starts of functions with HERE, module in the upper bits */
	size_t nr_said;
	struct process *next;
};

struct probes {
	struct recview rec;
	struct process *processes;
	const struct recview_event *e;
	const char *what;
	bool names;
	unsigned int shown;
	unsigned long probes, frames, wrong, incomplete, unreadable, none, by_pc;
};

static bool wrong(struct probes *c, const char *what)
{
	c->what = what;
	return false;
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t size = 1 << 20, used = 0, n;
	char *text = malloc(size);

	if (!f || !text)
		err(1, "read '%s'", path);
	while ((n = fread(text + used, 1, size - 1 - used, f)) > 0) {
		used += n;
		if (used == size - 1) {
			text = realloc(text, size *= 2);
			if (!text)
				err(1, "realloc");
		}
	}
	text[used] = 0;
	fclose(f);
	return text;
}

static unsigned int parse_pcs(const char *s, struct pc *ret_pcs)
{
	unsigned int n = 0;
	char *end;

	while (*s == ' ' && n < MAX_PCS) {
		ret_pcs[n].module = strtoul(s, &end, 16);
		if (*end != '+')
			errx(1, "'%s' is not a frame", s);
		ret_pcs[n++].off = strtoull(end + 1, &end, 16);
		s = end;
	}
	return n;
}

static struct elfview *module_view(struct process *p, unsigned int m)
{
	if (m >= MAX_MODULES || !p->modules[m])
		return NULL;
	if (!p->views[m])
		p->views[m] = elfview__open(p->modules[m]);
	return p->views[m];
}

static uint64_t function_key(struct process *p, unsigned int module, uint64_t off)
{
	struct elfview *v = module_view(p, module);
	const struct elfview_function *f = v ? elfview__function(v, off) : NULL;

	return f ? (uint64_t)module << 48 | f->start : 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A function with HERE always has it: none of its frames may be missing from the truth. */
static void collect_said(struct process *p)
{
	size_t max = 0;

	for (size_t i = 0; i < p->nr_lines; i++) {
		struct pc pcs[MAX_PCS];
		const char *heres = p->lines[i] ? strchr(p->lines[i], '|') : NULL;
		unsigned int n = heres ? parse_pcs(heres + 1, pcs) : 0;

		for (unsigned int k = 0; k < n; k++) {
			uint64_t key = function_key(p, pcs[k].module, pcs[k].off);

			if (!key)
				errx(1, "%u: %x+0x%llx is not a function", p->pid, pcs[k].module,
				     (unsigned long long)pcs[k].off);
			if (p->nr_said && bsearch(&key, p->said, p->nr_said, 8, by_value))
				continue;
			if (p->nr_said == max) {
				max = max ? max * 2 : 64;
				p->said = realloc(p->said, max * sizeof(*p->said));
				if (!p->said)
					err(1, "realloc");
			}
			p->said[p->nr_said++] = key;
			qsort(p->said, p->nr_said, 8, by_value);
		}
	}
}

static void take_line(struct process *p, char *line)
{
	unsigned long n;
	char *end;

	if (!strncmp(line, "M ", 2)) {
		n = strtoul(line + 2, &end, 16);
		if (n < MAX_MODULES && *end == ' ')
			p->modules[n] = end + 1;
		return;
	}
	n = strtoul(line, &end, 16);
	if (*end != ' ' || n >= PROBE_MAX)
		errx(1, "'%s' is incomplete", line);
	if (n >= p->nr_lines) {
		size_t nr = (n + 4096) & ~4095ul;

		p->lines = realloc(p->lines, nr * sizeof(*p->lines));
		if (!p->lines)
			err(1, "realloc");
		memset(p->lines + p->nr_lines, 0, (nr - p->nr_lines) * sizeof(*p->lines));
		p->nr_lines = nr;
	}
	p->lines[n] = line;
}

static void read_process(struct probes *c, const char *dir, const char *name)
{
	struct process *p = calloc(1, sizeof(*p));
	char path[PATH_MAX], *line, *rest;

	if (!p)
		err(1, "calloc");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	p->pid = strtoul(name + strlen("probes."), NULL, 10);
	p->text = rest = read_all(path);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			take_line(p, line);
	collect_said(p);
	p->next = c->processes;
	c->processes = p;
}

static void read_truth(struct probes *c, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		err(1, "open '%s'", dir);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "probes.", 7))
			read_process(c, dir, e->d_name);
	closedir(d);
	if (!c->processes)
		errx(1, "'%s' has no truth of any process", dir);
}

/* The module's number of a recorded frame, by its file's build id or path. */
static unsigned int module_of(struct probes *c, struct process *p, const struct stk_frame *fr)
{
	struct stk_file f;

	if (!fr->file || stk_reader__file(c->rec.files, fr->file, &f) || f.kind != STK_FILE_FILE)
		return NO_MODULE;
	for (unsigned int m = 0; m < MAX_MODULES && p->modules[m]; m++) {
		struct elfview *v = module_view(p, m);

		if (v && (f.id_kind == STK_ID_BUILD_ID ?
				  f.id_len == v->id_len && !memcmp(f.id, v->id, v->id_len) :
				  !strcmp(f.path, p->modules[m])))
			return m;
	}
	return NO_MODULE;
}

/* A missing outer frame is no error if the stack says that it is incomplete. */
static bool ends_early(const struct probes *c)
{
	return c->e->end != STK_END_COMPLETE && c->e->end != STK_END_FALLBACK;
}

/* The functions with HERE must be the recorded ones, in order and without others. */
static bool heres_are(struct probes *c, struct process *p, const char *heres)
{
	struct pc pcs[MAX_PCS];
	unsigned int n = parse_pcs(heres, pcs), k = 0;

	for (unsigned int i = 0; i < c->e->depth; i++) {
		unsigned int m = module_of(c, p, &c->e->frames[i]);
		uint64_t key = m == NO_MODULE ? 0 : function_key(p, m, recview__pc(c->e, i));

		if (!key || !p->nr_said || !bsearch(&key, p->said, p->nr_said, 8, by_value))
			continue;
		if (k == n)
			return wrong(c, "an extra function");
		if (function_key(p, pcs[k].module, pcs[k].off) != key)
			return wrong(c, "a function without this HERE");
		k++;
	}
	return k == n || ends_early(c) || wrong(c, "a function is missing");
}

/* The return addresses: frame 0 is in syscall(), frame 1 in probe() after another call. */
static bool frames_are(struct probes *c, struct process *p, const char *frames)
{
	struct pc pcs[MAX_PCS];
	unsigned int n = parse_pcs(frames, pcs);

	if (c->e->depth < 2)
		return ends_early(c) || wrong(c, "no caller");
	if (strcmp(recview__function(&c->rec, c->e, 0), "syscall"))
		return wrong(c, "the innermost frame is not syscall()");
	if (strcmp(recview__function(&c->rec, c->e, 1), "probe"))
		return wrong(c, "the caller of syscall() is not probe()");
	for (unsigned int i = 1; i < n && i + 1 < c->e->depth; i++) {
		const struct stk_frame *fr = &c->e->frames[i + 1];

		if (pcs[i].module == NO_MODULE) /* a file that only the recorder knows: the vdso */
			continue;
		if (fr->ip != pcs[i].off || module_of(c, p, fr) != pcs[i].module)
			return wrong(c, "not the frame of backtrace()");
		c->by_pc++;
	}
	if (c->e->depth > n + 1)
		return wrong(c, "more frames than backtrace() has");
	return c->e->depth == n + 1 || ends_early(c) ||
	       wrong(c, "fewer frames than backtrace() has");
}

static bool judge(struct probes *c, struct process *p, const char *line)
{
	const char *heres = strchr(line, '|') + 1, *frames = strchr(heres, '|') + 1;

	if (!c->names && *frames && !frames_are(c, p, frames))
		return false;
	return heres_are(c, p, heres);
}

static void one(struct probes *c)
{
	uint64_t addr = recview__field(c->e, "uaddr"), k;
	struct process *p;
	bool whole;

	if (addr < PROBE_BASE || addr >= PROBE_BASE + 4 * PROBE_MAX)
		return;
	k = (addr - PROBE_BASE) / 4;
	for (p = c->processes; p && p->pid != c->e->pid; p = p->next)
		;
	if (!p || k >= p->nr_lines || !p->lines[k]) {
		recview__print(&c->rec, c->e);
		errx(1, "process %u has no truth of probe %llu", c->e->pid, (unsigned long long)k);
	}
	c->probes++;
	p->seen++;
	if (c->e->none) {
		c->none++;
		return;
	}
	c->frames += c->e->depth;
	whole = c->e->end == STK_END_COMPLETE || recview__is_full(c->e);
	c->incomplete += !whole;
	c->unreadable += c->e->end == STK_END_UNREADABLE;
	c->what = NULL;
	if (judge(c, p, p->lines[k]) && whole)
		return;
	if (c->what)
		c->wrong++;
	if (c->shown++ < 5) {
		printf("%s: %s\n%s\n", c->what ? "WRONG" : "INCOMPLETE", c->what ?: "",
		       p->lines[k]);
		recview__print(&c->rec, c->e);
	}
}

static void free_processes(struct process *p)
{
	struct process *next;

	for (; p; p = next) {
		next = p->next;
		for (unsigned int m = 0; m < MAX_MODULES; m++)
			elfview__free(p->views[m]);
		free(p->text);
		free(p->lines);
		free(p->said);
		free(p);
	}
}

/* probes [--names] RECORDING DIRECTORY; --names: without comparing with backtrace(). */
int check_probes(int argc, char **argv)
{
	struct probes c = { 0 };
	struct recview_event e;
	int i = 1;

	c.names = argc > 1 && !strcmp(argv[1], "--names");
	i += c.names;
	if (argc - i != 2)
		errx(2, "usage: ucheck probes [--names] RECORDING DIRECTORY");
	recview__open(&c.rec, argv[i]);
	read_truth(&c, argv[i + 1]);
	c.e = &e;
	while (recview__next(&c.rec, &e))
		if (!strcmp(e.name, "sys_enter_futex"))
			one(&c);
	printf("probes %lu\nframes %lu\nby_backtrace %lu\nwrong %lu\nincomplete %lu\n"
	       "unreadable %lu\nnone %lu\n",
	       c.probes, c.frames, c.by_pc, c.wrong, c.incomplete, c.unreadable, c.none);
	free_processes(c.processes);
	recview__close(&c.rec);
	return c.wrong ? 1 : 0;
}
