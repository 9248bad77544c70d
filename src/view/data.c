// SPDX-License-Identifier: GPL-2.0-only
/* Collects what the page shows. */
#include "data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cleanup.h"
#include "json.h"

struct view_data {
	struct stk_reader *r;
	uint64_t events;
	uint64_t begin;
};

int view_data__new(struct stk_reader *r, struct view_data **ret_data)
{
	struct view_data *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->r = r;
	*ret_data = d;
	return 0;
}

void view_data__free(struct view_data *d)
{
	free(d);
}

int view_data__add(struct view_data *d, const struct stk_event *e)
{
	if (!d->events++)
		d->begin = stk_event__ts(e);
	return 0;
}

uint64_t view_data__events(const struct view_data *d)
{
	return d->events;
}

int view_data__put(const struct view_data *d, struct strbuf *out)
{
	_cleanup_(strbuf__free) struct strbuf head = { 0 };
	struct json j = { .out = &head };
	uint32_t len;

	json__object(&j, NULL);
	json__u64(&j, "version", 1);
	json__string(&j, "tool", "stackonce " STACKONCE_VERSION);
	json__printf(&j, "begin_ns", "%" PRIu64, d->begin);
	json__u64(&j, "events_total", d->events);
	json__object(&j, "tables");
	json__end(&j);
	json__end(&j);
	len = head.len;
	strbuf__add(out, (const char *)&len, sizeof(len));
	strbuf__add(out, head.s, head.len);
	return strbuf__failed(&head) || strbuf__failed(out) ? -ENOMEM : 0;
}
