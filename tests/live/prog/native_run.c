// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the instructions that fill records, for every event of the table that this kernel has and
 * with both ways to read memory, on tasks and on objects that the test makes in the kernel's
 * memory.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_run.h"
#include "record/kernel/constants.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_pages.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/native_types.h"
#include "record/kernel/tracefs.h"

#include "native_run.skel.h"

static struct native_run_bpf *skel;
static struct btf *types;
static struct run run;
static enum native_reader reader;
#define PAGES 0xffffea0000000000ull

static void put(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.runs), &zero, &run, 0), 0);
}

static void get(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.runs), &zero, &run), 0);
}

static struct ev_format *format(const char *system, const char *event, char **ret_text)
{
	struct ev_format *fmt;

	if (tracefs__format(system, event, ret_text))
		return NULL;
	assert_int_equal(ev_format__parse(*ret_text, strlen(*ret_text), &fmt), 0);
	return fmt;
}

/* Which events' records the test has made. */
static char events_made[4096];

static bool made(const char *event)
{
	char name[64];

	snprintf(name, sizeof(name), " %s ", event);
	return strstr(events_made, name);
}

static bool has_event(const char *system, const char *event)
{
	_cleanup_free_ char *text = NULL;

	return !tracefs__format(system, event, &text);
}

/* Loads the program with the code of the event in its hole. */
static int load(const struct native_code *code)
{
	size_t nr = bpf_program__insn_cnt(skel->progs.fill);
	_cleanup_free_ struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	_cleanup_free_ char *log = malloc(1 << 20);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = 1 << 20);
	int fd;

	memcpy(insns, bpf_program__insns(skel->progs.fill), nr * sizeof(*insns));
	assert_int_equal(native_code__fill_hole(insns, nr, code), 0);
	log[0] = '\0';
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "native", "GPL", insns, nr, &opts);
	if (fd < 0)
		print_message("%s\n", log);
	assert_true(fd >= 0);
	return fd;
}

static void call(int prog, const uint64_t args[NATIVE_MAX_ARGS])
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = NATIVE_MAX_ARGS * sizeof(*args));

	assert_int_equal(bpf_prog_test_run_opts(prog, &opts), 0);
}

/* Makes the record of an event in run; the format is the caller's. */
static struct ev_format *make(const char *system, const char *event, const uint64_t *args,
			      size_t nr)
{
	uint64_t all[NATIVE_MAX_ARGS] = { 0 };
	_cleanup_free_ char *text = NULL;
	struct ev_format *fmt = format(system, event, &text);
	struct native_code code;
	char why[NATIVE_WHY];
	size_t i;
	int prog;

	assert_non_null(fmt);
	if (native_code__make(system, event, fmt, text, types, reader, &code, why))
		fail_msg("%s: %s", event, why);
	native_code__set_pages(&code, PAGES);
	prog = load(&code);
	memcpy(all, args, nr * sizeof(*args));
	memset(run.before, 0xa5, sizeof(run) - offsetof(struct run, before));
	put();
	snprintf(events_made + strlen(events_made), sizeof(events_made) - strlen(events_made),
		 made(event) ? "" : " %s ", event);
	call(prog, all);
	get();
	close(prog);
	for (i = 0; i < GUARD; i++) {
		assert_int_equal(run.before[i], 0xa5);
		assert_int_equal(run.after[i], 0xa5);
	}
	assert_in_range(run.size, 0, NATIVE_ROOM);
	return fmt;
}
#define MAKE(system, event, ...)                               \
	make(system, event, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static int64_t number(const struct ev_format *fmt, const char *field)
{
	return (int64_t)ev_field__value(ev_format__find(fmt, field), run.rec, run.size);
}

static void want_text(const struct ev_format *fmt, const char *field, const char *want)
{
	size_t len;
	const char *s = ev_field__bytes(ev_format__find(fmt, field), run.rec, run.size, &len);

	assert_non_null(s);
	assert_true(strnlen(s, len) < len);
	assert_string_equal(s, want);
}

static void want_state(uint64_t preempt, uint64_t state, int64_t want)
{
	struct ev_format *fmt = MAKE("sched", "sched_switch", preempt, run.task, run.task, state);

	if (want < 0) {
		assert_int_equal(run.size, 0);
	} else {
		assert_int_equal(run.size, ev_format__fixed_size(fmt));
		assert_int_equal(number(fmt, "prev_state"), want);
	}
	ev_format__free(fmt);
}

static void switches(void **state)
{
	struct ev_format *fmt = MAKE("sched", "sched_switch", 0, run.task, run.task, 1);

	want_text(fmt, "prev_comm", "native fields");
	want_text(fmt, "next_comm", "native fields");
	assert_int_equal(number(fmt, "prev_pid"), gettid());
	assert_int_equal(number(fmt, "next_pid"), gettid());
	assert_in_range(number(fmt, "prev_prio"), 100, 139);
	ev_format__free(fmt);
	want_state(0, 0, 0);
	want_state(0, 1, 1);
	want_state(0, 2, 2);
	want_state(0, 0x402, 0x80);
	want_state(0, 0x2001, 1);
	want_state(0, 0x48, 0x40);
	want_state(1, 1, 0x100);
	want_state(1, 0x8000, 0x100);
	want_state(0, 0x8000, -1);
	want_state(0, 0x1002, -1);
}

static void refused(void)
{
	bool by_policy = errno == EPERM;

	print_message("%s: %s\n", by_policy ? "bpf() is refused" : "load the programs",
		      strerror(errno));
	exit(by_policy ? 77 : 1);
}

/* ---- objects of the test's own -------------------------------------------------------------- */

static uint8_t objects[OBJECTS];
static size_t nr_objects; /* bytes of them that are used */

/* The address of a new object of so many bytes, and its offset in objects. */
static uint64_t object(size_t size, size_t *ret_at)
{
	*ret_at = nr_objects;
	nr_objects += (size + 63) / 64 * 64;
	assert_true(nr_objects < OBJECTS - 64);
	return run.objects + *ret_at;
}

/* Writes the objects to the kernel's memory. */
static void put_objects(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.objects), &zero, objects, 0),
			 0);
}

/* The offset of a member, by a search of its own; -1: there is no such member. */
static int64_t offset_in(const struct btf_type *t, const char *name)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		const char *its = btf__name_by_offset(types, btf_members(t)[i].name_off);
		const struct btf_type *inner = btf__type_by_id(types, btf_members(t)[i].type);
		int64_t base = btf_member_bit_offset(t, i) / 8, at;

		if (!strcmp(its, name))
			return base;
		if (*its || !btf_is_composite(inner))
			continue;
		at = offset_in(inner, name);
		if (at >= 0)
			return base + at;
	}
	return -1;
}

static size_t offset(const char *type, const char *member)
{
	int id = btf__find_by_name_kind(types, type, BTF_KIND_STRUCT);
	int64_t at;

	assert_true(id > 0);
	at = offset_in(btf__type_by_id(types, (uint32_t)id), member);
	assert_true(at >= 0);
	return (size_t)at;
}

static uint64_t new_struct(const char *type, size_t *ret_at)
{
	int id = btf__find_by_name_kind(types, type, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return object((size_t)btf__resolve_size(types, (uint32_t)id), ret_at);
}

static void set(size_t at, const char *type, const char *member, uint64_t value, size_t size)
{
	memcpy(objects + at + offset(type, member), &value, size);
}

static uint64_t text_object(const char *text)
{
	size_t at;
	uint64_t address = object(strlen(text) + 1, &at);

	memcpy(objects + at, text, strlen(text) + 1);
	return address;
}

/* Runs one event and checks its numbers: NAME, VALUE pairs that end with NULL. */
static void want(struct ev_format *fmt, ...)
{
	va_list args;
	const char *field;

	assert_true(run.size >= ev_format__fixed_size(fmt));
	va_start(args, fmt);
	while ((field = va_arg(args, const char *))) {
		int64_t value = va_arg(args, int64_t), got = number(fmt, field);

		if (got != value)
			fail_msg("%s: %s is %#llx, not %#llx", ev_format__name(fmt), field,
				 (unsigned long long)got, (unsigned long long)value);
	}
	va_end(args);
}
#define L(value) ((int64_t)(value))

/* The kernel's priority of this task, which may have been started with another nice value. */
static int64_t own_prio(void)
{
	return 120 + getpriority(PRIO_PROCESS, 0);
}

static void tasks(void **state)
{
	static const char *const wakeups[] = { "sched_waking", "sched_wakeup", "sched_wakeup_new" };
	struct ev_format *fmt;

	for (size_t i = 0; i < ARRAY_SIZE(wakeups); i++) {
		fmt = MAKE("sched", wakeups[i], run.task);
		want_text(fmt, "comm", "native fields");
		want(fmt, "pid", L(gettid()), "prio", own_prio(), "target_cpu", L(0), NULL);
		ev_format__free(fmt);
	}
	fmt = MAKE("sched", "sched_process_free", run.task);
	want_text(fmt, "comm", "native fields");
	want(fmt, "pid", L(gettid()), "prio", own_prio(), NULL);
	ev_format__free(fmt);
	fmt = MAKE("sched", "sched_process_exit", run.task, 1);
	want_text(fmt, "comm", "native fields");
	want(fmt, "pid", L(gettid()), "prio", own_prio(), NULL);
	if (ev_format__find(fmt, "group_dead"))
		want(fmt, "group_dead", L(1), NULL);
	ev_format__free(fmt);
}

static uint64_t new_task(const char *comm, uint32_t pid)
{
	size_t at;
	uint64_t task = new_struct("task_struct", &at);

	memset(objects + at, 0x5a, 1);
	strcpy((char *)objects + at + offset("task_struct", "comm"), comm);
	set(at, "task_struct", "pid", pid, 4);
	set(at, "task_struct", "prio", 101, 4);
	return task;
}

/* Two names, one after the other if the format has them behind the fields. */
static void forks(void **state)
{
	uint64_t parent = new_task("fifteen letters", 4194304), child = new_task("", 7);
	struct ev_format *fmt;

	put_objects();
	fmt = MAKE("sched", "sched_process_fork", parent, child);
	want_text(fmt, "parent_comm", "fifteen letters");
	want_text(fmt, "child_comm", "");
	want(fmt, "parent_pid", L(4194304), "child_pid", L(7), NULL);
	if (ev_format__find(fmt, "child_comm")->kind == EV_FIELD_DATA_LOC)
		assert_int_equal(run.size, ev_format__fixed_size(fmt) + 16 + 1);
	ev_format__free(fmt);
	fmt = MAKE("sched", "sched_process_fork", child, parent);
	want_text(fmt, "parent_comm", "");
	want_text(fmt, "child_comm", "fifteen letters");
	ev_format__free(fmt);
}

static void waits(void **state)
{
	struct ev_format *fmt = MAKE("sched", "sched_process_wait", 0);
	uint64_t pid;
	size_t at;

	want_text(fmt, "comm", "native fields");
	want(fmt, "pid", L(0), "prio", own_prio(), NULL);
	ev_format__free(fmt);
	pid = object(1024, &at);
	set(at, "pid", "numbers", 1234, 4);
	put_objects();
	fmt = MAKE("sched", "sched_process_wait", pid);
	want(fmt, "pid", L(1234), NULL);
	ev_format__free(fmt);
}

static void faults(void **state)
{
	static const char *const events[] = { "page_fault_user", "page_fault_kernel" };
	size_t at;
	uint64_t regs = new_struct("pt_regs", &at);

	set(at, "pt_regs", "ip", 0x123456789abcdef0, 8);
	put_objects();
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct ev_format *fmt = MAKE("exceptions", events[i], 0x7fffdeadbeef, regs, 6);

		want(fmt, "address", L(0x7fffdeadbeef), "ip", L(0x123456789abcdef0), "error_code",
		     L(6), NULL);
		ev_format__free(fmt);
	}
}

static void interrupts(void **state)
{
	static const char *const softirqs[] = { "softirq_entry", "softirq_exit", "softirq_raise" };
	struct ev_format *fmt;
	size_t at;
	uint64_t action = new_struct("irqaction", &at);

	for (size_t i = 0; i < ARRAY_SIZE(softirqs); i++) {
		fmt = MAKE("irq", softirqs[i], 9);
		want(fmt, "vec", L(9), NULL);
		ev_format__free(fmt);
	}
	put_objects();
	fmt = MAKE("irq", "irq_handler_entry", (uint32_t)-5, action);
	want(fmt, "irq", L(-5), NULL);
	want_text(fmt, "name", "(null)");
	assert_int_equal(run.size, ev_format__fixed_size(fmt) + sizeof("(null)"));
	ev_format__free(fmt);
	set(at, "irqaction", "name", text_object("virtio3-input.0"), 8);
	put_objects();
	fmt = MAKE("irq", "irq_handler_entry", 24, action);
	want(fmt, "irq", L(24), NULL);
	want_text(fmt, "name", "virtio3-input.0");
	ev_format__free(fmt);
	fmt = MAKE("irq", "irq_handler_exit", 24, action, 1);
	want(fmt, "irq", L(24), "ret", L(1), NULL);
	ev_format__free(fmt);
}

/* A name that does not fit makes the record unavailable, instead of a shorter name. */
static void names(void **state)
{
	static const struct {
		unsigned int len;
		bool fits;
	} lengths[] = {
		{ 0, true }, { 126, true }, { 127, false }, { 128, false }, { 300, false }
	};
	char name[301] = "";
	size_t at;
	uint64_t cache = new_struct("kmem_cache", &at);

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ev_format *fmt;

		memset(name, 'n', lengths[i].len);
		name[lengths[i].len] = '\0';
		set(at, "kmem_cache", "name", text_object(name), 8);
		put_objects();
		fmt = MAKE("kmem", "kmem_cache_free", 1, 2, cache);
		if (lengths[i].fits)
			want_text(fmt, "name", name);
		else
			assert_int_equal(run.size, 0);
		ev_format__free(fmt);
	}
	/* an address that cannot be read */
	set(at, "kmem_cache", "name", 0x1000, 8);
	put_objects();
	ev_format__free(MAKE("kmem", "kmem_cache_free", 1, 2, cache));
	assert_int_equal(run.size, 0);
}

static void allocations(void **state)
{
	struct ev_format *fmt = MAKE("kmem", "kmalloc", 0xffffffff81000010, 0xffff888000000000, 5,
				     8, 0xcc0, (uint32_t)-1);

	want(fmt, "call_site", L(0xffffffff81000010), "ptr", L(0xffff888000000000), "bytes_req",
	     L(5), "bytes_alloc", L(8), "gfp_flags", L(0xcc0), "node", L(-1), NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "kfree", 0xffffffff81000010, 0);
	want(fmt, "call_site", L(0xffffffff81000010), "ptr", L(0), NULL);
	ev_format__free(fmt);
}

static bool has_constant(const char *name)
{
	int64_t value;

	return constants__lookup(types, name, &value);
}

static int64_t bit(const char *name)
{
	int64_t value;

	assert_true(constants__lookup(types, name, &value));
	return 1ll << value;
}

static void want_accounted(uint64_t cache, uint64_t gfp, int64_t accounted)
{
	struct ev_format *fmt = MAKE("kmem", "kmem_cache_alloc", 1, 2, cache, gfp, (uint32_t)-1);

	want(fmt, "call_site", L(1), "ptr", L(2), "bytes_req", L(0x80000001), "bytes_alloc", L(96),
	     "gfp_flags", L(gfp), "node", L(-1), "accounted", accounted, NULL);
	if (ev_format__find(fmt, "name"))
		want_text(fmt, "name", "dentry");
	ev_format__free(fmt);
}

static void caches(void **state)
{
	size_t at;
	uint64_t cache = new_struct("kmem_cache", &at);
	int64_t slab, gfp;

	if (!has_constant("_SLAB_ACCOUNT"))
		skip();
	slab = bit("_SLAB_ACCOUNT");
	gfp = bit("___GFP_ACCOUNT_BIT");
	set(at, "kmem_cache", "name", text_object("dentry"), 8);
	set(at, "kmem_cache", "object_size", 0x80000001, 4);
	set(at, "kmem_cache", "size", 96, 4);
	set(at, "kmem_cache", "flags", ~(uint64_t)slab, 4);
	put_objects();
	want_accounted(cache, 0, 0);
	want_accounted(cache, ~gfp & 0x7fffffff, 0);
	want_accounted(cache, gfp, 1);
	set(at, "kmem_cache", "flags", slab, 4);
	put_objects();
	want_accounted(cache, 0, 1);
	want_accounted(cache, gfp, 1);
}

static void pages(void **state)
{
	uint64_t page = PAGES + 64 * 0x12345;
	struct ev_format *fmt = MAKE("kmem", "mm_page_alloc", page, 3, 0xcc0, 1);

	want(fmt, "pfn", L(0x12345), "order", L(3), "gfp_flags", L(0xcc0), "migratetype", L(1),
	     NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "mm_page_alloc", 0, 3, 0xcc0, (uint32_t)-1);
	want(fmt, "pfn", L(-1), "migratetype", L(-1), NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "mm_page_free", page, 0);
	want(fmt, "pfn", L(0x12345), "order", L(0), NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "mm_page_free_batched", page + 64);
	want(fmt, "pfn", L(0x12346), NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "mm_page_alloc_zone_locked", page, 1, 2, 1);
	want(fmt, "pfn", L(0x12345), "order", L(1), "migratetype", L(2), "percpu_refill", L(1),
	     NULL);
	ev_format__free(fmt);
	fmt = MAKE("kmem", "mm_page_pcpu_drain", page, 1, 2);
	want(fmt, "pfn", L(0x12345), "order", L(1), "migratetype", L(2), NULL);
	ev_format__free(fmt);
}

/* The kernel maps the array of struct pages by pages of 1 GiB, or where it always has. */
static void page_array(void **state)
{
	uint64_t address;

	assert_int_equal(native_pages__find(types, &address), 0);
	print_message("struct pages at %#llx\n", (unsigned long long)address);
	assert_true(address >> 56 == 0xff && !(address & ((1 << 30) - 1)));
}

static void packets(void **state)
{
	static const char *const events[] = { "net_dev_queue", "netif_receive_skb", "netif_rx" };
	size_t at, dev_at;
	uint64_t skb = new_struct("sk_buff", &at), dev = new_struct("net_device", &dev_at);
	struct ev_format *fmt;

	set(at, "sk_buff", "len", 1514, 4);
	set(at, "sk_buff", "dev", dev, 8);
	strcpy((char *)objects + dev_at + offset("net_device", "name"), "wlp0s20f3000000");
	put_objects();
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		fmt = MAKE("net", events[i], skb);
		want(fmt, "skbaddr", L(skb), "len", L(1514), NULL);
		want_text(fmt, "name", "wlp0s20f3000000");
		ev_format__free(fmt);
	}
	fmt = MAKE("net", "net_dev_xmit", skb, (uint32_t)-2, dev, 60);
	want(fmt, "skbaddr", L(skb), "len", L(60), "rc", L(-2), NULL);
	want_text(fmt, "name", "wlp0s20f3000000");
	ev_format__free(fmt);
}

static void timers(void **state)
{
	static const char *const plain[] = { "timer_init", "timer_cancel", "timer_expire_exit" };
	static const char *const high[] = { "hrtimer_cancel", "hrtimer_expire_exit" };
	size_t at, now_at;
	uint64_t timer = new_struct("hrtimer", &at), now = object(8, &now_at);
	struct ev_format *fmt;

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		fmt = MAKE("timer", plain[i], timer);
		want(fmt, "timer", L(timer), NULL);
		ev_format__free(fmt);
	}
	for (size_t i = 0; i < ARRAY_SIZE(high); i++) {
		fmt = MAKE("timer", high[i], timer);
		want(fmt, "hrtimer", L(timer), NULL);
		ev_format__free(fmt);
	}
	set(at, "hrtimer", "function", 0xffffffff81234567, 8);
	set(at, "hrtimer", "_softexpires", 0x7000000000000001, 8);
	memcpy(objects + at + offset("hrtimer", "node") + offset("timerqueue_node", "expires"),
	       &(uint64_t){ 0x7000000000000002 }, 8);
	memcpy(objects + now_at, &(uint64_t){ 0x1122334455667788 }, 8);
	put_objects();
	fmt = MAKE("timer", "hrtimer_start", timer, 2, 1);
	want(fmt, "hrtimer", L(timer), "function", L(0xffffffff81234567), "expires",
	     L(0x7000000000000002), "softexpires", L(0x7000000000000001), "mode", L(2), "was_armed",
	     L(1), NULL);
	ev_format__free(fmt);
	fmt = MAKE("timer", "hrtimer_expire_entry", timer, now);
	want(fmt, "hrtimer", L(timer), "now", L(0x1122334455667788), "function",
	     L(0xffffffff81234567), NULL);
	ev_format__free(fmt);
	fmt = MAKE("timer", has_event("timer", "hrtimer_init") ? "hrtimer_init" : "hrtimer_setup",
		   timer, 11, 3);
	want(fmt, "hrtimer", L(timer), "clockid", L(11), "mode", L(3), NULL);
	ev_format__free(fmt);
}

/*
 * Every event of the table that the kernel has is among those above, except where the constants of
 * kmem_cache_alloc() are missing.
 */
static void all(void **state)
{
	const struct native_event *e;

	for (size_t i = 0; (e = native_rows__get(i)); i++)
		if (has_event(e->system, e->event) && !made(e->event) &&
		    (strcmp(e->event, "kmem_cache_alloc") || has_constant("_SLAB_ACCOUNT")))
			fail_msg("%s is not tested", e->event);
}

static int setup(enum native_reader most)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	prctl(PR_SET_NAME, "native fields");
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = native_run_bpf__open_and_load();
	if (!skel)
		refused();
	types = btf__load_vmlinux_btf();
	assert_non_null(types);
	call(bpf_program__fd(skel->progs.addresses), (uint64_t[NATIVE_MAX_ARGS]){ 0 });
	get();
	assert_true(run.task && run.objects);
	reader = MIN(native_code__reader(types), most);
	nr_objects = 0;
	memset(objects, 0, sizeof(objects));
	return 0;
}

static int setup_helper(void **state)
{
	return setup(NATIVE_BY_HELPER);
}

/* On a kernel without casts, the helper once more. */
static int setup_cast(void **state)
{
	return setup(NATIVE_BY_CAST);
}

static int teardown(void **state)
{
	btf__free(types);
	native_run_bpf__destroy(skel);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches), cmocka_unit_test(tasks),
		cmocka_unit_test(forks),    cmocka_unit_test(waits),
		cmocka_unit_test(faults),   cmocka_unit_test(interrupts),
		cmocka_unit_test(names),    cmocka_unit_test(allocations),
		cmocka_unit_test(caches),   cmocka_unit_test(pages),
		cmocka_unit_test(packets),  cmocka_unit_test(timers),
		cmocka_unit_test(all),	    cmocka_unit_test(page_array),
	};

	return cmocka_run_group_tests_name("by helper", tests, setup_helper, teardown) +
	       cmocka_run_group_tests_name("by cast", tests, setup_cast, teardown);
}
