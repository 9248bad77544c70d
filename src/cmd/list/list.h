/* SPDX-License-Identifier: GPL-2.0-only */
/* stackonce list: list_presets.c, for list.c. */
#ifndef CMD_LIST_H
#define CMD_LIST_H

#include <stdbool.h>

struct out;

/* Prints the presets that glob matches (NULL: all); a negative errno after a message. */
int list__presets(struct out *out, const char *glob, bool json);

#endif /* CMD_LIST_H */
