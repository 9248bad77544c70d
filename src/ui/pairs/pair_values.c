// SPDX-License-Identifier: GPL-2.0-only
/* Formats the values of --by as the event's print fmt does, and addresses as script --fields. */
#include "pair_query.h"

#include <ctype.h>
#include <string.h>

#include "cleanup.h"
#include "event_flags.h"
#include "record/select/syscall.h"
#include "ui/frames.h"

#define LONGEST 64 /* bytes of a value's text */

/* Length of "NAME=" at s; 0: none. */
static size_t label_at(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n && s[n] == '=' ? n + 1 : 0;
}

/* If the event prints "name=", adds the text that follows, up to the next such label. */
static void put_printed(struct pair_query *q, const struct pairs_value *v, struct strbuf *out)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	size_t len = strlen(v->name), rec_len;
	const void *rec = stk_event__record(v->event, &rec_len);
	const char *s, *end;

	if (!rec || !v->format || !ev_format__compiled(v->format))
		return;
	ev_format__print(v->format, &q->print, rec, rec_len, &text);
	if (!text.s)
		return;
	for (s = text.s; *s; s++)
		if ((s == text.s || s[-1] == ' ') && !strncmp(s, v->name, len) && s[len] == '=')
			break;
	if (!*s)
		return;
	s += len + 1;
	for (end = s; *end && !(*end == ' ' && label_at(end + 1)); end++)
		;
	while (end > s && (end[-1] == ' ' || end[-1] == ','))
		end--;
	if (end - s <= LONGEST)
		strbuf__add(out, s, end - s);
}

static bool is_call_number(const struct stk_event_type *t, const struct ev_field *f)
{
	const char *system = stk_event_type__system(t);

	return (!strcmp(system, "raw_syscalls") && !strcmp(f->name, "id")) ||
	       (!strcmp(system, "syscalls") && !strcmp(f->name, "__syscall_nr"));
}

void pair_query__describe(void *ctx, const struct pairs_value *v, struct strbuf *ret_text)
{
	const struct stk_event_type *t = stk_event__type(v->event);
	struct pair_query *q = ctx;
	const char *name;

	if (v->string) {
		if (!v->field && !stk_event__tid(v->event))
			strbuf__puts(ret_text, "<idle>");
		return;
	}
	if (!strcmp(v->name, "context")) {
		strbuf__puts(ret_text, v->number & EVENT_FLAG_NMI     ? "nmi" :
				       v->number & EVENT_FLAG_HARDIRQ ? "hardirq" :
				       v->number & EVENT_FLAG_SOFTIRQ ? "softirq" :
									"task");
		return;
	}
	if (!v->field)
		return;
	name = is_call_number(t, v->field) ? syscall__name(v->number) : NULL;
	if (name)
		strbuf__puts(ret_text, name);
	else if (!strcmp(v->field->type, "dev_t"))
		strbuf__printf(ret_text, "%u:%u", (uint32_t)v->number >> 20,
			       (uint32_t)v->number & 0xfffff);
	else if (v->field->address)
		ev_field__print_address(v->field, &q->print, v->number, ret_text);
	else
		put_printed(q, v, ret_text);
}
