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

static int try(const struct native_event *e, const struct btf *btf, struct tried *t)
{
	_cleanup_free_ char *text = NULL;
	struct native_code code;
	struct ev_format *fmt;
	char why[NATIVE_WHY];
	int err = tracefs__format(e->system, e->event, &text);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = ev_format__parse(text, strlen(text), &fmt);
	if (err)
		return err;
	err = native_code__make(e->system, e->event, fmt, text, btf, native_code__reader(btf),
				&code, why);
	ev_format__free(fmt);
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
	int err = 0;
	size_t i;

	for (i = 0; !err && (e = native_rows__get(i)); last = e, i++)
		if (!last || strcmp(last->event, e->event))
			err = try(e, btf, t);
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
