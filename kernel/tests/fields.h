/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether two records are of the same event: compares them field by field, as the padding between
 * and after fields is not initialized.
 */
#ifndef KERNEL_TESTS_FIELDS_H
#define KERNEL_TESTS_FIELDS_H

#include "ring.h"

struct field {
	unsigned int offset, size;
	bool dynamic; /* { u16 offset, u16 length } of data after the other fields */
};

struct event_fields {
	unsigned int nr;
	struct field fields[32];
};

static struct event_fields *fields__of[65536];

/* All but the flags and the preemption count, which may differ between two instances. */
static inline void fields__add(struct event_fields *event, const char *line)
{
	const char *at = strstr(line, "offset:");
	struct field field = { .dynamic = strstr(line, "__data_loc ") };

	if (!strstr(line, "field:") || !at ||
	    sscanf(at, "offset:%u; size:%u", &field.offset, &field.size) != 2)
		return;
	if (field.offset == 2 || field.offset == 3)
		return;
	if (strstr(line, "__rel_loc ") || event->nr == sizeof(event->fields) / sizeof(field))
		errx(1, "cannot compare %s", line);
	event->fields[event->nr++] = field;
}

static inline void fields__load_event(const char *event)
{
	struct event_fields *fields = calloc(1, sizeof(*fields));
	char dir[160], *text, *line, *save;

	if (!fields)
		errx(1, "no memory");
	snprintf(dir, sizeof(dir), TRACEFS "/events/%s", event);
	text = get_file(dir, "format", NULL);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		fields__add(fields, line);
	free(text);
	fields__of[event_number(event) & 0xffff] = fields;
}

/* fields__load DIR: loads the events that are enabled in an instance. */
static inline void fields__load(const char *dir)
{
	char *text = get_file(dir, "set_event", NULL), *line, *save, *colon;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '/';
		fields__load_event(line);
	}
	free(text);
}

static inline bool field__same(const struct field *field, const uint8_t *a, const uint8_t *b,
			       size_t size)
{
	uint32_t where;

	if (field->offset + field->size > size)
		errx(1, "event %u: no room for a field in %zu bytes", record_type(a), size);
	if (memcmp(a + field->offset, b + field->offset, field->size))
		return false;
	if (!field->dynamic)
		return true;
	where = get_u32(a + field->offset);
	if ((where & 0xffff) + (where >> 16) > size)
		errx(1, "event %u: a field ends outside the record", record_type(a));
	return !memcmp(a + (where & 0xffff), b + (where & 0xffff), where >> 16);
}

static inline bool fields__same(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	const struct event_fields *event = fields__of[record_type(a)];

	if (record_type(a) != record_type(b) || a_size != b_size)
		return false;
	if (!event)
		errx(1, "event %u is unknown", record_type(a));
	for (unsigned int i = 0; i < event->nr; i++)
		if (!field__same(&event->fields[i], a, b, a_size))
			return false;
	return true;
}

#endif /* KERNEL_TESTS_FIELDS_H */
