// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The expression: parentheses, &&, ||, ! and the jumps between predicates.  Predicates are emitted
 * in the order of the text.  A fragment is a run of predicates whose jumps to "true" and "false"
 * are still open; open jumps are chained through the target fields themselves.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "filter_eval.h"
#include "filter_priv.h"

#define NO_JUMP 0xffff /* end of a chain of open jumps */

struct fragment {
	uint16_t first; /* predicate where it starts */
	uint16_t on_true; /* chains: predicate << 1 | (1: its on_false field) */
	uint16_t on_false;
};

/* What has been parsed inside one pair of parentheses: `any || all && ...`. */
struct level {
	struct fragment any, all;
	bool has_any, has_all;
	bool negated; /* a ! precedes the parenthesis */
};

int filter__fail(struct filter_compiler *c, int err, size_t pos, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!c->errlen)
		return err;
	n = snprintf(c->errbuf, c->errlen, "column %zu: ", pos + 1);
	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < c->errlen)
		vsnprintf(c->errbuf + n, c->errlen - n, fmt, ap);
	va_end(ap);
	return err;
}

static uint16_t *jump_field(struct filter_prog *prog, uint16_t jump)
{
	struct filter_pred *pred = &prog->preds[jump >> 1];

	return jump & 1 ? &pred->on_false : &pred->on_true;
}

static void chain__close(struct filter_prog *prog, uint16_t chain, uint16_t target)
{
	while (chain != NO_JUMP) {
		uint16_t *field = jump_field(prog, chain);

		chain = *field;
		*field = target;
	}
}

static uint16_t chain__join(struct filter_prog *prog, uint16_t a, uint16_t b)
{
	uint16_t *field;

	if (a == NO_JUMP)
		return b;
	field = jump_field(prog, a);
	while (*field != NO_JUMP)
		field = jump_field(prog, *field);
	*field = b;
	return a;
}

static struct fragment fragment__not(struct fragment f)
{
	return (struct fragment){ f.first, f.on_false, f.on_true };
}

static struct fragment fragment__and(struct filter_prog *prog, struct fragment a, struct fragment b)
{
	chain__close(prog, a.on_true, b.first);
	a.on_true = b.on_true;
	a.on_false = chain__join(prog, a.on_false, b.on_false);
	return a;
}

static struct fragment fragment__or(struct filter_prog *prog, struct fragment a, struct fragment b)
{
	chain__close(prog, a.on_false, b.first);
	a.on_false = b.on_false;
	a.on_true = chain__join(prog, a.on_true, b.on_true);
	return a;
}

static void level__end_all(struct filter_prog *prog, struct level *l)
{
	l->any = l->has_any ? fragment__or(prog, l->any, l->all) : l->all;
	l->has_any = true;
	l->has_all = false;
}

static void level__add(struct filter_prog *prog, struct level *l, struct fragment f)
{
	l->all = l->has_all ? fragment__and(prog, l->all, f) : f;
	l->has_all = true;
}

/*
 * Checks quotes and parentheses of the whole text first, as the kernel does: this decides about
 * text such as a parenthesis within CPUS{}.  Returns the deepest nesting.
 */
static int check_brackets(struct filter_compiler *c)
{
	const char *s = c->expr;
	_cleanup_free_ size_t *open = malloc(strlen(s) * sizeof(*open) + 1);
	size_t i, depth = 0, deepest = 0, quote_pos = 0;
	char quote = 0;

	if (!open)
		return filter__fail(c, -ENOMEM, 0, "out of memory");
	for (i = 0; s[i]; i++) {
		if (quote) {
			if (s[i] == quote)
				quote = 0;
		} else if (s[i] == '\'' || s[i] == '"') {
			quote = s[i];
			quote_pos = i;
		} else if (s[i] == '(') {
			open[depth++] = i;
			deepest = MAX(deepest, depth);
		} else if (s[i] == ')' && !depth--) {
			return filter__fail(c, -EINVAL, i, "')' without a '('");
		}
	}
	if (quote)
		return filter__fail(c, -EINVAL, quote_pos, "the quote is not closed");
	if (depth)
		return filter__fail(c, -EINVAL, open[depth - 1], "'(' without a ')'");
	return deepest;
}

static int add_pred(struct filter_compiler *c, size_t *pos, struct fragment *ret)
{
	struct filter_prog *prog = c->prog;
	uint16_t n = prog->nr_preds;
	struct filter_pred pred = {};
	size_t start = *pos;
	bool invert = false;
	int err;

	err = filter__parse_pred(c, pos, &pred, &invert);
	if (err)
		return err;
	if (n >= FILTER_MAX_PREDS)
		return filter__fail(c, -E2BIG, start, "more than %d comparisons", FILTER_MAX_PREDS);
	pred.on_true = pred.on_false = NO_JUMP;
	prog->preds[n] = pred;
	prog->nr_preds++;
	*ret = (struct fragment){ n, n << 1, n << 1 | 1 };
	if (invert)
		*ret = fragment__not(*ret);
	return 0;
}

static size_t skip_spaces(const char *s, size_t pos)
{
	while (filter__isspace(s[pos]))
		pos++;
	return pos;
}

/* '!', '(' and spaces before a comparison; NULL: more levels than check_brackets() found. */
static struct level *open_levels(const char *s, size_t *pos, struct level *top,
				 const struct level *deepest, bool *ret_negated)
{
	bool negated = false;

	for (;; ++*pos) {
		*pos = skip_spaces(s, *pos);
		if (s[*pos] == '!' && s[*pos + 1] != '=' && s[*pos + 1] != '~') {
			negated = !negated;
		} else if (s[*pos] == '(') {
			if (top == deepest)
				return NULL;
			*++top = (struct level){ .negated = negated };
			negated = false;
		} else {
			break;
		}
	}
	*ret_negated = negated;
	return top;
}

/* The text ends where a comparison should start. */
static int end_early(struct filter_compiler *c, size_t pos, struct level *top)
{
	if (!top->has_all && !top->has_any)
		return filter__fail(c, -EINVAL, pos, "no expression");
	/* Even with dangling_op, a last && that binds tighter than an open || is refused. */
	if (!c->features->dangling_op || (top->has_all && top->has_any))
		return filter__fail(c, -EINVAL, pos, "a comparison is missing at the end");
	return 0;
}

/* Closing parentheses, then && or || or the end.  1: a comparison follows, 0: the end. */
static int close_levels(struct filter_compiler *c, size_t *pos, const struct level *bottom,
			struct level **top)
{
	struct filter_prog *prog = c->prog;
	const char *s = c->expr;

	for (;;) {
		struct fragment f;

		*pos = skip_spaces(s, *pos);
		if ((s[*pos] == '&' || s[*pos] == '|') && s[*pos + 1] == s[*pos]) {
			if (s[*pos] == '|')
				level__end_all(prog, *top);
			*pos += 2;
			return 1;
		}
		if (s[*pos] && s[*pos] != ')')
			return filter__fail(c, -EINVAL, *pos, "expected && or || or the end");
		level__end_all(prog, *top);
		if (!s[*pos])
			return 0;
		if (*top == bottom)
			return filter__fail(c, -EINVAL, *pos, "')' without a '('");
		f = (*top)->negated ? fragment__not((*top)->any) : (*top)->any;
		--*top;
		level__add(prog, *top, f);
		++*pos;
	}
}

static int parse_expr(struct filter_compiler *c)
{
	_cleanup_free_ struct level *levels = NULL;
	struct level *top;
	size_t pos = 0;
	int ret, depth;

	depth = check_brackets(c);
	if (depth < 0)
		return depth;
	levels = calloc(depth + 1, sizeof(*levels));
	if (!levels)
		return filter__fail(c, -ENOMEM, 0, "out of memory");
	top = levels;
	do {
		struct fragment f = {};
		bool negated;

		top = open_levels(c->expr, &pos, top, &levels[depth], &negated);
		if (!top)
			return filter__fail(c, -EINVAL, pos, "'(' without a ')'");
		if (!c->expr[pos]) {
			ret = end_early(c, pos, top);
			if (ret)
				return ret;
			if (top->has_all)
				level__end_all(c->prog, top);
			break;
		}
		ret = add_pred(c, &pos, &f);
		if (ret)
			return ret;
		level__add(c->prog, top, negated ? fragment__not(f) : f);
		ret = close_levels(c, &pos, levels, &top);
		if (ret < 0)
			return ret;
	} while (ret);
	if (top != levels)
		return filter__fail(c, -EINVAL, pos, "'(' without a ')'");
	chain__close(c->prog, top->any.on_true, FILTER_ACCEPT);
	chain__close(c->prog, top->any.on_false, FILTER_REJECT);
	return 0;
}

/* "0" alone means no filter. */
static bool is_zero(const char *expr)
{
	size_t pos = skip_spaces(expr, 0);

	return expr[pos] == '0' && !expr[skip_spaces(expr, pos + 1)];
}

int filter__compile(const struct ev_format *fmt, const char *expr,
		    const struct filter_features *features, struct filter_prog *ret_prog,
		    char *errbuf, size_t errlen)
{
	struct filter_compiler c = {
		.fmt = fmt,
		.features = features,
		.expr = expr,
		.errbuf = errbuf,
		.errlen = errlen,
	};
	_cleanup_free_ struct filter_prog *prog = calloc(1, sizeof(*prog));
	int err;

	c.prog = prog;
	if (errlen)
		errbuf[0] = '\0';
	if (!prog)
		return filter__fail(&c, -ENOMEM, 0, "out of memory");
	if (strlen(expr) > FILTER_MAX_EXPR)
		return filter__fail(&c, -EINVAL, FILTER_MAX_EXPR, "longer than %d bytes",
				    FILTER_MAX_EXPR);
	if (!is_zero(expr)) {
		err = parse_expr(&c);
		if (err)
			return err;
	}
	*ret_prog = *prog;
	return 0;
}

bool filter__match(const struct filter_prog *prog, struct filter_input *in)
{
	return filter_eval(prog, in);
}
