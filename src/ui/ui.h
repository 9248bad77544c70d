/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands share: the table's row, exit codes, messages, options and numbers.
 *
 * A command is one file with one function, int cmd_NAME(int argc, char **argv), which gets its
 * own name as argv[0] and returns an exit code.  Results go to stdout, messages to stderr.
 */
#ifndef CMD_H
#define CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

/* Exit codes, documented in stackonce(1).  record returns the status of its COMMAND instead. */
enum cmd_exit {
	CMD_OK = 0, /* it worked; also when the reader of our output went away */
	CMD_FAILURE = 1, /* it did not; a message says why */
	CMD_USAGE = 2, /* the command line is wrong; nothing was done */
};

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

int cmd_record(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stacks(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_lifecycle(int argc, char **argv);
int cmd_futex(int argc, char **argv);
int cmd_offcpu(int argc, char **argv);
int cmd_files(int argc, char **argv);
int cmd_maps(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_help(int argc, char **argv);

/* ---- messages (messages.c) ------------------------------------------------------------------ */

/*
 * Log messages up to level go to stderr as "stackonce: MESSAGE", control bytes made visible.
 * main() sets STK_LOG_WARN; a command with -v or -q sets another.
 */
void cmd__set_log_level(enum stk_log_level level);
/* The sink itself, for struct stk_reader_opts; the level set applies, ctx is not used. */
void cmd__log(void *ctx, enum stk_log_level level, const char *msg);

/* "stackonce COMMAND: MESSAGE", then where the help is; returns CMD_USAGE. */
int cmd__usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts text on stdout (for --help); returns CMD_OK, or CMD_FAILURE when it cannot be written. */
int cmd__print(const char *text);

/* ---- options (options.c) -------------------------------------------------------------------- */

/*
 * getopt_long() with exact long names only and our messages: returns the option's value, -1 at
 * the end, '?' when the command line is wrong (the message is out: return CMD_USAGE).
 * shortopts is as for getopt_long(); a leading '+' stops at the first non-option.
 */
int cmd__getopt(int argc, char **argv, const char *shortopts, const struct option *longopts);

/* The value of an option ("--top"): CMD_OK, or CMD_USAGE after a message that says what it wants. */
int cmd__number(const char *command, const char *option, const char *arg, uint64_t min,
		uint64_t max, uint64_t *ret_value);
/* Which of the words, of which there are two at least. */
int cmd__one_of(const char *command, const char *option, const char *arg, const char *const *words,
		unsigned int nr, unsigned int *ret_index);

/* ---- numbers (numbers.c) -------------------------------------------------------------------- */

/*
 * Whole strings only, range-checked: 0, -EINVAL (not a number) or -ERANGE.  Sizes take K, M, G
 * (powers of 1024), seconds at most nine decimals ("10", "0.5").
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

/* Shell-like globs ("sched:*", "*"), or several separated by commas. */
bool glob__matches(const char *globs, const char *text);

#endif /* CMD_H */
