// SPDX-License-Identifier: GPL-2.0-only
/* Code common to all probes: their syntax, their list, the format of their records. */
#include "probe_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "strbuf.h"
#include "trace_entry.h"

static const struct {
	enum probe_how how;
	const char *system;
} systems[] = {
	{ PROBE_FUNCTION, "f" },     { PROBE_RETURN, "r" },  { PROBE_USER, "u" },
	{ PROBE_USER_RETURN, "ur" }, { PROBE_USDT, "usdt" },
};

const char *probe__system(enum probe_how how)
{
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (systems[i].how == how)
			return systems[i].system;
	return "";
}

/* *ret_rest points after the colon. */
static enum probe_how parse_how(const char *spec, const char **ret_rest)
{
	size_t len = strcspn(spec, ":");

	if (!spec[len])
		return PROBE_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		if (strlen(systems[i].system) != len || strncmp(spec, systems[i].system, len))
			continue;
		*ret_rest = spec + len + 1;
		return systems[i].how;
	}
	return PROBE_NONE;
}

bool probe__is_spec(const char *spec)
{
	const char *rest;

	return parse_how(spec, &rest) != PROBE_NONE;
}

bool probe__is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

void probe__clear(struct probe *p)
{
	free(p->function);
	free(p->path);
	free(p->given);
	free(p->provider);
	free(p->name);
	memset(p, 0, sizeof(*p));
}

void probe_events__clear(struct probe_events *l)
{
	for (unsigned int i = 0; i < l->nr; i++) {
		free(l->v[i].system);
		free(l->v[i].event);
		free(l->v[i].format);
		probe__clear(&l->v[i].probe);
	}
	free(l->v);
	memset(l, 0, sizeof(*l));
}

int probe_events__room(const struct probe_events *l, const char *spec, size_t nr)
{
	if (l->is_list || nr <= WIRE_MAX_EVENTS - MIN(l->nr, (unsigned int)WIRE_MAX_EVENTS))
		return 0;
	return log_why(-E2BIG, "'%s' matches %zu functions; a recording has at most %d events",
		       spec, nr, WIRE_MAX_EVENTS);
}

void probe_fields__unknown(struct probe_field *ret_fields, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++) {
		struct probe_field *f = &ret_fields[i];

		memset(f, 0, sizeof(*f));
		snprintf(f->name, sizeof(f->name), "arg%u", i + 1);
		strcpy(f->type, "unsigned long");
		f->size = 8;
		f->is_hex = true;
	}
}

static void put_field(struct strbuf *b, const struct probe_field *f, unsigned int i)
{
	strbuf__printf(b, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->type, f->name,
		       16 + 8 * i, f->size, f->is_signed);
}

static const char *conversion(const struct probe_field *f)
{
	if (f->is_hex)
		return f->size == 8 ? "0x%lx" : "0x%x";
	if (f->size == 8)
		return f->is_signed ? "%ld" : "%lu";
	return f->is_signed ? "%d" : "%u";
}

/*
 * Kernel functions are printed by name.  Addresses in a process stay numbers, because names would
 * need its mappings.
 */
static void put_print(struct strbuf *b, enum probe_how how, const struct probe_field *fields,
		      unsigned int nr)
{
	bool kernel = how == PROBE_FUNCTION || how == PROBE_RETURN;
	unsigned int i;

	strbuf__puts(b, kernel ? "print fmt: \"(%ps)" : "print fmt: \"(0x%lx)");
	for (i = 0; i < nr; i++)
		strbuf__printf(b, " %s=%s", fields[i].name, conversion(&fields[i]));
	strbuf__puts(b, kernel ? "\", (void *)REC->ip" : "\", REC->ip");
	for (i = 0; i < nr; i++)
		strbuf__printf(b,
			       fields[i].is_hex && fields[i].size == 8 ?
				       ", (unsigned long)REC->%s" :
				       ", REC->%s",
			       fields[i].name);
	strbuf__putc(b, '\n');
}

static char *format_text(enum probe_how how, const char *name, const struct probe_field *fields,
			 unsigned int nr)
{
	struct strbuf b = { 0 };

	strbuf__printf(&b, "name: %s\nID: 0\n" TRACE_ENTRY_FORMAT FORMAT_IP, name);
	for (unsigned int i = 0; i < nr; i++)
		put_field(&b, &fields[i], i);
	strbuf__putc(&b, '\n');
	put_print(&b, how, fields, nr);
	if (strbuf__failed(&b))
		strbuf__free(&b);
	return b.s;
}

int probe_events__add(struct probe_events *l, const char *name, struct probe *p,
		      const struct probe_field *fields, unsigned int nr)
{
	_cleanup_free_ char *system = strdup(probe__system(p->how)), *event = strdup(name);
	_cleanup_free_ char *format = l->no_formats ? NULL : format_text(p->how, name, fields, nr);
	int err = system && event && (format || l->no_formats) ?
			  array__grow(&l->v, l->nr, &l->cap) :
			  -ENOMEM;

	if (err) {
		probe__clear(p);
		return err;
	}
	p->nr_args = nr;
	l->v[l->nr++] = (struct probe_event){ .system = take_ptr(system),
					      .event = take_ptr(event),
					      .format = take_ptr(format),
					      .probe = *p };
	memset(p, 0, sizeof(*p));
	return 0;
}

static bool is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

int probe__resolve(const char *spec, struct ksyms *syms, struct probe_events *l)
{
	const char *rest = NULL;
	enum probe_how how = parse_how(spec, &rest);

	if (how == PROBE_NONE)
		return log_why(-EINVAL, "'%s' is not a probe", spec);
	if (!is_plain(spec))
		return log_why(-EINVAL, "the name of an event contains control characters");
	if (how == PROBE_FUNCTION || how == PROBE_RETURN)
		return probe_function__resolve(spec, how, rest, syms, l);
	if (how == PROBE_USDT)
		return probe_usdt__resolve(spec, rest, l);
	return probe_user__resolve(spec, how, rest, l);
}
