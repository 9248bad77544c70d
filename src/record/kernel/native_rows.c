// SPDX-License-Identifier: GPL-2.0-only
/* The tables of events and fields that programs fill themselves. */
#include "native_rows.h"

#include <string.h>

#include "cleanup.h"

#define FIELDS static const struct native_field

FIELDS switch_fields[] = {
	{ "prev_comm", FILL_STRING, 1, "comm" }, { "prev_pid", FILL_MEMBER, 1, "pid" },
	{ "prev_prio", FILL_MEMBER, 1, "prio" }, { "prev_state", FILL_STATE, 1, "exit_state" },
	{ "next_comm", FILL_STRING, 2, "comm" }, { "next_pid", FILL_MEMBER, 2, "pid" },
	{ "next_prio", FILL_MEMBER, 2, "prio" }, { 0 },
};
FIELDS wakeup_fields[] = {
	{ "comm", FILL_STRING, 0, "comm" },
	{ "pid", FILL_MEMBER, 0, "pid" },
	{ "prio", FILL_MEMBER, 0, "prio" },
	{ "target_cpu", FILL_MEMBER, 0, "thread_info.cpu" },
	{ 0 },
};
FIELDS fault_fields[] = {
	{ "address", FILL_ARG, 0 },
	{ "ip", FILL_MEMBER, 1, "ip" },
	{ "error_code", FILL_ARG, 2 },
	{ 0 },
};
FIELDS softirq_fields[] = {
	{ "vec", FILL_ARG, 0 },
	{ 0 },
};
FIELDS kmalloc_fields[] = {
	{ "call_site", FILL_ARG, 0 },
	{ "ptr", FILL_ARG, 1 },
	{ "bytes_req", FILL_ARG, 2 },
	{ "bytes_alloc", FILL_ARG, 3 },
	{ "gfp_flags", FILL_ARG, 4 },
	{ "node", FILL_ARG, 5 },
	{ 0 },
};
FIELDS kfree_fields[] = {
	{ "call_site", FILL_ARG, 0 },
	{ "ptr", FILL_ARG, 1 },
	{ 0 },
};

#define TASK "struct task_struct *"
#define FAULT "long unsigned int, struct pt_regs *, long unsigned int"

#define WAKEUP_TEXTS .texts = { 0xbea07c075e5c5e71 }
#define FAULT_TEXTS .texts = { 0x37e9f2ccd7cf7ed8 }
#define SOFTIRQ_TEXTS .texts = { 0x4337764d8d30b7b4 }

static const struct native_event events[] = {
	{ "sched", "sched_switch", "_Bool, " TASK ", " TASK ", unsigned int", switch_fields,
	  .texts = { 0xf065219d4e01c07f }, .irqs = NATIVE_IRQS_OFF },
	{ "sched", "sched_waking", TASK, wakeup_fields, WAKEUP_TEXTS },
	{ "sched", "sched_wakeup", TASK, wakeup_fields, WAKEUP_TEXTS },
	{ "sched", "sched_wakeup_new", TASK, wakeup_fields, WAKEUP_TEXTS },
	{ "exceptions", "page_fault_user", FAULT, fault_fields, FAULT_TEXTS,
	  .irqs = NATIVE_IRQS_OFF },
	{ "exceptions", "page_fault_kernel", FAULT, fault_fields, FAULT_TEXTS,
	  .irqs = NATIVE_IRQS_OFF, .nests = true },
	{ "irq", "softirq_entry", "unsigned int", softirq_fields, SOFTIRQ_TEXTS },
	{ "irq", "softirq_exit", "unsigned int", softirq_fields, SOFTIRQ_TEXTS },
	{ "irq", "softirq_raise", "unsigned int", softirq_fields, SOFTIRQ_TEXTS },
	{ "kmem", "kmalloc",
	  "long unsigned int, void *, long unsigned int, long unsigned int, unsigned int, int",
	  kmalloc_fields, .texts = { 0xbf8939cb1d6778f3 }, .nests = true },
	{ "kmem", "kfree", "long unsigned int, void *", kfree_fields,
	  .texts = { 0x4462518aa4cc22cb }, .nests = true },
};

const struct native_event *native_rows__get(size_t i)
{
	return i < ARRAY_SIZE(events) ? &events[i] : NULL;
}

static bool is_of(const struct native_event *e, const char *system, const char *event)
{
	return !strcmp(e->event, event) && !strcmp(e->system, system);
}

const struct native_event *native_rows__find(const char *system, const char *event, size_t *ret_nr)
{
	size_t i, end;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (is_of(&events[i], system, event))
			break;
	for (end = i; end < ARRAY_SIZE(events) && is_of(&events[end], system, event); end++)
		;
	if (i == end)
		return NULL;
	*ret_nr = end - i;
	return &events[i];
}

const struct native_field *native_event__field(const struct native_event *e, const char *field)
{
	const struct native_field *f;

	for (f = e->fields; f->field; f++)
		if (!strcmp(f->field, field))
			return f;
	return NULL;
}

/* The end of what stands in braces at p, and of the commas and blanks behind it. */
static const char *after_braces(const char *p)
{
	unsigned int depth = 0;
	bool quoted = false;

	for (; *p && *p != '\n'; p++) {
		if (quoted && *p == '\\' && p[1] && p[1] != '\n')
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (!quoted && *p == '{')
			depth++;
		else if (!quoted && *p == '}' && !--depth)
			return p + 1 + strspn(p + 1, ", ");
	}
	return p;
}

uint64_t native_rows__text_hash(const char *text)
{
	static const char head[] = "print fmt: ";
	uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */
	const char *p = strstr(text, head);
	bool quoted = false;

	if (!p)
		return 0;
	for (p += strlen(head); *p && *p != '\n'; p++) {
		while (!quoted && *p == '{')
			p = after_braces(p);
		if (!*p || *p == '\n')
			break;
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3ull;
		if (quoted && *p == '\\' && p[1] == '"')
			hash = (hash ^ (uint8_t) * ++p) * 0x100000001b3ull;
		else if (*p == '"')
			quoted = !quoted;
	}
	return hash ?: 1;
}
