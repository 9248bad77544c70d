// SPDX-License-Identifier: GPL-2.0-only
/* The tables of events and fields that programs fill themselves. */
#include "native_rows.h"

#include <string.h>

#include "cleanup.h"

#define FIELDS static const struct native_field
#define ROW(name, what, from, path)                                                  \
	{                                                                            \
		.field = (name), .op = FILL_##what, .arg = (from), .member = (path), \
	}

FIELDS switch_fields[] = {
	ROW("prev_comm", STRING, 1, "comm"), ROW("prev_pid", MEMBER, 1, "pid"),
	ROW("prev_prio", MEMBER, 1, "prio"), ROW("prev_state", STATE, 1, "exit_state"),
	ROW("next_comm", STRING, 2, "comm"), ROW("next_pid", MEMBER, 2, "pid"),
	ROW("next_prio", MEMBER, 2, "prio"), { 0 },
};
FIELDS wakeup_fields[] = {
	ROW("comm", STRING, 0, "comm"),
	ROW("pid", MEMBER, 0, "pid"),
	ROW("prio", MEMBER, 0, "prio"),
	ROW("target_cpu", MEMBER, 0, "thread_info.cpu"),
	{ 0 },
};
FIELDS fault_fields[] = {
	ROW("address", ARG, 0, NULL),
	ROW("ip", MEMBER, 1, "ip"),
	ROW("error_code", ARG, 2, NULL),
	{ 0 },
};
FIELDS softirq_fields[] = {
	ROW("vec", ARG, 0, NULL),
	{ 0 },
};
FIELDS kmalloc_fields[] = {
	ROW("call_site", ARG, 0, NULL),
	ROW("ptr", ARG, 1, NULL),
	ROW("bytes_req", ARG, 2, NULL),
	ROW("bytes_alloc", ARG, 3, NULL),
	ROW("gfp_flags", ARG, 4, NULL),
	ROW("node", ARG, 5, NULL),
	{ 0 },
};
FIELDS kfree_fields[] = {
	ROW("call_site", ARG, 0, NULL),
	ROW("ptr", ARG, 1, NULL),
	{ 0 },
};

/* kmem_cache_alloc() got the name in 6.18. */
FIELDS cache_alloc_fields[] = {
	ROW("call_site", ARG, 0, NULL),
	ROW("ptr", ARG, 1, NULL),
	ROW("name", STRING, 2, "name"),
	ROW("bytes_req", MEMBER, 2, "object_size"),
	ROW("bytes_alloc", MEMBER, 2, "size"),
	ROW("gfp_flags", ARG, 3, NULL),
	ROW("node", ARG, 4, NULL),
	ROW("accounted", ACCOUNTED, 2, "flags"),
	{ 0 },
};
FIELDS cache_free_fields[] = {
	ROW("call_site", ARG, 0, NULL),
	ROW("ptr", ARG, 1, NULL),
	ROW("name", STRING, 2, "name"),
	{ 0 },
};
FIELDS page_free_fields[] = {
	ROW("pfn", PFN, 0, NULL),
	ROW("order", ARG, 1, NULL),
	{ 0 },
};
FIELDS page_alloc_fields[] = {
	ROW("pfn", PFN, 0, NULL),
	ROW("order", ARG, 1, NULL),
	ROW("gfp_flags", ARG, 2, NULL),
	ROW("migratetype", ARG, 3, NULL),
	{ 0 },
};
FIELDS page_zone_fields[] = {
	ROW("pfn", PFN, 0, NULL),
	ROW("order", ARG, 1, NULL),
	ROW("migratetype", ARG, 2, NULL),
	ROW("percpu_refill", ARG, 3, NULL),
	{ 0 },
};
FIELDS irq_entry_fields[] = {
	ROW("irq", ARG, 0, NULL),
	ROW("name", STRING, 1, "name"),
	{ 0 },
};
FIELDS irq_exit_fields[] = {
	ROW("irq", ARG, 0, NULL),
	ROW("ret", ARG, 2, NULL),
	{ 0 },
};
FIELDS process_fields[] = {
	ROW("comm", STRING, 0, "comm"),
	ROW("pid", MEMBER, 0, "pid"),
	ROW("prio", MEMBER, 0, "prio"),
	ROW("group_dead", ARG, 1, NULL), /* of sched_process_exit, since 6.16 */
	{ 0 },
};
FIELDS process_wait_fields[] = {
	ROW("comm", STRING, NATIVE_CURRENT, "comm"),
	ROW("pid", MEMBER, 0, "numbers.nr"), /* 0 if the argument is NULL */
	ROW("prio", MEMBER, NATIVE_CURRENT, "prio"),
	{ 0 },
};
FIELDS process_fork_fields[] = {
	ROW("parent_comm", STRING, 0, "comm"),
	ROW("parent_pid", MEMBER, 0, "pid"),
	ROW("child_comm", STRING, 1, "comm"),
	ROW("child_pid", MEMBER, 1, "pid"),
	{ 0 },
};
FIELDS skb_fields[] = {
	ROW("skbaddr", ARG, 0, NULL),
	ROW("len", MEMBER, 0, "len"),
	ROW("name", STRING, 0, "dev->name"),
	{ 0 },
};
FIELDS xmit_fields[] = {
	ROW("skbaddr", ARG, 0, NULL),
	ROW("len", ARG, 3, NULL),
	ROW("rc", ARG, 1, NULL),
	ROW("name", STRING, 2, "name"),
	{ 0 },
};
FIELDS timer_fields[] = {
	ROW("timer", ARG, 0, NULL),
	{ 0 },
};
FIELDS hrtimer_fields[] = {
	ROW("hrtimer", ARG, 0, NULL),
	{ 0 },
};
FIELDS hrtimer_setup_fields[] = {
	ROW("hrtimer", ARG, 0, NULL),
	ROW("clockid", ARG, 1, NULL),
	ROW("mode", ARG, 2, NULL),
	{ 0 },
};
FIELDS hrtimer_start_fields[] = {
	ROW("hrtimer", ARG, 0, NULL),
	ROW("function", MEMBER, 0, "function"),
	ROW("expires", MEMBER, 0, "node.expires"),
	ROW("softexpires", MEMBER, 0, "_softexpires"),
	ROW("mode", ARG, 1, NULL),
	ROW("was_armed", ARG, 2, NULL),
	{ 0 },
};
FIELDS hrtimer_expire_fields[] = {
	ROW("hrtimer", ARG, 0, NULL),
	ROW("now", MEMBER, 1, ""),
	ROW("function", MEMBER, 0, "function"),
	{ 0 },
};

#define TASK "struct task_struct *"
#define PAGE "struct page *, "
#define HRTIMER "struct hrtimer *"
#define HRTIMER_MODE "enum hrtimer_mode"
#define TIMER "struct timer_list *"
#define SKB "struct sk_buff *"
#define U32 "unsigned int"
#define U64 "long unsigned int"
#define FAULT U64 ", struct pt_regs *, " U64

#define TEXTS(...) .texts = { __VA_ARGS__ }
#define EVENT(of, name, prototype, rows, ...)                                           \
	{                                                                               \
		.system = (of), .event = (name), .args = (prototype), .fields = (rows), \
		__VA_ARGS__                                                             \
	}

static const struct native_event events[] = {
	EVENT("sched", "sched_switch", "_Bool, " TASK ", " TASK ", " U32, switch_fields,
	      TEXTS(0xf065219d4e01c07f), .irqs = NATIVE_IRQS_OFF),
	EVENT("sched", "sched_waking", TASK, wakeup_fields, TEXTS(0xbea07c075e5c5e71)),
	EVENT("sched", "sched_wakeup", TASK, wakeup_fields, TEXTS(0xbea07c075e5c5e71)),
	EVENT("sched", "sched_wakeup_new", TASK, wakeup_fields, TEXTS(0xbea07c075e5c5e71)),
	EVENT("sched", "sched_process_free", TASK, process_fields,
	      TEXTS(0x09599183afd8bd93, 0x5d627aebdb49df67)),
	EVENT("sched", "sched_process_exit", TASK, process_fields, TEXTS(0x09599183afd8bd93)),
	EVENT("sched", "sched_process_exit", TASK ", _Bool", process_fields,
	      TEXTS(0x055ccd2fb520a5f5)),
	EVENT("sched", "sched_process_wait", "struct pid *", process_wait_fields,
	      TEXTS(0x09599183afd8bd93, 0x5d627aebdb49df67)),
	EVENT("sched", "sched_process_fork", TASK ", " TASK, process_fork_fields,
	      TEXTS(0x04620e76cfa91f55, 0xec3b7f5f4188dfbf)),
	EVENT("exceptions", "page_fault_user", FAULT, fault_fields, TEXTS(0x37e9f2ccd7cf7ed8),
	      .irqs = NATIVE_IRQS_OFF),
	EVENT("exceptions", "page_fault_kernel", FAULT, fault_fields, TEXTS(0x37e9f2ccd7cf7ed8),
	      .irqs = NATIVE_IRQS_OFF, .nests = true),
	EVENT("irq", "softirq_entry", U32, softirq_fields, TEXTS(0x4337764d8d30b7b4)),
	EVENT("irq", "softirq_exit", U32, softirq_fields, TEXTS(0x4337764d8d30b7b4)),
	EVENT("irq", "softirq_raise", U32, softirq_fields, TEXTS(0x4337764d8d30b7b4)),
	EVENT("irq", "irq_handler_entry", "int, struct irqaction *", irq_entry_fields,
	      TEXTS(0x696121fe026397d2)),
	EVENT("irq", "irq_handler_exit", "int, struct irqaction *, int", irq_exit_fields,
	      TEXTS(0x6a798531f7b27b04)),
	EVENT("kmem", "kmalloc", U64 ", void *, " U64 ", " U64 ", " U32 ", int", kmalloc_fields,
	      TEXTS(0x982dd5214a5f070f, 0xbf8939cb1d6778f3), .nests = true),
	EVENT("kmem", "kfree", U64 ", void *", kfree_fields, TEXTS(0x4462518aa4cc22cb),
	      .nests = true),
	EVENT("kmem", "kmem_cache_alloc", U64 ", void *, struct kmem_cache *, " U32 ", int",
	      cache_alloc_fields, TEXTS(0x40ae1e02808d8f24, 0x02977a2f7a42d390), .nests = true),
	EVENT("kmem", "kmem_cache_free", U64 ", void *, struct kmem_cache *", cache_free_fields,
	      TEXTS(0xd5f1e8bf1e0a3a1b), .nests = true),
	EVENT("kmem", "mm_page_alloc", PAGE U32 ", " U32 ", int", page_alloc_fields,
	      TEXTS(0x90ec787aa6c84ece), .nests = true),
	EVENT("kmem", "mm_page_free", PAGE U32, page_free_fields, TEXTS(0x2fb80cd4f1235ee5),
	      .nests = true),
	EVENT("kmem", "mm_page_free_batched", "struct page *", page_free_fields,
	      TEXTS(0x1a57de67dd5e0ea7), .nests = true),
	EVENT("kmem", "mm_page_alloc_zone_locked", PAGE U32 ", int, int", page_zone_fields,
	      TEXTS(0xa76fb71c3c595fa6), .nests = true),
	EVENT("kmem", "mm_page_pcpu_drain", PAGE U32 ", int", page_zone_fields,
	      TEXTS(0x7ab23660ca4d53d8), .nests = true),
	EVENT("net", "net_dev_queue", SKB, skb_fields, TEXTS(0x5ac6dc1384782df8)),
	EVENT("net", "netif_receive_skb", SKB, skb_fields, TEXTS(0x5ac6dc1384782df8)),
	EVENT("net", "netif_rx", SKB, skb_fields, TEXTS(0x5ac6dc1384782df8), .nests = true),
	EVENT("net", "net_dev_xmit", SKB ", int, struct net_device *, " U32, xmit_fields,
	      TEXTS(0xc519bf858e38eb1b)),
	EVENT("timer", "hrtimer_init", HRTIMER ", int, " HRTIMER_MODE, hrtimer_setup_fields,
	      TEXTS(0x1e1e528d5533a8c8), .nests = true),
	EVENT("timer", "hrtimer_setup", HRTIMER ", int, " HRTIMER_MODE, hrtimer_setup_fields,
	      TEXTS(0x1e1e528d5533a8c8), .nests = true),
	EVENT("timer", "hrtimer_start", HRTIMER ", " HRTIMER_MODE ", _Bool", hrtimer_start_fields,
	      TEXTS(0x71fef64346aadc28)),
	EVENT("timer", "hrtimer_cancel", HRTIMER, hrtimer_fields, TEXTS(0x2e6631a83fb649bc)),
	EVENT("timer", "hrtimer_expire_entry", HRTIMER ", long long int *", hrtimer_expire_fields,
	      TEXTS(0x8fae817c45e27a9a), .nests = true),
	EVENT("timer", "hrtimer_expire_exit", HRTIMER, hrtimer_fields, TEXTS(0x2e6631a83fb649bc),
	      .nests = true),
	EVENT("timer", "timer_init", TIMER, timer_fields, TEXTS(0xa5e0843cae6e4cf4), .nests = true),
	EVENT("timer", "timer_cancel", TIMER, timer_fields, TEXTS(0xa5e0843cae6e4cf4)),
	EVENT("timer", "timer_expire_exit", TIMER, timer_fields, TEXTS(0xa5e0843cae6e4cf4)),
};

#define CALL_ARGS "struct pt_regs *, long int"

static const struct native_event calls[] = {
	EVENT("raw_syscalls", "sys_enter", CALL_ARGS, NULL, TEXTS(0x7af6eaa30c64b588)),
	EVENT("raw_syscalls", "sys_exit", CALL_ARGS, NULL, TEXTS(0x143a4b4b642a76fc)),
};

const struct native_event *native_rows__call(bool is_exit)
{
	return &calls[is_exit];
}

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
