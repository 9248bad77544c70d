// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz targets: a command on a hostile recording, from the reader through the analysis to the
 * output.  Each target is this file with another FUZZ_COMMAND; the first byte of the uuid selects
 * its options.  A command may fail, but must not exceed the limits on memory and time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "ui/ui.h"
#include "seal.h"

#define UUID_AT 16
#define MAX_ARGS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct command {
	const struct cmd *cmd;
	const char *options[16]; /* words separated by blanks; NULL ends the list */
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
	    "--print-sql --by prev_comm", "--weigh next_pid --folded" } },
	{ &cmd_annotate, { "--children", "--json --user", "--by insn", "--children --json" } },
	{ &cmd_diff,
	  { "--all", "--bin 0.001 --by function --json --all", "--bin 0.001 --per event --by self",
	    "--per * --kernel --top 0", "--user --full", "--flamegraph -",
	    "--latency *,* --match cpu --json", "--latency runqueue" } },
	{ &cmd_script,
	  { "--ns", "--json --stacks", "--ids", "--full", "--no-stacks --fields pid" } },
	{ &cmd_export, { "fsmb", "fsmb1" } },
};

static const struct command *command;
static int fd;
static char path[32];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].cmd->name, FUZZ_COMMAND))
			command = &commands[i];
	fd = memfd_create("fuzz", 0);
	if (!command || fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ui__set_log_level(STK_LOG_WARN);
	return 0;
}

/*
 * export FORMAT FILE -o -, annotate FILE FUNCTION, diff OPTIONS FILE FILE, and for the others
 * COMMAND OPTIONS FILE.
 */
static int run(const char *options)
{
	char *argv[MAX_ARGS + 8] = { (char *)command->cmd->name }, *words = strdup(options),
			      *rest = words;
	int argc = 1;

	if (!words)
		abort();
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	if (command->cmd == &cmd_export) {
		argv[argc++] = "-o";
		argv[argc++] = "-";
	} else {
		argv[argc++] = "--no-symbols";
	}
	if (command->cmd == &cmd_diff)
		argv[argc++] = path;
	argv[argc++] = path;
	if (command->cmd == &cmd_annotate)
		argv[argc++] = "schedule";
	argv[argc] = NULL;
	argc = command->cmd->run(argc, argv);
	free(words);
	return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size > UUID_AT ? data[UUID_AT] : 0;
	uint8_t *copy = malloc(size + !size);
	size_t nr = 0;

	while (nr < ARRAY_SIZE(command->options) && command->options[nr])
		nr++;
	memcpy(copy, data, size);
	seal(copy, size);
	if (ftruncate(fd, 0) || pwrite(fd, copy, size, 0) != (ssize_t)size)
		abort();
	free(copy);
	/* never a usage error: the options are valid */
	if (run(command->options[how % nr]) == CMD_USAGE)
		abort();
	return 0;
}
