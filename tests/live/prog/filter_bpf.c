// SPDX-License-Identifier: GPL-2.0-only
/* The BPF build of the evaluator, run through BPF_PROG_RUN. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "filter_same.h"
#include "filter_same.skel.h"

struct filter_bpf {
	struct filter_same_bpf *skel;
	struct filter_prog *prog;
	struct filter_input *in;
	int fd;
};

static void *map_values(struct bpf_map *map, size_t size)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (size + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

int filter_bpf__open(struct filter_bpf **ret)
{
	struct filter_bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->skel = filter_same_bpf__open_and_load();
	if (!b->skel) {
		err = -errno;
		free(b);
		return err;
	}
	b->prog = map_values(b->skel->maps.progs, sizeof(*b->prog));
	b->in = map_values(b->skel->maps.inputs, sizeof(*b->in));
	b->fd = bpf_program__fd(b->skel->progs.eval);
	if (!b->prog || !b->in) {
		filter_bpf__free(b);
		return -ENOMEM;
	}
	*ret = b;
	return 0;
}

void filter_bpf__free(struct filter_bpf *b)
{
	if (!b)
		return;
	filter_same_bpf__destroy(b->skel);
	free(b);
}

char *filter_bpf__memory(struct filter_bpf *b, size_t *ret_size)
{
	*ret_size = sizeof(b->skel->bss->strings);
	return b->skel->bss->strings;
}

void filter_bpf__set(struct filter_bpf *b, const struct filter_prog *prog)
{
	*b->prog = *prog;
}

int filter_bpf__run(struct filter_bpf *b, const struct filter_input *in)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int err;

	memcpy(b->in, in, offsetof(struct filter_input, rec) + in->len);
	b->skel->bss->result = -1;
	err = bpf_prog_test_run_opts(b->fd, &opts);
	return err ? err : b->skel->bss->result;
}

unsigned int filter_bpf__verified(const struct filter_bpf *b)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(b->fd, &info, &len) ? 0 : info.verified_insns;
}

double filter_bpf__cost(struct filter_bpf *b)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(bpf_program__fd(b->skel->progs.cost), &opts))
		return 0;
	return b->skel->bss->took_ns / 100000.0;
}
