/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of the kernel functions that are the entry of an interrupt or exception.  The frames
 * outward from such a function belong to the interrupted context, and the first of them is an
 * exact address, not a return address.  System call entries are not included.
 * Source: arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S.
 */
#ifndef ENTRY_NAMES_H
#define ENTRY_NAMES_H

#include <stdbool.h>
#include <string.h>

static inline bool interrupt_entry_name(const char *name)
{
	static const char *const prefixes[] = {
		"asm_exc_",
		"asm_sysvec_",
		"asm_common_interrupt",
		"asm_spurious_",
		"irq_entries_start",
		"spurious_entries_start",
		/* local labels of asm_exc_nmi */
		"nested_nmi",
		"first_nmi",
		"repeat_nmi",
		"end_repeat_nmi",
		"nmi_no_fsgsbase",
		"nmi_swapgs",
		"nmi_restore",
		/* arm64 */
		"el1h_64_irq",
		"el1h_64_fiq",
		"el1h_64_sync",
		"el1h_64_error",
		"el0t_64_irq",
		"el0t_64_fiq",
	};
	/* compared as a whole: other functions, which are not entries, begin like these */
	static const char *const names[] = {
		"asm_fred_entrypoint_kernel", /* since 6.9 */
		/* before 5.8, in imports */
		"ret_from_intr",
		"apic_timer_interrupt",
		"reschedule_interrupt",
		"irq_work_interrupt",
		"call_function_interrupt",
		"call_function_single_interrupt",
		"page_fault",
		"async_page_fault",
		"general_protection",
		"el1_irq",
		"el1_sync",
		"el1_error",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#endif /* ENTRY_NAMES_H */
