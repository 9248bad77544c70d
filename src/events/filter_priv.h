/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Shared by filter.c (the expression), filter_pred.c (one comparison), filter_operand.c (what it
 * compares) and filter_pattern.c.
 */
#ifndef EVENTS_FILTER_PRIV_H
#define EVENTS_FILTER_PRIV_H

#include "filter.h"
#include "format.h"

/* Longest expression, without its NUL: the kernel accepts less than a page. */
#define FILTER_MAX_EXPR 4095

struct filter_compiler {
	const struct ev_format *fmt;
	const struct filter_features *features;
	const char *expr;
	struct filter_prog *prog;
	char *errbuf;
	size_t errlen;
};

/* How the kernel's filters treat a field, according to the text of its type. */
enum operand_type {
	OPERAND_NUMBER, /* everything else, of any size */
	OPERAND_FIXED_STRING,
	OPERAND_DATA_LOC,
	OPERAND_REL_LOC,
	OPERAND_POINTER,
	OPERAND_COMM,
	OPERAND_CPUMASK,
	OPERAND_CPU,
	OPERAND_STACKTRACE,
	OPERAND_TEST, /* compared by filter_names.add_test */
};

struct operand {
	enum operand_type type;
	uint32_t offset; /* in struct filter_input */
	uint32_t size;
	bool is_signed;
	const struct ev_field *copy; /* of the string that it points to, made by a recorder */
	bool is_code; /* the event prints it as the name of a function */
	struct filter_value test; /* OPERAND_TEST */
};

/* Writes "column N: ..." for the byte at pos of the expression to errbuf; returns err. */
int filter__fail(struct filter_compiler *c, int err, size_t pos, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Compiles the comparison that starts at *pos into *ret_pred (targets unset) and moves *pos behind
 * it.  *ret_invert: the result must be inverted.
 */
int filter__parse_pred(struct filter_compiler *c, size_t *pos, struct filter_pred *ret_pred,
		       bool *ret_invert);

/* Parses the name at *pos and moves *pos behind it. */
int filter__parse_operand(struct filter_compiler *c, size_t *pos, struct operand *ret_operand);

/* Copies len bytes to the pool, aligned to align.  Returns the offset, or -E2BIG. */
int filter__pool_add(struct filter_prog *prog, const void *data, size_t len, size_t align);

/* Compiles the glob's tokens and classes into the pool.  Returns the tokens' offset, or -E2BIG. */
int filter__glob_compile(struct filter_prog *prog, const char *pat, size_t len);

/* Parses the CPU list in text (len bytes) to a mask of nr_cpus bits; 0 or -EINVAL. */
int filter__cpulist_parse(const char *text, size_t len, uint32_t nr_cpus, uint64_t *ret_mask);

/* The kernel's character classes: its ctype table is Latin-1. */
static inline bool filter__isspace(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r') || ch == '\xa0';
}

static inline bool filter__isdigit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static inline bool filter__isalnum(char ch)
{
	unsigned char u = ch;

	return filter__isdigit(ch) || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (u >= 0xc0 && u != 0xd7 && u != 0xf7);
}

#endif /* EVENTS_FILTER_PRIV_H */
