/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of options.  A row says how an option is written, how --help describes it and how its
 * value is parsed.  The parser, the usage errors, --help and `stackonce help --options` use the
 * rows; the completion and the heads of options in the man pages are made from the latter.
 *
 *   static const struct opt options[] = {
 *           { "-o, --output FILE", "write to FILE", OPT_TEXT(struct x, output) },
 *           { "--top N", "print N lines", OPT_NUMBER(struct x, top, 0, 1000) },
 *           { "[FILE]", NULL, OPT_TEXT(struct x, path) },
 *           HELP_OPTION
 *   };
 */
#ifndef UI_OPTIONS_H
#define UI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd;
struct opt;
struct strbuf;

/*
 * Parses the value (NULL: omitted) into the command's struct.  Returns CMD_OK; a negative errno,
 * for which the parser prints a usage error; or an exit code after a message.
 */
typedef int (*opt_take_fn)(void *into, const struct opt *o, const char *arg);

enum opt_kind {
	OPT_KIND_FLAG, /* bool: max */
	OPT_KIND_BIT, /* unsigned int: max is ORed into it */
	OPT_KIND_TEXT, /* const char * */
	OPT_KIND_NUMBER, /* uint64_t or uint32_t, min to max */
	OPT_KIND_SIZE, /* as OPT_KIND_NUMBER, with a suffix K, M, G or T */
	OPT_KIND_SECONDS, /* uint64_t, ns, up to max */
	OPT_KIND_SET, /* struct num_set, numbers up to max */
	OPT_KIND_WORD, /* enum or unsigned int: the index of one of the words */
	OPT_KIND_WORDS, /* unsigned int: 1 << index of each of several words, with commas */
	OPT_KIND_FN,
	OPT_KIND_REST, /* char *const *: an operand and all words after it, options or not */
	OPT_KIND_HELP,
};

struct opt {
	/*
	 * "-o, --output FILE"; "--user-stacks[=HOW]" if the value is optional.  Without a dash the
	 * row is an operand: "FORMAT", or "[FILE]" if it is optional; operands are taken in the
	 * order of their rows, and "[FILE...]" takes one after another.  NULL ends the table.
	 */
	const char *head;
	/* For --help, which wraps it; %s is the list of words.  NULL: not shown. */
	const char *help;
	enum opt_kind kind;
	size_t at, size; /* offset and size of the member of the command's struct */
	uint64_t min, max;
	const void *words; /* strings, stride bytes apart, ended by a NULL; NULL: any text */
	size_t stride;
	const char *expects; /* "a percentage", for the usage error; NULL: derived from the row */
	opt_take_fn take;
};

/* Offset of a member; does not compile if its type is not `of`. */
#define OPT_AT(type, member, of)                                                                 \
	(offsetof(type, member) +                                                                \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), of) ? 1 : \
											     -1]))
/* The same for a number of 4 or 8 bytes, with its limits. */
#define OPT_SIZEOF(type, member) sizeof(((type *)0)->member)
#define OPT_RANGE(type, member, least, most)                                                    \
	.at = offsetof(type, member) + 0 * sizeof(char[OPT_SIZEOF(type, member) < 4 ? -1 : 1]), \
	.size = OPT_SIZEOF(type, member), .min = (least), .max = (most)

#define OPT_FLAG(type, member) .kind = OPT_KIND_FLAG, .at = OPT_AT(type, member, bool), .max = true
#define OPT_OFF(type, member) .kind = OPT_KIND_FLAG, .at = OPT_AT(type, member, bool), .max = false
#define OPT_BIT(type, member, bit) \
	.kind = OPT_KIND_BIT, .at = OPT_AT(type, member, unsigned int), .max = (bit)
#define OPT_TEXT(type, member) .kind = OPT_KIND_TEXT, .at = OPT_AT(type, member, const char *)
#define OPT_NUMBER(type, member, least, most) \
	.kind = OPT_KIND_NUMBER, OPT_RANGE(type, member, least, most)
#define OPT_SIZE(type, member, least, most) \
	.kind = OPT_KIND_SIZE, OPT_RANGE(type, member, least, most)
#define OPT_SECONDS(type, member, most) \
	.kind = OPT_KIND_SECONDS, .at = OPT_AT(type, member, uint64_t), .max = (most)
#define OPT_SET(type, member, most) \
	.kind = OPT_KIND_SET, .at = OPT_AT(type, member, struct num_set), .max = (most)
#define OPT_WORD(type, member) .kind = OPT_KIND_WORD, .at = OPT_AT(type, member, unsigned int)
#define OPT_WORDS(type, member) .kind = OPT_KIND_WORDS, .at = OPT_AT(type, member, unsigned int)
#define OPT_FN(function) .kind = OPT_KIND_FN, .take = (function)
#define OPT_REST(type, member) .kind = OPT_KIND_REST, .at = OPT_AT(type, member, char *const *)

/* The words that a value may be: given here, or the first members of a table's rows. */
#define WORDS(...) \
	.words = (const char *const[]){ __VA_ARGS__, NULL }, .stride = sizeof(const char *)
#define WORDS_OF(table) .words = (table), .stride = sizeof((table)[0])

/* clang-format off */
#define HELP_OPTION { "-h, --help", "print this help", .kind = OPT_KIND_HELP }, { 0 }
/* clang-format on */

/*
 * Parses the command line into the command's struct, which holds the defaults.  Returns CMD_OK;
 * CMD_HELP after --help was printed; CMD_USAGE after a message; or what a row's function returned.
 * Abbreviated long names are refused: a script must not break when an option is added.
 */
int options__parse(const struct cmd *cmd, int argc, char **argv, void *into);

/* The index of word among the row's words; -EINVAL if it is not one of them. */
int opt__word(const struct opt *o, const char *word, unsigned int *ret_index);
/* The words of a comma-separated list as bits, 1 << index; -EINVAL, -ENOMEM. */
int opt__words(const struct opt *o, const char *list, unsigned int *ret_bits);

int options__print_help(const struct cmd *cmd);
/*
 * A line per row, fields separated by tabs: command, letter, long name, value, words, help, range
 * of numbers as 1-100; "-" for an empty field.
 */
void options__list(const struct cmd *cmd, struct strbuf *b);

#endif /* UI_OPTIONS_H */
