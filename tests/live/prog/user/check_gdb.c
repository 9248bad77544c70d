// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the last stack of each thread before a debugger stopped it with the debugger's stack
 * (gdb_frames.py).
 */
#include "checks.h"

#include <elfutils/libdw.h>
#include <err.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 200

/* gdb: the stack ends where it should. */
enum { GDB_NO_REASON = 0, GDB_OUTERMOST = 2 };

struct look {
	uint32_t tid;
	uint64_t when;
	int reason;
	unsigned int nr_frames;
	char *frames[MAX_FRAMES];
	/* the event */
	bool seen, none, full;
	bool no_cfi; /* of the code in which it ends */
	enum stk_stack_end end;
	char comm[17];
	unsigned int nr_ours;
	char *ours[STK_MAX_DEPTH];
	bool guessed[STK_MAX_DEPTH];
};

static struct look *looks;
static size_t nr_looks;

static void read_looks(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *word, *rest;
	size_t size = 0;

	if (!f)
		err(1, "open '%s'", path);
	while (getline(&line, &size, f) > 0) {
		struct look *l;

		looks = realloc(looks, (nr_looks + 1) * sizeof(*looks));
		if (!looks)
			err(1, "realloc");
		l = memset(&looks[nr_looks++], 0, sizeof(*looks));
		rest = line;
		l->tid = strtoul(strsep(&rest, " "), NULL, 10);
		l->when = rest ? strtoull(strsep(&rest, " "), NULL, 10) : 0;
		l->reason = rest ? atoi(strsep(&rest, " ")) : 0;
		while (rest && (word = strsep(&rest, " \n")))
			if (*word && l->nr_frames < MAX_FRAMES)
				l->frames[l->nr_frames++] = strdup(word);
	}
	free(line);
	fclose(f);
}

static char *frame_text(struct recview *r, const struct stk_frame *fr)
{
	struct stk_file f;
	char *text;
	int n;

	if (!fr->file || stk_reader__file(r->files, fr->file, &f))
		n = asprintf(&text, "unknown+0x%llx", (unsigned long long)fr->ip);
	else if (f.kind == STK_FILE_JIT)
		n = asprintf(&text, "jit+0x%llx", (unsigned long long)(f.base + fr->ip));
	else
		n = asprintf(&text, "%s+0x%llx", f.path, (unsigned long long)fr->ip);
	if (n < 0)
		err(1, "asprintf");
	return text;
}

/* Whether the stack ends in code that .eh_frame does not cover, as libdw finds it. */
static bool ends_without_cfi(struct recview *r, const struct recview_event *e)
{
	const struct elfview *v = recview__file(r, e->frames[e->depth - 1].file);
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi;
	bool found;
	Elf *elf;

	if (!v)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)v->data, v->len);
	if (!elf)
		errx(1, "%s: %s", v->path, elf_errmsg(-1));
	cfi = dwarf_getcfi_elf(elf);
	found = !dwarf_cfi_addrframe(cfi, elfview__address(v, recview__pc(e, e->depth - 1)),
				     &frame);
	free(frame);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	return !found;
}

static void take_event(struct recview *r, const struct recview_event *e, struct look *l)
{
	for (unsigned int i = 0; i < l->nr_ours; i++)
		free(l->ours[i]);
	l->seen = true;
	l->none = e->none;
	l->full = recview__is_full(e);
	l->end = e->end;
	l->nr_ours = e->none ? 0 : e->depth;
	l->no_cfi = l->nr_ours && e->end == STK_END_NO_TABLE && ends_without_cfi(r, e);
	snprintf(l->comm, sizeof(l->comm), "%s", e->comm);
	for (unsigned int i = 0; i < l->nr_ours; i++) {
		l->ours[i] = frame_text(r, &e->frames[i]);
		l->guessed[i] = e->frames[i].guessed;
	}
}

enum verdict { SAME, WRONG, INCOMPLETE, CUT, NO_CFI, GDB_LOST, NR_VERDICTS };
static const char *const verdicts[] = {
	"same", "wrong", "incomplete", "cut", "no_cfi", "gdb_lost"
};

static bool without_cfi(const char *frame)
{
	return !strncmp(frame, "jit+", 4) || !strncmp(frame, "unknown+", 8);
}

static enum verdict compare(const struct look *l, unsigned int *ret_same)
{
	unsigned int i;

	for (i = 0; i < l->nr_ours && i < l->nr_frames; i++) {
		if (l->guessed[i] || (i && without_cfi(l->frames[i - 1])))
			break;
		if (strcmp(l->ours[i], l->frames[i])) {
			*ret_same = i;
			return WRONG;
		}
	}
	*ret_same = i;
	if (i == l->nr_ours && i == l->nr_frames)
		return SAME;
	if (i && without_cfi(l->frames[i - 1]))
		return NO_CFI;
	if (i == l->nr_frames) /* gdb ends, at the outermost frame or for lack of information */
		return l->reason == GDB_NO_REASON || l->reason == GDB_OUTERMOST ? WRONG : GDB_LOST;
	if (i < l->nr_ours) /* a guess, and marked as one */
		return NO_CFI;
	if (l->full)
		return CUT;
	if (l->no_cfi) /* gdb reads the instructions */
		return NO_CFI;
	return l->end == STK_END_COMPLETE ? WRONG : INCOMPLETE;
}

static void print_look(const struct look *l, enum verdict v)
{
	printf("%s: %s tid %u, ends %s, gdb says %d\n", verdicts[v], l->comm, l->tid,
	       stk_stack_end_name(l->end), l->reason);
	for (unsigned int i = 0; i < l->nr_ours || i < l->nr_frames; i++)
		printf("  %2u %s%s | %s\n", i, i < l->nr_ours ? l->ours[i] : "-",
		       i < l->nr_ours && l->guessed[i] ? "?" : "",
		       i < l->nr_frames ? l->frames[i] : "-");
}

/* gdb RECORDING LOOKS */
int check_gdb(int argc, char **argv)
{
	unsigned long count[NR_VERDICTS] = { 0 }, frames = 0, unseen = 0, printed = 0;
	unsigned long unreadable = 0; /* of the incomplete ones */
	struct recview r;
	struct recview_event e;

	if (argc != 3)
		errx(2, "usage: ucheck gdb RECORDING LOOKS");
	recview__open(&r, argv[1]);
	read_looks(argv[2]);
	while (recview__next(&r, &e))
		for (size_t i = 0; i < nr_looks; i++)
			if (looks[i].tid == e.tid && e.ts <= looks[i].when)
				take_event(&r, &e, &looks[i]);
	for (size_t i = 0; i < nr_looks; i++) {
		struct look *l = &looks[i];
		unsigned int same = 0;
		enum verdict v;

		if (!l->seen) {
			unseen++;
			continue;
		}
		v = l->none ? INCOMPLETE : compare(l, &same);
		count[v]++;
		unreadable += v == INCOMPLETE && !l->none && l->end == STK_END_UNREADABLE;
		frames += same;
		if (v != SAME && printed++ < 8)
			print_look(l, v);
	}
	printf("stacks %zu\nunseen %lu\nframes %lu\nunreadable %lu\n", nr_looks, unseen, frames,
	       unreadable);
	for (int v = 0; v < NR_VERDICTS; v++)
		printf("%s %lu\n", verdicts[v], count[v]);
	recview__close(&r);
	return count[WRONG] ? 1 : 0;
}
