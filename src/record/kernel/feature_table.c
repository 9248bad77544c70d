// SPDX-License-Identifier: GPL-2.0-only
/* The table of features: how each is probed, and what to do where one is missing. */
#include "feature_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cgroup_dir.h"
#include "cleanup.h"
#include "kernel_names.h"
#include "kwalk/kwalk.h"
#include "native_probe.h"
#include "percpu.h"
#include "program_stack.h"
#include "slurp.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "text.h"
#include "tracefs.h"
#include "user_features.h"
#include "wire.h"

/* Defines a probe that is one expression. */
#define PROBE(name, expression)                   \
	static int name(char *detail, size_t len) \
	{                                         \
		return expression;                \
	}

static int probe_tracefs(char *detail, size_t len)
{
	_cleanup_free_ char *format = NULL;
	const char *root;
	int err;

	err = tracefs__root(&root);
	if (!err)
		err = tracefs__format("sched", "sched_switch", &format);
	if (!err)
		snprintf(detail, len, "%s", root);
	return err;
}

PROBE(probe_btf, access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0)

static int answer(int has)
{
	return has > 0 ? 0 : has < 0 ? has : -EOPNOTSUPP;
}

PROBE(probe_ringbuf, answer(libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL)))
PROBE(probe_tracepoint, answer(libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_TRACEPOINT, NULL)))
PROBE(probe_raw_tracepoint, answer(libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL)))
PROBE(probe_cookie,
      answer(libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_get_attach_cookie, NULL)))
PROBE(probe_get_stack,
      answer(libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_get_stack, NULL)))
PROBE(probe_loop, answer(libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_loop, NULL)))

/* lock cmpxchg on a stack slot */
static int probe_atomics(char *detail, size_t len)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_1,
		  .off = -8,
		  .imm = BPF_CMPXCHG },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	_cleanup_close_ int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "probe", "GPL", insns,
					       ARRAY_SIZE(insns), NULL);

	return fd < 0 ? -errno : 0;
}

/* Loads a program that returns 0; returns its descriptor. */
static int load_trivial(enum bpf_prog_type type, const struct bpf_prog_load_opts *opts)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(type, "probe", "GPL", insns, ARRAY_SIZE(insns), opts);

	return fd < 0 ? -errno : fd;
}

static int probe_raw_attach(char *detail, size_t len)
{
	_cleanup_close_ int prog = load_trivial(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);
	_cleanup_close_ int link = -1;

	if (prog < 0)
		return prog;
	link = bpf_raw_tracepoint_open("sched_switch", prog);
	return link < 0 ? -errno : 0;
}

static int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int try_samples(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type, .config = config, .sample_period = 10000000, .disabled = 1
	};
	_cleanup_close_ int fd = perf_open(&attr, -1, 0);

	return fd < 0 ? fd : 0;
}

PROBE(probe_perf_clock, try_samples(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK))

PROBE(probe_perf_cycles, try_samples(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))

bool features__cycles(void)
{
	return !probe_perf_cycles(NULL, 0);
}

static int probe_kallsyms(char *detail, size_t len)
{
	struct ksyms *k;
	int err;

	err = ksyms__load(&k);
	if (err)
		return err;
	err = ksyms__hidden(k) ? -EPERM : 0;
	ksyms__free(k);
	return err;
}

PROBE(probe_names,
      answer(libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_snprintf, NULL)))

static int probe_max_stack(char *detail, size_t len)
{
	unsigned int limit;

	if (slurp__number("/proc/sys/kernel/perf_event_max_stack", &limit))
		return -ENOENT;
	snprintf(detail, len, "%s", text__count(limit, "frame").s);
	return limit < WIRE_MAX_FRAMES ? -E2BIG : 0;
}

static int probe_orc(char *detail, size_t len)
{
	struct kwalk *k = NULL;
	int err = kwalk__new(&k);

	if (err)
		return err;
	if (kwalk__unwinder(k) == KWALK_FRAME_POINTERS)
		snprintf(detail, len, "by frame pointers");
	else
		snprintf(detail, len, "%.1f MB of rules", kwalk__size(k) / 1e6);
	kwalk__free(k);
	return 0;
}

static int probe_percpu(char *detail, size_t len)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct percpu_layout l;
	int err;

	err = btf ? percpu__layout(btf, &l) : -errno;
	btf__free(btf);
	if (err)
		return err;
	return percpu_layout__has_levels(&l) ? 0 : -ENOENT;
}

static int kernel_function(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	btf__free(btf);
	return id;
}

/* include/linux/proc_ns.h, PROC_PID_INIT_INO: the inode of the initial namespace */
#define INITIAL_PID_NAMESPACE 0xeffffffcu

bool features__initial_pids(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE;
}

PROBE(probe_pid_namespace, features__initial_pids() ? 0 : -EXDEV)

static int probe_irq_flag(char *detail, size_t len)
{
	int id = kernel_function("bpf_local_irq_save");

	return id < 0 ? -EOPNOTSUPP : 0;
}

static int probe_fentry(char *detail, size_t len)
{
	int id = kernel_function("vfs_read");
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = id);
	_cleanup_close_ int prog = -1, link = -1;

	if (id < 0)
		return id;
	prog = load_trivial(BPF_PROG_TYPE_TRACING, &opts);
	if (prog < 0)
		return prog;
	link = bpf_raw_tracepoint_open(NULL, prog);
	return link < 0 ? -errno : 0;
}

static int probe_kprobe_multi(char *detail, size_t len)
{
	static const char *const funcs[] = { "vfs_read" };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	LIBBPF_OPTS(bpf_link_create_opts, create, .kprobe_multi.cnt = 1,
		    .kprobe_multi.syms = (const char **)funcs);
	_cleanup_close_ int prog = load_trivial(BPF_PROG_TYPE_KPROBE, &opts), link = -1;

	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &create);
	return link < 0 ? -errno : 0;
}

bool features__kprobe_multi(void)
{
	return !probe_kprobe_multi(NULL, 0);
}

static int probe_uprobe(char *detail, size_t len)
{
	unsigned int type;

	return slurp__number("/sys/bus/event_source/devices/uprobe/type", &type) ? -EOPNOTSUPP : 0;
}

static int probe_kprobe(char *detail, size_t len)
{
	static const char func[] = "vfs_read";
	struct perf_event_attr attr = { .config1 = (uintptr_t)func, .disabled = 1 };
	_cleanup_close_ int fd = -1;
	unsigned int type;

	if (slurp__number("/sys/bus/event_source/devices/kprobe/type", &type))
		return -EOPNOTSUPP;
	attr.type = type;
	fd = perf_open(&attr, -1, 0);
	return fd < 0 ? fd : 0;
}

bool features__kprobes(void)
{
	return !probe_kprobe(NULL, 0) || features__kprobe_multi();
}

PROBE(probe_ftrace, tracefs__may_record())

static int probe_format(const char *name)
{
	_cleanup_free_ char *text = NULL;

	return tracefs__format("ftrace", name, &text);
}

PROBE(probe_stack_map, probe_format("stack_id"))
PROBE(probe_user_file_map, probe_format("file_map"))

static int probe_cgroup(char *detail, size_t len)
{
	_cleanup_free_ char *path = NULL;
	int err = cgroup_dir__mount(&path);

	if (!err)
		snprintf(detail, len, "%s", path);
	return err;
}

#define KERNEL_NEWER "a newer kernel"
#define LOCKDOWN "refused by the kernel's lockdown policy or configuration (kernel_lockdown(7))"

const struct feature feature_table[] = {
	{ "tracefs", "tracepoints are listed in tracefs", "4.1 (4282d60689d4)", FEATURE_MUST,
	  probe_tracefs, "no event can be found",
	  "mount -t tracefs nodev /sys/kernel/tracing, as root" },
	{ "btf", "the kernel describes its types (BTF)", "5.4 (341dfcf8d78e)", FEATURE_BPF,
	  probe_btf, "the BPF programs cannot be adapted to this kernel",
	  "a kernel with CONFIG_DEBUG_INFO_BTF=y" },
	{ "bpf_tracepoint", "BPF programs on tracepoints", "4.7 (98b5c2c65c29)", FEATURE_BPF,
	  probe_tracepoint, "nothing can be recorded", "a kernel with CONFIG_BPF_EVENTS=y" },
	{ "bpf_raw_tracepoint", "raw tracepoint programs, which count events",
	  "4.17 (c4f6699dfcb8)", FEATURE_BPF, probe_raw_tracepoint,
	  "events cannot be counted independently", KERNEL_NEWER },
	{ "bpf_raw_attach", "attaching raw tracepoint programs", "4.17 (c4f6699dfcb8)", FEATURE_BPF,
	  probe_raw_attach, "nothing can be attached", LOCKDOWN },
	{ "bpf_get_stack", "kernel stacks from BPF programs", "4.18 (c195651e565a)", FEATURE_BPF,
	  probe_get_stack, "no stacks can be recorded", KERNEL_NEWER },
	{ "bpf_ringbuf", "BPF ring buffers", "5.8 (457f44363a88)", FEATURE_BPF, probe_ringbuf,
	  "events cannot be passed to the recorder", KERNEL_NEWER },
	{ "bpf_atomics", "atomic compare and exchange", "5.12 (5ffa25502b5a)", FEATURE_BPF,
	  probe_atomics, "the stack map cannot work", KERNEL_NEWER },
	{ "bpf_cookie", "one program for many tracepoints", "5.15 (82e6b1eee6a8)", FEATURE_BPF,
	  probe_cookie, "the program cannot distinguish event types", KERNEL_NEWER },
	{ "initial_pids", "PIDs of the initial PID namespace", "", FEATURE_MUST,
	  probe_pid_namespace, "PIDs would not match the kernel's",
	  "run it outside the container, or share the host's PID namespace" },
	{ "bpf_loop", "loops for string filters", "5.17 (e6f2dd0f8067)", FEATURE_MAY, probe_loop,
	  "--filter is unavailable", KERNEL_NEWER },
	{ "percpu", "locating per-CPU variables of the kernel", "", FEATURE_MAY, probe_percpu,
	  "nested events are lost, and counted",
	  "a kernel whose BTF lists per-CPU variables (pahole 1.22 or later)" },
	{ "native_fields", "fields from the arguments of events", "", FEATURE_MAY, native_probe,
	  "the kernel fills the records of the other events, which takes longer",
	  "a stackonce release that supports this kernel's fields; or what orc and percpu need" },
	{ "irq_flag", "interrupt state from BPF programs", "6.14 (c8e2ee1f3df0)", FEATURE_MAY,
	  probe_irq_flag, "the irqs-off flag of events is unknown", KERNEL_NEWER },
	{ "perf_clock", "timer samples", "", FEATURE_MAY, probe_perf_clock, "-F is unavailable",
	  "lower kernel.perf_event_paranoid, or grant CAP_PERFMON" },
	{ "perf_cycles", "samples of hardware cycles", "", FEATURE_MAY, probe_perf_cycles,
	  "-F uses the software clock", "none in a virtual machine without a PMU" },
	{ "cgroup", "tasks by cgroup (v2)", "6.1 (7f203bc89eb6)", FEATURE_MAY, probe_cgroup,
	  "--cgroup is unavailable", "mount -t cgroup2 none DIRECTORY, as root" },
	{ "max_stack", "kernel stacks of up to 127 frames", "", FEATURE_MAY, probe_max_stack,
	  "deeper stacks are truncated, and marked", "sysctl kernel.perf_event_max_stack=127" },
	{ "orc", "kernel stacks by ORC rules or frame pointers", "5.14 (79a7f8bdb159)", FEATURE_MAY,
	  probe_orc, "bpf_get_stack() unwinds them, which takes 3 to 15 times as long",
	  "a kernel with CONFIG_UNWINDER_ORC=y or CONFIG_UNWINDER_FRAME_POINTER=y, "
	  "sysctl kernel.kptr_restrict=1 or 0" },
	{ "kallsyms", "kernel symbols in /proc/kallsyms", "", FEATURE_MAY, probe_kallsyms,
	  "symbols are looked up one by one, which takes a second at the start",
	  "sysctl kernel.kptr_restrict=1 or 0" },
	{ "bpf_symbols", "kernel symbols through BPF", "5.13 (7b15523a989b)", FEATURE_MAY,
	  probe_names, "BPF programs and new modules have no symbols", KERNEL_NEWER },
	{ "user_mappings", "user stacks: the file of an address", "6.1 (d4af56c5c7c6)", FEATURE_MAY,
	  probe_user_mappings, "user stacks are unavailable", KERNEL_NEWER },
	{ "user_changes", "user stacks: counted changes of mappings", "6.4 (5e31275cc997)",
	  FEATURE_MAY, probe_user_changes,
	  "mappings are looked up for every event, which is slower", KERNEL_NEWER },
	{ "user_snapshot", "user stacks: mappings at the start", "5.12 (3d06f34aa89e)", FEATURE_MAY,
	  probe_user_snapshot, "user stacks are unavailable", KERNEL_NEWER },
	{ "map_files", "user stacks: deleted files, containers", "4.3 (bdb4d100afe9)", FEATURE_MAY,
	  probe_map_files, "code in such files has no unwind table and no symbols",
	  "CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE" },
	{ "kprobe_multi", "probes on many kernel functions at once", "5.18 (0dcac2725406)",
	  FEATURE_MAY, probe_kprobe_multi,
	  "f:, r: and rmap: attach to one function at a time, or not at all", LOCKDOWN },
	{ "kprobe", "probes on kernel functions, one by one", "", FEATURE_MAY, probe_kprobe,
	  "f:, r: and rmap: are unavailable without kprobe_multi", LOCKDOWN },
	{ "fentry", "independent counts of function probes", "5.5 (fec56f5890d9)", FEATURE_MAY,
	  probe_fentry, "f:, r: and rmap: count their own events; dropped nested calls are unknown",
	  LOCKDOWN },
	{ "uprobe", "probes on functions of programs", "", FEATURE_MAY, probe_uprobe,
	  "u:, ur: and usdt: are unavailable", "a kernel with CONFIG_UPROBE_EVENTS=y" },
	{ "uprobe_stack", "preempted probes in programs keep their stack", "", FEATURE_MAY,
	  program_stack__probe,
	  "u:, ur: and usdt: may record wrong fields and stacks, and may crash the kernel",
	  "Linux 6.12 and older or 6.15 and newer, or boot with preempt=none" },
	{ "ftrace", "recording by ftrace, without BPF", "3.10 (277ba04461c2)", FEATURE_FTRACE,
	  probe_ftrace, "nothing can be recorded where BPF is refused",
	  "root, and a kernel that is not locked down" },
	{ "ftrace_stack_map", "ftrace: the kernel stores each stack once", "", FEATURE_LATER,
	  probe_stack_map, "each event carries its whole stack",
	  "a kernel with the series in kernel/" },
	{ "ftrace_file_map", "ftrace: the kernel names files of user stacks", "", FEATURE_LATER,
	  probe_user_file_map,
	  "user stacks have at most eight frames, whose files are looked up later",
	  "a kernel with the series in kernel/" },
};

const size_t nr_features = ARRAY_SIZE(feature_table);

static const struct {
	int cap;
	const char *name;
} needed_caps[] = {
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH (to read tracefs)" },
};

char *features__lacking(uint64_t capabilities)
{
	struct strbuf b = { 0 };
	size_t i, nr = 0, left = 0;

	if (capabilities & 1ull << CAP_SYS_ADMIN)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(needed_caps); i++)
		left += !(capabilities & 1ull << needed_caps[i].cap);
	for (i = 0; i < ARRAY_SIZE(needed_caps); i++) {
		if (capabilities & 1ull << needed_caps[i].cap)
			continue;
		strbuf__printf(&b, "%s%s",
			       !nr	     ? "" :
			       nr + 1 < left ? ", " :
					       " and ",
			       needed_caps[i].name);
		nr++;
	}
	if (strbuf__failed(&b))
		strbuf__free(&b);
	return b.s;
}

char *features__missing_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	/* if it fails, none are known to be there */
	syscall(SYS_capget, &h, d);
	return features__lacking(d[0].effective | (uint64_t)d[1].effective << 32);
}

const char *features__bpf_refused(void)
{
	_cleanup_close_ int prog = load_trivial(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);

	return prog < 0 ? strerror(-prog) : NULL;
}
