// SPDX-License-Identifier: GPL-2.0-only
/* Makes masks of fields for the check of records. */
#include "native_masks.h"

#include <errno.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_check.h"
#include "native_rows.h"
#include "native_types.h"

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

int native_masks__make(const struct native_event *e, const struct ev_format *fmt,
		       const struct btf *btf, struct native_check *ret_check)
{
	struct native_check c = { .steady_strings = ~0ull };
	int id = btf__find_by_name_kind(btf, "pt_regs", BTF_KIND_STRUCT);
	struct native_place sp;
	uint32_t fixed = ev_format__fixed_size(fmt);
	bool has_strings = false;
	unsigned int i;

	if (id < 0 || native_types__member(btf, (uint32_t)id, "sp", &sp))
		return -EOPNOTSUPP;
	c.sp_at = sp.off[0];
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
	return 0;
}
