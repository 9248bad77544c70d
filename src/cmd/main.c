// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. */
#include "ui/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "nearest.h"
#include "ui/out.h"

static const struct cmd *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "ui/commands.def"
#undef COMMAND
};

static const struct cmd *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* What may be meant by a command that does not exist; owned by the caller. */
static char *suggest(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	char *question;
	size_t i;

	if (!access(name, F_OK))
		return asprintf(&question, "; 'stackonce report %s' reads a file", name) < 0 ?
			       NULL :
			       question;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name;
	return nearest__question(name, names, ARRAY_SIZE(names));
}

static void print_usage(FILE *f)
{
	size_t i;

	fputs("Usage: stackonce COMMAND [OPTIONS] [FILE]\n"
	      "Records what the Linux kernel does, every call stack stored once.\n\n",
	      f);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n'stackonce COMMAND --help' lists a command's options; 'man stackonce-COMMAND'\n"
	      "explains them.  FILE defaults to standard input if that is a recording,\n"
	      "and otherwise to trace.stk; - is standard input.\n",
	      f);
}

struct version {
	bool json;
};

static const struct opt version_options[] = {
	{ "--json", "one JSON object", OPT_FLAG(struct version, json) }, HELP_OPTION
};

static int print_version(void)
{
	struct out o;

	out__open(&o, false);
	json__record(&o.json, "version");
	json__string(&o.json, "version", STACKONCE_VERSION);
	json__end(&o.json);
	return out__close(&o, CMD_OK);
}

static int run_version(int argc, char **argv)
{
	struct version v = { 0 };
	int code = options__parse(&cmd_version, argc, argv, &v);

	if (code)
		return code;
	return v.json ? print_version() : ui__print("stackonce " STACKONCE_VERSION "\n");
}

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version",
	.run = run_version,
	.options = version_options,
	.text = "Prints the version of this program.\n",
};

struct help {
	const char *command;
	bool options;
};

/* clang-format off */
static const struct opt help_options[] = {
	{ "[COMMAND]", NULL, OPT_TEXT(struct help, command) },
	{ "--options", "print all options of all commands, one per line, for scripts",
	  OPT_FLAG(struct help, options) },
	HELP_OPTION
};
/* clang-format on */

static int print_options(void)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		options__list(commands[i], &b);
	return strbuf__failed(&b) ? CMD_FAILURE : ui__print(b.s);
}

static int run_help(int argc, char **argv)
{
	struct help h = { 0 };
	int code = options__parse(&cmd_help, argc, argv, &h);
	const struct cmd *cmd;

	if (code)
		return code;
	if (h.options)
		return print_options();
	if (h.command) {
		cmd = find_command(h.command);
		if (!cmd) {
			_cleanup_free_ char *question = suggest(h.command);

			return ui__usage_error("help", "there is no command '%s'%s", h.command,
					       question ?: "");
		}
		return options__print_help(cmd);
	}
	print_usage(stdout);
	return ui__flush();
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "print this text, or the help of a command",
	.run = run_help,
	.options = help_options,
	.text = "Prints the list of commands, or the help of one.\n",
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct cmd *cmd;
	int code;

	ui__set_log_level(STK_LOG_WARN);
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
		_cleanup_free_ char *question = suggest(name);

		log_err(0, "there is no command '%s'%s", name, question ?: "");
		fputs("Try 'stackonce help'.\n", stderr);
		return CMD_USAGE;
	}
	code = cmd->run(argc - 1, argv + 1);
	return code == CMD_HELP ? CMD_OK : code;
}
