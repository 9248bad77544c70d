// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* One comparison: FIELD OP VALUE. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "filter_priv.h"

enum op { OP_GLOB, OP_NE, OP_EQ, OP_LE, OP_LT, OP_GE, OP_GT, OP_BAND, NR_OPS };

/* In the order in which they are tried: "<=" before "<". */
static const char *const op_names[NR_OPS] = { "~", "!=", "==", "<=", "<", ">=", ">", "&" };

/* One comparison being compiled; pos advances over the text. */
struct comparison {
	struct filter_compiler *c;
	const char *s;
	size_t pos;
	struct operand field;
	enum op op;
	size_t op_pos;
	struct filter_pred *pred;
	bool invert;
	struct filter_test test; /* is_function, is_copy */
};

#define FAIL(k, at, ...) filter__fail((k)->c, -EINVAL, (at), __VA_ARGS__)

static bool accept(struct comparison *k, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(k->s + k->pos, word, len))
		return false;
	k->pos += len;
	return true;
}

static void skip_spaces(struct comparison *k)
{
	while (filter__isspace(k->s[k->pos]))
		k->pos++;
}

static int parse_op(struct comparison *k)
{
	unsigned int op;

	skip_spaces(k);
	k->op_pos = k->pos;
	for (op = 0; op < NR_OPS; op++) {
		if (accept(k, op_names[op])) {
			k->op = op;
			skip_spaces(k);
			return 0;
		}
	}
	return FAIL(k, k->pos, "expected one of == != < <= > >= & ~");
}

static bool is_string(const struct operand *f)
{
	return f->type == OPERAND_FIXED_STRING || f->type == OPERAND_DATA_LOC ||
	       f->type == OPERAND_REL_LOC || f->type == OPERAND_POINTER || f->type == OPERAND_COMM;
}

static bool may_be_string(const struct operand *f)
{
	return is_string(f) || (f->type == OPERAND_TEST && f->test.is_text);
}

static int digit_value(char ch)
{
	if (filter__isdigit(ch))
		return ch - '0';
	ch |= 0x20;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : 99;
}

/* Parses a whole number as kstrtoull(s, 0) does: 0 or -EINVAL, -ERANGE. */
static int parse_u64(const char *s, size_t len, uint64_t *ret)
{
	unsigned int base = 10;
	uint64_t v = 0;
	size_t i = 0;

	if (len && s[0] == '0') {
		base = 8;
		if (len > 2 && (s[1] | 0x20) == 'x' && digit_value(s[2]) < 16) {
			base = 16;
			i = 2;
		}
	}
	if (i == len)
		return -EINVAL;
	for (; i < len; i++) {
		unsigned int d = digit_value(s[i]);

		if (d >= base)
			return -EINVAL;
		if (v > (UINT64_MAX - d) / base)
			return -ERANGE;
		v = v * base + d;
	}
	*ret = v;
	return 0;
}

static int parse_s64(const char *s, size_t len, uint64_t *ret)
{
	bool negative = len && s[0] == '-';
	uint64_t v;
	int err;

	err = parse_u64(s + negative, len - negative, &v);
	if (err)
		return err;
	if (v > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*ret = negative ? -v : v;
	return 0;
}

#define MAX_NUMBER_TEXT 23 /* the kernel's buffer for the digits */

/* Parses the digits at pos, with a sign if is_signed allows one. */
static int parse_number(struct comparison *k, bool is_signed, uint64_t *ret)
{
	size_t start = k->pos, len;
	int err;

	if (k->s[k->pos] == '-')
		k->pos++;
	while (filter__isalnum(k->s[k->pos]))
		k->pos++;
	len = k->pos - start;
	if (len > MAX_NUMBER_TEXT)
		return FAIL(k, start, "the number is longer than %d characters", MAX_NUMBER_TEXT);
	err = is_signed ? parse_s64(k->s + start, len, ret) : parse_u64(k->s + start, len, ret);
	if (err == -ERANGE)
		return FAIL(k, start, "the number is out of range");
	if (err && !is_signed && k->s[start] == '-')
		return FAIL(k, start, "the field is unsigned");
	if (err)
		return FAIL(k, start, "'%.*s' is not a number", (int)len, k->s + start);
	return 0;
}

/* Compiles value OP val, for a value of size bytes, to a range that may wrap around. */
static void set_number(struct comparison *k, uint32_t size, bool is_signed, uint64_t val)
{
	struct filter_pred *pred = k->pred;
	struct filter_pred_num *num = &pred->num;
	uint64_t min, max;

	pred->kind = FILTER_KIND_FALSE;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return;
	num->mask = size == 8 ? UINT64_MAX : (1ULL << size * 8) - 1;
	min = is_signed ? num->mask / 2 + 1 : 0;
	max = (min - 1) & num->mask;
	val &= num->mask;
	if ((k->op == OP_LT && val == min) || (k->op == OP_GT && val == max))
		return;
	pred->kind = FILTER_KIND_RANGE;
	switch (k->op) {
	case OP_BAND:
		pred->kind = FILTER_KIND_BITS;
		num->lo = val;
		break;
	case OP_LT:
	case OP_LE:
		num->lo = min;
		num->span = (val - min - (k->op == OP_LT)) & num->mask;
		break;
	case OP_GT:
	case OP_GE:
		num->lo = val + (k->op == OP_GT);
		num->span = (max - num->lo) & num->mask;
		break;
	default:
		num->lo = val;
		num->span = 0;
		k->invert = k->op == OP_NE;
	}
}

static int parse_numeric(struct comparison *k)
{
	uint64_t val;
	int err;

	if (is_string(&k->field) || (k->field.type == OPERAND_TEST && !k->field.test.is_number))
		return FAIL(k, k->pos, "the field is a string: the value needs quotes");
	if (k->op == OP_GLOB)
		return FAIL(k, k->op_pos, "~ is for strings");
	err = parse_number(k, k->field.is_signed, &val);
	if (err)
		return err;
	if (k->field.type != OPERAND_CPU)
		set_number(k, k->field.size, k->field.is_signed, val);
	else if (k->op != OP_BAND) /* the kernel accepts CPU & number, but it is never true */
		set_number(k, 4, true, val);
	return 0;
}

/* Selects the kind of match from the pattern of a ~, as the kernel does, and strips its stars. */
static enum filter_match match_of_glob(char *pat, size_t *len, bool *ret_negated)
{
	enum filter_match match = FILTER_MATCH_FULL;
	size_t i;

	*ret_negated = *len && pat[0] == '!';
	if (*ret_negated)
		memmove(pat, pat + 1, (*len)--);
	if (filter__isdigit(pat[0]))
		return FILTER_MATCH_FULL;
	for (i = 0; i < *len; i++) {
		if (pat[i] == '[' || pat[i] == '?' || pat[i] == '\\')
			return FILTER_MATCH_GLOB;
		if (pat[i] != '*')
			continue;
		if (i == 0) {
			match = FILTER_MATCH_END;
		} else if (i == *len - 1) {
			match = match == FILTER_MATCH_END ? FILTER_MATCH_MIDDLE :
							    FILTER_MATCH_FRONT;
			pat[--*len] = '\0';
		} else {
			return FILTER_MATCH_GLOB;
		}
	}
	if (pat[0] == '*')
		memmove(pat, pat + 1, (*len)--);
	return match;
}

static int set_pattern(struct comparison *k, size_t start, size_t len)
{
	char pat[FILTER_MAX_PATTERN + 1] = "";
	struct filter_pred_str *str = &k->pred->str;
	bool negated = false;
	int off;

	memcpy(pat, k->s + start, len);
	str->match = FILTER_MATCH_FULL;
	if (k->op == OP_GLOB)
		str->match = match_of_glob(pat, &len, &negated);
	if (str->match == FILTER_MATCH_GLOB)
		off = filter__glob_compile(k->c->prog, pat, len);
	else
		off = filter__pool_add(k->c->prog, pat, len, 1);
	if (off < 0)
		return filter__fail(k->c, off, start, "the patterns need more than %d bytes",
				    FILTER_POOL_SIZE);
	str->pat_off = off;
	str->pat_len = len;
	k->invert = negated || k->op == OP_NE;
	return 0;
}

/* A string behind a pointer, on the host: its copy in the record. */
static int use_copy(struct comparison *k, bool user)
{
	const struct ev_field *copy = k->field.copy;

	if (!copy)
		return FAIL(k, k->pos,
			    "the field is a pointer, and what it points to is not recorded");
	if (!user)
		return FAIL(k, k->op_pos,
			    "the string is in user space: write .ustring after the name");
	k->c->prog->min_len = MAX(k->c->prog->min_len, copy->offset + copy->size);
	k->test.is_copy = true;
	k->test.offset = copy->offset;
	k->field.type = OPERAND_TEST;
	k->field.test.is_text = true;
	k->pred->offset = FILTER_INPUT_REC;
	return 0;
}

static int parse_string(struct comparison *k, bool user)
{
	struct filter_pred_str *str = &k->pred->str;
	size_t quote = k->pos, len;
	const char *close;
	int err;

	if (k->op != OP_EQ && k->op != OP_NE && k->op != OP_GLOB)
		return FAIL(k, k->op_pos, "strings support only == != ~");
	if (k->field.type == OPERAND_POINTER && k->c->features->names) {
		err = use_copy(k, user);
		if (err)
			return err;
	}
	if (!may_be_string(&k->field))
		return FAIL(k, quote, "the field is not a string");
	close = strchr(k->s + quote + 1, k->s[quote]);
	if (!close)
		return FAIL(k, quote, "the quote is not closed");
	len = close - (k->s + quote + 1);
	if (len > FILTER_MAX_PATTERN)
		return FAIL(k, quote, "the string is longer than %d bytes", FILTER_MAX_PATTERN);
	err = set_pattern(k, quote + 1, len);
	if (err)
		return err;
	k->pos = quote + 1 + len + 1;
	k->pred->kind = FILTER_KIND_STRING;
	switch (k->field.type) {
	case OPERAND_DATA_LOC:
	case OPERAND_TEST:
		str->source = FILTER_STR_DATA_LOC;
		break;
	case OPERAND_REL_LOC:
		str->source = FILTER_STR_REL_LOC;
		break;
	case OPERAND_POINTER:
		str->source = user ? FILTER_STR_USER_PTR : FILTER_STR_KERNEL_PTR;
		str->negate = k->invert;
		k->invert = false;
		break;
	default:
		str->source = FILTER_STR_FIXED;
		str->field_len = k->field.type == OPERAND_COMM ? FILTER_COMM_LEN : k->field.size;
	}
	return 0;
}

static unsigned int mask__weight(const uint64_t *mask, uint32_t nr_cpus, uint32_t *ret_first)
{
	unsigned int n = 0;
	uint32_t cpu;

	for (cpu = nr_cpus; cpu--;) {
		if (mask[cpu / 64] >> cpu % 64 & 1) {
			*ret_first = cpu;
			n++;
		}
	}
	return n;
}

static int set_mask(struct comparison *k, size_t start, const uint64_t *mask, uint32_t nr_cpus)
{
	struct filter_pred_mask *cpus = &k->pred->cpus;
	int off = filter__pool_add(k->c->prog, mask, (nr_cpus + 63) / 64 * sizeof(*mask), 8);

	if (off < 0)
		return filter__fail(k->c, off, start, "the patterns need more than %d bytes",
				    FILTER_POOL_SIZE);
	cpus->off = off;
	cpus->nr_cpus = nr_cpus;
	if (k->field.type == OPERAND_CPUMASK) {
		k->pred->kind = k->op == OP_BAND ? FILTER_KIND_CPUMASK_AND : FILTER_KIND_CPUMASK_EQ;
		k->invert = k->op == OP_NE;
		return 0;
	}
	k->pred->kind = FILTER_KIND_CPU_BIT;
	cpus->value_mask = k->field.size == 1 ? 0xff : k->field.size == 2 ? 0xffff : 0xffffffff;
	return 0;
}

/*
 * A number never equals a set of several CPUs (or of none), and is always unequal to it if it is a
 * CPU number; a set of one CPU is that number.
 */
static int set_cpus(struct comparison *k, size_t start, const uint64_t *mask, uint32_t nr_cpus)
{
	uint32_t size = k->field.type == OPERAND_CPU ? 4 : k->field.size, only = 0;
	bool single = mask__weight(mask, nr_cpus, &only) == 1;

	if (k->field.type == OPERAND_CPUMASK)
		return set_mask(k, start, mask, nr_cpus);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return 0;
	if (single) {
		if (k->op == OP_BAND)
			k->op = OP_EQ;
		set_number(k, size, false, only);
		return 0;
	}
	if (k->op == OP_BAND)
		return set_mask(k, start, mask, nr_cpus);
	if (k->op == OP_NE) {
		k->op = OP_LE; /* the lower half of an 8-byte value is compared */
		set_number(k, MIN(size, 4u), false, MIN(nr_cpus - 1, size == 1 ? 0xffu : nr_cpus));
	}
	return 0;
}

static int parse_cpus(struct comparison *k)
{
	uint64_t mask[FILTER_MAX_CPUS / 64] = {};
	uint32_t nr_cpus = k->c->features->nr_cpus;
	const char *close;
	size_t start;

	if (k->field.type != OPERAND_CPUMASK && k->field.type != OPERAND_CPU &&
	    k->field.type != OPERAND_NUMBER)
		return FAIL(k, k->pos, "the field does not contain CPU numbers");
	if (k->op != OP_EQ && k->op != OP_NE && k->op != OP_BAND)
		return FAIL(k, k->op_pos, "CPUS{} supports only == != &");
	if (!accept(k, "CPUS{"))
		return FAIL(k, k->pos + 4, "expected '{'");
	start = k->pos;
	close = strchr(k->s + start, '}');
	if (!close)
		return FAIL(k, start - 1, "'{' without a '}'");
	if (!nr_cpus || nr_cpus > FILTER_MAX_CPUS)
		return filter__fail(k->c, -E2BIG, start, "CPUS{} supports 1 to %d CPUs",
				    FILTER_MAX_CPUS);
	k->pos = close - k->s + 1;
	if (close == k->s + start ||
	    filter__cpulist_parse(k->s + start, close - (k->s + start), nr_cpus, mask))
		return FAIL(k, start, "not a list of CPUs below %u", nr_cpus);
	return set_cpus(k, start, mask, nr_cpus);
}

static int parse_function(struct comparison *k)
{
	const struct filter_features *feat = k->c->features;
	size_t start = k->pos, len;
	uint64_t addr = 0, first, end;
	char name[512] = "";
	int err;

	if (k->field.size != 8)
		return FAIL(k, start, "only 8-byte fields support .function");
	if (feat->names && !k->field.is_code)
		return FAIL(k, start, "the recording has no names for the addresses in this field");
	if (k->op != OP_EQ && k->op != OP_NE)
		return FAIL(k, k->op_pos, ".function supports only == !=");
	if (filter__isdigit(k->s[k->pos])) {
		err = parse_number(k, false, &addr);
		if (err)
			return err;
	} else {
		while (k->s[k->pos] && !filter__isspace(k->s[k->pos]))
			k->pos++;
		len = k->pos - start;
		if (!len || len >= sizeof(name))
			return FAIL(k, start, "expected the name of a kernel function");
		memcpy(name, k->s + start, len);
	}
	k->invert = k->op == OP_NE;
	if (feat->names) {
		k->test = (struct filter_test){ .is_function = true,
						.offset = k->field.offset - FILTER_INPUT_REC,
						.name = k->s + start,
						.name_len = strlen(name),
						.addr = addr };
		return 0;
	}
	if (!feat->function_range ||
	    feat->function_range(feat->function_ctx, name[0] ? name : NULL, addr, &first, &end))
		return FAIL(k, start, "no such kernel function (a name ends at a space)");
	k->pred->kind = first < end ? FILTER_KIND_RANGE : FILTER_KIND_FALSE;
	k->pred->num = (struct filter_pred_num){ first, end - first - 1, UINT64_MAX };
	return 0;
}

static int parse_value(struct comparison *k, bool user, bool function)
{
	char ch = k->s[k->pos];

	if (function)
		return parse_function(k);
	if (k->c->features->cpus && !strncmp(k->s + k->pos, "CPUS", 4))
		return parse_cpus(k);
	if (ch == '\'' || ch == '"')
		return parse_string(k, user);
	if (filter__isdigit(ch) || ch == '-')
		return parse_numeric(k);
	return FAIL(k, k->pos, "expected a number or a quoted string");
}

/* Replaces the comparison by the bit of its test. */
static int add_test(struct comparison *k, size_t start)
{
	const struct filter_names *names = k->c->features->names;
	struct filter_test test = k->test;
	int bit;

	if (!names->add_test)
		return 0;
	test.what = k->field.test.what;
	test.at = start;
	test.text = k->s + start;
	test.len = k->pos - start;
	test.invert = k->invert;
	bit = names->add_test(names->ctx, &test);
	if (bit < 0)
		return filter__fail(k->c, bit, start, "%s", strerror(-bit));
	if (test.is_copy)
		k->invert = false;
	*k->pred = (struct filter_pred){ .kind = FILTER_KIND_BITS,
					 .offset = FILTER_INPUT_TESTS + bit / 64 * 8,
					 .num.lo = 1ULL << bit % 64 };
	return 0;
}

int filter__parse_pred(struct filter_compiler *c, size_t *pos, struct filter_pred *ret_pred,
		       bool *ret_invert)
{
	struct comparison k = { .c = c, .s = c->expr, .pos = *pos, .pred = ret_pred };
	bool user, function;
	int err;

	err = filter__parse_operand(c, &k.pos, &k.field);
	if (err)
		return err;
	user = accept(&k, ".ustring");
	function = c->features->function && accept(&k, ".function");
	err = parse_op(&k);
	if (err)
		return err;
	ret_pred->offset = k.field.offset;
	err = parse_value(&k, user, function);
	if (!err && (k.field.type == OPERAND_TEST || k.test.is_function))
		err = add_test(&k, *pos);
	if (err)
		return err;
	*pos = k.pos;
	*ret_invert = k.invert;
	return 0;
}
