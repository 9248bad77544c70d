// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz targets: a command on one or more hostile recordings, from the reader through the analysis
 * to the output.  Each target is this file with another FUZZ_COMMAND, or with "" for all commands;
 * the first byte of the uuid selects the options.  A command may fail, but must not exceed the
 * limits on memory and time.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "recordings.h"
#include "ui/ui.h"

#define MAX_FILES 3
#define MAX_ARGS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct command {
	const struct cmd *cmd;
	const char *options[24]; /* words separated by blanks; NULL ends the list */
};

static const struct command commands[] = {
	{ &cmd_lifecycle,
	  { "--stacks", "--tree", "--json --threads", "--threads --top 3", "--pid 1-20000" } },
	{ &cmd_latency,
	  { "--preset runqueue", "--preset runqueue --json --stacks",
	    "--start sched_switch --end sched_switch --match next_pid=prev_pid --by next_comm",
	    "--start * --end * --by event,comm,pid", "--start * --end * --flamegraph -",
	    "--preset rmap", "--start * --end * --match cpu --single" } },
	{ &cmd_futex,
	  { "--stacks", "--by address --json", "--by comm", "--by pid --flamegraph -" } },
	{ &cmd_offcpu,
	  { "--stacks", "--by tid --json", "--by comm", "--by state --flamegraph -", "--by pid" } },
	{ &cmd_report,
	  { "--top 3", "--json --by comm,pid,tid,cpu --top 0", "--tree --min 0", "--callees --json",
	    "--folded --by comm", "--flamegraph -", "--user --tree", "--flat --by sym,caller,file",
	    "--by prev_comm,event --weigh prev_pid:p99 --tree", "--weigh prev_pid:hist --json",
	    "--flat=library --fold idle,interrupts,guesses", "--fold idle,interrupts,guesses",
	    "--print-sql --by prev_comm", "--weigh next_pid --folded",
	    "--by host,time,kstack,ustack,prev_comm --json --top 0",
	    "--by filename,event.cpu --weigh task.tid:hist --top 0",
	    "--weigh prev_state:p50 --by sym --flat --no-children --min 0",
	    "--by comm --weigh time:avg --tree=callees --min 0 --json",
	    "--time 10%,90% --filter next_pid>0||comm~\"*a*\" --by next_comm --flat --json" } },
	{ &cmd_annotate, { "--children", "--json --user", "--by insn", "--children --json" } },
	{ &cmd_diff,
	  { "--all", "--bin 0.001 --by function --json --all", "--bin 0.001 --per event --by self",
	    "--per * --kernel --top 0", "--user --full", "--flamegraph -",
	    "--latency *,* --match cpu --json", "--latency runqueue",
	    "--time 10%,50% --time-b 50%,90% --bin 0.001 --all --json" } },
	{ &cmd_script,
	  { "--ns", "--json --stacks", "--ids", "--full", "--no-stacks --fields pid",
	    "--fields time,comm,prev_comm,kstack --json",
	    "--filter event.time>5&&!(comm~\"a*\")||ustack~\"*c*\"" } },
	{ &cmd_view,
	  { "-q", "-q --pairs none", "-q --start * --end * --match cpu", "-q --time 10%,90%",
	    "-q --pairs runqueue,offcpu --filter next_pid>0 --comm *a*" } },
	{ &cmd_export,
	  { "fsmb", "fsmb1", "ctf --force", "trace.dat", "folded --by comm,sym", "pprof",
	    "pprof --weigh next_pid --by comm,pid", "speedscope", "perfetto", "firefox",
	    "firefox --by cpu --fold idle --pairs syscalls --weigh next_pid",
	    "perfetto --start *:* --end *:* --match cpu --pairs syscalls", "clickhouse --schema",
	    "clickhouse --rows stacks", "clickhouse --rows sched:sched_switch" } },
};

static int fds[MAX_FILES];
static char paths[MAX_FILES][32];
static char directory[] = "/tmp/stackonce-fuzz-XXXXXX";
static char output[sizeof(directory) + 4]; /* of formats that are a directory */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	return remove(path);
}

static void remove_directory(void)
{
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (size_t i = 0; i < MAX_FILES; i++) {
		fds[i] = memfd_create("fuzz", 0);
		if (fds[i] < 0)
			abort();
		snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d", fds[i]);
	}
	if (!mkdtemp(directory) || atexit(remove_directory))
		abort();
	snprintf(output, sizeof(output), "%s/ctf", directory);
	ui__set_log_level(STK_LOG_WARN);
	return 0;
}

/* Writes a recording to a file. */
static void put_file(const uint8_t *data, size_t size, int fd)
{
	_cleanup_free_ uint8_t *copy = malloc(size + !size);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	correct_checksums(copy, size);
	if (ftruncate(fd, 0) || pwrite(fd, copy, size, 0) != (ssize_t)size)
		abort();
}

/* Returns the number of files, and the text behind the recordings. */
static unsigned int put_files(const uint8_t *data, size_t size, char **ret_text)
{
	unsigned int nr = 0;
	size_t n;

	do {
		n = recording_size(data, size);
		put_file(data, n, fds[nr++]);
		data += n;
		size -= n;
	} while (nr < MAX_FILES && is_recording(data, size));
	*ret_text = strndup((const char *)data, size);
	if (!*ret_text)
		abort();
	return nr;
}

/*
 * export FORMAT FILE... -o OUTPUT, view FILE... -o OUTPUT, annotate FILE... FUNCTION, diff OPTIONS
 * FILE FILE, and for the others COMMAND OPTIONS FILE...
 */
static int run(const struct cmd *cmd, const char *options, unsigned int nr_files, char *text)
{
	char *argv[MAX_ARGS + MAX_FILES + 4] = { (char *)cmd->name };
	_cleanup_free_ char *words = strdup(options);
	char *rest = words;
	int argc = 1;

	if (!words)
		abort();
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	if (cmd == &cmd_export || cmd == &cmd_view) {
		argv[argc++] = "-o";
		argv[argc++] = strncmp(options, "ctf", 3) ? "-" : output;
	}
	argv[argc++] = "--no-symbols";
	if (cmd == &cmd_diff) {
		argv[argc++] = paths[0];
		argv[argc++] = paths[nr_files > 1];
	}
	for (unsigned int i = 0; i < nr_files && cmd != &cmd_diff; i++)
		argv[argc++] = paths[i];
	if (cmd == &cmd_annotate)
		argv[argc++] = *text && *text != '-' ? text : "schedule";
	argv[argc] = NULL;
	return cmd->run(argc, argv);
}

static void run_one(const struct command *c, uint8_t how, unsigned int nr_files, char *text)
{
	size_t nr = 0;

	while (nr < ARRAY_SIZE(c->options) && c->options[nr])
		nr++;
	/* the options are valid, but some take one recording only */
	if (run(c->cmd, c->options[how % nr], nr_files, text) == CMD_USAGE && nr_files == 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size > UUID_AT ? data[UUID_AT] : 0;
	_cleanup_free_ char *text = NULL;
	unsigned int nr_files = put_files(data, size, &text);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!*FUZZ_COMMAND || !strcmp(commands[i].cmd->name, FUZZ_COMMAND))
			run_one(&commands[i], how, nr_files, text);
	return 0;
}
