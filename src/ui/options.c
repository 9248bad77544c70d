// SPDX-License-Identifier: GPL-2.0-only
/* Parses command lines and prints help by tables of options. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "nearest.h"
#include "strbuf.h"
#include "ui.h"

#define HELP_AT 23 /* leftmost column of an option's help */
#define HELP_AT_MOST 26 /* rightmost; a longer head pushes its help further right */
#define HELP_WIDTH 80
#define MAX_SUGGESTED 64 /* options of a command that are compared with a wrong one */

/* ---- rows ------------------------------------------------------------------------------------ */

/* The parts of a row's head. */
struct head {
	char letter; /* '\0': none */
	const char *name; /* the long name, or the placeholder of an operand */
	int len;
	const char *value; /* "FILE"; NULL: the option takes no value */
	bool is_optional; /* the value, or the operand, is optional */
	bool is_operand;
	bool is_list; /* an operand that takes all words that are left */
};

static struct head head_of(const struct opt *o)
{
	const char *name = strstr(o->head, "--");
	struct head h = { .is_operand = o->head[0] != '-' };

	if (h.is_operand) {
		h.is_optional = o->head[0] == '[';
		h.name = o->head + h.is_optional;
		h.len = strcspn(h.name, " ].");
		h.is_list = h.name[h.len] == '.';
		return h;
	}
	h.letter = o->head[1] == '-' ? '\0' : o->head[1];
	h.name = name + 2;
	h.len = strcspn(h.name, " [");
	h.is_optional = h.name[h.len] == '[';
	if (h.name[h.len])
		h.value = h.name + h.len + 1 + h.is_optional;
	return h;
}

static const char *word_of(const struct opt *o, unsigned int i)
{
	return o->words ? *(const char *const *)((const char *)o->words + i * o->stride) : NULL;
}

int opt__word(const struct opt *o, const char *word, unsigned int *ret_index)
{
	unsigned int i;

	for (i = 0; word_of(o, i); i++) {
		if (strcmp(word_of(o, i), word))
			continue;
		*ret_index = i;
		return 0;
	}
	return -EINVAL;
}

int opt__words(const struct opt *o, const char *list, unsigned int *ret_bits)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *word;
	unsigned int bits = 0, i;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		if (opt__word(o, word, &i))
			return -EINVAL;
		bits |= 1u << i;
	}
	*ret_bits = bits;
	return 0;
}

/* "a, b or c" */
static void put_words(struct strbuf *b, const struct opt *o)
{
	unsigned int i;

	for (i = 0; word_of(o, i); i++)
		strbuf__printf(b, "%s%s",
			       !i		 ? "" :
			       word_of(o, i + 1) ? ", " :
						   " or ",
			       word_of(o, i));
}

/* ---- values ---------------------------------------------------------------------------------- */

/* 8M rather than 8388608. */
static void put_limit(struct strbuf *b, const struct opt *o, uint64_t v)
{
	unsigned int unit = 0;

	while (o->kind == OPT_KIND_SIZE && unit < 4 && v && !(v & 1023)) {
		v >>= 10;
		unit++;
	}
	strbuf__printf(b, "%" PRIu64 "%.1s", v, &"\0KMGT"[unit]);
}

/* " from 1 to 100": of a number; of what else has limits, only if they are exceeded. */
static void put_range(struct strbuf *b, const struct opt *o, int err)
{
	bool is_number = o->kind == OPT_KIND_NUMBER || o->kind == OPT_KIND_SIZE;

	if (o->kind == OPT_KIND_SECONDS && err == -ERANGE) {
		strbuf__printf(b, " from 0 to %" PRIu64, o->max / 1000000000);
	} else if (o->kind == OPT_KIND_SET && err == -ERANGE) {
		strbuf__printf(b, ", each from 0 to %" PRIu64 ", and ranges as FIRST-LAST", o->max);
	} else if ((is_number && (err == -ERANGE || (o->max && o->max < UINT32_MAX))) ||
		   (o->kind == OPT_KIND_FN && o->max)) {
		strbuf__puts(b, " from ");
		put_limit(b, o, o->min);
		strbuf__puts(b, " to ");
		put_limit(b, o, o->max);
	}
}

static int value_error(const struct cmd *cmd, const struct opt *o, const char *arg, int err)
{
	static const char *const kinds[] = {
		[OPT_KIND_NUMBER] = "a number",	 [OPT_KIND_SIZE] = "a size",
		[OPT_KIND_SECONDS] = "seconds",	 [OPT_KIND_SET] = "a list of numbers",
		[OPT_KIND_FN] = "another value", [OPT_KIND_WORDS] = "some of ",
	};
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	struct head h = head_of(o);

	strbuf__puts(&b, o->expects ?: o->kind != OPT_KIND_WORDS && o->words ? "" : kinds[o->kind]);
	if (!o->expects)
		put_words(&b, o);
	put_range(&b, o, err);
	if (err == -ENOMEM || strbuf__failed(&b)) {
		log_err(-ENOMEM, "take the options of '%s'", cmd->name);
		return CMD_FAILURE;
	}
	if (h.is_operand)
		return ui__usage_error(cmd->name, "%.*s expects %s: '%s'; the order is: %s", h.len,
				       h.name, b.s, arg, cmd->usage ?: "OPTIONS, operands");
	return ui__usage_error(cmd->name, "--%.*s expects %s: '%s'", h.len, h.name, b.s, arg ?: "");
}

static int take_number(const struct opt *o, const char *arg, void *ret_member)
{
	uint64_t v;
	int err;

	if (o->kind == OPT_KIND_SIZE)
		err = parse__size(arg, o->min, o->max, &v);
	else
		err = parse__u64(arg, o->min, o->max, &v);
	if (!err && o->size == sizeof(uint32_t))
		*(uint32_t *)ret_member = v;
	else if (!err)
		*(uint64_t *)ret_member = v;
	return err;
}

static int take_seconds(const struct opt *o, const char *arg, uint64_t *ret_ns)
{
	uint64_t ns;
	int err = parse__seconds(arg, &ns);

	if (err || ns > o->max)
		return err ?: -ERANGE;
	*ret_ns = ns;
	return 0;
}

static int take(const struct cmd *cmd, void *into, const struct opt *o, const char *arg)
{
	void *member = (char *)into + o->at;
	int err = 0;

	switch (o->kind) {
	case OPT_KIND_FLAG:
		*(bool *)member = o->max;
		break;
	case OPT_KIND_BIT:
		*(unsigned int *)member |= o->max;
		break;
	case OPT_KIND_TEXT:
		*(const char **)member = arg;
		break;
	case OPT_KIND_NUMBER:
	case OPT_KIND_SIZE:
		err = take_number(o, arg, member);
		break;
	case OPT_KIND_SECONDS:
		err = take_seconds(o, arg, member);
		break;
	case OPT_KIND_SET:
		err = num_set__parse(arg, o->max, member);
		break;
	case OPT_KIND_WORD:
		err = opt__word(o, arg, member);
		break;
	case OPT_KIND_WORDS:
		err = opt__words(o, arg, member);
		break;
	case OPT_KIND_FN:
		err = o->take(into, o, arg);
		break;
	case OPT_KIND_REST:
		break;
	case OPT_KIND_HELP:
		return options__print_help(cmd) ?: CMD_HELP;
	}
	return err < 0 ? value_error(cmd, o, arg, err) : err;
}

/* ---- the command line ------------------------------------------------------------------------ */

struct parse {
	const struct cmd *cmd;
	void *into;
	char **argv; /* ends with NULL */
	int at; /* index of the word being parsed */
	const struct opt *operand; /* row of the next operand; its head is NULL after the last */
};

static const struct opt *next_operand(const struct opt *o)
{
	while (o->head && !head_of(o).is_operand)
		o++;
	return o;
}

/* "; did you mean --NAME?", owned by the caller, or NULL. */
static char *similar_option(const struct parse *p, const char *word, size_t len)
{
	_cleanup_free_ char *meant = strndup(word, len);
	char *names[MAX_SUGGESTED] = { NULL }, *question = NULL;
	unsigned int nr = 0, i;
	const struct opt *o;

	for (o = p->cmd->options; o->head && nr < MAX_SUGGESTED; o++) {
		struct head h = head_of(o);

		if (h.is_operand || asprintf(&names[nr], "--%.*s", h.len, h.name) < 0)
			continue;
		/* an abbreviation */
		if (len > 2 && !strncmp(names[nr], word, len) && !question &&
		    asprintf(&question, "; did you mean %s?", names[nr]) < 0)
			question = NULL;
		nr++;
	}
	if (!question && meant)
		question = nearest__question(meant, (const char *const *)names, nr);
	for (i = 0; i < nr; i++)
		free(names[i]);
	return question;
}

static int unknown_option(const struct parse *p, const char *word, size_t len)
{
	_cleanup_free_ char *question = similar_option(p, word, len + 2);

	return ui__usage_error(p->cmd->name, "unknown option '%s'%s", word, question ?: "");
}

static int parse_long(struct parse *p, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	const char *value = word[2 + len] ? word + 2 + len + 1 : NULL;
	const struct opt *o;
	struct head h;

	for (o = p->cmd->options; o->head; o++) {
		h = head_of(o);
		if (!h.is_operand && (size_t)h.len == len && !strncmp(h.name, word + 2, len))
			break;
	}
	if (!o->head)
		return unknown_option(p, word, len);
	if (value && !h.value)
		return ui__usage_error(p->cmd->name, "option '%s' takes no value", word);
	if (!value && h.value && !h.is_optional) {
		value = p->argv[++p->at];
		if (!value)
			return ui__usage_error(p->cmd->name, "option '%s' needs a value", word);
	}
	return take(p->cmd, p->into, o, value);
}

/* Short options in one word; one with a value takes the rest of the word, or the next word. */
static int parse_letters(struct parse *p, const char *letter)
{
	const struct opt *o;
	const char *value;
	struct head h;
	int code = CMD_OK;

	for (; *letter && !code; letter++) {
		for (o = p->cmd->options; o->head; o++) {
			h = head_of(o);
			if (h.letter == *letter)
				break;
		}
		if (!o->head)
			return ui__usage_error(p->cmd->name, "unknown option '-%c'", *letter);
		if (!h.value) {
			code = take(p->cmd, p->into, o, NULL);
			continue;
		}
		value = letter[1] ? letter + 1 : p->argv[++p->at];
		if (!value)
			return ui__usage_error(p->cmd->name, "option '-%c' needs a value", *letter);
		return take(p->cmd, p->into, o, value);
	}
	return code;
}

static int surplus_operand(const struct parse *p)
{
	const struct opt *o, *last = NULL;
	struct head h;

	for (o = next_operand(p->cmd->options); o->head; o = next_operand(o + 1))
		last = o;
	if (!last)
		return ui__usage_error(p->cmd->name, "'%s' is not expected here", p->argv[p->at]);
	h = head_of(last);
	return ui__usage_error(p->cmd->name, "one %.*s at most, '%s' is too many", h.len, h.name,
			       p->argv[p->at]);
}

static int parse_operand(struct parse *p)
{
	const struct opt *o = p->operand;

	if (!o->head)
		return surplus_operand(p);
	if (o->kind != OPT_KIND_REST) {
		if (!head_of(o).is_list)
			p->operand = next_operand(o + 1);
		return take(p->cmd, p->into, o, p->argv[p->at]);
	}
	*(char *const **)((char *)p->into + o->at) = p->argv + p->at;
	while (p->argv[p->at + 1])
		p->at++;
	return CMD_OK;
}

int options__parse(const struct cmd *cmd, int argc, char **argv, void *into)
{
	struct parse p = { cmd, into, argv, 1, next_operand(cmd->options) };
	bool only_operands = false;
	int code = CMD_OK, nr_operands = 0;
	const char *word;

	for (; p.at < argc && !code; p.at++) {
		word = argv[p.at];
		if (p.operand->kind == OPT_KIND_REST && (only_operands || word[0] != '-'))
			code = parse_operand(&p);
		else if (only_operands || word[0] != '-' || !word[1])
			argv[++nr_operands] = argv[p.at];
		else if (!strcmp(word, "--") && p.operand->kind == OPT_KIND_REST && !argv[p.at + 1])
			return ui__usage_error(cmd->name, "nothing follows '--'");
		else if (!strcmp(word, "--"))
			only_operands = true;
		else if (word[1] == '-')
			code = parse_long(&p, word);
		else
			code = parse_letters(&p, word + 1);
	}
	/* The operands are taken last, so that --help is found behind wrong ones. */
	for (p.at = 1; p.at <= nr_operands && !code; p.at++)
		code = parse_operand(&p);
	if (!code && p.operand->head && !head_of(p.operand).is_optional)
		return ui__usage_error(cmd->name, "%s is missing", p.operand->head);
	return code;
}

/* ---- help and lists -------------------------------------------------------------------------- */

static void put_help(struct strbuf *b, const struct opt *o)
{
	const char *list = strstr(o->help, "%s"), *tail = list ? list + 2 : "";

	strbuf__add(b, o->help, list ? (size_t)(list - o->help) : strlen(o->help));
	if (list)
		put_words(b, o);
	strbuf__puts(b, tail);
}

/* Appends text at the current column; wrapped lines start at the column `left`. */
static void put_wrapped(struct strbuf *b, size_t column, size_t left, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > left && column + len > HELP_WIDTH) {
			b->len -= b->s[b->len - 1] == ' ';
			strbuf__putc(b, '\n');
			strbuf__pad(b, ' ', left);
			column = left;
		}
		strbuf__add(b, text, len);
		text += len;
		column += len + 1;
		if (*text)
			strbuf__putc(b, *text++);
	}
	strbuf__putc(b, '\n');
}

static size_t head_width(const struct opt *o)
{
	return (o->head[0] == '-' && o->head[1] == '-' ? 6 : 2) + strlen(o->head) + 2;
}

static void put_row(struct strbuf *b, const struct opt *o, size_t left)
{
	_cleanup_(strbuf__free) struct strbuf help = { 0 };
	size_t width = head_width(o);

	strbuf__pad(b, ' ', width - strlen(o->head) - 2);
	strbuf__puts(b, o->head);
	strbuf__pad(b, ' ', width < left ? left - width + 2 : 2);
	put_help(&help, o);
	put_wrapped(b, MAX(width, left), left, help.s ?: "");
	b->failed |= strbuf__failed(&help);
}

int options__print_help(const struct cmd *cmd)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	const struct opt *o;
	size_t left = HELP_AT;

	for (o = cmd->options; o->head; o++)
		if (o->help && head_width(o) <= HELP_AT_MOST)
			left = MAX(left, head_width(o));
	strbuf__printf(&b, "Usage: stackonce %s %s", cmd->name, cmd->usage ?: "[OPTIONS]");
	for (o = next_operand(cmd->options); o->head && !cmd->usage; o = next_operand(o + 1))
		strbuf__printf(&b, " %s", o->head);
	strbuf__printf(&b, "\n%s\n", cmd->text);
	for (o = cmd->options; o->head; o++)
		if (o->help)
			put_row(&b, o, left);
	if (cmd->notes)
		strbuf__printf(&b, "\n%s", cmd->notes);
	return strbuf__failed(&b) ? CMD_FAILURE : ui__print(b.s);
}

/* "1-100", or "-" if the option has no limits that anybody would reach. */
static void put_list_range(struct strbuf *b, const struct opt *o)
{
	bool is_number = o->kind == OPT_KIND_NUMBER || o->kind == OPT_KIND_SIZE;

	if ((is_number && o->max != UINT32_MAX && o->max != UINT64_MAX) ||
	    (o->kind == OPT_KIND_FN && o->max)) {
		put_limit(b, o, o->min);
		strbuf__putc(b, '-');
		put_limit(b, o, o->max);
	} else {
		strbuf__putc(b, '-');
	}
	strbuf__putc(b, '\n');
}

void options__list(const struct cmd *cmd, struct strbuf *b)
{
	const struct opt *o;
	unsigned int i;

	for (o = cmd->options; o->head; o++) {
		struct head h = head_of(o);

		strbuf__printf(b, "%s\t%s%c\t", cmd->name, h.letter ? "-" : "", h.letter ?: '-');
		if (h.is_operand)
			strbuf__printf(b, "-\t%s\t", o->head);
		else
			strbuf__printf(b, "--%.*s\t%s%s\t", h.len, h.name,
				       h.is_optional ? "[=" : "", h.value ?: "-");
		for (i = 0; word_of(o, i); i++)
			strbuf__printf(b, "%s%s", i ? "," : "", word_of(o, i));
		strbuf__puts(b, i ? "\t" : "-\t");
		if (o->help)
			put_help(b, o);
		strbuf__puts(b, o->help ? "\t" : "-\t");
		put_list_range(b, o);
	}
}
