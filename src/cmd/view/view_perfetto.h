/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace for Perfetto in the page of `stackonce view`, if it is small. */
#ifndef CMD_VIEW_PERFETTO_H
#define CMD_VIEW_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

struct pair_kinds;
struct reading;
struct strbuf;

#define VIEW_PERFETTO_MAX (2u << 20) /* bytes, compressed */

/* Whether it may be made of so many events, of what has been read once, without any damage. */
bool view_perfetto__may_fit(const struct reading *rd, uint64_t events);
/*
 * Reads the recordings of rd, which is not open, once more.  Appends a gzip file, or nothing if it
 * is larger.  CMD_OK, or CMD_FAILURE after a message.
 */
int view_perfetto__make(struct reading *rd, struct pair_kinds *pairs, struct strbuf *out);

#endif /* CMD_VIEW_PERFETTO_H */
