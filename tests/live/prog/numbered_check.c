// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbered_check FILE PID: reads a recording of `numbered` ("-": from a pipe, in which the reader
 * cannot seek).  Events are missing between two calls of a thread whose numbers are not adjacent;
 * the reader must report that when it returns the second one, for this type, on this CPU and on
 * all.  Calls that it trusts must be adjacent.  Prints how many of the adjacent calls it trusts.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbered.h"
#include "stackonce.h"

#define MAX_THREADS 8

static struct thread {
	uint32_t tid;
	int32_t number;
	uint64_t ts;
} threads[MAX_THREADS];
static uint64_t adjacent, trusted, gaps, missing, wrong, losses, lost;

static int32_t number_of(const struct stk_event *e)
{
	const char *at = strstr(stk_event_type__format(stk_event__type(e)), "fildes;");
	const char *rec;
	unsigned int off;
	int32_t number;
	size_t len;

	if (!at || sscanf(at, "fildes; offset:%u;", &off) != 1)
		errx(1, "an event without fildes");
	rec = stk_event__record(e, &len);
	if (len < off + sizeof(number))
		errx(1, "a call without its number");
	memcpy(&number, rec + off, sizeof(number));
	return number;
}

static struct thread *thread_of(uint32_t tid)
{
	for (int i = 0; i < MAX_THREADS; i++) {
		if (!threads[i].tid)
			threads[i].tid = tid;
		if (threads[i].tid == tid)
			return &threads[i];
	}
	errx(1, "more than %d threads", MAX_THREADS);
}

static bool may_miss(struct stk_reader *r, const struct stk_event *e, uint32_t cpu, uint64_t from)
{
	struct stk_span s = {
		.type = stk_event__type(e),
		.cpu = cpu,
		.tid = STK_ANY_TASK,
		.from = from,
		.to = stk_event__ts(e),
	};

	return stk_reader__may_miss(r, &s);
}

static void look_at(struct stk_reader *r, const struct stk_event *e)
{
	struct thread *t = thread_of(stk_event__tid(e));
	int32_t number = number_of(e), step = number - t->number;

	if (!t->ts)
		step = number == NUMBERED_FIRST ? 0 : 2;
	if (step == 1) {
		adjacent++;
		trusted += !may_miss(r, e, stk_event__cpu(e), t->ts);
	} else if (step) {
		gaps++;
		missing += step - 1;
		if (!may_miss(r, e, stk_event__cpu(e), t->ts) ||
		    !may_miss(r, e, STK_ANY_CPU, t->ts)) {
			wrong++;
			printf("cpu %u: nothing may be missing between %d at %" PRIu64
			       " and %d at %" PRIu64 "\n",
			       stk_event__cpu(e), t->number, t->ts, number, stk_event__ts(e));
		}
	}
	t->number = number;
	t->ts = stk_event__ts(e);
}

static void count_losses(struct stk_reader *r, uint64_t until)
{
	struct stk_loss l;

	while (stk_reader__next_loss(r, until, &l)) {
		losses++;
		lost += l.count;
	}
}

/* The accounting, without losses at the edges, which are not between events. */
static uint64_t accounted(const struct stk_reader *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);

		sum += stk_reader__counter(r, t, STK_C_LOST_RING) +
		       stk_reader__counter(r, t, STK_C_LOST_NESTED) +
		       stk_reader__counter(r, t, STK_C_LOST_SCRATCH);
	}
	return sum;
}

int main(int argc, char **argv)
{
	const struct stk_event *e;
	struct stk_reader *r;
	uint32_t pid;
	int got;

	if (argc != 3)
		errx(2, "usage: numbered_check FILE PID");
	pid = strtoul(argv[2], NULL, 10);
	if (stk_reader__open(argv[1], NULL, &r))
		errx(1, "open '%s'", argv[1]);
	while ((got = stk_reader__next(r, &e)) > 0) {
		count_losses(r, stk_event__ts(e));
		if (stk_event__pid(e) == pid &&
		    !strcmp(stk_event_type__name(stk_event__type(e)), "sys_enter_dup"))
			look_at(r, e);
	}
	if (got < 0)
		errx(1, "read '%s': %s", argv[1], strerror(-got));
	count_losses(r, UINT64_MAX);
	if (lost != accounted(r))
		errx(1, "the losses are %" PRIu64 " events, the accounting has %" PRIu64, lost,
		     accounted(r));
	printf("%" PRIu64 " events lost in %" PRIu64 " losses; %" PRIu64 " gaps of %" PRIu64
	       " calls, %" PRIu64 " unreported; %" PRIu64 " of %" PRIu64
	       " adjacent calls trusted\n",
	       lost, losses, gaps, missing, wrong, trusted, adjacent);
	stk_reader__free(r);
	return wrong || !gaps || !trusted;
}
