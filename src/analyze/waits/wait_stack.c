// SPDX-License-Identifier: GPL-2.0-only
/* Finds the part of a kernel stack that belongs to a wait. */
#include "wait_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/first_stack.h"
#include "analyze/key_table.h"
#include "array.h"
#include "cleanup.h"
#include "entry_names.h"

#define FRAME_WORK 4 /* units of work to read a frame and to look at its name */

enum frame_role {
	FRAME_OTHER,
	FRAME_SCHEDULER, /* of the scheduler or of a lock: its caller is what waits */
	FRAME_RETURN, /* from an interrupt's entry to the scheduler, which it calls on its return */
};

/*
 * Functions by what they do on the way to a switch; '*' is any rest.  The scheduler and the locks
 * are what get_wchan() skips in the kernel, the functions marked __sched: kernel/sched/,
 * kernel/locking/, kernel/time/sleep_timeout.c.  The return is that of kernel/entry/common.c,
 * arch/x86/kernel/irq.c and arch/arm64/kernel/entry-common.c.
 */
static const struct {
	const char *name;
	enum frame_role role;
} roles[] = {
	{ "__schedule", FRAME_SCHEDULER },
	{ "schedule", FRAME_SCHEDULER },
	{ "schedule_hrtimeout*", FRAME_SCHEDULER },
	{ "schedule_idle", FRAME_SCHEDULER },
	{ "schedule_preempt_disabled", FRAME_SCHEDULER },
	{ "schedule_rtlock", FRAME_SCHEDULER },
	{ "schedule_timeout*", FRAME_SCHEDULER },
	{ "io_schedule*", FRAME_SCHEDULER },
	{ "preempt_schedule*", FRAME_SCHEDULER },
	{ "__cond_resched*", FRAME_SCHEDULER },
	{ "_cond_resched", FRAME_SCHEDULER },
	{ "dynamic_cond_resched", FRAME_SCHEDULER },
	{ "yield", FRAME_SCHEDULER },
	{ "yield_to", FRAME_SCHEDULER },
	{ "wait_for_completion*", FRAME_SCHEDULER },
	{ "wait_for_common*", FRAME_SCHEDULER },
	{ "__wait_for_common", FRAME_SCHEDULER },
	{ "do_wait_for_common", FRAME_SCHEDULER },
	{ "wait_woken", FRAME_SCHEDULER },
	{ "do_wait_intr*", FRAME_SCHEDULER },
	{ "bit_wait*", FRAME_SCHEDULER },
	{ "__wait_on_bit*", FRAME_SCHEDULER },
	{ "out_of_line_wait_on_*", FRAME_SCHEDULER },
	{ "mutex_lock*", FRAME_SCHEDULER },
	{ "__mutex_lock*", FRAME_SCHEDULER },
	{ "ww_mutex_lock*", FRAME_SCHEDULER },
	{ "__ww_mutex_lock*", FRAME_SCHEDULER },
	{ "rwsem_down_*", FRAME_SCHEDULER },
	{ "down", FRAME_SCHEDULER },
	{ "down_interruptible", FRAME_SCHEDULER },
	{ "down_killable", FRAME_SCHEDULER },
	{ "down_timeout", FRAME_SCHEDULER },
	{ "down_read*", FRAME_SCHEDULER },
	{ "down_write*", FRAME_SCHEDULER },
	{ "__down*", FRAME_SCHEDULER },
	{ "___down_common", FRAME_SCHEDULER },
	{ "percpu_rwsem_wait", FRAME_SCHEDULER },
	{ "percpu_down_*", FRAME_SCHEDULER },
	{ "__percpu_down_*", FRAME_SCHEDULER },
	{ "rt_mutex_*", FRAME_SCHEDULER },
	{ "__rt_mutex_*", FRAME_SCHEDULER },
	{ "rt_spin_lock*", FRAME_SCHEDULER },
	{ "rt_read_lock*", FRAME_SCHEDULER },
	{ "rt_write_lock*", FRAME_SCHEDULER },
	{ "rtlock_slowlock*", FRAME_SCHEDULER },
	{ "rwbase_*", FRAME_SCHEDULER },

	{ "irqentry_exit*", FRAME_RETURN },
	{ "raw_irqentry_exit_cond_resched", FRAME_RETURN },
	{ "dynamic_irqentry_exit_cond_resched", FRAME_RETURN },
	{ "exit_to_user_mode*", FRAME_RETURN },
	{ "prepare_exit_to_usermode", FRAME_RETURN },
	{ "sysvec_*", FRAME_RETURN },
	{ "common_interrupt", FRAME_RETURN },
	{ "spurious_interrupt", FRAME_RETURN },
	{ "arm64_preempt_schedule_irq", FRAME_RETURN },
	{ "arm64_exit_to_*", FRAME_RETURN },
	{ "exit_to_kernel_mode", FRAME_RETURN },
	{ "do_notify_resume", FRAME_RETURN },
	{ "el0_interrupt", FRAME_RETURN },
	{ "el1_interrupt", FRAME_RETURN },
	{ "el0t_64_irq_handler", FRAME_RETURN },
	{ "el1h_64_irq_handler", FRAME_RETURN },
	{ "__el0_irq_handler_common", FRAME_RETURN },
};

/* The compiler's suffixes, such as .constprop.0, do not count. */
static bool is_named(const char *sym, const char *name)
{
	size_t len = strcspn(name, "*");

	return !strncmp(sym, name, len) && (name[len] || !sym[len] || sym[len] == '.');
}

static enum frame_role role_of(const struct stk_frame *f)
{
	size_t i;

	if (f->kind != STK_FRAME_KERNEL || !f->sym || f->mod)
		return FRAME_OTHER;
	for (i = 0; i < ARRAY_SIZE(roles); i++)
		if (is_named(f->sym, roles[i].name))
			return roles[i].role;
	return FRAME_OTHER;
}

static bool is_interrupt(const struct stk_frame *f)
{
	return f->kind == STK_FRAME_KERNEL && f->sym && entry_kind(f->sym) == ENTRY_INTERRUPT;
}

bool wait_part__frames(enum wait_part part, const struct stk_frame *frames, unsigned int nr,
		       unsigned int *ret_first, unsigned int *ret_nr)
{
	unsigned int i = 0;
	bool found;

	/* With other frames before its entry, the task does work of its own on the way back. */
	while (i < nr && !is_interrupt(&frames[i]) &&
	       (part == WAIT_INTERRUPT || role_of(&frames[i]) != FRAME_OTHER))
		i++;
	found = i < nr && is_interrupt(&frames[i]);
	*ret_first = found && part == WAIT_TASK ? i + 1 : 0;
	*ret_nr = found && part == WAIT_INTERRUPT ? i + 1 : nr - *ret_first;
	return found;
}

unsigned int wait_frames__caller(const struct stk_frame *frames, unsigned int nr)
{
	unsigned int i = 0;

	while (i < nr && role_of(&frames[i]) == FRAME_SCHEDULER)
		i++;
	return i < nr ? i : 0;
}

/* ---- equal parts ----------------------------------------------------------------------------- */

struct wait_stacks {
	struct stk_reader *r;
	bool full;
	struct known_part {
		uint32_t number;
		bool known;
	} * v[WAIT_NR_PARTS]; /* by stack number */
	uint32_t nr[WAIT_NR_PARTS];
	uint64_t work;
	struct key_table callers; /* struct part_key -> number of the first stack with this part */
};

/* A part is a path in a tree of its frames, as the stacks of a file are. */
struct part_key {
	uint64_t ip;
	uint32_t caller; /* entry of the frame's caller + 1; 0: none */
	uint32_t part;
};

int wait_stacks__new(struct stk_reader *r, bool full, struct wait_stacks **ret_stacks)
{
	struct wait_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->r = r;
	s->full = full;
	key_table__init(&s->callers, sizeof(struct part_key), sizeof(uint32_t));
	*ret_stacks = s;
	return 0;
}

void wait_stacks__free(struct wait_stacks *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < WAIT_NR_PARTS; i++)
		free(s->v[i]);
	key_table__clear(&s->callers);
	free(s);
}

uint64_t wait_stacks__memory(const struct wait_stacks *s)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < WAIT_NR_PARTS; i++)
		nr += s->nr[i];
	return nr * sizeof(*s->v[0]) + key_table__memory(&s->callers);
}

uint64_t wait_stacks__work(const struct wait_stacks *s)
{
	return s->work;
}

/* The first stack with these frames, which is kstack if there was none. */
static int first_with(struct wait_stacks *s, enum wait_part part, const struct stk_frame *frames,
		      unsigned int nr, uint32_t kstack, uint32_t *ret_number)
{
	struct part_key key = { .part = part };
	uint32_t entry, *number;
	int err;

	while (nr--) {
		key.ip = frames[nr].ip;
		err = key_table__at(&s->callers, &key, &entry);
		if (err < 0)
			return err;
		key.caller = entry + 1;
	}
	number = key_table__value(&s->callers, entry);
	*number = *number ?: kstack;
	*ret_number = *number;
	return 0;
}

static int find_part(struct wait_stacks *s, enum wait_part part, uint32_t kstack,
		     uint32_t *ret_number)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int n = stk_reader__frames(s->r, kstack, frames, STK_MAX_DEPTH);
	unsigned int first, nr;

	s->work += FRAME_WORK * (uint64_t)MAX(n, 0);
	if (n <= 0 || !wait_part__frames(part, frames, MIN(n, STK_MAX_DEPTH), &first, &nr)) {
		*ret_number = stack__first(s->r, kstack);
		return 0;
	}
	*ret_number = 0;
	return nr ? first_with(s, part, frames + first, nr, kstack, ret_number) : 0;
}

int wait_stacks__of(struct wait_stacks *s, uint32_t kstack, enum wait_part part,
		    uint32_t *ret_number)
{
	struct known_part *known;
	int err;

	if (s->full || !kstack || kstack > stk_reader__nr_stacks(s->r)) {
		*ret_number = stack__first(s->r, kstack);
		return 0;
	}
	if (array__reach(&s->v[part], kstack, &s->nr[part]))
		return -ENOMEM;
	known = &s->v[part][kstack];
	if (!known->known) {
		err = find_part(s, part, kstack, &known->number);
		if (err)
			return err;
		known->known = true;
	}
	*ret_number = known->number;
	return 0;
}
