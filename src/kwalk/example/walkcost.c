// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * walkcost GROUP:EVENT COMMAND...: prints the cost of kernel stacks at a tracepoint while COMMAND
 * runs.  An example of the kernel walk in a program of its own: read the rules, prepare, load,
 * fill, attach.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kwalk.h"
#include "walkcost.skel.h"

#define ROUNDS 9
#define WAYS 4

static int run_command(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		execvp(*argv, argv);
		perror(*argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? 0 : -ENOEXEC;
}

static int run_stats(const struct bpf_program *p, struct bpf_prog_info *ret_info)
{
	__u32 len = sizeof(*ret_info);

	memset(ret_info, 0, len);
	return bpf_obj_get_info_by_fd(bpf_program__fd(p), ret_info, &len);
}

/* Mean ns of a run of the program while the command runs; 0 if it did not run. */
static double measure(struct bpf_program *p, char *event, char **argv)
{
	char *colon = strchr(event, ':');
	struct bpf_prog_info before, after;
	struct bpf_link *link;
	int err;

	*colon = '\0';
	link = bpf_program__attach_tracepoint(p, event, colon + 1);
	*colon = ':';
	if (!link || run_stats(p, &before))
		err = -errno;
	else
		err = run_command(argv) ?: run_stats(p, &after);
	bpf_link__destroy(link);
	if (err) {
		fprintf(stderr, "walkcost: %s: %s\n", event, strerror(-err));
		exit(1);
	}
	return after.run_cnt == before.run_cnt ? 0 :
						 (double)(after.run_time_ns - before.run_time_ns) /
							 (after.run_cnt - before.run_cnt);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(struct walkcost_bpf *skel, double ns[WAYS][ROUNDS])
{
	static const char *const ways[WAYS] = { "no stack", "bpf_get_stack()", "walk",
						"remembered" };
	struct kwalk_counts c = { 0 };
	int i;

	printf("%-16s %10s %10s\n", "", "ns a run", "the stack");
	for (i = 0; i < WAYS; i++) {
		qsort(ns[i], ROUNDS, sizeof(**ns), by_value);
		printf("%-16s %10.0f %10.0f\n", ways[i], ns[i][ROUNDS / 2],
		       ns[i][ROUNDS / 2] - ns[0][ROUNDS / 2]);
	}
	if (skel->bss->runs)
		printf("%.1f frames, mean of %" PRIu64 "; %" PRIu64 " not remembered\n",
		       (double)skel->bss->frames / skel->bss->runs, (uint64_t)skel->bss->runs,
		       (uint64_t)skel->bss->forgotten);
	if (kwalk__counts(skel->obj, &c))
		return;
	for (i = 0; i < KWALK_STOPS; i++)
		printf("%s%s %" PRIu64, i ? ", " : "", kwalk_stop__name(i), (uint64_t)c.stopped[i]);
	printf("; agreed %" PRIu64 ", differed %" PRIu64 "\n", (uint64_t)c.checks[KWALK_AGREED],
	       (uint64_t)c.checks[KWALK_DIFFERED]);
}

int main(int argc, char **argv)
{
	struct walkcost_bpf *skel;
	double ns[WAYS][ROUNDS];
	struct kwalk *k = NULL;
	int stats, err, i;

	if (argc < 3 || !strchr(argv[1], ':')) {
		fprintf(stderr, "usage: walkcost GROUP:EVENT COMMAND...\n");
		return 2;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = walkcost_bpf__open();
	err = skel ? kwalk__new(&k)		   ?:
		      kwalk__prepare(k, skel->obj) ?:
		      walkcost_bpf__load(skel)	   ?:
						     kwalk__start(k, skel->obj) :
		     -errno;
	if (err) {
		fprintf(stderr, "walkcost: load: %s\n", strerror(-err));
		return 1;
	}
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0) {
		perror("walkcost: enable run-time statistics");
		return 1;
	}
	for (i = 0; i < ROUNDS; i++) {
		ns[0][i] = measure(skel->progs.none, argv[1], argv + 2);
		ns[1][i] = measure(skel->progs.kernel, argv[1], argv + 2);
		ns[2][i] = measure(skel->progs.walk, argv[1], argv + 2);
		ns[3][i] = measure(skel->progs.remembered, argv[1], argv + 2);
	}
	report(skel, ns);
	close(stats);
	walkcost_bpf__destroy(skel);
	kwalk__free(k);
	return 0;
}
