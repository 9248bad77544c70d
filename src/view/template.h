/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of `stackonce view` as it was built from src/view/page: HTML with three places, each of
 * which it has once and in this order, that page.c fills:
 *
 *   @stackonce:title@     the name of the recording, in <title>
 *   @stackonce:data@      the data, see data.h
 *   @stackonce:perfetto@  a trace for Perfetto: base64 of a gzip file, or nothing
 */
#ifndef VIEW_TEMPLATE_H
#define VIEW_TEMPLATE_H

#include <stddef.h>

#define VIEW_PLACE "@stackonce:"

/* -ENOSYS, after a message: this build has none. */
int view_template__get(const char **ret_text, size_t *ret_len);

#endif /* VIEW_TEMPLATE_H */
