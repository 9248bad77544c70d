// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel side of the recorder.
 *
 * An event type whose record the kernel fills has two programs.  `record` (type TRACEPOINT, one
 * program for all event types, which the attach cookie distinguishes) gets the formatted fields and
 * writes the event.  `count` (type raw_tp, one copy per event type) counts that the event happened.
 * If the kernel is about to drop `record` because another such program runs on this CPU, `count`
 * hands over to `nested`, which writes the event without the formatted fields.  Native events have
 * other programs, see native.bpf.h.
 *
 * TRACEPOINT programs return 1 on every path: 0 would hide the event from other users' perf events
 * on the same tracepoint.
 */
#include "calibrate.bpf.h"
#include "event.bpf.h"
#include "native.bpf.h"
#include "native_check.bpf.h"
#include "nested.bpf.h"
#include "probe.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"
#include "state.bpf.h"
#include "syscall.bpf.h"
#include "user_snapshot.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline int record_event(void *ctx, bool filtered)
{
	u32 event = bpf_get_attach_cookie(ctx);
	struct event_run e;
	u64 ts = now();

	if (!armed() || !event_begin(&e, event, ts))
		return 1;
	copy_record(ctx, e.s, e.d);
	common_fields(e.s, e.task);
	if (e.excluded && !names_selected(e.s, e.d)) {
		bump(e.c, e.excluded);
		scratch_put(e.busy);
		return 1;
	}
	if (e.excluded)
		e.s->marks |= STK_MARK_NOT_SELECTED;
	event_end(ctx, &e, filtered);
	return 1;
}

RECORDER(record, record_event(ctx, filtered))

/* ---- timer samples --------------------------------------------------------------------------- */

static __always_inline void note_period(u64 period)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wire_periods *p = &sample_periods[cpu & (WIRE_MAX_CPUS - 1)];

	p->sum += period;
	p->last = period;
}

/* The recorder owns the perf events, so returning 0 (no perf sample) hides nothing from others. */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct event_counts *c;
	struct event_run e;
	struct scratch *s;
	u64 ts = now();

	if (!armed())
		return 0;
	note_period(ctx->sample_period);
	c = event_counts(sample_event);
	if (!c)
		return 0;
	if (!task->pid && !keep_idle) {
		bump(c, STK_C_SAMPLE_IDLE);
		return 0;
	}
	bump(c, STK_C_HAPPENED);
	if (!event_begin(&e, sample_event, ts))
		return 0;
	s = e.s;
	/* as the interrupt found them: no tracepoint is around this program, which would count */
	common_fields_from(s, e.task, preempt_count(), 0, 0, 0,
			   !ARCH_FLAGS_IRQS_ON(ctx->regs.ARCH_REG_FLAGS), false);
	*(u64 *)s->fields = ctx->regs.ARCH_REG_IP;
	s->size = 16;
	s->words[0] = FRAME_MARKER(FRAME_EXACT, 0);
	kernel_stack(ctx, s, e.c, 0, 0, 1, KWALK_REGISTERS);
	user_stack(s, e.c, true, false);
	event_write(s, e.c);
	ring_wake();
	scratch_put(e.busy);
	return 0;
}

/* ---- the file map at the start --------------------------------------------------------------- */

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} __attribute__((preserve_access_index));

/*
 * Assigns ids to the files of all executable mappings of all processes; the recorder reads their
 * file events from the iterator.
 */
SEC("iter/task_vma")
int snapshot(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct user_walk *u = snapshot_walk();
	struct seq_file *seq = ctx->meta->seq;

	if (!vma || !task || !u || task->pid != task->tgid || !(vma->vm_flags & VM_EXEC) ||
	    !vma->vm_file)
		return 0;
	snapshot_area(u, vma);
	file_intern(u);
	if (snapshot_file_event(u, task))
		bpf_seq_write(seq, &u->file_event, sizeof(u->file_event));
	return 0;
}

/*
 * Sends file events for the file and the loader of a new program at once, so that their unwind
 * tables may be loaded before its first event.
 */
SEC("raw_tp/sched_process_exec")
int begin_program(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct mm_struct *mm = task_plain(task)->mm;
	struct scratch *s;
	u32 *busy;

	if (!armed() || !mm || task_excluded(selections, task, task->pid))
		return 0;
	s = scratch_get(&busy);
	if (!s)
		return 0;
	s->user.mm = (u64)mm;
	s->user.file_events_left = USER_FILE_EVENTS;
	s->user.event = FULL_NO_EVENT;
	exec_file_event(&s->user, mm->start_code);
	exec_file_event(&s->user,
			((const struct pt_regs *)bpf_task_pt_regs((void *)task))->ARCH_REG_IP);
	scratch_put(busy);
	return 0;
}

/* ---- following tasks ------------------------------------------------------------------------- */

/*
 * The forked child becomes the command: execve(2) renames the task right after the point of no
 * return, the moment of perf's enable_on_exec.  Events before that are the recorder's own.
 */
SEC("raw_tp/task_rename")
int begin_command(void *ctx)
{
	u32 tid = bpf_get_current_pid_tgid();

	if (!tid || tid != ctl.held)
		return 0;
	if (selections & WIRE_SELECT_IDS)
		set_bit_of(&pids, tid, true);
	*(volatile u32 *)&ctl.held = 0;
	return 0;
}

/* Runs in the parent for every new task or thread: a child is selected if its parent is. */
SEC("raw_tp/task_newtask")
int follow(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[0];
	u32 parent = bpf_get_current_pid_tgid(), tid = 0;

	if (!bpf_core_read(&tid, sizeof(tid), &child->pid))
		set_bit_of(&pids, tid, bit_of(&pids, parent));
	return 0;
}

/* An event may name a task that has no id any more: what it was at its exit stays. */
SEC("raw_tp/sched_process_exit")
int remember(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	set_bit_of(&ended, task->pid, !owner_excluded(selections, task));
	return 0;
}
