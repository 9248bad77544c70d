// SPDX-License-Identifier: GPL-2.0-only
/* Reads /proc/PID/maps to find the files of user addresses. */
#include "ftrace_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "idmap.h"
#include "record/files/file_map.h"
#include "record/files/jit_source.h"
#include "record/files/opener.h"
#include "record/files/seen_file.h"
#include "record/files/snapshot.h"
#include "record/files/vdso.h"
#include "record/ftrace/ring/ftrace_tasks.h"
#include "record/opts.h"
#include "symbols/usyms.h"

#define IDLE_NS 10000000000ull /* no event of a process is read so long after its exit */
#define STALE_NS 1000000000ull /* after this, mappings may have changed and are read again */

/* An executable mapping of a process. */
struct area {
	uint64_t start, end, offset, inode;
	uint32_t dev;
	enum wire_file_kind kind;
	char *path;
	struct mapped_file *file; /* NULL: not identified yet */
};

/* The executable mappings of a process. */
struct space {
	uint32_t tgid;
	struct ftrace_program program; /* whose mappings these are */
	uint32_t round; /* counts refresh(): value when it was read */
	uint64_t read_ns;
	bool gone, exited; /* exited: when it was last looked at, and not asked for since then */
	struct area *areas;
	unsigned int nr;
};

struct ftrace_maps {
	struct file_map *files;
	struct ftrace_tasks *tasks;
	struct seen_context seen;
	struct snapshot walk;
	struct idmap by_tgid; /* -> index + 1 */
	struct space *spaces;
	uint32_t nr, cap, round;
	uint64_t looked_ns; /* when it was last looked for processes that have exited */
	struct ftrace_maps_stats stats;
};

int ftrace_maps__new(struct file_map *files, struct ftrace_tasks *tasks,
		     struct ftrace_maps **ret_maps)
{
	struct ftrace_maps *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->files = files;
	m->tasks = tasks;
	m->walk.prog_fd = -1;
	pthread_mutex_init(&m->walk.lock, NULL);
	m->seen.snapshot = &m->walk;
	*ret_maps = m;
	return 0;
}

static void space_clear(struct space *s)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		free(s->areas[i].path);
	free(s->areas);
	s->areas = NULL;
	s->nr = 0;
}

void ftrace_maps__free(struct ftrace_maps *m)
{
	uint32_t i;

	if (!m)
		return;
	for (i = 0; i < m->nr; i++)
		space_clear(&m->spaces[i]);
	free(m->spaces);
	idmap__clear(&m->by_tgid);
	seen_context__free(&m->seen);
	free(m);
}

/* The mappings of processes that have exited are kept for the events of theirs that follow. */
static void clear_exited(struct ftrace_maps *m)
{
	struct space *s;

	for (s = m->spaces; s < m->spaces + m->nr; s++) {
		if (s->exited)
			space_clear(s);
		s->exited = s->nr && kill(s->tgid, 0) && errno == ESRCH;
	}
}

void ftrace_maps__refresh(struct ftrace_maps *m)
{
	uint64_t now = rec_clock__ns(REC_CLOCK_MONO);

	m->round++;
	if (now - m->looked_ns < IDLE_NS)
		return;
	m->looked_ns = now;
	clear_exited(m);
}

/* ---- /proc ----------------------------------------------------------------------------------- */

/* Takes ownership of path; NULL: out of memory. */
static int put_area(struct space *s, struct area a, char *path)
{
	a.path = path;
	if (path && !array__append(&s->areas, &s->nr, a))
		return 0;
	free(path);
	return -ENOMEM;
}

static int add_area(struct space *s, const struct proc_mapping *p)
{
	struct area a = {
		.start = p->start,
		.end = p->end,
		.offset = p->offset,
		.inode = p->inode,
		.dev = p->dev_major << 20 | p->dev_minor,
		.kind = WIRE_KEY_JIT,
	};

	if (p->inode)
		a.kind = WIRE_KEY_FILE;
	else if (!strcmp(p->path, "[vdso]"))
		a.kind = WIRE_KEY_VDSO;
	return put_area(s, a, strdup(p->path));
}

static int read_areas(struct space *s)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	struct proc_mapping p;
	size_t cap = 0;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", s->tgid);
	f = fopen(path, "re");
	while (f && !err && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!proc_mapping__parse(line, &p) && p.perms[2] == 'x' && !(p.start >> 63))
			err = add_area(s, &p);
	}
	return err;
}

static struct space *known_space(struct ftrace_maps *m, uint32_t tgid)
{
	uint32_t *at = idmap__get(&m->by_tgid, tgid + 1ull);

	return at && *at ? &m->spaces[*at - 1] : NULL;
}

/*
 * A forked process that has exited had the mappings of the process it was forked from, if that
 * still runs the same program.
 */
static int copy_areas(struct ftrace_maps *m, struct space *s)
{
	struct space other = { .tgid = s->program.copy_of }, *known;
	unsigned int i;
	int err = 0;

	ftrace_tasks__program(m->tasks, other.tgid, &other.program);
	if (!other.tgid || other.program.since > s->program.since)
		return 0;
	err = read_areas(&other);
	known = known_space(m, other.tgid);
	if (!other.nr && known && known->program.changes == other.program.changes) {
		for (i = 0; i < known->nr && !err; i++)
			err = put_area(&other, known->areas[i], strdup(known->areas[i].path));
	}
	s->areas = other.areas;
	s->nr = other.nr;
	return err;
}

/* Reads the mappings of a process again; the known ones are kept if the process has exited. */
static int read_space(struct ftrace_maps *m, struct space *s)
{
	struct space now = {
		.tgid = s->tgid,
		.round = m->round,
		.read_ns = rec_clock__ns(REC_CLOCK_MONO),
	};
	bool same;
	int err;

	ftrace_tasks__program(m->tasks, s->tgid, &now.program);
	same = s->program.changes == now.program.changes;
	m->stats.reads++;
	err = read_areas(&now);
	if (!err && !now.nr) {
		now.gone = true;
		m->stats.gone += !s->gone || !same;
		if (!same || !s->nr)
			err = copy_areas(m, &now);
	}
	if (err || now.nr || !same) {
		space_clear(s);
		*s = now;
		return err;
	}
	s->gone = true;
	s->round = now.round;
	s->read_ns = now.read_ns;
	return 0;
}

static int space_new(struct ftrace_maps *m, uint32_t tgid, uint32_t *ret_index)
{
	if (array__grow(&m->spaces, m->nr, &m->cap))
		return -ENOMEM;
	m->spaces[m->nr++] = (struct space){ .tgid = tgid };
	*ret_index = m->nr;
	return 0;
}

/*
 * The mappings of the process at that time.  NULL: it ran an earlier program then, whose mappings
 * are unavailable.
 */
static int space_of(struct ftrace_maps *m, const struct ftrace_address *a, struct space **ret_space)
{
	uint32_t *at = idmap__get(&m->by_tgid, a->tgid + 1ull);
	struct ftrace_program p;
	struct space *s;
	int err = 0;

	if (!at)
		return -ENOMEM;
	if (!*at)
		err = space_new(m, a->tgid, at);
	if (err)
		return err;
	s = &m->spaces[*at - 1];
	s->exited = false;
	*ret_space = s;
	ftrace_tasks__program(m->tasks, a->tgid, &p);
	if (a->ts < p.since) {
		if (!s->nr || s->program.changes + 1 != p.changes || a->ts < s->program.since)
			*ret_space = NULL;
		return 0;
	}
	if (s->read_ns && s->program.changes == p.changes &&
	    (s->gone || s->round == m->round ||
	     rec_clock__ns(REC_CLOCK_MONO) - s->read_ns <= STALE_NS))
		return 0;
	return read_space(m, s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool stat_path(const char *path, struct file_stat *ret_stat)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);

	return fd >= 0 && !file_stat__read(fd, ret_stat);
}

/*
 * The key as the BPF programs would build it, as far as stat(2) provides it.  If the process has
 * exited, a file with that path and inode is taken to be the same.
 */
static void key_of_file(pid_t pid, const struct area *a, struct wire_file_event *n)
{
	struct file_stat st = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)a->start, (unsigned long long)a->end);
	if (!stat_path(path, &st) &&
	    (!stat_path(a->path, &st) || st.ino != a->inode ||
	     st.dev != makedev(WIRE_DEV_MAJOR(a->dev), WIRE_DEV_MINOR(a->dev))))
		st = (struct file_stat){ 0 };
	n->key.dev = a->dev;
	n->key.w[0] = a->inode;
	n->key.w[3] = st.mtime_ns;
	n->key.w[4] = st.size;
	n->key.w[5] = st.ctime_ns;
}

/* Stores the path as in a file event of the BPF programs: the last component first. */
static void put_path(struct wire_file_event *n, const char *path)
{
	const char *end = path + strlen(path), *start;

	while (end > path) {
		for (start = end; start > path && start[-1] != '/'; start--)
			;
		if (n->len + (end - start) + 1 > (long)sizeof(n->parts))
			break;
		memcpy(n->parts + n->len, start, end - start);
		n->len += end - start;
		n->parts[n->len++] = '\0';
		n->nr_parts++;
		end = start > path ? start - 1 : path;
	}
}

static int add_vdso(struct ftrace_maps *m, struct area *a)
{
	unsigned int len = 0;
	uint8_t id[64];

	if (vdso__build_id(id, &len))
		len = 0;
	return file_map__add_vdso(m->files, id, len, &a->file);
}

static int identify_area(struct ftrace_maps *m, const struct space *s, struct area *a, uint64_t at)
{
	struct wire_file_event n = {
		.key.kind = a->kind,
		.tgid = s->gone && s->program.copy_of ? s->program.copy_of : s->tgid,
		.start = a->start,
		.end = a->end,
		.offset = a->offset,
	};
	struct observed_file observed;
	int err;

	n.tid = n.tgid;
	if (a->kind == WIRE_KEY_VDSO)
		return add_vdso(m, a);
	if (a->kind == WIRE_KEY_FILE) {
		key_of_file(n.tgid, a, &n);
		put_path(&n, a->path);
	} else {
		n.key.w[0] = at >> WIRE_JIT_BITS | (uint64_t)s->program.changes << 32;
		n.key.w[1] = s->tgid;
		n.key.w[2] = process__start_ns(s->tgid);
	}
	err = observed_file__open(&m->seen, &n, false, &observed);
	if (err)
		return err;
	if (a->kind == WIRE_KEY_FILE)
		err = file_map__add(m->files, &n, &observed.file, &a->file);
	else
		err = file_map__add_jit(m->files, &n, take_ptr(observed.jit), &a->file);
	observed_file__release(&observed);
	return err;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static struct area *area_at(const struct space *s, uint64_t at)
{
	unsigned int lo = array__bisect(s->nr, i, s->areas[i].end <= at);

	return lo < s->nr && s->areas[lo].start <= at ? &s->areas[lo] : NULL;
}

static int find_area(struct ftrace_maps *m, const struct ftrace_address *addr, uint64_t at,
		     struct space **ret_space, struct area **ret_area)
{
	struct ftrace_program p;
	struct space *s;
	int err;

	*ret_area = NULL;
	err = space_of(m, addr, &s);
	if (err || !s)
		return err;
	*ret_space = s;
	*ret_area = area_at(s, at);
	ftrace_tasks__program(m->tasks, addr->tgid, &p);
	if (*ret_area || s->round == m->round || s->gone || s->program.changes != p.changes)
		return 0;
	err = read_space(m, s);
	*ret_area = area_at(s, at);
	return err;
}

int ftrace_maps__frame(struct ftrace_maps *m, const struct ftrace_address *addr,
		       uint64_t *ret_frame)
{
	uint64_t at = addr->addr - addr->is_return;
	struct space *s;
	struct area *a;
	uint32_t number;
	int err;

	err = find_area(m, addr, at, &s, &a);
	if (!err && a && !a->file)
		err = identify_area(m, s, a, at);
	if (err)
		return err;
	if (!a) {
		*ret_frame = FRAME_USER(0, addr->addr);
		return 0;
	}
	err = file_map__number(m->files, a->file, &number);
	if (err)
		return err;
	*ret_frame = FRAME_USER(
		number, a->kind == WIRE_KEY_JIT ? addr->addr : addr->addr - a->start + a->offset);
	return 1;
}

void ftrace_maps__stats(const struct ftrace_maps *m, struct ftrace_maps_stats *ret_stats)
{
	*ret_stats = m->stats;
}
