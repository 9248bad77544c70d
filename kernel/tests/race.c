// SPDX-License-Identifier: GPL-2.0-only
/*
 * race [-rkac] [-i TIMES] ROUNDS A B
 *
 * Two CPUs store the same new stacks at the same time, ROUNDS times.  The trace instances A (with
 * the option stackmap) and B (without) record the same events meanwhile; the caller has set them up
 * so that A is called for an event before B.  After every round the stacks of all events of A,
 * resolved by its stack map, are compared frame by frame with the full stacks of B, and the map is
 * searched for duplicates.
 *
 *   -r  other threads reset the map and read its files all the time: ids are right
 *   -k  the map is not reset between rounds
 *   -c  fails unless both threads stored the same stack at the same time, once at least; until
 *       then up to four times as many rounds, as a busy machine may run one CPU at a time
 *   -a  events of all tasks, not only of these threads
 *   -i  repetitions of the system calls in a round (default 1)
 *
 * Prints counters; exits with 1 if anything was wrong.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "calls.h"
#include "fields.h"
#include "ring.h"

#define THREADS 2
#define KNOWN_BITS 20
#define CONTEXTS 1024
#define FLAGS_LEVEL 0x58 /* of common_flags: NMI, softirq, hardirq */
#define FLAGS_NMI 0x40
#define EDGE 4 /* events at either end, recorded while tracing was switched */

struct stack {
	unsigned int nr;
	uint64_t *frames;
	bool stale;
};

struct event {
	uint8_t *record;
	size_t size;
	uint64_t time;
	struct stack stack;
	bool has_stack;
};

struct list {
	struct event *events;
	size_t nr, room;
	unsigned long stacks; /* events with a stack */
	const struct bin_map *map;
};

struct counts {
	unsigned long events, stacks, duplicates, wrong, stale, missing, races, drops, reused;
	unsigned long in_nmi;
	unsigned long resets, refused, reads;
};

/* From stack_map_stat. */
struct map_counts {
	unsigned long asked, drops, races;
};

static struct stack_events ev;
static char dir_a[64], dir_b[64];
static bool others, keep, all, require_races;
static unsigned int times = 1;
static struct counts total;
static struct map_counts before; /* when the round began */

static pthread_barrier_t begin, end;
static atomic_uint arrived;
static atomic_bool stop;
static pid_t tids[THREADS];

static struct {
	uint32_t id;
	uint64_t print;
} known[1u << KNOWN_BITS];

static void wrong(const char *what)
{
	if (total.wrong++ < 5)
		printf("WRONG: %s\n", what);
}

/* Spins until the other thread arrives; @turn only increases. */
static void meet(unsigned int turn)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < THREADS * turn)
		if (atomic_load(&stop))
			return;
}

static void *work(void *arg)
{
	unsigned int cpu = (unsigned int)(uintptr_t)arg, turn = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "pin to cpu %u", cpu);
	tids[cpu] = (pid_t)syscall(SYS_gettid);
	for (;;) {
		pthread_barrier_wait(&begin);
		if (atomic_load(&stop))
			return NULL;
		for (unsigned int i = 0; i < times; i++) {
			for (unsigned int call = 0; call < calls__nr(); call++) {
				meet(++turn);
				calls__make(call);
			}
		}
		pthread_barrier_wait(&end);
	}
}

static void *memory(size_t size)
{
	void *at = malloc(size ? size : 1);

	if (!at)
		errx(1, "no memory");
	return at;
}

static void stack__add(struct stack *stack, const struct bin_map *map, uint32_t id)
{
	const struct bin_stack *found = bin_map__find(map, id);

	if (!found) {
		stack->stale = true;
		return;
	}
	stack->frames = realloc(stack->frames, (stack->nr + found->nr + 1) * sizeof(uint64_t));
	if (!stack->frames)
		errx(1, "no memory");
	memcpy(stack->frames + stack->nr, found->frames, found->nr * sizeof(uint64_t));
	stack->nr += found->nr;
}

static void stack__set(struct stack *stack, const struct bin_map *map, const uint8_t *record,
		       size_t size)
{
	unsigned int type = record_type(record);

	if (type == ev.full) {
		stack->nr = get_u32(record + ev.full_size);
		if (ev.full_caller + stack->nr * 8ul > size)
			errx(1, "a stack of %u frames in %zu bytes", stack->nr, size);
		stack->frames = memory(stack->nr * 8ul);
		memcpy(stack->frames, record + ev.full_caller, stack->nr * 8ul);
		return;
	}
	if (!map) {
		wrong("an id in the instance that has none");
		return;
	}
	stack__add(stack, map, get_u32(record + (type == ev.pair ? ev.pair_id : ev.id_id)));
	if (type == ev.pair)
		stack__add(stack, map, get_u32(record + ev.pair_below));
}

/* Whether a stack belongs to this event: the same context (flags) of the same task. */
static bool same_context(const uint8_t *a, const uint8_t *b)
{
	return a[2] == b[2] && !memcmp(a + 4, b + 4, 4);
}

static void collect(void *arg, const uint8_t *record, size_t size, uint64_t time, size_t ring_size)
{
	struct list *list = arg;
	unsigned int type = record_type(record);
	struct event *event;
	size_t i;

	(void)ring_size;
	if (type == ev.full || type == ev.id || type == ev.pair) {
		list->stacks++;
		for (i = list->nr; i > 0; i--) {
			event = &list->events[i - 1];
			if (event->has_stack || !same_context(event->record, record))
				continue;
			event->has_stack = true;
			stack__set(&event->stack, list->map, record, size);
			return;
		}
		/* Tracing was switched on between an event and its stack. */
		if (list->nr > EDGE)
			wrong("a stack without an event");
		return;
	}
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->events = realloc(list->events, list->room * sizeof(*list->events));
		if (!list->events)
			errx(1, "no memory");
	}
	event = &list->events[list->nr++];
	memset(event, 0, sizeof(*event));
	event->record = memory(size);
	memcpy(event->record, record, size);
	event->size = size;
	event->time = time;
}

static void list__clear(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->events[i].record);
		free(list->events[i].stack.frames);
	}
	free(list->events);
	memset(list, 0, sizeof(*list));
}

static bool same_event(const struct event *a, const struct event *b)
{
	return fields__same(a->record, a->size, b->record, b->size);
}

static bool same_stack(const struct event *a, const struct event *b)
{
	return a->has_stack == b->has_stack && a->stack.nr == b->stack.nr &&
	       (!a->stack.nr ||
		!memcmp(a->stack.frames, b->stack.frames, a->stack.nr * sizeof(uint64_t)));
}

static void show(const char *who, const struct event *event)
{
	printf("  %s: type %u, %s, %u frames:", who, record_type(event->record),
	       event->has_stack ? "stack" : "no stack", event->stack.nr);
	for (unsigned int i = 0; i < event->stack.nr; i++)
		printf(" %llx", (unsigned long long)event->stack.frames[i]);
	printf("\n");
}

/* The latest event of A in a context, whose counterpart in B is the next event in that context. */
struct context {
	uint32_t pid;
	uint8_t level;
	const struct event *event;
	bool at_edge;
};

static struct context *context_of(struct context *contexts, const struct event *event)
{
	uint32_t pid = get_u32(event->record + 4);
	uint8_t level = event->record[2] & FLAGS_LEVEL;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		struct context *at = &contexts[(pid * 8 + level / 8 + i) % CONTEXTS];

		if (!at->level) {
			at->level = level | 1;
			at->pid = pid;
		}
		if (at->pid == pid && at->level == (level | 1))
			return at;
	}
	errx(1, "more than %u tasks", CONTEXTS);
}

/*
 * Was tracing switched off between the event and its stack?  Then only what interrupted it follows,
 * which may be many events if the CPU was stopped for a while.
 */
static bool lost_its_stack(const struct list *list, const struct event *event)
{
	const uint8_t level = event->record[2] & FLAGS_LEVEL;

	if (event->has_stack)
		return false;
	for (const struct event *at = event + 1; at < list->events + list->nr; at++)
		if ((at->record[2] & FLAGS_LEVEL) == level)
			return false;
	return true;
}

static void compare_two(const struct event *a, const struct event *b, bool at_edge)
{
	total.stale += a->stack.stale;
	total.in_nmi += a->has_stack && (a->record[2] & FLAGS_NMI);
	if (a->stack.stale && others)
		return;
	if (a->has_stack != b->has_stack && at_edge)
		return;
	if (a->stack.stale) {
		wrong("an id that is not in the map");
	} else if (!same_stack(a, b)) {
		wrong("not the stack of the other instance");
		show("ids ", a);
		show("full", b);
	}
}

/*
 * A records an event before B does, and each reading of the trace clock returns a new number.
 * Within one context (a task, or an interrupt of some kind above it) of one CPU, where events are
 * strictly ordered, the event that follows an event of A is therefore the same event in B, unless
 * one of the two is missing.
 */
static void compare(const struct list *a, const struct list *b)
{
	struct context contexts[CONTEXTS] = { 0 }, *context;
	size_t i = 0, j = 0;

	total.events += a->nr;
	while (i < a->nr || j < b->nr) {
		if (j == b->nr || (i < a->nr && a->events[i].time < b->events[j].time)) {
			context = context_of(contexts, &a->events[i]);
			total.missing += !!context->event;
			context->event = &a->events[i];
			context->at_edge = ++i + EDGE > a->nr;
			continue;
		}
		context = context_of(contexts, &b->events[j]);
		if (context->event)
			context->at_edge |= lost_its_stack(a, context->event) ||
					    lost_its_stack(b, &b->events[j]);
		if (context->event && same_event(context->event, &b->events[j])) {
			compare_two(context->event, &b->events[j], context->at_edge);
			context->event = NULL;
		} else if (i > 0 && i < a->nr) {
			/* B is enabled before A and disabled after it. */
			total.missing++;
		}
		j++;
	}
	for (i = 0; i < CONTEXTS; i++)
		total.missing += !!contexts[i].event;
}

/* An id never refers to two stacks, whatever resets came in between. */
static void remember(const struct bin_map *map)
{
	for (unsigned int i = 0; i < map->nr; i++) {
		const struct bin_stack *stack = &map->stacks[i];
		uint64_t print = stack->nr | (uint64_t)stack->flags << 32;
		uint32_t at = (stack->id * 2654435769u) >> (32 - KNOWN_BITS), probes = 0;

		for (unsigned int j = 0; j < stack->nr; j++)
			print = (print ^ stack->frames[j]) * 0x9e3779b97f4a7c15ull;
		while (known[at].id && known[at].id != stack->id && probes++ < 64)
			at = (at + 1) & ((1u << KNOWN_BITS) - 1);
		if (probes >= 64)
			continue;
		if (known[at].id && known[at].print != print) {
			total.reused++;
			wrong("an id that referred to another stack");
		}
		known[at].id = stack->id;
		known[at].print = print;
	}
}

static void map_counts__load(struct map_counts *ret)
{
	ret->asked = stat_of(dir_a, "stack_map_stat", "asked");
	ret->drops = stat_of(dir_a, "stack_map_stat", "drops");
	ret->races = stat_of(dir_a, "stack_map_stat", "races");
}

static void judge(void)
{
	unsigned long stacks = 0;
	struct map_counts counts;
	struct bin_map map;

	bin_map__load(&map, dir_a, "stack_map_bin");
	map_counts__load(&counts);
	total.stacks += map.nr;
	total.duplicates += bin_map__duplicates(&map);
	total.drops += counts.drops - before.drops;
	total.races += counts.races - before.races;
	remember(&map);
	for (unsigned int cpu = 0; cpu < THREADS; cpu++) {
		struct list a = { .map = &map }, b = { .map = NULL };

		ring__read(dir_a, cpu, collect, &a);
		ring__read(dir_b, cpu, collect, &b);
		compare(&a, &b);
		stacks += a.stacks;
		list__clear(&a);
		list__clear(&b);
	}
	if (!others && counts.asked - before.asked != stacks) {
		printf("requested %lu, in the ring buffer %lu\n", counts.asked - before.asked,
		       stacks);
		wrong("the statistics do not add up");
	}
	bin_map__free(&map);
}

/* A reset clears the ring buffer, too: not between a round and its judgement. */
static pthread_mutex_t judging = PTHREAD_MUTEX_INITIALIZER;

static void *resetter(void *arg)
{
	char path[128];
	int fd;

	(void)arg;
	snprintf(path, sizeof(path), "%s/stack_map", dir_a);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		err(1, "%s", path);
	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&judging);
		if (write(fd, "0", 1) == 1)
			__atomic_fetch_add(&total.resets, 1, __ATOMIC_RELAXED);
		else if (errno == EBUSY)
			__atomic_fetch_add(&total.refused, 1, __ATOMIC_RELAXED);
		else
			err(1, "write to %s", path);
		pthread_mutex_unlock(&judging);
		usleep(500);
	}
	close(fd);
	return NULL;
}

/* Reads a file to its end, or until the map is reset. */
static void *reader(void *arg)
{
	char path[128], buf[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir_a, (const char *)arg);
	while (!atomic_load(&stop)) {
		fd = open(path, O_RDONLY);
		if (fd < 0)
			err(1, "%s", path);
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			continue;
		if (n < 0 && errno != ESTALE)
			err(1, "read %s", path);
		close(fd);
		__atomic_fetch_add(&total.reads, 1, __ATOMIC_RELAXED);
		usleep(1000);
	}
	return NULL;
}

static void follow_only(const char *dir)
{
	char text[64];

	snprintf(text, sizeof(text), "%d %d", tids[0], tids[1]);
	put_text(dir, "set_event_pid", text);
}

/*
 * Waits until everything that was being recorded when tracing was switched off is in the ring
 * buffer and counted.  Recording runs with preemption disabled, so it has finished on each CPU that
 * has run this thread since.  A virtual CPU may be stopped for longer than it takes to read the
 * statistics.
 */
static void settle(void)
{
	cpu_set_t set, old;

	if (sched_getaffinity(0, sizeof(old), &old))
		err(1, "sched_getaffinity");
	for (unsigned int cpu = 0; cpu < THREADS; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			err(1, "run on cpu %u", cpu);
	}
	if (sched_setaffinity(0, sizeof(old), &old))
		err(1, "sched_setaffinity");
}

static void one_round(void)
{
	if (!keep && !others)
		put_text(dir_a, "stack_map", "0");
	if (others)
		usleep(3000);
	map_counts__load(&before);
	/* Both instances start and stop with the same event, as no other task is recorded. */
	put_text(dir_b, "tracing_on", "1");
	put_text(dir_a, "tracing_on", "1");
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	pthread_mutex_lock(&judging);
	put_text(dir_a, "tracing_on", "0");
	put_text(dir_b, "tracing_on", "0");
	settle();
	judge();
	pthread_mutex_unlock(&judging);
}

int main(int argc, char **argv)
{
	static char *const files[] = { "stack_map", "stack_map_bin", "stack_map_stat", "trace" };
	unsigned int nr_helpers = 0, rounds, done;
	pthread_t threads[THREADS], helpers[6];
	int opt;

	while ((opt = getopt(argc, argv, "rkaci:")) != -1) {
		switch (opt) {
		case 'r':
			others = true;
			break;
		case 'k':
			keep = true;
			break;
		case 'c':
			require_races = true;
			break;
		case 'a':
			all = true;
			break;
		case 'i':
			times = (unsigned int)atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 3)
		errx(2, "race [-rkac] [-i TIMES] ROUNDS A B");
	rounds = (unsigned int)atoi(argv[optind]);
	snprintf(dir_a, sizeof(dir_a), TRACEFS "/instances/%s", argv[optind + 1]);
	snprintf(dir_b, sizeof(dir_b), TRACEFS "/instances/%s", argv[optind + 2]);
	if (sysconf(_SC_NPROCESSORS_ONLN) < THREADS)
		errx(77, "needs two CPUs");

	stack_events__load(&ev);
	fields__load(dir_a);
	fields__load_event("ftrace/function");
	calls__prepare();
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			errx(1, "pthread_create");
	while (!__atomic_load_n(&tids[0], __ATOMIC_ACQUIRE) ||
	       !__atomic_load_n(&tids[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	put_text(dir_a, "trace_clock", "counter");
	put_text(dir_b, "trace_clock", "counter");
	if (!all) {
		follow_only(dir_a);
		follow_only(dir_b);
	}
	if (others) {
		for (unsigned int i = 0; i < 2; i++)
			pthread_create(&helpers[nr_helpers++], NULL, resetter, NULL);
		for (unsigned int i = 0; i < 4; i++)
			pthread_create(&helpers[nr_helpers++], NULL, reader, files[i]);
	}

	for (done = 0; done < rounds || (require_races && !total.races && done < 4 * rounds);
	     done++)
		one_round();

	atomic_store(&stop, true);
	pthread_barrier_wait(&begin);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < nr_helpers; i++)
		pthread_join(helpers[i], NULL);

	if (!total.events || (!total.stacks && !others))
		wrong("too few events were seen");
	if (total.missing > total.events / 50)
		wrong("too many events are in only one instance");
	if (others && (!total.resets || !total.refused || !total.reads))
		wrong("no reset or read happened");
	if (others && total.stale)
		wrong("ids in the ring buffer whose stacks are gone");
	if (require_races && !total.races)
		wrong("the two CPUs never stored a stack at the same time");
	if (others)
		printf("# %lu resets, %lu refused, %lu files read\n", total.resets, total.refused,
		       total.reads);
	printf("# %u rounds: %lu stacks, %lu duplicates; %lu events, %lu in NMIs, %lu wrong, "
	       "%lu stale, %lu in one only; %lu races lost, %lu dropped\n",
	       done, total.stacks, total.duplicates, total.events, total.in_nmi, total.wrong,
	       total.stale, total.missing, total.races, total.drops);
	return total.wrong || total.duplicates;
}
