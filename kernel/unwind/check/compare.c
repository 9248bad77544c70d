// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that compares the patched unwinder with the unpatched one, frame by frame: at every
 * tracepoint, in NMIs and timer interrupts, which stop a CPU anywhere, and for sleeping tasks.
 *
 *   /sys/kernel/debug/unwind_check/on	1: compare, 0: do not
 *   .../compared			lines: kind, stacks, frames, frames outside the kernel image
 *   .../differ				number of stacks that differ; the kernel log has the first
 *   .../costs				lines: frames, stacks, TSC ticks of a walk by each unwinder
 *   .../stacks				the stacks of programs that sleep: SP END WORD... in hex
 *   .../orc_ip, orc, orc_lookup	the tables of the kernel
 */
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>
#include <asm/orc_lookup.h>
#include <asm/orc_types.h>
#include <asm/unwind.h>

#include "unwinders.h"

#define CHECK_FRAMES 96

enum check_kind {
	CHECK_TRACEPOINT,
	CHECK_NMI,
	CHECK_TIMER,
	CHECK_TASK,
	CHECK_KINDS,
};

static const char *const check_names[CHECK_KINDS] = { "tracepoints", "NMIs", "timers", "tasks" };

/* What is compared: a frame, and what the unwinder knows about it. */
struct check_frame {
	unsigned long address, ip, sp, bp;
	void *regs, *prev_regs;
	u8 type, signal, full_regs, error;
};

struct check_walks {
	struct check_frame before[CHECK_FRAMES], after[CHECK_FRAMES];
};

struct check_count {
	unsigned long stacks, frames, modules;
};

/* Ticks of the TSC for the stacks of tracepoints, by their frames. */
struct check_cost {
	unsigned long stacks, before, after;
};

/* Tasks, softirqs, interrupts and NMIs of a CPU have buffers of their own. */
#define CHECK_CONTEXTS 4
static DEFINE_PER_CPU(struct check_walks *, check_walks);
static DEFINE_PER_CPU(int[CHECK_CONTEXTS], check_busy);
static DEFINE_PER_CPU(struct check_count[CHECK_KINDS], check_counts);
static DEFINE_PER_CPU(struct check_cost[CHECK_FRAMES], check_costs);
static atomic_t check_differ, check_changed;
static bool check_on;

static __always_inline void check_note(struct check_frame *f, struct unwind_state *s,
				       unsigned long address)
{
	f->address = address;
	f->ip = s->ip;
	f->sp = s->sp;
	f->bp = s->bp;
	f->regs = s->regs;
	f->prev_regs = s->prev_regs;
	f->type = s->stack_info.type;
	f->signal = s->signal;
	f->full_regs = s->regs && s->full_regs;
	f->error = s->error;
}

/* Defines a function that notes each frame that one of the unwinders finds. */
#define CHECK_WALK(which)                                                                          \
	static noinline unsigned int which##_walk(struct check_frame *f, struct task_struct *task, \
						  struct pt_regs *regs, unsigned long *first)      \
	{                                                                                          \
		struct unwind_state s;                                                             \
		unsigned int n = 0;                                                                \
                                                                                                   \
		for (which##___unwind_start(&s, task, regs, first);                                \
		     !unwind_done(&s) && n < CHECK_FRAMES - 1; which##_unwind_next_frame(&s))      \
			check_note(f + n++, &s, which##_unwind_get_return_address(&s));            \
		memset(f + n, 0, sizeof(*f));                                                      \
		f[n].error = s.error;                                                              \
		return n;                                                                          \
	}
CHECK_WALK(before)
CHECK_WALK(after)

static void check_say(enum check_kind kind, struct check_walks *w, unsigned int before,
		      unsigned int after)
{
	unsigned int i, n = max(before, after);

	if (atomic_inc_return(&check_differ) > 3)
		return;
	printk_deferred(KERN_ERR "unwind_check: stacks of %s differ: %u frames, %u before\n",
			check_names[kind], after, before);
	for (i = 0; i <= n; i++) {
		struct check_frame *a = &w->after[i], *b = &w->before[i];

		printk_deferred(
			KERN_ERR
			"unwind_check: %c %pS %lx sp %lx bp %lx error %u | %pS %lx sp %lx bp %lx error %u\n",
			memcmp(a, b, sizeof(*a)) ? '!' : ' ', (void *)a->ip, a->address, a->sp,
			a->bp, a->error, (void *)b->ip, b->address, b->sp, b->bp, b->error);
	}
}

/*
 * FIRST is the frame of the function that this one is inlined in, so both walks start with its
 * caller, and no frame of theirs is compared.
 */
static __always_inline void check_compare(enum check_kind kind, struct task_struct *task,
					  struct pt_regs *regs, unsigned long *first)
{
	int context = in_nmi() ? 3 : in_hardirq() ? 2 : in_serving_softirq() ? 1 : 0;
	struct check_count *count;
	struct check_walks *w;
	unsigned long ran = 0;
	unsigned int n, m, i;
	unsigned long flags;
	u64 t0, t1, t2;

	/* An interrupt between the two walks would be counted as a part of one. */
	raw_local_irq_save(flags);
	if (this_cpu_inc_return(check_busy[context]) != 1)
		goto out;
	w = this_cpu_read(check_walks) + context;
	if (task != current)
		ran = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
	t0 = rdtsc_ordered();
	m = before_walk(w->before, task, regs, first);
	t1 = rdtsc_ordered();
	n = after_walk(w->after, task, regs, first);
	t2 = rdtsc_ordered();
	if (task != current) {
		smp_rmb();
		if (READ_ONCE(task->on_cpu) ||
		    ran != READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw)) {
			atomic_inc(&check_changed);
			goto out;
		}
	}
	count = this_cpu_ptr(&check_counts[kind]);
	count->stacks++;
	count->frames += n;
	if (kind == CHECK_TRACEPOINT && !context) {
		struct check_cost *cost = this_cpu_ptr(&check_costs[n]);

		cost->stacks++;
		cost->before += t1 - t0;
		cost->after += t2 - t1;
	}
	for (i = 0; i < n; i++)
		count->modules += !is_kernel_text(w->after[i].ip);
	if (n != m || memcmp(w->after, w->before, (n + 1) * sizeof(w->after[0])))
		check_say(kind, w, m, n);
out:
	this_cpu_dec(check_busy[context]);
	raw_local_irq_restore(flags);
}

/* ---- who asks ------------------------------------------------------------------------------- */

static noinline notrace void check_event(void *unused)
{
	if (READ_ONCE(check_on))
		check_compare(CHECK_TRACEPOINT, current, NULL, __builtin_frame_address(0));
}

static void check_attach(struct tracepoint *tp, void *unused)
{
	/* The arguments of the tracepoint are ignored. */
	if (tracepoint_probe_register(tp, check_event, NULL))
		pr_warn("unwind_check: cannot attach to %s\n", tp->name);
}

static int check_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!READ_ONCE(check_on))
		return NMI_DONE;
	if (!user_mode(regs))
		check_compare(CHECK_NMI, current, regs, (void *)regs->sp);
	return NMI_HANDLED;
}

static DEFINE_PER_CPU(struct hrtimer, check_timers);

static enum hrtimer_restart check_tick(struct hrtimer *timer)
{
	struct pt_regs *regs = get_irq_regs();
	unsigned int other;

	if (READ_ONCE(check_on)) {
		if (regs && !user_mode(regs))
			check_compare(CHECK_TIMER, current, regs, (void *)regs->sp);
		check_compare(CHECK_TIMER, current, NULL, __builtin_frame_address(0));
		other = cpumask_next(smp_processor_id(), cpu_online_mask);
		if (other >= nr_cpu_ids)
			other = cpumask_first(cpu_online_mask);
		if (other != smp_processor_id())
			apic->send_IPI(other, NMI_VECTOR);
	}
	hrtimer_forward_now(timer, ns_to_ktime(211000 + (rdtsc() & 0x3ffff)));
	return HRTIMER_RESTART;
}

static void check_start_timer(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&check_timers);

	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = check_tick;
	hrtimer_start(timer, ns_to_ktime(1000000), HRTIMER_MODE_REL_PINNED_HARD);
}

static void check_task(struct task_struct *p)
{
	if (p == current || !try_get_task_stack(p))
		return;
	if (!READ_ONCE(p->on_cpu))
		check_compare(CHECK_TASK, p, NULL, (void *)p->thread.sp);
	put_task_stack(p);
}

static int check_tasks(void *unused)
{
	struct task_struct *g, *p;

	for (;;) {
		schedule_timeout_idle(HZ / 10);
		if (!READ_ONCE(check_on))
			continue;
		rcu_read_lock();
		for_each_process_thread(g, p) check_task(p);
		rcu_read_unlock();
	}
	return 0;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int compared_show(struct seq_file *m, void *unused)
{
	unsigned int kind, cpu;

	for (kind = 0; kind < CHECK_KINDS; kind++) {
		struct check_count sum = {};

		for_each_possible_cpu(cpu)
		{
			struct check_count *count = per_cpu_ptr(&check_counts[kind], cpu);

			sum.stacks += count->stacks;
			sum.frames += count->frames;
			sum.modules += count->modules;
		}
		seq_printf(m, "%s %lu %lu %lu\n", check_names[kind], sum.stacks, sum.frames,
			   sum.modules);
	}
	seq_printf(m, "left-out %d\n", atomic_read(&check_changed));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(compared);

static int costs_show(struct seq_file *m, void *unused)
{
	unsigned int n, cpu;

	for (n = 0; n < CHECK_FRAMES; n++) {
		struct check_cost sum = {};

		for_each_possible_cpu(cpu)
		{
			struct check_cost *cost = per_cpu_ptr(&check_costs[n], cpu);

			sum.stacks += cost->stacks;
			sum.after += cost->after;
			sum.before += cost->before;
		}
		if (sum.stacks)
			seq_printf(m, "%u %lu %lu %lu\n", n, sum.stacks, sum.before / sum.stacks,
				   sum.after / sum.stacks);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(costs);

/* Of a task that wakes up meanwhile the words are not of one moment. */
static void stacks_show_task(struct seq_file *m, struct task_struct *p)
{
	unsigned long *at, *end;

	if (!p->mm || p == current || !try_get_task_stack(p))
		return;
	if (!READ_ONCE(p->on_cpu)) {
		end = task_stack_page(p) + THREAD_SIZE;
		seq_printf(m, "%lx %lx", p->thread.sp, (unsigned long)end);
		for (at = (void *)p->thread.sp; at < end; at++)
			seq_printf(m, " %lx", READ_ONCE_NOCHECK(*at));
		seq_putc(m, '\n');
	}
	put_task_stack(p);
}

static int stacks_show(struct seq_file *m, void *unused)
{
	struct task_struct *g, *p;

	rcu_read_lock();
	for_each_process_thread(g, p) stacks_show_task(m, p);
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stacks);

extern int __start_orc_unwind_ip[], __stop_orc_unwind_ip[];
extern struct orc_entry __start_orc_unwind[], __stop_orc_unwind[];

static void show_table(const char *name, struct dentry *dir, void *start, void *stop)
{
	struct debugfs_blob_wrapper *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return;
	table->data = start;
	table->size = stop - start;
	debugfs_create_blob(name, 0400, dir, table);
}

static int __init check_init(void)
{
	struct dentry *dir = debugfs_create_dir("unwind_check", NULL);
	unsigned int cpu;

	for_each_possible_cpu(cpu)
	{
		struct check_walks *w = vzalloc(CHECK_CONTEXTS * sizeof(*w));

		if (!w)
			return -ENOMEM;
		per_cpu(check_walks, cpu) = w;
	}
	debugfs_create_bool("on", 0600, dir, &check_on);
	debugfs_create_atomic_t("differ", 0400, dir, &check_differ);
	debugfs_create_file("compared", 0400, dir, NULL, &compared_fops);
	debugfs_create_file("costs", 0400, dir, NULL, &costs_fops);
	debugfs_create_file("stacks", 0400, dir, NULL, &stacks_fops);
	show_table("orc_ip", dir, __start_orc_unwind_ip, __stop_orc_unwind_ip);
	show_table("orc", dir, __start_orc_unwind, __stop_orc_unwind);
	show_table("orc_lookup", dir, orc_lookup, orc_lookup_end);
	register_nmi_handler(NMI_LOCAL, check_nmi, 0, "unwind_check");
	for_each_kernel_tracepoint(check_attach, NULL);
	on_each_cpu(check_start_timer, NULL, 1);
	kthread_run(check_tasks, NULL, "unwind_check");
	return 0;
}
module_init(check_init);
MODULE_DESCRIPTION("Compares two ORC unwinders");
MODULE_LICENSE("GPL");
