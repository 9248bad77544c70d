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

enum entry_kind {
	ENTRY_NONE,
	ENTRY_EXCEPTION, /* caused by the code that it interrupts, or possibly so */
	ENTRY_INTERRUPT, /* of the hardware or of another CPU, whatever code it interrupts */
};

static inline enum entry_kind entry_kind(const char *name)
{
	static const struct {
		const char *name;
		enum entry_kind kind;
	} prefixes[] = {
		{ "asm_exc_", ENTRY_EXCEPTION },
		{ "asm_sysvec_", ENTRY_INTERRUPT },
		{ "asm_common_interrupt", ENTRY_INTERRUPT },
		{ "asm_spurious_", ENTRY_INTERRUPT },
		{ "irq_entries_start", ENTRY_INTERRUPT },
		{ "spurious_entries_start", ENTRY_INTERRUPT },
		/* local labels of asm_exc_nmi */
		{ "nested_nmi", ENTRY_EXCEPTION },
		{ "first_nmi", ENTRY_EXCEPTION },
		{ "repeat_nmi", ENTRY_EXCEPTION },
		{ "end_repeat_nmi", ENTRY_EXCEPTION },
		{ "nmi_no_fsgsbase", ENTRY_EXCEPTION },
		{ "nmi_swapgs", ENTRY_EXCEPTION },
		{ "nmi_restore", ENTRY_EXCEPTION },
	},
	  /* compared as a whole: other functions, which are not entries, begin like these */
		names[] = {
			{ "asm_fred_entrypoint_kernel", ENTRY_EXCEPTION }, /* since 6.9, for all */
			/* arm64 */
			{ "el1h_64_irq", ENTRY_INTERRUPT },
			{ "el1h_64_fiq", ENTRY_INTERRUPT },
			{ "el1h_64_sync", ENTRY_EXCEPTION },
			{ "el1h_64_error", ENTRY_EXCEPTION },
			{ "el0t_64_irq", ENTRY_INTERRUPT },
			{ "el0t_64_fiq", ENTRY_INTERRUPT },
			/* before 5.8, in imports */
			{ "ret_from_intr", ENTRY_INTERRUPT },
			{ "apic_timer_interrupt", ENTRY_INTERRUPT },
			{ "reschedule_interrupt", ENTRY_INTERRUPT },
			{ "irq_work_interrupt", ENTRY_INTERRUPT },
			{ "call_function_interrupt", ENTRY_INTERRUPT },
			{ "call_function_single_interrupt", ENTRY_INTERRUPT },
			{ "page_fault", ENTRY_EXCEPTION },
			{ "async_page_fault", ENTRY_EXCEPTION },
			{ "general_protection", ENTRY_EXCEPTION },
			{ "el1_irq", ENTRY_INTERRUPT },
			{ "el1_sync", ENTRY_EXCEPTION },
			{ "el1_error", ENTRY_EXCEPTION },
		};
	size_t i;

	/* the first characters of nearly all names differ, and comparing these needs no call */
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (*name == *prefixes[i].name &&
		    !strncmp(name, prefixes[i].name, strlen(prefixes[i].name)))
			return prefixes[i].kind;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (*name == *names[i].name && !strcmp(name, names[i].name))
			return names[i].kind;
	return ENTRY_NONE;
}

static inline bool interrupt_entry_name(const char *name)
{
	return entry_kind(name) != ENTRY_NONE;
}

#endif /* ENTRY_NAMES_H */
