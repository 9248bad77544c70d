/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options as tables.  A row says how an option is written, what --help says of it, and how its
 * value is taken.  Parsing, the usage errors, --help and `stackonce help --options` are made from
 * the rows, and from the latter the completion and the heads of options in the man pages.
 *
 *   static const struct opt options[] = {
 *           { "-o, --output FILE", "where to", OPT_TEXT(struct x, output) },
 *           { "--top N", "so many lines", OPT_NUMBER(struct x, top, 0, 1000) },
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
 * Takes the value (NULL: left out) into the command's struct: CMD_OK; a negative errno, of which
 * the row then makes a usage error; or an exit code after a message.
 */
typedef int (*opt_take_fn)(void *into, const struct opt *o, const char *arg);

enum opt_kind {
	OPT_KIND_FLAG, /* bool: max */
	OPT_KIND_BIT, /* unsigned int: max is added to it */
	OPT_KIND_TEXT, /* const char * */
	OPT_KIND_NUMBER, /* uint64_t or uint32_t, min to max */
	OPT_KIND_SIZE, /* the same, with K, M, G or T */
	OPT_KIND_SECONDS, /* uint64_t, ns, up to max */
	OPT_KIND_SET, /* struct num_set, numbers up to max */
	OPT_KIND_WORD, /* enum or unsigned int: the index of one of the words */
	OPT_KIND_WORDS, /* unsigned int: bits, 1 << index of each of the words, separated by commas */
	OPT_KIND_FN,
	OPT_KIND_REST, /* char *const *: an operand and all that follows it, options or not */
	OPT_KIND_HELP,
};

struct opt {
	/*
	 * "-o, --output FILE"; "--user-stacks[=HOW]" where the value may be left out.  Without a
	 * dash it is an operand: "FORMAT", "[FILE]" where it may be left out; operands are taken in
	 * the order of their rows.  NULL ends the table.
	 */
	const char *head;
	/* For --help, which breaks the lines; %s is the list of words.  NULL: not shown. */
	const char *help;
	enum opt_kind kind;
	size_t at, size; /* the member of the command's struct that it sets */
	uint64_t min, max;
	const void *words; /* strings, stride bytes apart, up to a NULL; NULL: any text */
	size_t stride;
	const char *wants; /* "a percentage", for the usage error; NULL: made from the row */
	opt_take_fn take;
};

/* Where a member is; does not compile where it has another type. */
#define OPT_AT(type, member, of)                                                                 \
	(offsetof(type, member) +                                                                \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), of) ? 1 : \
											     -1]))
/* The same of a number, of 4 or 8 bytes, and its limits. */
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

/* What a row's value may be: these words, or the first members of a table's rows. */
#define WORDS(...) \
	.words = (const char *const[]){ __VA_ARGS__, NULL }, .stride = sizeof(const char *)
#define WORDS_OF(table) .words = (table), .stride = sizeof((table)[0])

/* clang-format off */
#define HELP_OPTION { "-h, --help", "this text", .kind = OPT_KIND_HELP }, { 0 }
/* clang-format on */

/*
 * The command line into the command's struct, which holds what is so unless given.  CMD_OK;
 * CMD_HELP when --help was given and printed; CMD_USAGE after a message, or what a row's function
 * returned.  Long names are taken exactly: a script must not break when an option is added.
 */
int options__parse(const struct cmd *cmd, int argc, char **argv, void *into);

/* The index of one of the row's words, -EINVAL when it is none. */
int opt__word(const struct opt *o, const char *word, unsigned int *ret_index);
/* Those of a list with commas, as bits; the same. */
int opt__words(const struct opt *o, const char *list, unsigned int *ret_bits);

int options__print_help(const struct cmd *cmd);
/* A line per row, with tabs: command, letter, long name, value, words, help; "-" for none. */
void options__list(const struct cmd *cmd, struct strbuf *b);

#endif /* UI_OPTIONS_H */
