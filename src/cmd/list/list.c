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
#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "log.h"
#include "nearest.h"
#include "record/kernel/tracefs.h"
#include "record/select/emulated.h"
#include "record/select/probe.h"
#include "slurp.h"
#include "ui/out.h"

/* What a word selects; the next meaning applies if there is nothing of the one before. */
enum meaning {
	MEANS_GLOB, /* the events that it matches, by "system:name" or the name alone */
	MEANS_SYSTEM, /* a bare word: all events of that system */
	MEANS_PART, /* a bare word: the events of whose name it is a part */
	NR_MEANINGS,
};

struct list {
	struct out out;
	bool verbose, json, presets;
	const char *glob;
	int events; /* directory events/ of tracefs */
	/* All tracepoints, as "system:name"; those from first_emulated on this kernel lacks. */
	char **names;
	bool *selected; /* by name */
	unsigned int nr, max, first_emulated;
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
	int err;

	err = text ? ev_format__parse(text, strlen(text), &format) : 0;
	b->failed |= err == -ENOMEM;
	if (err)
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
}

static int add_name(struct list *l, const char *system, const char *name)
{
	if (array__grow(&l->names, l->nr, &l->max) ||
	    asprintf(&l->names[l->nr], "%s:%s", system, name) < 0)
		return -ENOMEM;
	l->nr++;
	return 0;
}

/* ftrace's own records have no `enable`: they are not tracepoints. */
static bool has_enable(const struct list *l, const char *system, const char *name)
{
	_cleanup_free_ char *enable = NULL;

	if (asprintf(&enable, "%s/%s/enable", system, name) < 0)
		enable = NULL;
	return enable && !faccessat(l->events, enable, F_OK, 0);
}

static int find_system(struct list *l, const char *system)
{
	struct dirent **names;
	int nr, i, err = 0;

	nr = scandirat(l->events, system, &names, is_event_dir, alphasort);
	for (i = 0; i < nr && !err; i++)
		if (has_enable(l, system, names[i]->d_name))
			err = add_name(l, system, names[i]->d_name);
	if (nr >= 0)
		free_names(names, nr);
	return err;
}

/* All tracepoints, and then the emulated events that this kernel lacks. */
static int find_events(struct list *l)
{
	struct dirent **systems;
	int nr, i, err = 0;
	size_t k;

	nr = scandirat(l->events, ".", &systems, is_event_dir, alphasort);
	if (nr < 0)
		return log_err(-errno, "read tracefs");
	for (i = 0; i < nr && !err; i++)
		err = find_system(l, systems[i]->d_name);
	free_names(systems, nr);
	l->first_emulated = l->nr;
	for (k = 0; k < nr_emulated_events && !err; k++)
		if (!has_enable(l, emulated_events[k].system, emulated_events[k].name))
			err = add_name(l, emulated_events[k].system, emulated_events[k].name);
	return err ? log_err(err, "list the tracepoints") : 0;
}

static bool matches(enum meaning meaning, const char *word, const char *full)
{
	const char *name = strchr(full, ':') + 1;

	if (meaning == MEANS_GLOB)
		return glob__matches(word, full) > 0 || glob__matches(word, name) > 0;
	if (meaning == MEANS_SYSTEM)
		return strlen(word) == (size_t)(name - 1 - full) &&
		       !strncmp(word, full, strlen(word));
	return strstr(name, word);
}

/* Selects what one word means; -ENOENT after a message. */
static int select_word(struct list *l, const char *word)
{
	bool is_bare = *word && !strpbrk(word, ":*?[");
	unsigned int i, found = 0, meaning;

	for (meaning = 0; meaning < (is_bare ? NR_MEANINGS : 1) && !found; meaning++) {
		for (i = 0; i < l->nr; i++) {
			if (!matches(meaning, word, l->names[i]))
				continue;
			l->selected[i] = true;
			found++;
		}
	}
	return found ? 0 : nearest__complain(word, l->names, l->nr);
}

static int select_events(struct list *l)
{
	_cleanup_free_ char *copy = strdup(l->glob ?: "*");
	char *rest = copy, *word;
	int err = 0;

	l->selected = calloc(l->nr + 1, sizeof(*l->selected));
	if (!copy || !l->selected)
		return log_err(-ENOMEM, "list the tracepoints");
	while ((word = strsep(&rest, ",")))
		err = select_word(l, word) ?: err;
	return err;
}

static void put_selected(struct list *l, unsigned int i)
{
	_cleanup_free_ char *system = strdup(l->names[i]), *path = NULL, *text = NULL;
	const struct emulated *y = i >= l->first_emulated ? emulated__find(l->names[i]) : NULL;
	char *name = system ? strchr(system, ':') : NULL;

	if (!name)
		return;
	*name++ = '\0';
	if (l->verbose && !y && asprintf(&path, "%s/%s/format", system, name) >= 0)
		text = read_file(l->events, path);
	put_event(l, system, name, y && l->verbose ? y->format : text, y);
}

static int put_events(struct list *l)
{
	int err = find_events(l);
	unsigned int i;

	err = err ?: select_events(l);
	for (i = 0; l->selected && i < l->nr && !out__drain(&l->out); i++)
		if (l->selected[i])
			put_selected(l, i);
	return err;
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
	err = put_events(l);
	close(l->events);
	while (l->nr)
		free(l->names[--l->nr]);
	free(l->names);
	free(l->selected);
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
	.notes =
		"GLOB matches system:name or the name alone; separate several by commas.  A word\n"
		"that matches nothing is a system, or else a part of names.  PROBE lists what can\n"
		"be probed: f:GLOB and r:GLOB kernel functions, u:PATH[:GLOB] the functions of a\n"
		"program or library, usdt:PATH[:GLOB] its USDT probes.\n",
};
