// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both unwinders as a part of a program, native_main.c: what they need of the kernel, compiled as
 * the kernel is.  Stacks and tables are those of a kernel that ran elsewhere.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <asm/sections.h>
#include <asm/stacktrace.h>

#include "native.h"
#include "unwinders.h"

static struct task_struct native_task;
static unsigned long native_begin, native_end;

int get_stack_info(unsigned long *stack, struct task_struct *task, struct stack_info *info,
		   unsigned long *visit_mask)
{
	unsigned long at = (unsigned long)stack;

	if (at < native_begin || at >= native_end)
		return -EINVAL;
	info->type = STACK_TYPE_TASK;
	info->begin = (void *)native_begin;
	info->end = (void *)native_end;
	info->next_sp = NULL;
	return 0;
}

/* The same number of calls as in the kernel, of functions that do no more. */
noinline int kernel_text_address(unsigned long addr)
{
	return addr >= (unsigned long)_stext && addr < (unsigned long)_etext;
}

int __kernel_text_address(unsigned long addr)
{
	return kernel_text_address(addr) ? 1 : 0;
}

unsigned long ftrace_graph_ret_addr(struct task_struct *task, int *idx, unsigned long ret,
				    unsigned long *retp)
{
	return ret;
}

struct native_trace {
	unsigned long *to;
	unsigned int size, skip, len;
};

/* As stack_trace_consume_entry(). */
static bool native_consume(void *cookie, unsigned long addr)
{
	struct native_trace *c = cookie;

	if (c->len >= c->size)
		return false;
	if (c->skip > 0) {
		c->skip--;
		return true;
	}
	c->to[c->len++] = addr;
	return c->len < c->size;
}

/* Defines arch_stack_walk() and who calls it. */
#define NATIVE_WALK(which)                                                                \
	static noinline void which##_native_each(bool (*consume)(void *, unsigned long),  \
						 void *cookie, struct task_struct *task)  \
	{                                                                                 \
		struct unwind_state state;                                                \
		unsigned long addr;                                                       \
                                                                                          \
		for (which##___unwind_start(&state, task, NULL, (void *)task->thread.sp); \
		     !unwind_done(&state); which##_unwind_next_frame(&state)) {           \
			addr = which##_unwind_get_return_address(&state);                 \
			if (!addr || !consume(cookie, addr))                              \
				break;                                                    \
		}                                                                         \
	}                                                                                 \
                                                                                          \
	unsigned int which##_native_walk(const struct native_stack *s, unsigned long *to) \
	{                                                                                 \
		struct native_trace c = { .to = to, .size = NATIVE_FRAMES };              \
                                                                                          \
		native_begin = s->begin;                                                  \
		native_end = s->end;                                                      \
		native_task.stack = (void *)s->begin;                                     \
		native_task.thread.sp = s->sp;                                            \
		which##_native_each(native_consume, &c, &native_task);                    \
		return c.len;                                                             \
	}
NATIVE_WALK(before)
NATIVE_WALK(after)

MODULE_DESCRIPTION("Two ORC unwinders for a program");
MODULE_LICENSE("GPL");
