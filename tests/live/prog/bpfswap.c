// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfswap [PROGRAMS]: loads BPF programs one after the other and runs each once; each makes a
 * bpf_trace_printk event with its name ("swap07") as text.  After a line on standard input the next
 * program is loaded: every fourth one stays, the others are unloaded.  All programs have the same
 * length, so that they reuse each other's addresses, and make the call at different offsets.
 * Prints how many were loaded at an address where another one of them had been.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>

#include "prog.h"

#define MAX_PROGRAMS 100
#define PAD 41 /* instructions around the call; their number before it varies */
#define INSN(op, dst, src, offset, value)     \
	((struct bpf_insn){ .code = (op),     \
			    .dst_reg = (dst), \
			    .src_reg = (src), \
			    .off = (offset),  \
			    .imm = (int32_t)(value) })

static uint64_t starts[MAX_PROGRAMS];
static uint32_t lens[MAX_PROGRAMS];

static int load(unsigned int i, char *name)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct bpf_insn insns[128];
	uint32_t text[2];
	unsigned int n = 0;
	int fd;

	snprintf(name, 8, "swap%02u", i % 100);
	memcpy(text, name, 7);
	((char *)text)[7] = '\0';
	for (unsigned int pad = 0; pad < i * 7 % PAD; pad++)
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_6, 0, 0, 1);
	insns[n++] = INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -8, text[0]);
	insns[n++] = INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, text[1]);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	insns[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8);
	insns[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_trace_printk);
	for (unsigned int pad = i * 7 % PAD; pad < PAD; pad++)
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_6, 0, 0, 1);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	insns[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, name, "GPL", insns, n, &opts);
	if (fd < 0)
		err(1, "load %s", name);
	return fd;
}

/* Whether it overlaps an earlier program. */
static bool locate(int fd, unsigned int i)
{
	struct bpf_prog_info info = {
		.nr_jited_ksyms = 1,
		.jited_ksyms = (uintptr_t)&starts[i],
		.nr_jited_func_lens = 1,
		.jited_func_lens = (uintptr_t)&lens[i],
	};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		err(1, "bpf_prog_info");
	for (unsigned int j = 0; j < i; j++)
		if (starts[j] && starts[j] < starts[i] + lens[i] && starts[i] < starts[j] + lens[j])
			return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned int nr = arg_number(argc, argv, 1, 12, MAX_PROGRAMS), over = 0;
	char line[64];

	for (unsigned int i = 0; i < nr; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run);
		char name[8];
		int fd = load(i, name);

		over += locate(fd, i);
		if (bpf_prog_test_run_opts(fd, &run))
			err(1, "run %s", name);
		if (!fgets(line, sizeof(line), stdin))
			errx(1, "standard input ended");
		if (i % 4 && close(fd))
			err(1, "unload %s", name);
		/* the kernel frees its memory some time later */
		usleep(60000);
	}
	printf("programs %u\nover %u\n", nr, over);
	return 0;
}
