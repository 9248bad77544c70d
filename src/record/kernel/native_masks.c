// SPDX-License-Identifier: GPL-2.0-only
/* Makes masks of fields for the check of records. */
#include "native_masks.h"

#include <string.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_check.h"
#include "native_priv.h"
#include "native_rows.h"

/*
 * Members of a task that others may change at any time: its name, its priority, the CPU that it is
 * queued on, and whether it is a zombie or dead.
 */
static bool may_change(const struct native_field *f)
{
	static const char *const members[] = { "comm", "prio", "thread_info.cpu", "exit_state" };
	size_t i;

	for (i = 0; f->member && i < ARRAY_SIZE(members); i++)
		if (!strcmp(f->member, members[i]))
			return true;
	return false;
}

static void set_bytes(__wire_u64 *mask, uint32_t from, uint32_t size)
{
	memset((char *)mask + from, 0xff, size);
}

void native_masks__make(const struct native_event *e, const struct ev_format *fmt,
			struct native_check *ret_check)
{
	struct native_check c = { .steady_strings = ~0ull };
	uint32_t fixed = ev_format__fixed_size(fmt);
	bool has_strings = false;
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		const struct native_field *row = native_event__field(e, f->name);

		if (f->is_common || !row)
			continue;
		set_bytes(c.fields, f->offset, f->size);
		if (!may_change(row))
			set_bytes(c.steady, f->offset, f->size);
		else if (f->kind == EV_FIELD_DATA_LOC)
			c.steady_strings = 0;
		has_strings |= f->kind == EV_FIELD_DATA_LOC;
	}
	/* strings follow the fields at once */
	if (has_strings && fixed < NATIVE_MAX_FIXED) {
		set_bytes(c.fields, fixed, NATIVE_MAX_FIXED - fixed);
		if (c.steady_strings)
			set_bytes(c.steady, fixed, NATIVE_MAX_FIXED - fixed);
	}
	*ret_check = c;
}

void native_masks__make_call(bool is_exit, struct native_check *ret_check)
{
	struct native_check c = { .steady_strings = ~0ull };
	/* the number and six arguments, or the number and the result */
	uint32_t size = sizeof(c.fields[0]) * (is_exit ? 2 : 7);

	set_bytes(c.fields, NATIVE_COMMON, size);
	set_bytes(c.steady, NATIVE_COMMON, size);
	*ret_check = c;
}
