// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads kernel memory for the loader: /proc/kcore may be locked down, and /dev/mem always is. */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kwalk_copy.h"
#include "kwalk_layout.h"

/* bpf_probe_read_kernel() is for programs with a GPL-compatible licence only. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_copied);
} copied SEC(".maps");

SEC("syscall")
int copy(struct kwalk_copy *c)
{
	__u32 zero = 0, len = c->len;
	struct kwalk_copied *to = bpf_map_lookup_elem(&copied, &zero);

	if (!to || len > sizeof(to->bytes))
		return 1;
	c->err = bpf_probe_read_kernel(to->bytes, len, (void *)c->from);
	return 0;
}

/* Like reading /proc/kallsyms, which takes 100 ms. */
SEC("syscall")
int look_up(struct kwalk_symbol *s)
{
	char name[sizeof(s->name)], text[sizeof(s->text)] = {};
	__u64 addr = 0;

	__builtin_memcpy(name, s->name, sizeof(name));
	s->err = bpf_kallsyms_lookup_name(name, sizeof(name), 0, &addr);
	s->addr = addr;
	if (!s->err)
		bpf_snprintf(text, sizeof(text), "%pS", &addr, sizeof(addr));
	__builtin_memcpy(s->text, text, sizeof(text));
	return 0;
}

struct kwalk_call call = { 0 };

/* Less than 64 bytes of stack, so that it is the kernel's. */
SEC("raw_tp/task_rename")
int learn(void *ctx)
{
	__u64 frame;

	asm volatile("%0 = r10" : "=r"(frame));
	call.frame = frame;
	call.context = (__u64)ctx;
	return 0;
}

struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));

struct module_memory {
	void *base;
	unsigned int size;
} __attribute__((preserve_access_index));

struct module_layout {
	void *base;
	unsigned int text_size;
} __attribute__((preserve_access_index));

struct mod_arch_specific {
	unsigned int num_orcs;
	int *orc_unwind_ip;
	void *orc_unwind;
} __attribute__((preserve_access_index));

struct module {
	struct list_head list;
	struct module_memory mem[1]; /* since 6.4; MOD_TEXT is the first */
	struct module_layout core_layout; /* before */
	struct mod_arch_specific arch;
} __attribute__((preserve_access_index));

static __always_inline int read_module(struct module *m, struct kwalk_found *f)
{
	f->ips = f->entries = f->nr = 0;
	if (bpf_core_field_exists(m->arch.num_orcs)) {
		f->ips = (__u64)BPF_CORE_READ(m, arch.orc_unwind_ip);
		f->entries = (__u64)BPF_CORE_READ(m, arch.orc_unwind);
		f->nr = BPF_CORE_READ(m, arch.num_orcs);
	}
	if (bpf_core_field_exists(m->mem)) {
		f->text = (__u64)BPF_CORE_READ(m, mem[0].base);
		f->size = BPF_CORE_READ(m, mem[0].size);
	} else if (bpf_core_field_exists(m->core_layout)) {
		f->text = (__u64)BPF_CORE_READ(m, core_layout.base);
		f->size = BPF_CORE_READ(m, core_layout.text_size);
	} else {
		return -95; /* EOPNOTSUPP */
	}
	return 0;
}

SEC("syscall")
int list_modules(struct kwalk_list *l)
{
	__u64 offset, head = l->head, at = head;
	__u32 zero = 0, i;
	struct kwalk_copied *to = bpf_map_lookup_elem(&copied, &zero);
	struct module *m = NULL;

	if (!to)
		return 1;
	l->err = -95;
	if (!bpf_core_field_exists(m->list))
		return 0;
	offset = bpf_core_field_offset(m->list);
	l->nr = 0;
	for (i = 0; i <= KWALK_MAX_MODULES; i++) {
		l->err = bpf_probe_read_kernel(&at, sizeof(at), (void *)at);
		if (l->err)
			return 0;
		if (at == head)
			break;
		if (i == KWALK_MAX_MODULES) {
			l->err = -7; /* E2BIG */
			return 0;
		}
		l->err = read_module((void *)(at - offset), &((struct kwalk_found *)to->bytes)[i]);
		if (l->err)
			return 0;
		l->nr = i + 1;
	}
	return 0;
}
