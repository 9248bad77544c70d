/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by all commands: the row of a command, exit codes, messages and numbers.
 *
 * A command is one file or folder with one struct cmd.  Results go to stdout, messages to stderr.
 */
#ifndef UI_H
#define UI_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "stackonce.h"

/* Exit codes, documented in stackonce(1).  record returns the status of its COMMAND instead. */
enum cmd_exit {
	CMD_OK = 0, /* success; also if the reader of our output exited early */
	CMD_FAILURE = 1, /* failure; a message says why */
	CMD_USAGE = 2, /* the command line is wrong; nothing was done */
	CMD_HELP = -1, /* --help was printed; main() exits with 0 */
};

struct cmd {
	const char *name;
	const char *summary; /* for the list of commands */
	/* argv[0] is the command's name; returns an exit code. */
	int (*run)(int argc, char **argv);
	const struct opt *options; /* ended by HELP_OPTION */
	/* For --help: a paragraph before the options, and one after them or NULL. */
	const char *text, *notes;
	const char *usage; /* for --help, after the name; NULL: options, then operands */
};

#define COMMAND(name) extern const struct cmd cmd_##name;
#include "commands.def"
#undef COMMAND

/* ---- messages (messages.c) ------------------------------------------------------------------- */

/*
 * Log messages up to level go to stderr as "stackonce: MESSAGE", control bytes escaped.  main()
 * sets STK_LOG_WARN; a command with -v or -q sets another level.
 */
void ui__set_log_level(enum stk_log_level level);
/* The log sink, for struct stk_reader_opts; the level set above applies, ctx is unused. */
void ui__log(void *ctx, enum stk_log_level level, const char *msg);

/* Whether standard input and output are a terminal that can show a page and take keys. */
bool ui__has_page(void);
/*
 * While a page fills the terminal, messages are held; ui__hold_messages(false) prints them.  What
 * does not fit into HELD_MESSAGES bytes is counted.
 */
#define HELD_MESSAGES (64u << 10)
void ui__hold_messages(bool hold);

/* Prints "stackonce COMMAND: MESSAGE" and a hint at --help; returns CMD_USAGE. */
int ui__usage_error(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Writes text, or what has been written, to stdout (for help); returns CMD_OK, or CMD_FAILURE on a
 * write error, after a message unless the reader has exited.
 */
int ui__print(const char *text);
int ui__flush(void);

/* ---- numbers (numbers.c) --------------------------------------------------------------------- */

/*
 * Parse a whole string and check the range: 0, -EINVAL (not a number) or -ERANGE.  Sizes may have a
 * suffix K, M, G or T (powers of 1024); seconds at most nine decimals ("10", "0.5").
 */
int parse__u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret_value);
int parse__size(const char *s, uint64_t min, uint64_t max, uint64_t *ret_bytes);
int parse__seconds(const char *s, uint64_t *ret_ns);

struct num_range {
	uint64_t first, last;
};

/* A set of numbers like "0-3,8", as for CPUs and process ids. */
struct num_set {
	struct num_range *ranges;
	unsigned int nr;
};
int num_set__parse(const char *s, uint64_t max, struct num_set *set); /* adds to set */
bool num_set__has(const struct num_set *set, uint64_t v);
void num_set__free(struct num_set *set);

/* Whether text matches a shell glob ("sched:*") or is equal to it: 1, 0 or -ENOMEM. */
int glob__matches(const char *glob, const char *text);
/* The same for one of several globs separated by commas. */
int globs__match(const char *globs, const char *text);

#endif /* UI_H */
