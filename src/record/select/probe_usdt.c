// SPDX-License-Identifier: GPL-2.0-only
/* Resolves usdt:, static probes of programs and libraries. */
#include "probe_priv.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "nearest.h"
#include "probe_file.h"
#include "symbols/usdt_notes.h"

static_assert(USDT_MAX_ARGS == PROBE_USDT_ARGS, "both limits of arguments are equal");

struct usdt_spec {
	const char *spec;
	const char *what; /* "PROVIDER:NAME" or "NAME" */
	const char *path, *given;
	const struct usdt_notes *notes;
	char **names; /* "PROVIDER:NAME" of each note */
	size_t nr;
};

static bool matches(const struct usdt_spec *u, size_t i)
{
	const char *name = u->names[i];

	return !fnmatch(u->what, strchr(u->what, ':') ? name : strchr(name, ':') + 1, 0);
}

/* The first note after i that belongs to another probe. */
static size_t next_probe(const struct usdt_spec *u, size_t i)
{
	size_t next = i + 1;

	while (next < u->nr && !strcmp(u->names[next], u->names[i]))
		next++;
	return next;
}

static size_t count_matches(const struct usdt_spec *u)
{
	size_t nr = 0;

	for (size_t i = 0; i < u->nr; i = next_probe(u, i))
		nr += matches(u, i);
	return nr;
}

static void field_of(const struct usdt_arg *arg, struct probe_field *f)
{
	static const char *const types[][2] = { { "unsigned char", "signed char" },
						{ "unsigned short", "short" },
						{ "unsigned int", "int" },
						{ "unsigned long", "long" } };
	unsigned int log2 = arg->size == 8 ? 3 : arg->size == 4 ? 2 : arg->size == 2 ? 1 : 0;

	strcpy(f->type, types[log2][arg->is_signed]);
	f->size = arg->size;
	f->is_signed = arg->is_signed;
	/* it may be a pointer */
	f->is_hex = arg->size == 8 && !arg->is_signed;
}

/*
 * The locations of a probe may disagree about an argument, for example between a constant and a
 * register.  Its slot has the value in 8 bytes whatever its size is, so these are the field then.
 */
static unsigned int merge_args(const struct usdt_spec *u, size_t first, size_t end,
			       struct usdt_arg *ret_args)
{
	unsigned int nr = 0, i;

	for (size_t at = first; at < end; at++) {
		struct usdt_arg args[USDT_MAX_ARGS];
		struct usdt_note note;
		unsigned int here;

		usdt_notes__get(u->notes, at, &note);
		here = usdt_args__parse(note.args, args);
		for (i = 0; i < here; i++) {
			bool differs = i < nr && (ret_args[i].size != args[i].size ||
						  ret_args[i].is_signed != args[i].is_signed);

			if (i >= nr)
				ret_args[i] = args[i];
			if (differs)
				ret_args[i] = (struct usdt_arg){
					.size = 8,
					.is_signed = ret_args[i].is_signed || args[i].is_signed,
					.is_float = ret_args[i].is_float || args[i].is_float,
				};
		}
		nr = MAX(nr, here);
	}
	return nr;
}

/* The notes [first, end) are the locations of one probe. */
static int add(const struct usdt_spec *u, size_t first, size_t end, struct probe_events *l)
{
	_cleanup_free_ char *event = NULL;
	struct probe_field fields[PROBE_USDT_ARGS];
	struct usdt_arg args[USDT_MAX_ARGS];
	struct probe p = { .how = PROBE_USDT };
	struct usdt_note note;
	unsigned int nr;

	nr = merge_args(u, first, end, args);
	probe_fields__unknown(fields, 0, nr);
	for (unsigned int i = 0; i < nr; i++) {
		if (args[i].is_float)
			return log_why(
				-EOPNOTSUPP,
				"event 'usdt:%s:%s': argument %u is a floating point number, "
				"which cannot be read",
				u->path, u->names[first], i + 1);
		field_of(&args[i], &fields[i]);
	}
	usdt_notes__get(u->notes, first, &note);
	p.path = strdup(u->path);
	p.given = strdup(u->given);
	p.provider = strdup(note.provider);
	p.name = strdup(note.name);
	p.offset = note.offset;
	if (!p.path || !p.given || !p.provider || !p.name ||
	    asprintf(&event, "%s:%s", u->path, u->names[first]) < 0) {
		event = NULL;
		probe__clear(&p);
		return -ENOMEM;
	}
	return probe_events__add(l, event, &p, fields, nr);
}

static int complain(const struct usdt_spec *u, size_t found)
{
	_cleanup_free_ char *message = NULL;
	int n;

	if (found)
		return log_why(
			-EINVAL,
			"event '%s': several providers of '%s' have this probe; use PROVIDER:NAME",
			u->spec, u->path);
	n = asprintf(&message, "event '%s': no probe of '%s' is named '%s'", u->spec, u->path,
		     u->what);
	if (n < 0) {
		message = NULL;
		return -ENOMEM;
	}
	return nearest__complain_name(message, u->what, (const char *const *)u->names, u->nr);
}

static int resolve(const struct usdt_spec *u, struct probe_events *l)
{
	size_t found = count_matches(u), next, i;
	int err;

	l->globbed = probe__is_glob(u->what);
	if (!found || (found > 1 && !l->globbed))
		return complain(u, found);
	err = probe_events__room(l, u->spec, found);
	for (i = 0; i < u->nr && !err; i = next) {
		next = next_probe(u, i);
		if (matches(u, i))
			err = add(u, i, next, l);
	}
	return err;
}

static int resolve_names(struct usdt_spec *u, struct probe_events *l)
{
	struct usdt_note note;
	int err = 0;
	size_t i;

	u->names = calloc(usdt_notes__nr(u->notes), sizeof(*u->names));
	if (!u->names)
		return -ENOMEM;
	for (; u->nr < usdt_notes__nr(u->notes) && !err; u->nr++) {
		usdt_notes__get(u->notes, u->nr, &note);
		if (asprintf(&u->names[u->nr], "%s:%s", note.provider, note.name) < 0) {
			u->names[u->nr] = NULL;
			err = -ENOMEM;
		}
	}
	if (!err)
		err = resolve(u, l);
	for (i = 0; i < u->nr; i++)
		free(u->names[i]);
	free(u->names);
	return err;
}

int probe_usdt__resolve(const char *spec, const char *rest, struct probe_events *l)
{
	struct usdt_spec u = { .spec = spec };
	struct usdt_notes *notes = NULL;
	struct probe_file file;
	int err = probe_file__open(spec, rest, &file, &u.what);

	if (err)
		return err;
	u.path = file.path;
	u.given = file.given;
	if (l->is_list && !u.what)
		u.what = "*";
	if (!u.what || !*u.what) {
		err = -EINVAL;
		log_err(0, "event '%s': a probe is missing; use usdt:PATH:PROVIDER:NAME", spec);
	} else {
		err = usdt_notes__from_fd(file.fd, &notes);
		if (err == -ENOENT)
			log_err(0, "event '%s': '%s' has no USDT probes", spec, file.path);
		else if (err)
			log_err(err, "read the USDT probes of '%s'", file.path);
		u.notes = notes;
	}
	if (!err)
		err = resolve_names(&u, l);
	usdt_notes__free(notes);
	probe_file__close(&file);
	return err;
}
