/* SPDX-License-Identifier: GPL-2.0-only */
/* stackonce list: what list.c leaves to others. */
#ifndef CMD_LIST_H
#define CMD_LIST_H

#include <stdbool.h>

struct out;

/* The presets that glob (NULL: all) matches; a negative errno after a message. */
int list__presets(struct out *out, const char *glob, bool json);

#endif /* CMD_LIST_H */
