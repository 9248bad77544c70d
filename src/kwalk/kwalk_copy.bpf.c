// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads kernel memory for the loader: /proc/kcore may be locked down, /dev/mem always is. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk_copy.h"
#include "kwalk_layout.h"

/* The kernel reserves bpf_probe_read_kernel() for programs with a GPL-compatible licence. */
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
	__u32 zero = 0, len = c->len, to = c->to;
	struct kwalk_copied *m = bpf_map_lookup_elem(&copied, &zero);

	if (!m || len > KWALK_PART || to > KWALK_PART)
		return 1;
	c->err = bpf_probe_read_kernel(m->bytes + to, len, (void *)c->from);
	return 0;
}

/* Replaces reading /proc/kallsyms, which takes 100 ms. */
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

/* Uses less than 64 bytes of stack, so its frame lies on the kernel's stack. */
SEC("raw_tp/task_rename")
int learn(void *ctx)
{
	__u64 frame;

	asm volatile("%0 = r10" : "=r"(frame));
	call.frame = frame;
	call.context = (__u64)ctx;
	bpf_get_stack(ctx, call.words, sizeof(call.words), 0);
	return 0;
}

/* Reads a word of a module, or 0 where this kernel's struct module lacks the member. */
static __always_inline int read_word(__u64 module, __u32 offset, void *to, __u32 size)
{
	__builtin_memset(to, 0, size);
	return offset ? bpf_probe_read_kernel(to, size, (void *)(module + offset)) : 0;
}

struct kwalk_module_layout layout = { 0 };

/* A function of its own, so that the verifier checks it for one module. */
__attribute__((noinline)) int read_module(__u64 module, __u32 i)
{
	__u32 zero = 0;
	struct kwalk_copied *to = bpf_map_lookup_elem(&copied, &zero);
	struct kwalk_found *f;
	int err;

	if (!to || i >= KWALK_MAX_MODULES)
		return -7; /* E2BIG */
	f = &((struct kwalk_found *)to->bytes)[i];
	err = bpf_probe_read_kernel(&f->state, sizeof(f->state), (void *)(module + layout.state));
	return err									  ?:
		       read_word(module, layout.ips, &f->ips, sizeof(f->ips))		  ?:
		       read_word(module, layout.entries, &f->entries, sizeof(f->entries)) ?:
		       read_word(module, layout.nr, &f->nr, sizeof(f->nr))		  ?:
		       read_word(module, layout.text, &f->text, sizeof(f->text))	  ?:
		       read_word(module, layout.size, &f->size, sizeof(f->size));
}

/* Where a list of modules is: the address of an entry, and the number of modules before it. */
struct kwalk_place {
	__u64 head, at;
	__u32 nr;
	__s32 err;
};

/*
 * Some modules.  True: the list goes on.  The verifier follows a loop once per module, so the loop
 * over all of them consists of calls of this, which it has verified before.
 */
__attribute__((noinline)) int read_modules(struct kwalk_place *p)
{
	__u32 i;

	if (!p)
		return 0;
	for (i = 0; i < 32; i++) {
		p->err = bpf_probe_read_kernel(&p->at, sizeof(p->at), (void *)p->at);
		if (p->err || p->at == p->head)
			return 0;
		p->err = read_module(p->at - layout.list, p->nr);
		if (p->err)
			return 0;
		p->nr++;
	}
	return 1;
}

/* User space passes the offsets: for CO-RE, libbpf would read the kernel's BTF again, 30 ms. */
SEC("syscall")
int list_modules(struct kwalk_list *l)
{
	struct kwalk_place p = { .head = l->head, .at = l->head };
	__u32 i;

	layout = l->module;
	for (i = 0; i <= KWALK_MAX_MODULES / 32 && read_modules(&p); i++)
		;
	l->nr = p.nr;
	l->err = p.err;
	return 0;
}
