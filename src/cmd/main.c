// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. */
#include "ui/ui.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "ui/out.h"

static const struct cmd commands[] = {
	{ "record", cmd_record, "record events with their call stacks" },
	{ "info", cmd_info, "what a recording holds, and whether its numbers add up" },
	{ "script", cmd_script, "every event in time order, with fields and stack" },
	{ "report", cmd_report, "the call stacks that events come from, most frequent first" },
	{ "stacks", cmd_stacks, "the stacks themselves, by id" },
	{ "latency", cmd_latency, "time between pairs of events, with the stacks of both ends" },
	{ "lifecycle", cmd_lifecycle, "processes from fork to free: who died, who did not reap" },
	{ "futex", cmd_futex, "where waits for locks come from, and who woke them" },
	{ "offcpu", cmd_offcpu, "time that tasks did not run, by stack and reason" },
	{ "files", cmd_files, "the files that user stacks run through, and whether they are here" },
	{ "maps", cmd_maps, "the files that running programs execute, without recording" },
	{ "symbolize", cmd_symbolize, "put the names of user functions into a recording" },
	{ "export", cmd_export, "write a recording in another tool's form" },
	{ "import", cmd_import, "make a recording from another tool's data" },
	{ "list", cmd_list, "the tracepoints of this kernel" },
	{ "doctor", cmd_doctor, "what this machine allows, refuses, why, and the remedy" },
	{ "version", cmd_version, "print the version" },
	{ "help", cmd_help, "this text, or the help of a command" },
};

static const struct cmd *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_usage(FILE *f)
{
	size_t i;

	fputs("Usage: stackonce COMMAND [OPTIONS] [FILE]\n"
	      "Records what the Linux kernel does, every call stack stored once.\n\n",
	      f);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n'stackonce COMMAND --help' lists a command's options; 'man stackonce-COMMAND'\n"
	      "explains them.  FILE is trace.stk unless given; - is standard input.\n",
	      f);
}

static int print_version(void)
{
	struct out o;

	out__open(&o, false);
	json__record(&o.json, "version");
	json__string(&o.json, "version", STACKONCE_VERSION);
	json__end(&o.json);
	return out__close(&o, CMD_OK);
}

int cmd_version(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	bool json = false;
	int c;

	while ((c = cmd__getopt(argc, argv, "h", longopts)) != -1) {
		if (c == 'h')
			return cmd__print("Usage: stackonce version [--json]\n"
					  "Prints the version of this program.\n");
		if (c == '?')
			return CMD_USAGE;
		json = true;
	}
	if (optind < argc)
		return cmd__usage_error(argv[0], "'%s' is not expected here", argv[optind]);
	return json ? print_version() : cmd__print("stackonce " STACKONCE_VERSION "\n");
}

int cmd_help(int argc, char **argv)
{
	char help[] = "--help";
	const struct cmd *cmd;

	if (argc > 2)
		return cmd__usage_error("help", "one command at most");
	if (argc == 2 && strcmp(argv[1], "help") && strcmp(argv[1], "--help")) {
		char *args[] = { argv[1], help, NULL };

		cmd = find_command(argv[1]);
		if (!cmd)
			return cmd__usage_error("help", "there is no command '%s'", argv[1]);
		optind = 0;
		return cmd->run(2, args);
	}
	print_usage(stdout);
	return fflush(stdout) ? CMD_FAILURE : CMD_OK;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct cmd *cmd;

	cmd__set_log_level(STK_LOG_WARN);
	if (!name) {
		print_usage(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	cmd = find_command(name);
	if (!cmd) {
		log_err(0, "there is no command '%s'", name);
		fputs("Try 'stackonce help'.\n", stderr);
		return CMD_USAGE;
	}
	return cmd->run(argc - 1, argv + 1);
}
