// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command stackonce, whose recordings let events take the old way meanwhile (old_way.h):
 *
 *	WAY_BACK='EVENT NUMBER ...' way_back record ...
 *
 * Each EVENT takes it when NUMBER events of it have been recorded, one after the other, in a thread
 * of its own.  With a NUMBER below 0 it does so that many ms after the recording was armed.  Prints
 * a line for each: "back EVENT SINCE", or "back EVENT failed ERRNO"; also how long it took, and how
 * many events of the type were recorded before and meanwhile.  With WAY_BACK_REFUSED in the
 * environment the program for it cannot be loaded.  With WAY_BACK_LATE=MS the recorder waits that
 * long between the end of the recording and its last look at the counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "clock.h"
#include "record/bpf/old_way.h"
#include "record/bpf/programs_priv.h"
#include "record/select/rec_event.h"
#include "thread.h"

int __real_programs__arm(struct programs *p);
int __wrap_programs__arm(struct programs *p);
void __real_programs__free(struct programs *p);
void __wrap_programs__free(struct programs *p);
int __real_programs__disarm(struct programs *p);
int __wrap_programs__disarm(struct programs *p);
int __real_attach__misses(struct programs *p);
int __wrap_attach__misses(struct programs *p);
int __real_bpf_map__reuse_fd(struct bpf_map *map, int fd);
int __wrap_bpf_map__reuse_fd(struct bpf_map *map, int fd);

static pthread_t thread;
static bool running, ends, refuses, disarms;

static int find(const struct programs *p, const char *name)
{
	char full[200];
	unsigned int i;

	for (i = 0; i < p->nr_events; i++) {
		const struct rec_event *e = &p->opts->events->v[i];

		snprintf(full, sizeof(full), "%s:%s", e->system, e->name);
		if (!strcmp(full, name))
			return i;
	}
	return -1;
}

static bool is_over(void)
{
	return __atomic_load_n(&ends, __ATOMIC_ACQUIRE);
}

static void take(struct programs *p, const char *name, long after)
{
	int event = find(p, name), err;
	uint64_t start, before;

	if (event < 0) {
		fprintf(stderr, "back %s unknown\n", name);
		return;
	}
	if (after < 0)
		usleep(-after * 1000);
	while (after > 0 && programs__recorded(p, event) < (uint64_t)after && !is_over())
		usleep(200);
	/*
	 * The recorder itself detaches the check of an event before that takes the old way; it does
	 * so within half a second of the last comparison.
	 */
	if (after > 0 && !is_over())
		sleep(1);
	start = clock_ns(CLOCK_MONOTONIC);
	before = programs__recorded(p, event);
	err = old_way__take(p, event);
	if (err)
		fprintf(stderr, "back %s failed %d\n", name, err);
	else
		fprintf(stderr,
			"back %s %" PRIu64 " after %" PRIu64 " events, within %" PRIu64
			" us and %" PRIu64 " events\n",
			name, old_way__since(p, event), before,
			(clock_ns(CLOCK_MONOTONIC) - start) / 1000,
			programs__recorded(p, event) - before);
}

static void *run(void *arg)
{
	struct programs *p = arg;
	_cleanup_free_ char *plan = strdup(getenv("WAY_BACK") ?: "");
	char *rest = plan, *name, *number;

	refuses = getenv("WAY_BACK_REFUSED");
	while ((name = strsep(&rest, " ")) && (number = strsep(&rest, " ")))
		take(p, name, atol(number));
	return NULL;
}

int __wrap_programs__arm(struct programs *p)
{
	int err = __real_programs__arm(p);

	running = !err && !thread__start(&thread, run, p);
	return err;
}

void __wrap_programs__free(struct programs *p)
{
	__atomic_store_n(&ends, true, __ATOMIC_RELEASE);
	if (running) {
		old_way__stop(p);
		pthread_join(thread, NULL);
	}
	running = false;
	__real_programs__free(p);
}

int __wrap_programs__disarm(struct programs *p)
{
	int err;

	disarms = true;
	err = __real_programs__disarm(p);
	disarms = false;
	return err;
}

int __wrap_attach__misses(struct programs *p)
{
	if (disarms)
		usleep(atol(getenv("WAY_BACK_LATE") ?: "0") * 1000);
	return __real_attach__misses(p);
}

int __wrap_bpf_map__reuse_fd(struct bpf_map *map, int fd)
{
	return refuses ? -EPERM : __real_bpf_map__reuse_fd(map, fd);
}
