// SPDX-License-Identifier: GPL-2.0-only
/* Tries to make the code of all native events. */
#include "native_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "kwalk/kwalk.h"
#include "native_code.h"
#include "native_pages.h"
#include "native_rows.h"
#include "percpu.h"
#include "strbuf.h"
#include "tracefs.h"

struct tried {
	struct btf *btf;
	struct native_pages pages;
	unsigned int nr, nr_made;
	bool calls; /* those of system calls are made */
	char why[NATIVE_WHY]; /* those in `names` are not */
	struct strbuf names, others;
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

static int make(const struct native_event *e, struct tried *t, char ret_why[NATIVE_WHY])
{
	_cleanup_free_ char *text = NULL;
	struct native_code code;
	struct ev_format *fmt;
	int err = read_format(e, &text, &fmt);

	if (err)
		return err;
	err = native_code__make(e->system, e->event, fmt, text, t->btf, native_code__reader(t->btf),
				&code, ret_why);
	ev_format__free(fmt);
	return err ?: native_pages__set(&t->pages, t->btf, &code, ret_why);
}

/* "\nNAME, NAME: REASON" */
static void put_others(struct tried *t)
{
	if (t->names.len)
		strbuf__printf(&t->others, "\n%s: %s", t->names.s, t->why);
	strbuf__reset(&t->names);
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
	if (strcmp(t->why, why))
		put_others(t);
	snprintf(t->why, sizeof(t->why), "%s", why);
	strbuf__printf(&t->names, "%s%s:%s", t->names.len ? ", " : "", e->system, e->event);
	if (!strcmp(e->system, "raw_syscalls"))
		strbuf__printf(&t->names, ", syscalls:%s_*", e->event);
	return 0;
}

static int try_all(struct tried *t)
{
	const struct native_event *e, *last = NULL;
	char why[NATIVE_WHY] = "";
	unsigned int before;
	int err = 0;
	size_t i;

	for (i = 0; !err && (e = native_rows__get(i)); last = e, i++)
		if (!last || strcmp(last->event, e->event))
			err = count(t, e, make(e, t, why), why);
	before = t->nr_made;
	for (i = 0; !err && i < 2; i++)
		err = count(t, native_rows__call(i), native_probe__call(i, t->btf, why), why);
	t->calls = t->nr_made == before + 2;
	put_others(t);
	if (strbuf__failed(&t->others) || strbuf__failed(&t->names))
		return -ENOMEM;
	return err;
}

/* Whether a recording can have native events at all, and with kernel stacks. */
static int probe_programs(const struct btf *btf, bool *ret_levels, bool *ret_stacks)
{
	struct percpu_layout layout;
	struct kwalk *k = NULL;
	int err = percpu__layout(btf, &layout);

	if (err)
		return err;
	*ret_levels = percpu_layout__has_levels(&layout);
	*ret_stacks = !kwalk__new_btf(btf, &k) && kwalk__walks_raw(k);
	kwalk__free(k);
	return 0;
}

static void put_result(struct strbuf *b, const struct tried *t, bool stacks)
{
	if (t->nr_made == t->nr)
		strbuf__printf(b, "all %u", t->nr);
	else
		strbuf__printf(b, "%u of %u", t->nr_made, t->nr);
	if (t->calls)
		strbuf__puts(b, ", system calls among them");
	if (!stacks)
		strbuf__puts(b, ", but only with --no-kernel-stacks: programs of raw tracepoints "
				"cannot walk kernel stacks");
	strbuf__puts(b, t->others.s ?: "");
}

static int probe(struct tried *t, struct strbuf *result)
{
	bool levels = false, stacks = false;
	int err = probe_programs(t->btf, &levels, &stacks);

	if (!err && levels)
		err = try_all(t);
	if (err)
		return err;
	if (levels)
		put_result(result, t, stacks);
	else
		strbuf__puts(result, NATIVE_NO_LEVELS);
	if (strbuf__failed(result))
		return -ENOMEM;
	return levels && stacks && t->nr_made == t->nr ? 0 : -EOPNOTSUPP;
}

int native_probe(char *ret_detail, size_t len)
{
	struct tried t = { .btf = btf__load_vmlinux_btf() };
	struct strbuf result = { 0 };
	int err = t.btf ? probe(&t, &result) : -errno;

	snprintf(ret_detail, len, "%s", result.s ?: "");
	btf__free(t.btf);
	strbuf__free(&t.names);
	strbuf__free(&t.others);
	strbuf__free(&result);
	return err;
}
