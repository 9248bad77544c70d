// SPDX-License-Identifier: GPL-2.0-only
/* stackonce doctor: checks what recording needs, and prints reasons and remedies. */
#include "ui/ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "log.h"
#include "record/kernel/feature_table.h"
#include "record/kernel/tracefs.h"
#include "ui/out.h"

struct doctor {
	bool json;
};

static const struct opt options[] = {
	{ "--json", "one JSON object per line", OPT_FLAG(struct doctor, json) }, HELP_OPTION
};

static int no_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static void put_json(struct json *j, const struct feature *f, int err, const char *detail)
{
	static const char *const needs[] = { "must", "bpf", "ftrace", "may", "later" };

	json__record(j, "feature");
	json__string(j, "name", f->name);
	json__bool(j, "ok", !err);
	json__string(j, "need", needs[f->need]);
	json__string(j, "what", f->what);
	json__string(j, "since", f->since);
	json__string(j, "detail", detail);
	if (err) {
		json__string(j, "reason", strerror(-err));
		json__string(j, "without", f->without);
		json__string(j, "remedy", f->remedy);
	}
	json__end(j);
}

/* The lines after the first one are indented. */
static void put_detail(struct strbuf *b, const char *detail)
{
	for (; *detail; detail++)
		if (*detail == '\n')
			strbuf__puts(b, "\n       ");
		else
			strbuf__putc(b, *detail);
}

static void put_text(struct out *o, const struct feature *f, int err, const char *detail)
{
	static const char *const refused[] = { "NO", "NO", "NO", "less", "-" };
	struct strbuf *b = &o->b;

	strbuf__printf(b, "%s%-5s%s%-46s", out__colour(o, err ? OUT_WARN : OUT_NUMBER),
		       err ? refused[f->need] : "ok", out__colour(o, OUT_PLAIN), f->what);
	strbuf__printf(b, "%s%s%s", out__colour(o, OUT_DIM), *f->since ? "since " : "", f->since);
	strbuf__puts(b, *detail && *f->since ? ", " : "");
	put_detail(b, detail);
	strbuf__printf(b, "%s\n", out__colour(o, OUT_PLAIN));
	if (err)
		strbuf__printf(b, "       %s: %s\n       remedy: %s\n", strerror(-err), f->without,
			       f->remedy);
}

/* Which backends work. */
struct verdict {
	bool bpf, ftrace;
};

static struct verdict probe_all(struct out *o, bool json)
{
	struct verdict v = { true, true };
	size_t i;

	for (i = 0; i < nr_features; i++) {
		const struct feature *f = &feature_table[i];
		char detail[FEATURE_DETAIL] = "";
		int err = f->probe(detail, sizeof(detail));

		v.bpf &= !err || (f->need != FEATURE_MUST && f->need != FEATURE_BPF);
		v.ftrace &= !err || (f->need != FEATURE_MUST && f->need != FEATURE_FTRACE);
		if (json)
			put_json(&o->json, f, err, detail);
		else
			put_text(o, f, err, detail);
	}
	return v;
}

static const char *verdict_text(struct verdict v)
{
	if (v.bpf)
		return "Recording works here.\n";
	return v.ftrace ? "Recording works here with ftrace: tracepoints only.\n" :
			  "Recording does not work here.\n";
}

static int run(int argc, char **argv)
{
	_cleanup_free_ char *missing = features__missing_capabilities();
	struct doctor d = { 0 };
	struct verdict v;
	struct utsname u;
	struct out o;
	int code = options__parse(&cmd_doctor, argc, argv, &d);

	if (code)
		return code;
	if (missing && tracefs__may_record()) {
		log_msg(STK_LOG_ERROR, 0, "recording needs %s here; run as root", missing);
		return CMD_FAILURE;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(no_log);
	out__open(&o, false);
	if (!d.json && !uname(&u))
		strbuf__printf(&o.b, "Linux %s, %s\n", u.release, u.machine);
	v = probe_all(&o, d.json);
	if (!d.json)
		strbuf__puts(&o.b, verdict_text(v));
	return out__close(&o, v.bpf || v.ftrace ? CMD_OK : CMD_FAILURE);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "check what recording needs on this machine, with remedies",
	.run = run,
	.options = options,
	.text = "Checks everything that recording needs on this machine.  Prints what is refused,\n"
		"why, and what can be done about it.  Mounts tracefs, and changes nothing else.\n",
};
