// SPDX-License-Identifier: GPL-2.0-only
/* Tries to make the code of all native events. */
#include "native_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_code.h"
#include "native_rows.h"
#include "strbuf.h"
#include "tracefs.h"

struct tried {
	unsigned int nr, nr_made;
	struct strbuf others;
};

static int read_format(const struct native_event *e, char **ret_text, struct ev_format **ret_fmt)
{
	_cleanup_free_ char *text = NULL;
	int err = tracefs__format(e->system, e->event, &text);

	if (!err)
		err = ev_format__parse(text, strlen(text), ret_fmt);
	if (!err)
		*ret_text = take_ptr(text);
	return err;
}

int native_probe__call(bool is_exit, const struct btf *btf, char ret_why[NATIVE_WHY])
{
	_cleanup_free_ char *text = NULL;
	struct ev_format *fmt;
	int err;

	ret_why[0] = '\0';
	err = read_format(native_rows__call(is_exit), &text, &fmt);
	if (err)
		return err;
	err = native_code__check_call(is_exit, fmt, text, btf, ret_why);
	ev_format__free(fmt);
	return err;
}

static int make(const struct native_event *e, const struct btf *btf, char ret_why[NATIVE_WHY])
{
	_cleanup_free_ char *text = NULL;
	struct native_code code;
	struct ev_format *fmt;
	int err = read_format(e, &text, &fmt);

	if (err)
		return err;
	err = native_code__make(e->system, e->event, fmt, text, btf, native_code__reader(btf),
				&code, ret_why);
	ev_format__free(fmt);
	return err;
}

/* Takes in the result for an event; -ENOENT: the kernel does not have it. */
static int count(struct tried *t, const struct native_event *e, int err, const char *why)
{
	if (err == -ENOENT)
		return 0;
	t->nr++;
	t->nr_made += !err;
	if (err != -EOPNOTSUPP)
		return err;
	if (t->others.len)
		strbuf__printf(&t->others, ", %s", e->event);
	else
		strbuf__printf(&t->others, "%s: %s", e->event, why);
	return 0;
}

static int try_all(const struct btf *btf, struct tried *t)
{
	const struct native_event *e, *last = NULL;
	char why[NATIVE_WHY];
	int err = 0;
	size_t i;

	for (i = 0; !err && (e = native_rows__get(i)); last = e, i++)
		if (!last || strcmp(last->event, e->event))
			err = count(t, e, make(e, btf, why), why);
	for (i = 0; !err && i < 2; i++)
		err = count(t, native_rows__call(i), native_probe__call(i, btf, why), why);
	return err;
}

int native_probe(char *ret_detail, size_t len)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct tried t = { 0 };
	int err = btf ? try_all(btf, &t) : -errno;

	btf__free(btf);
	if (!err && strbuf__failed(&t.others))
		err = -ENOMEM;
	if (!err && t.nr_made == t.nr)
		snprintf(ret_detail, len, "all %u", t.nr);
	else if (!err)
		snprintf(ret_detail, len, "%u of %u; %s", t.nr_made, t.nr, t.others.s);
	if (!err && t.nr_made < t.nr)
		err = -EOPNOTSUPP;
	strbuf__free(&t.others);
	return err;
}
