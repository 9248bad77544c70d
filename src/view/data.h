/* SPDX-License-Identifier: GPL-2.0-only */
/* The data of the page of `stackonce view`: what it draws, in bounded memory. */
#ifndef VIEW_DATA_H
#define VIEW_DATA_H

#include "stackonce.h"
#include "strbuf.h"

struct view_data;

int view_data__new(struct stk_reader *r, struct view_data **ret_data);
void view_data__free(struct view_data *d);
static inline void view_data__freep(struct view_data **d)
{
	view_data__free(*d);
}
/* Takes a selected event. */
int view_data__add(struct view_data *d, const struct stk_event *e);
uint64_t view_data__events(const struct view_data *d);
/* Appends the bytes of the data.  -ENOMEM. */
int view_data__put(const struct view_data *d, struct strbuf *out);

#endif /* VIEW_DATA_H */
