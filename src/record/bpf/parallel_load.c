// SPDX-License-Identifier: GPL-2.0-only
/*
 * libbpf loads the programs of an object one after the other.  Before it loads one, it calls a
 * handler, which may change the instructions.  For a large program the handler starts a thread that
 * loads the instructions, and leaves libbpf a program that does nothing; its descriptor is replaced
 * when the thread has ended.
 */
#include "parallel_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "cleanup.h"
#include "fold.h"
#include "log.h"
#include "thread.h"

#define LARGE 4096 /* instructions; smaller programs are verified within some milliseconds */
#define LOG_BYTES (64 << 10)
#define MAX_SETTINGS 8 /* maps */

struct job {
	pthread_t thread;
	bool running;
	struct bpf_program *program;
	struct bpf_insn *insns;
	size_t nr;
	struct bpf_prog_load_opts opts;
	int fd; /* of the loaded program, or a negative errno */
	char *log; /* of the verifier, if it failed; or NULL */
};

struct parallel_load {
	struct job **jobs;
	unsigned int nr, cap;
	const struct bpf_object *folded; /* NULL: none */
};

/*
 * libbpf's handlers belong to the process, and are registered once: libbpf 1.1 frees their table
 * twice when the last one is unregistered and another is registered.
 */
static struct parallel_load *current;
static bool registered;

static int load(struct job *j)
{
	int fd = bpf_prog_load(bpf_program__type(j->program), bpf_program__name(j->program), "GPL",
			       j->insns, j->nr, &j->opts);

	return fd < 0 ? -errno : fd;
}

/* Once more, to get the verifier's log. */
static void load_for_log(struct job *j)
{
	int fd;

	j->log = calloc(1, LOG_BYTES);
	if (!j->log)
		return;
	j->opts.log_level = 1;
	j->opts.log_buf = j->log;
	j->opts.log_size = LOG_BYTES;
	fd = load(j);
	if (fd >= 0)
		close(fd);
	j->log[LOG_BYTES - 1] = '\0';
}

static void *run(void *arg)
{
	struct job *j = arg;

	j->fd = load(j);
	if (j->fd < 0)
		load_for_log(j);
	return NULL;
}

static void job_free(struct job *j)
{
	if (!j)
		return;
	if (j->running)
		pthread_join(j->thread, NULL);
	closep(&j->fd);
	free(j->insns);
	free(j->log);
	free(j);
}

/* What the thread needs is copied, but for the types, which live as long as the object. */
static struct job *job_new(struct bpf_program *program, const struct bpf_prog_load_opts *opts)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->fd = -1;
	j->program = program;
	j->nr = bpf_program__insn_cnt(program);
	j->insns = malloc(j->nr * sizeof(*j->insns));
	if (!j->insns) {
		job_free(j);
		return NULL;
	}
	memcpy(j->insns, bpf_program__insns(program), j->nr * sizeof(*j->insns));
	j->opts = *opts;
	j->opts.sz = sizeof(j->opts);
	j->opts.fd_array = NULL; /* only kfuncs of modules need it, and it is freed earlier */
	j->opts.log_level = 0;
	j->opts.log_buf = NULL;
	j->opts.log_size = 0;
	return j;
}

static unsigned int find_settings(const struct bpf_object *obj, struct fold_map *ret_maps)
{
	struct bpf_map *m;
	unsigned int nr = 0;

	bpf_object__for_each_map(m, obj)
	{
		struct fold_map *to = ret_maps + nr;

		if (nr == MAX_SETTINGS || !strstr(bpf_map__name(m), ".rodata"))
			continue;
		to->fd = bpf_map__fd(m);
		to->value = bpf_map__initial_value(m, &to->size);
		nr += to->fd >= 0 && to->value;
	}
	return nr;
}

static int fold(struct bpf_program *program, const struct bpf_object *obj)
{
	size_t nr = bpf_program__insn_cnt(program), size = nr * sizeof(struct bpf_insn);
	_cleanup_free_ struct bpf_insn *insns = malloc(size);
	struct fold_map maps[MAX_SETTINGS];
	int folded;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), size);
	folded = fold__loads(insns, nr, maps, find_settings(obj, maps));
	return folded > 0 ? bpf_program__set_insns(program, insns, nr) : folded;
}

/* If there is no memory or no thread, libbpf loads the program itself. */
static int before_load(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	/* 1, as no recorder program may hide events from others */
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct parallel_load *l = current;
	struct job *j;
	int err = l && l->folded ? fold(program, l->folded) : 0;

	if (err)
		return err;
	if (!l || bpf_program__insn_cnt(program) < LARGE || array__grow(&l->jobs, l->nr, &l->cap))
		return 0;
	j = job_new(program, opts);
	if (!j)
		return 0;
	j->running = !thread__start(&j->thread, run, j);
	if (!j->running) {
		job_free(j);
		return 0;
	}
	l->jobs[l->nr++] = j;
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, nothing, ARRAY_SIZE(nothing));
}

static int register_handlers(void)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
	} v[] = {
		{ "tracepoint", BPF_PROG_TYPE_TRACEPOINT },
		{ "raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT },
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = before_load);
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(v); i++) {
		err = libbpf_register_prog_handler(v[i].section, v[i].type, 0, &opts);
		if (err < 0)
			return err;
	}
	registered = true;
	return 0;
}

int parallel_load__new(struct parallel_load **ret_load)
{
	struct parallel_load *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	err = registered ? 0 : register_handlers();
	if (err) {
		free(l);
		return err;
	}
	current = *ret_load = l;
	return 0;
}

void parallel_load__fold(struct parallel_load *l, const struct bpf_object *obj)
{
	l->folded = obj;
}

static int finish(struct job *j)
{
	const char *name = bpf_program__name(j->program);

	pthread_join(j->thread, NULL);
	j->running = false;
	if (j->fd >= 0)
		return dup3(j->fd, bpf_program__fd(j->program), O_CLOEXEC) < 0 ? -errno : 0;
	if (j->log)
		log_msg(STK_LOG_DEBUG, 0, "the verifier's log of '%s': %s", name, j->log);
	return log_err(j->fd, "load the BPF program '%s' into the kernel", name);
}

int parallel_load__wait(struct parallel_load *l)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->nr && !err; i++)
		err = l->jobs[i]->running ? finish(l->jobs[i]) : 0;
	current = NULL; /* libbpf loads what follows itself */
	return err;
}

void parallel_load__free(struct parallel_load *l)
{
	unsigned int i;

	if (!l)
		return;
	for (i = 0; i < l->nr; i++)
		job_free(l->jobs[i]);
	free(l->jobs);
	free(l);
	current = NULL;
}
