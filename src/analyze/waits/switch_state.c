// SPDX-License-Identifier: GPL-2.0-only
/* Decodes prev_state by the event's own print fmt. */
#include "switch_state.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "strbuf.h"

#define RECORD_MAX 4096 /* bytes; a sched_switch is much shorter */

static enum switch_state state_of(const char *text)
{
	static const struct {
		char letter;
		enum switch_state state;
	} letters[] = {
		{ 'R', SWITCH_PREEMPTED }, { 'S', SWITCH_SLEEP },  { 'D', SWITCH_DISK },
		{ 'T', SWITCH_STOPPED },   { 't', SWITCH_TRACED }, { 'I', SWITCH_IDLE },
		{ 'P', SWITCH_PARKED },	   { 'X', SWITCH_DEAD },   { 'Z', SWITCH_DEAD },
	};
	size_t len = strcspn(text, " "), i;

	/* "S+": the task was preempted on its way to sleep. */
	if (len && text[len - 1] == '+')
		return SWITCH_PREEMPTED;
	for (i = 0; i < ARRAY_SIZE(letters); i++)
		if (*text == letters[i].letter)
			return letters[i].state;
	return SWITCH_UNKNOWN;
}

/* Prints a record with only the state set: a comm could contain text that looks like a state. */
static enum switch_state decode(struct switch_states *s, const struct ev_format *format,
				const struct ev_field *field, uint64_t value)
{
	static const char key[] = "prev_state=";
	const struct ev_print_ctx ctx = { .long_size = 8 };
	uint32_t size = ev_format__fixed_size(format);
	enum switch_state state = SWITCH_UNKNOWN;
	_cleanup_free_ uint8_t *rec = NULL;
	struct strbuf text = { 0 };
	const char *at;

	if (size > RECORD_MAX || field->kind != EV_FIELD_INT || field->size > sizeof(value) ||
	    field->offset > size || field->size > size - field->offset ||
	    !ev_format__compiled(format))
		return state;
	rec = calloc(1, size ?: 1);
	if (!rec) {
		s->failed = true;
		return state;
	}
	memcpy(rec + field->offset, &value, field->size);
	ev_format__print(format, &ctx, rec, size, &text);
	at = text.s ? strstr(text.s, key) : NULL;
	if (at)
		state = state_of(at + strlen(key));
	s->failed |= strbuf__failed(&text);
	strbuf__free(&text);
	return state;
}

enum switch_state switch_states__of(struct switch_states *s, const struct ev_format *format,
				    const struct ev_field *field, uint64_t value)
{
	enum switch_state state;
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->known[i].value == value)
			return s->known[i].state;
	state = decode(s, format, field, value);
	if (s->nr < SWITCH_CACHE) {
		s->known[s->nr].value = value;
		s->known[s->nr++].state = state;
	}
	return state;
}
