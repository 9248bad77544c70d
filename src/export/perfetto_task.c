// SPDX-License-Identifier: GPL-2.0-only
/* Tasks: a track for each thread that has events, and the lists of threads in the metadata. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "perfetto_priv.h"
#include "text.h"

static void put_track(struct pf_tasks *t, Pf__TrackDescriptor *track)
{
	Pf__TracePacket p = pf_packet(NULL);

	p.track_descriptor = track;
	pf_out__packet(t->out, &p, 0);
}

/* The text as shown, valid until the next call. */
static char *shown(struct pf_tasks *t, const char *s)
{
	strbuf__reset(&t->text);
	strbuf__text(&t->text, s);
	if (strbuf__failed(&t->text))
		pf_out__fail(t->out, -ENOMEM);
	return t->text.s ?: "";
}

/* ---- the tracks of threads ------------------------------------------------------------------- */

/* The process has the name of its first thread. */
static void put_process(struct pf_tasks *t, const struct pf_thread *thread, uint64_t uuid)
{
	Pf__TrackDescriptor track = PF__TRACK_DESCRIPTOR__INIT;
	Pf__ProcessDescriptor process = PF__PROCESS_DESCRIPTOR__INIT;

	PF_SET(&track, uuid, uuid);
	PF_SET(&process, pid, (int32_t)thread->pid);
	process.process_name = thread->comm ? shown(t, thread->comm) : NULL;
	track.process = &process;
	put_track(t, &track);
}

static void put_thread(struct pf_tasks *t, const struct pf_thread *thread)
{
	Pf__TrackDescriptor track = PF__TRACK_DESCRIPTOR__INIT;
	Pf__ThreadDescriptor descriptor = PF__THREAD_DESCRIPTOR__INIT;

	if (thread->tid == thread->pid)
		put_process(t, thread, thread->track + 1);
	PF_SET(&track, uuid, thread->track);
	PF_SET(&descriptor, pid, (int32_t)thread->pid);
	PF_SET(&descriptor, tid, (int32_t)thread->tid);
	descriptor.thread_name = thread->comm ? shown(t, thread->comm) : NULL;
	track.thread = &descriptor;
	put_track(t, &track);
}

uint64_t pf_tasks__named_track(struct pf_tasks *t, const char *name, uint64_t parent)
{
	Pf__TrackDescriptor track = PF__TRACK_DESCRIPTOR__INIT;

	PF_SET(&track, uuid, ++t->tracks);
	if (parent)
		PF_SET(&track, parent_uuid, parent);
	track.name = (char *)name;
	put_track(t, &track);
	return track.uuid;
}

/* Perfetto knows one idle task; here each CPU has its own. */
static uint64_t idle_track(struct pf_tasks *t, uint32_t cpu)
{
	char name[32];

	if (!t->idle_track)
		t->idle_track = pf_tasks__named_track(t, "Idle tasks", 0);
	snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
	return pf_tasks__named_track(t, name, t->idle_track);
}

static int charge_memory(struct pf_tasks *t)
{
	uint64_t memory = t->max * sizeof(*t->v) + string_table__memory(&t->keys);
	int err = stk_reader__charge(t->reader, (int64_t)(memory - t->charged), 0);

	if (!err)
		t->charged = memory;
	return err;
}

static int add_thread(struct pf_tasks *t, uint32_t tid, uint32_t pid)
{
	uint32_t i = t->nr;
	int err = array__grow(&t->v, i, &t->max);

	if (err)
		return err;
	t->v[t->nr++] = (struct pf_thread){ .tid = tid, .pid = pid };
	if (tid) {
		t->v[i].track = t->tracks + 1;
		t->tracks += 2; /* one for the process */
		put_thread(t, &t->v[i]);
	} else {
		t->v[i].track = idle_track(t, pid);
	}
	return charge_memory(t);
}

static int find_thread(struct pf_tasks *t, uint32_t tid, uint32_t pid, uint32_t cpu,
		       struct pf_thread **ret_thread)
{
	uint32_t *cached = &t->cache[(tid ?: cpu) % PF_THREAD_CACHE], i;
	uint64_t key;
	int got;

	/* An imported text does not say the process; a thread without one cannot be described. */
	pid = tid ? pid ?: tid : cpu;
	i = *cached - 1;
	if (*cached && t->v[i].tid == tid && t->v[i].pid == pid) {
		*ret_thread = &t->v[i];
		return 0;
	}
	key = (uint64_t)tid << 32 | pid;
	got = string_table__number(&t->keys, &key, sizeof(key), INDEX_NONE, &i);
	if (got > 0)
		got = add_thread(t, tid, pid);
	if (got)
		return got;
	*cached = i + 1;
	*ret_thread = &t->v[i];
	return 0;
}

int pf_tasks__thread_track(struct pf_tasks *t, uint32_t tid, uint32_t pid, uint32_t cpu,
			   uint64_t *ret_track)
{
	struct pf_thread *thread;
	int err = find_thread(t, tid, pid, cpu, &thread);

	if (!err)
		*ret_track = thread->track;
	return err;
}

int pf_tasks__track(struct pf_tasks *t, const struct stk_event *e, uint64_t *ret_track)
{
	const char *comm = stk_event__comm(e);
	struct pf_thread *thread;
	int err;

	err = find_thread(t, stk_event__tid(e), stk_event__pid(e), stk_event__cpu(e), &thread);
	if (err)
		return err;
	*ret_track = thread->track;
	if (!thread->tid || thread->comm == comm || (thread->comm && !strcmp(thread->comm, comm)))
		return 0;
	thread->comm = comm;
	put_thread(t, thread);
	return 0;
}

/* ---- the lists of threads -------------------------------------------------------------------- */

/* Replaces \xNN, as the list has blanks and other bytes, by the byte. */
static void unescape(char *s)
{
	char *to = s;

	while (*s)
		s += text__byte(s, to++);
	*to = '\0';
}

/* A line of tasks.start: TID PID PPID NSTID START STATE COMM. */
static void put_task(struct pf_tasks *t, const char *line)
{
	Pf__TracePacket p = pf_packet(NULL);
	Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
	Pf__Process process = PF__PROCESS__INIT, *processes[] = { &process };
	Pf__Thread thread = PF__THREAD__INIT, *threads[] = { &thread };
	int32_t tid, pid, ppid;
	char comm[65], *name;
	int at = 0;

	if (sscanf(line, "%" SCNd32 " %" SCNd32 " %" SCNd32 " %*s %*s %*s%n", &tid, &pid, &ppid,
		   &at) != 3 ||
	    !at || tid <= 0 || pid <= 0)
		return;
	line += at;
	line += *line == ' ';
	snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(line, "\n"), line);
	unescape(comm);
	name = shown(t, comm);
	p.process_tree = &tree;
	if (tid == pid) {
		PF_SET(&process, pid, pid);
		PF_SET(&process, ppid, ppid);
		process.n_cmdline = 1;
		process.cmdline = &name;
		tree.n_processes = 1;
		tree.processes = processes;
	}
	PF_SET(&thread, tid, tid);
	PF_SET(&thread, tgid, pid);
	thread.name = name;
	tree.n_threads = 1;
	tree.threads = threads;
	pf_out__packet(t->out, &p, 0);
}

void pf_tasks__list(struct pf_tasks *t)
{
	const char *lines = stk_reader__meta(t->reader, "tasks.start");

	for (; lines && *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n')
		put_task(t, lines);
}

void pf_tasks__free(struct pf_tasks *t)
{
	free(t->v);
	string_table__clear(&t->keys);
	strbuf__free(&t->text);
}
