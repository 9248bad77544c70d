// SPDX-License-Identifier: GPL-2.0-only
/* Lists the tracepoints of this kernel, from tracefs, and functions and probes for record -e. */
#include "ui/ui.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "list.h"
#include "cleanup.h"
#include "events/format.h"
#include "log.h"
#include "record/kernel/tracefs.h"
#include "record/select/emulated.h"
#include "record/select/probe.h"
#include "slurp.h"
#include "ui/out.h"

struct list {
	struct out out;
	bool verbose, json, presets;
	const char *glob;
	int events; /* directory events/ of tracefs */
	unsigned int nr;
};

/* clang-format off */
static const struct opt options[] = {
	{ "[GLOB | PROBE]", NULL, OPT_TEXT(struct list, glob) },
	{ "-v, --verbose", "print their fields, too", OPT_FLAG(struct list, verbose) },
	{ "--presets", "list the presets of record --preset and the commands that read them",
	  OPT_FLAG(struct list, presets) },
	{ "--json", "one JSON object per tracepoint, with -v including its fields",
	  OPT_FLAG(struct list, json) },
	HELP_OPTION
};
/* clang-format on */

/* The path of tracefs; NULL after a message that says what to do. */
static const char *find_tracefs(void)
{
	const char *path = getenv("STACKONCE_TRACEFS") ?: tracefs__mounted();

	if (!path)
		log_err(0, "tracefs is not mounted: mount -t tracefs nodev %s", TRACEFS_ROOT);
	return path;
}

static int open_events(const char *tracefs, int *ret_fd)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/events", tracefs) < 0)
		return log_err(-ENOMEM, "open tracefs");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return log_err(-errno, "'%s' is readable only by root: try sudo", path);
	if (fd < 0)
		return log_err(-errno, "open '%s' (mount -t tracefs nodev %s)", path, tracefs);
	*ret_fd = fd;
	return 0;
}

/* Directories only: events/ also has files such as `enable` and `filter`. */
static int is_event_dir(const struct dirent *d)
{
	return d->d_name[0] != '.' && (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN);
}

static void free_names(struct dirent **names, int nr)
{
	while (nr > 0)
		free(names[--nr]);
	free(names);
}

/* The content of a tracefs file, owned by the caller; NULL if it cannot be read. */
static char *read_file(int dir, const char *path)
{
	_cleanup_close_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char *text;

	return fd < 0 || slurp__fd(fd, SLURP_MAX, &text, NULL) ? NULL : text;
}

static void put_field(struct list *l, const struct ev_field *f)
{
	struct json *j = &l->out.json;
	struct strbuf *b = &l->out.b;

	if (l->json) {
		json__object(j, NULL);
		json__string(j, "name", f->name);
		json__string(j, "type", f->type);
		json__u64(j, "offset", f->offset);
		json__u64(j, "size", f->size);
		json__bool(j, "signed", f->is_signed);
		json__end(j);
	} else {
		strbuf__puts(b, "    ");
		strbuf__text(b, f->type);
		strbuf__putc(b, ' ');
		strbuf__text(b, f->name);
		strbuf__putc(b, '\n');
	}
}

static void put_fields(struct list *l, const struct ev_format *format)
{
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(format); i++)
		if (!ev_format__field(format, i)->is_common)
			put_field(l, ev_format__field(format, i));
}

/* text: the event's format; NULL: do not print fields. */
static void put_event(struct list *l, const char *system, const char *name, const char *text,
		      bool is_emulated)
{
	struct ev_format *format = NULL;
	struct json *j = &l->out.json;
	struct strbuf *b = &l->out.b;

	if (text && ev_format__parse(text, strlen(text), &format))
		format = NULL;
	if (l->json) {
		json__record(j, "event");
		json__string(j, "system", system);
		json__string(j, "name", name);
		if (is_emulated)
			json__bool(j, "emulated", true);
		if (format) {
			json__u64(j, "id", ev_format__id(format));
			json__array(j, "fields");
			put_fields(l, format);
			json__end(j);
		}
		json__end(j);
	} else {
		strbuf__puts(b, l->verbose ? out__colour(&l->out, OUT_HEAD) : "");
		strbuf__text(b, system);
		strbuf__putc(b, ':');
		strbuf__text(b, name);
		strbuf__puts(b, l->verbose ? out__colour(&l->out, OUT_PLAIN) : "");
		strbuf__puts(b, is_emulated ? " (emulated)\n" : "\n");
		if (format)
			put_fields(l, format);
	}
	ev_format__free(format);
	l->nr++;
}

static bool matches_glob(const struct list *l, const char *full)
{
	return !l->glob || glob__matches(l->glob, full) ||
	       glob__matches(l->glob, strchr(full, ':') + 1);
}

static void put_system(struct list *l, const char *system)
{
	struct dirent **names;
	int nr, i;

	nr = scandirat(l->events, system, &names, is_event_dir, alphasort);
	for (i = 0; i < nr && !out__drain(&l->out); i++) {
		_cleanup_free_ char *full = NULL, *enable = NULL, *path = NULL, *text = NULL;

		/* ftrace's own records have no `enable`: they are not tracepoints. */
		if (asprintf(&full, "%s:%s", system, names[i]->d_name) < 0 ||
		    asprintf(&enable, "%s/%s/enable", system, names[i]->d_name) < 0)
			continue;
		if (faccessat(l->events, enable, F_OK, 0))
			continue;
		if (!matches_glob(l, full))
			continue;
		if (l->verbose && asprintf(&path, "%s/%s/format", system, names[i]->d_name) >= 0)
			text = read_file(l->events, path);
		put_event(l, system, names[i]->d_name, text, false);
	}
	if (nr >= 0)
		free_names(names, nr);
}

/* The emulated events: tracepoints that this kernel lacks. */
static void put_emulated(struct list *l)
{
	size_t i;

	for (i = 0; i < nr_emulated_events; i++) {
		const struct emulated *y = &emulated_events[i];
		_cleanup_free_ char *full = NULL, *enable = NULL;

		if (asprintf(&full, "%s:%s", y->system, y->name) < 0 ||
		    asprintf(&enable, "%s/%s/enable", y->system, y->name) < 0)
			continue;
		if (matches_glob(l, full) && faccessat(l->events, enable, F_OK, 0))
			put_event(l, y->system, y->name, l->verbose ? y->format : NULL, true);
	}
}

static int put_systems(struct list *l)
{
	struct dirent **systems;
	int nr, i;

	nr = scandirat(l->events, ".", &systems, is_event_dir, alphasort);
	if (nr < 0)
		return log_err(-errno, "read tracefs");
	for (i = 0; i < nr; i++)
		put_system(l, systems[i]->d_name);
	free_names(systems, nr);
	put_emulated(l);
	if (!l->nr)
		return log_err(0, "no tracepoint matches '%s'", l->glob ?: "*") ?: -ENOENT;
	return 0;
}

static int list_probes(struct list *l)
{
	struct probe_events probes = { .is_list = true, .no_formats = !l->verbose };
	unsigned int i;
	int err = probe__resolve(l->glob, NULL, &probes);

	for (i = 0; i < probes.nr && !err && !out__drain(&l->out); i++)
		put_event(l, probes.v[i].system, probes.v[i].event, probes.v[i].format, false);
	probe_events__clear(&probes);
	return err;
}

static int list_tracepoints(struct list *l)
{
	const char *tracefs = find_tracefs();
	int err;

	if (!tracefs)
		return -ENOENT;
	err = open_events(tracefs, &l->events);
	if (err)
		return err;
	err = put_systems(l);
	close(l->events);
	return err;
}

static int run(int argc, char **argv)
{
	struct list l = { .events = -1 };
	int err = options__parse(&cmd_list, argc, argv, &l);

	if (err)
		return err;
	out__open(&l.out, true);
	if (l.presets)
		err = list__presets(&l.out, l.glob, l.json);
	else
		err = l.glob && probe__is_spec(l.glob) ? list_probes(&l) : list_tracepoints(&l);
	return out__close(&l.out, err ? CMD_FAILURE : CMD_OK);
}

const struct cmd cmd_list = {
	.name = "list",
	.summary = "list the tracepoints of this kernel, and what can be probed",
	.run = run,
	.options = options,
	.text = "Lists the tracepoints of this kernel, as record -e takes them.\n",
	.notes = "GLOB matches system:name or the name alone; separate several by commas.  PROBE\n"
		 "lists what can be probed: f:GLOB and r:GLOB kernel functions, u:PATH[:GLOB] the\n"
		 "functions of a program or library, usdt:PATH[:GLOB] its USDT probes.\n",
};
