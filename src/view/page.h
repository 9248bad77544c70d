/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the page of `stackonce view`: the template with what belongs in its places. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct output;
struct strbuf;

struct view_page {
	const char *title; /* any bytes */
	const struct strbuf *data; /* as data.h describes it */
	const struct strbuf *perfetto; /* a gzip file; NULL: none */
};

/*
 * *ret_bytes: the size of the page.  -ENOMEM, or the error of writing; -ENOSYS, after a message:
 * this build has no page.
 */
int view_page__write(const struct view_page *page, const struct output *o, uint64_t *ret_bytes);

#endif /* VIEW_PAGE_H */
