// SPDX-License-Identifier: GPL-2.0-only
/* Compares stack counts and call trees with sums computed by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "analyze/stacks/call_profile.h"
#include "analyze/stacks/call_tree.h"
#include "analyze/stacks/stack_counts.h"
#include "cleanup.h"
#include "frame.h"
#include "trace/write/writer.h"

#define EVENTS 20000
#define STACKS 300
#define USER_STACKS 40
#define FILES 2
#define TASKS 40
#define CPUS 3
#define TYPES 2
#define TEXT 0xffffffff81000000ULL

static const char format[] = "name: t\nID: 1\n" COMMON "print fmt: \"\"\n";

struct fixture {
	char path[32];
	struct stk_reader *r;
};

/* The innermost function of stack i is i % 7; several tasks have the same comm. */
static unsigned int frames_of(unsigned int i, uint64_t *frames)
{
	unsigned int depth = 1 + i % 9, k;

	for (k = 0; k < depth; k++)
		frames[k] = TEXT + (i * (k + 1) % 7) * 0x1000 + 0x10 + i % 3;
	return depth;
}

/* Two files with the same functions at the same offsets, called from the same or the other file. */
static void write_user_tables(struct stk_writer *w, uint32_t *ustacks)
{
	static const struct stk_user_symbol symbols[] = { { "run", 0x1000, 0x100 },
							  { "call", 0x2000, 0x100 } };
	struct stk_file file = { .path = "/a/lib.so", .host_path = "" };
	uint64_t frames[2];
	uint32_t nr;
	int i;

	for (i = 1; i <= FILES; i++, file.path = "/b/lib.so") {
		assert_int_equal(stk_writer__file(w, &file, &nr), 0);
		assert_int_equal(nr, i);
		assert_int_equal(stk_writer__user_symbols(w, nr, symbols, 2), 0);
	}
	ustacks[0] = 0;
	for (i = 1; i < USER_STACKS; i++) {
		frames[0] = FRAME_USER(1 + i % FILES, 0x1000 + i);
		frames[1] = FRAME_USER(1 + i / 2 % FILES, 0x2000 + i);
		assert_int_equal(stk_writer__stack(w, frames, 2, &ustacks[i]), 0);
	}
}

static void write_tables(struct stk_writer *w, uint32_t *stacks, uint32_t *tasks)
{
	uint64_t frames[16];
	unsigned int i;
	char name[32];

	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "a", "one", "", format), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "a", "two", "", format), 1);
	for (i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_int_equal(stk_writer__symbol(w, TEXT + i * 0x1000, 0x100, name, ""), 0);
	}
	stacks[0] = 0;
	for (i = 1; i < STACKS; i++)
		assert_int_equal(stk_writer__stack(w, frames, frames_of(i, frames), &stacks[i]), 0);
	for (i = 0; i < TASKS; i++) {
		snprintf(name, sizeof(name), "comm-%u", i % 5);
		assert_int_equal(stk_writer__task(w, 100 + i, 100 + i / 2, name, strlen(name),
						  &tasks[i]),
				 0);
	}
}

static int setup(void **state)
{
	struct stk_writer_opts opts = { .nr_cpus = CPUS };
	struct stk_reader_opts ropts = { .size = sizeof(ropts), .want = STK_WANT_EVENTS };
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t stacks[STACKS], ustacks[USER_STACKS], tasks[TASKS];
	struct stk_writer *w;
	unsigned int i;

	strcpy(f->path, "/tmp/analyze-XXXXXX");
	assert_int_equal(stk_writer__new(mkstemp(f->path), &opts, &w), 0);
	write_tables(w, stacks, tasks);
	write_user_tables(w, ustacks);
	srand(1);
	for (i = 0; i < EVENTS; i++) {
		struct stk_writer_event e = { .ts = 1000 + i,
					      .cpu = rand() % CPUS,
					      .event = rand() % TYPES,
					      .task = tasks[rand() % TASKS],
					      .kstack = stacks[rand() % STACKS],
					      .ustack = ustacks[rand() % USER_STACKS],
					      .record = "\0\0\0\0\0\0\0\0",
					      .record_len = 8 };

		assert_int_equal(stk_writer__event(w, &e), 0);
	}
	assert_int_equal(stk_writer__end_round(w, 1000 + EVENTS, 0), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(f->path, &ropts, &f->r), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	stk_reader__free(f->r);
	unlink(f->path);
	free(f);
	return 0;
}

struct slow {
	uint32_t type, tid, pid, cpu, kstack, ustack;
	char comm[16];
};

/* Adds all events to c, and unsorted to ret_slow. */
static void read_events(struct fixture *f, struct stack_counts *c, struct slow *ret_slow)
{
	const struct stk_event *e;
	unsigned int n = 0;

	while (stk_reader__next(f->r, &e) == 1) {
		struct slow *s = &ret_slow[n++];

		assert_true(n <= EVENTS);
		*s = (struct slow){ .type = stk_event_type__index(stk_event__type(e)),
				    .tid = stk_event__tid(e),
				    .pid = stk_event__pid(e),
				    .cpu = stk_event__cpu(e),
				    .kstack = stk_event__kstack(e),
				    .ustack = stk_event__ustack(e) };
		snprintf(s->comm, sizeof(s->comm), "%s", stk_event__comm(e));
		assert_int_equal(stack_counts__add(c, e, 1), 0);
	}
	assert_int_equal(n, EVENTS);
}

static bool has_stacks(const struct slow *s, const struct stack_count *c, unsigned int stacks)
{
	return c->kstack == (stacks & STACKS_KERNEL ? s->kstack : 0) &&
	       c->ustack == (stacks & STACKS_USER ? s->ustack : 0);
}

/* A bit for each key, in the order of key_names. */
enum { BY_EVENT = 1, BY_COMM = 2, BY_PID = 4, BY_TID = 8, BY_CPU = 16 };
static const char *const key_names[] = { "event", "comm", "pid", "tid", "cpu" };

/* Counts of a recording; weight may be NULL. */
struct counting {
	struct values *values;
	struct stack_fold *fold;
	struct stack_counts *c;
};

static struct counting count(struct stk_reader *r, unsigned int by, unsigned int stacks,
			     const char *weight, enum weigh_how how)
{
	struct stack_spec spec = { .stacks = stacks, .weighed = weight, .how = how };
	struct counting n;
	unsigned int i;

	assert_int_equal(values__new(r, &n.values), 0);
	spec.values = n.values;
	for (i = 0; i < ARRAY_SIZE(key_names); i++)
		if (by & 1u << i)
			spec.keys[spec.nr_keys++] =
				values__add(n.values, key_names[i], VALUE_PREFER_GENERIC);
	if (weight)
		spec.weight = values__add(n.values, weight, VALUE_PREFER_GENERIC);
	assert_int_equal(stack_fold__new(r, 0, &n.fold), 0);
	assert_int_equal(stack_counts__new(&spec, &n.c), 0);
	return n;
}

static void end_count(struct counting *n)
{
	stack_counts__free(n->c);
	stack_fold__free(n->fold);
	values__free(n->values);
}

/* Whether a slow event has the key of a group. */
static bool has_key(const struct slow *s, const struct stack_group *g, unsigned int bit,
		    const struct event_value *v)
{
	switch (bit) {
	case BY_EVENT:
		return s->type == stk_event_type__index(g->type);
	case BY_COMM:
		return v->len == strlen(s->comm) && !memcmp(v->text, s->comm, v->len);
	case BY_PID:
		return v->number == s->pid;
	case BY_TID:
		return v->number == s->tid;
	default:
		return v->number == s->cpu;
	}
}

static bool in_group(const struct slow *s, const struct stack_group *g, unsigned int by)
{
	const struct event_value *v = g->keys;
	unsigned int bit;

	for (bit = 1; bit <= BY_CPU; bit <<= 1)
		if (by & bit && !has_key(s, g, bit, v++))
			return false;
	return true;
}

static void check_group(const struct slow *slow, const struct stack_group *g, unsigned int by,
			unsigned int stacks)
{
	uint64_t count = 0, sum = 0;
	unsigned int i, k;

	for (i = 0; i < EVENTS; i++)
		count += in_group(&slow[i], g, by);
	assert_int_equal(g->count, count);
	for (k = 0; k < g->nr_stacks; k++) {
		uint64_t here = 0;

		for (i = 0; i < EVENTS; i++)
			here += has_stacks(&slow[i], &g->stacks[k], stacks) &&
				in_group(&slow[i], g, by);
		assert_int_equal(g->stacks[k].count, here);
		assert_true(here > 0);
		assert_true(!k || g->stacks[k - 1].count >= here);
		sum += here;
	}
	assert_int_equal(sum, g->count);
}

static void check_by(void **state, unsigned int by, unsigned int stacks, unsigned int want_groups)
{
	static struct slow slow[EVENTS];
	const struct stack_group *groups;
	struct counting n = count(((struct fixture *)*state)->r, by, stacks, NULL, 0);
	unsigned int nr, i;
	uint64_t sum = 0;

	read_events(*state, n.c, slow);
	assert_int_equal(stack_counts__finish(n.c, n.fold, &groups, &nr), 0);
	assert_int_equal(nr, want_groups);
	for (i = 0; i < nr; i++) {
		assert_true(!i || groups[i - 1].count >= groups[i].count);
		check_group(slow, &groups[i], by, stacks);
		sum += groups[i].count;
	}
	assert_int_equal(sum, EVENTS);
	end_count(&n);
}

static void test_by_event(void **state)
{
	check_by(state, BY_EVENT, STACKS_KERNEL, TYPES);
}

static void test_by_comm_cpu(void **state)
{
	check_by(state, BY_COMM | BY_CPU, STACKS_USER, 5 * CPUS);
}

static void test_by_pid(void **state)
{
	check_by(state, BY_PID, STACKS_KERNEL, TASKS / 2);
}

static void test_by_all(void **state)
{
	check_by(state, BY_EVENT | BY_COMM | BY_PID | BY_TID | BY_CPU, STACKS_KERNEL,
		 TYPES * TASKS * CPUS);
}

static void test_both_stacks(void **state)
{
	check_by(state, BY_CPU, STACKS_KERNEL | STACKS_USER, CPUS);
}

/* Kernel frames, then user frames; some offsets pretend to have an inlined function. */
static bool is_inlined(const struct stk_frame *f)
{
	return f->off & 4;
}

static int get_frames(void *ctx, const struct stack_count *stacks, struct call_stack *ret_stack)
{
	const uint32_t numbers[] = { stacks->kstack, stacks->ustack };
	static const char inlined[] = "inlined";
	struct stk_frame frames[STK_MAX_DEPTH];
	int n, i, k;

	for (k = 0; k < 2; k++) {
		n = numbers[k] ? stk_reader__frames(ctx, numbers[k], frames, STK_MAX_DEPTH) : 0;
		for (i = 0; i < n; i++) {
			if (k && is_inlined(&frames[i]))
				assert_int_equal(
					call_stack__add(ret_stack,
							&(struct call_frame){ .frame = frames[i],
									      .inlined = inlined }),
					0);
			assert_int_equal(
				call_stack__add(ret_stack,
						&(struct call_frame){ .frame = frames[i] }),
				0);
		}
	}
	return 0;
}

static uint64_t check_node(const struct call_node *n, unsigned int depth)
{
	uint64_t below = 0;
	unsigned int i;

	assert_true(depth <= 16);
	for (i = 0; i < n->nr_children; i++) {
		assert_true(!i || n->children[i - 1]->count >= n->children[i]->count);
		below += check_node(n->children[i], depth + 1);
	}
	assert_int_equal(n->count, below + n->self);
	return n->count;
}

/* Number of events whose innermost or outermost function is function_NR. */
static uint64_t count_ends(struct stk_reader *r, const struct stack_group *g, bool inner,
			   const char *sym)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	uint64_t count = 0;
	unsigned int i;
	int n;

	for (i = 0; i < g->nr_stacks; i++) {
		n = g->stacks[i].kstack ?
			    stk_reader__frames(r, g->stacks[i].kstack, frames, STK_MAX_DEPTH) :
			    0;
		if (n > 0 && !strcmp(frames[inner ? 0 : n - 1].sym, sym))
			count += g->stacks[i].count;
	}
	return count;
}

static void test_tree(void **state)
{
	struct stk_reader *r = ((struct fixture *)*state)->r;
	static struct slow slow[EVENTS];
	const struct stack_group *groups;
	struct counting n = count(r, BY_EVENT, STACKS_KERNEL, NULL, 0);
	unsigned int nr, i, callers;

	read_events(*state, n.c, slow);
	assert_int_equal(stack_counts__finish(n.c, n.fold, &groups, &nr), 0);
	for (callers = 0; callers < 2; callers++) {
		const struct call_node *root;
		struct call_tree *t;

		assert_int_equal(call_tree__new(r, &groups[0], callers, get_frames, r, &t), 0);
		root = call_tree__root(t);
		assert_int_equal(root->count, groups[0].count);
		check_node(root, 0);
		assert_int_equal(root->nr_children, 7);
		for (i = 0; i < root->nr_children; i++)
			assert_int_equal(root->children[i]->count,
					 count_ends(r, &groups[0], callers,
						    root->children[i]->frame.frame.sym));
		call_tree__free(t);
	}
	end_count(&n);
}

/* Equal names and offsets in two files are two functions; an inlined function is a third. */
static void test_files(void **state)
{
	struct stk_reader *r = ((struct fixture *)*state)->r;
	static struct slow slow[EVENTS];
	const struct stack_group *groups;
	struct counting counting = count(r, 0, STACKS_USER, NULL, 0);
	const struct call_node *root, *n;
	struct call_tree *t;
	unsigned int nr, i, k;
	uint64_t want;

	read_events(*state, counting.c, slow);
	assert_int_equal(stack_counts__finish(counting.c, counting.fold, &groups, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(call_tree__new(r, &groups[0], true, get_frames, r, &t), 0);
	root = call_tree__root(t);
	assert_int_equal(root->nr_children, 2 * FILES);
	assert_true(root->self > 0); /* events without a stack */
	check_node(root, 0);
	for (i = 0; i < root->nr_children; i++) {
		n = root->children[i];
		assert_string_equal(n->frame.frame.sym, "run");
		for (want = 0, k = 0; k < EVENTS; k++) {
			struct stk_frame f;

			if (slow[k].ustack && stk_reader__frames(r, slow[k].ustack, &f, 1) > 0)
				want += f.file == n->frame.frame.file &&
					is_inlined(&f) == !!n->frame.inlined;
		}
		assert_int_equal(n->count, want);
		if (!n->frame.inlined)
			continue;
		assert_string_equal(n->frame.inlined, "inlined");
		assert_int_equal(n->nr_children, 1);
		assert_null(n->children[0]->frame.inlined);
	}
	call_tree__free(t);
	end_count(&counting);
}

/* ---- flat profiles and weights --------------------------------------------------------------- */

enum { IN_STACK, INNERMOST };

/* Whether the kernel stack of an event has the function, or ends in it. */
static bool has_function(struct stk_reader *r, const struct slow *s, const char *sym, int where)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int n = s->kstack ? stk_reader__frames(r, s->kstack, frames, STK_MAX_DEPTH) : 0, i;

	for (i = 0; i < (where == INNERMOST ? MIN(n, 1) : n); i++)
		if (!strcmp(frames[i].sym, sym))
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	return CMP(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* What how makes of the values. */
static uint64_t slow_weight(uint64_t *values, unsigned int nr, enum weigh_how how)
{
	unsigned int i, rank = how == WEIGH_P50 ? (nr + 1) / 2 : (nr * 99 + 99) / 100;
	uint64_t sum = 0;

	qsort(values, nr, sizeof(*values), by_number);
	for (i = 0; i < nr; i++)
		sum += values[i];
	if (!nr)
		return 0;
	return how == WEIGH_SUM ? sum :
	       how == WEIGH_AVG ? sum / nr :
	       how == WEIGH_MAX ? values[nr - 1] :
				  values[rank - 1];
}

/* The weight of the events on a CPU by tid; stack 0: those with the function. */
static uint64_t weigh_slowly(struct stk_reader *r, const struct slow *slow, uint32_t cpu,
			     uint32_t kstack, const char *sym, int where, enum weigh_how how)
{
	static uint64_t values[EVENTS];
	unsigned int nr = 0, i;

	for (i = 0; i < EVENTS; i++)
		if (slow[i].cpu == cpu &&
		    (sym ? has_function(r, &slow[i], sym, where) : slow[i].kstack == kstack))
			values[nr++] = slow[i].tid;
	return slow_weight(values, nr, how);
}

static void check_profile(struct stk_reader *r, const struct slow *slow,
			  const struct stack_group *g, enum profile_order order)
{
	const struct call_function *f;
	struct call_profile *p;
	unsigned int nr, i;
	uint64_t last = UINT64_MAX, now;

	assert_int_equal(call_profile__new(r, g, order, get_frames, r, &p), 0);
	f = call_profile__functions(p, &nr);
	assert_int_equal(nr, 7);
	for (i = 0; i < nr; i++) {
		const char *sym = f[i].frame.frame.sym;

		now = order == PROFILE_BY_SELF ? f[i].self_weight : f[i].weight;
		assert_true(now <= last);
		last = now;
		assert_int_equal(f[i].weight, weigh_slowly(r, slow, g->keys[0].number, 0, sym,
							   IN_STACK, g->how));
		assert_int_equal(f[i].self_weight, weigh_slowly(r, slow, g->keys[0].number, 0, sym,
								INNERMOST, g->how));
	}
	call_profile__free(p);
}

static void check_weights(void **state, enum weigh_how how)
{
	struct stk_reader *r = ((struct fixture *)*state)->r;
	struct counting n = count(r, BY_CPU, STACKS_KERNEL, "tid", how);
	const struct stack_group *groups;
	static struct slow slow[EVENTS];
	unsigned int nr, k;
	struct call_tree *t;

	read_events(*state, n.c, slow);
	assert_int_equal(stack_counts__finish(n.c, n.fold, &groups, &nr), 0);
	assert_int_equal(nr, CPUS);
	for (k = 0; k < groups[0].nr_stacks; k += 17) {
		const struct stack_count *s = &groups[0].stacks[k];

		assert_int_equal(s->amount, weigh_slowly(r, slow, groups[0].keys[0].number,
							 s->kstack, NULL, IN_STACK, how));
	}
	for (k = 1; k < groups[0].nr_stacks; k++)
		assert_true(groups[0].stacks[k].amount <= groups[0].stacks[k - 1].amount);
	check_profile(r, slow, &groups[0], PROFILE_BY_WEIGHT);
	check_profile(r, slow, &groups[0], PROFILE_BY_SELF);
	assert_int_equal(call_tree__new(r, &groups[0], true, get_frames, r, &t), 0);
	for (k = 0; k < call_tree__root(t)->nr_children; k++) {
		const struct call_node *node = call_tree__root(t)->children[k];

		assert_int_equal(node->weight, weigh_slowly(r, slow, groups[0].keys[0].number, 0,
							    node->frame.frame.sym, INNERMOST, how));
	}
	call_tree__free(t);
	end_count(&n);
}

static void test_sum(void **state)
{
	check_weights(state, WEIGH_SUM);
}

static void test_avg(void **state)
{
	check_weights(state, WEIGH_AVG);
}

static void test_max(void **state)
{
	check_weights(state, WEIGH_MAX);
}

static void test_percentiles(void **state)
{
	check_weights(state, WEIGH_P50);
}

static void test_p99(void **state)
{
	check_weights(state, WEIGH_P99);
}

/* A weight that does not fit stays at its maximum, and an empty one is 0. */
static void test_weight_limits(void **state)
{
	struct weight a = { 0 }, b = { 0 };

	assert_int_equal(weight__value(&a, WEIGH_AVG), 0);
	assert_int_equal(weight__value(&a, WEIGH_P99), 0);
	assert_int_equal(weight__add(&a, WEIGH_SUM, UINT64_MAX), 0);
	assert_int_equal(weight__add(&a, WEIGH_SUM, 2), 0);
	assert_true(weight__value(&a, WEIGH_SUM) == UINT64_MAX);
	assert_int_equal(weight__add(&b, WEIGH_P50, 7), 0);
	assert_int_equal(weight__merge(&a, &b), 0);
	assert_true(weight__value(&a, WEIGH_SUM) == UINT64_MAX);
	assert_int_equal(weight__value(&a, WEIGH_P50), 7);
	assert_true(weight__memory(&a) > 0);
	weight__clear(&a);
	weight__clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_comm_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_pid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_both_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_avg, setup, teardown),
		cmocka_unit_test_setup_teardown(test_max, setup, teardown),
		cmocka_unit_test_setup_teardown(test_percentiles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_p99, setup, teardown),
		cmocka_unit_test(test_weight_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
