// SPDX-License-Identifier: GPL-2.0-only
/* Parses numbers, sizes, times and lists given by the user. */
#include "ui.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Parses the digits at *s and advances *s past them. */
static int take_u64(const char **s, uint64_t *ret_value)
{
	const char *p = *s;
	uint64_t v = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (v > (UINT64_MAX - (*p - '0')) / 10)
			return -ERANGE;
		v = v * 10 + (*p - '0');
	}
	*s = p;
	*ret_value = v;
	return 0;
}

static int in_range(uint64_t v, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	if (v < min || v > max)
		return -ERANGE;
	*ret_value = v;
	return 0;
}

int parse__u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t v;
	int err;

	err = take_u64(&s, &v);
	if (err)
		return err;
	if (*s)
		return -EINVAL;
	return in_range(v, min, max, ret_value);
}

int parse__size(const char *s, uint64_t min, uint64_t max, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	unsigned int shift = 0;
	const char *unit;
	uint64_t v;
	int err;

	err = take_u64(&s, &v);
	if (err)
		return err;
	if (*s) {
		unit = strchr(units, toupper((unsigned char)*s));
		if (!unit || s[1])
			return -EINVAL;
		shift = 10 * (unit - units + 1);
	}
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	return in_range(v << shift, min, max, ret_bytes);
}

int parse__seconds(const char *s, uint64_t *ret_ns)
{
	uint64_t whole = 0, fraction = 0, unit = 1000000000;
	bool any = false;
	int err;

	if (isdigit((unsigned char)*s)) {
		err = take_u64(&s, &whole);
		if (err)
			return err;
		any = true;
	}
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++) {
			unit /= 10;
			if (!unit)
				return -EINVAL;
			fraction += unit * (*s - '0');
			any = true;
		}
	if (!any || *s)
		return -EINVAL;
	if (whole > (UINT64_MAX - fraction) / 1000000000)
		return -ERANGE;
	*ret_ns = whole * 1000000000 + fraction;
	return 0;
}

int num_set__parse(const char *s, uint64_t max, struct num_set *set)
{
	struct num_range range, *more;
	int err;

	for (;;) {
		err = take_u64(&s, &range.first);
		range.last = range.first;
		if (!err && *s == '-') {
			s++;
			err = take_u64(&s, &range.last);
		}
		if (!err && (range.last > max || range.first > range.last))
			err = -ERANGE;
		if (!err && *s && *s != ',')
			err = -EINVAL;
		if (err)
			return err;
		more = reallocarray(set->ranges, set->nr + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		set->ranges = more;
		set->ranges[set->nr++] = range;
		if (!*s)
			return 0;
		s++;
	}
}

bool num_set__has(const struct num_set *set, uint64_t v)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (v >= set->ranges[i].first && v <= set->ranges[i].last)
			return true;
	return false;
}

void num_set__free(struct num_set *set)
{
	free(set->ranges);
	memset(set, 0, sizeof(*set));
}

/* A name may have the characters of globs, as "operator[]" has. */
int glob__matches(const char *glob, const char *text)
{
	int no = strcmp(glob, text) ? fnmatch(glob, text, 0) : 0;

	return !no ? 1 : no == FNM_NOMATCH ? 0 : -ENOMEM;
}

int globs__match(const char *globs, const char *text)
{
	_cleanup_free_ char *copy = strdup(globs);
	char *rest = copy, *glob;
	int got = copy ? 0 : -ENOMEM;

	while (!got && (glob = strsep(&rest, ",")))
		got = glob__matches(glob, text);
	return got;
}
