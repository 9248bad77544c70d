/* SPDX-License-Identifier: GPL-2.0-only */
/* The two unwinders: unwind_orc.c without and with the patch, its functions renamed. */
#ifndef UNWINDERS_H
#define UNWINDERS_H

#include <asm/unwind.h>

#define UNWINDER(which)                                                                   \
	bool which##_unwind_next_frame(struct unwind_state *state);                       \
	unsigned long which##_unwind_get_return_address(struct unwind_state *state);      \
	unsigned long *which##_unwind_get_return_address_ptr(struct unwind_state *state); \
	void which##___unwind_start(struct unwind_state *state, struct task_struct *task, \
				    struct pt_regs *regs, unsigned long *first_frame)

UNWINDER(before);
UNWINDER(after);

void after_unwind_module_free(void);

#endif /* UNWINDERS_H */
