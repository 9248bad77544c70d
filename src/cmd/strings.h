/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings of the recorded kernel by their addresses: tracefs's printk_formats, kept as metadata. */
#ifndef CMD_STRINGS_H
#define CMD_STRINGS_H

#include <stdint.h>

struct kernel_strings;

/* text: lines of 0xADDRESS : "STRING", others are left out; NULL when out of memory. */
struct kernel_strings *kernel_strings__new(const char *text);
void kernel_strings__free(struct kernel_strings *s);
/* NULL when unknown, or s is. */
const char *kernel_strings__find(const struct kernel_strings *s, uint64_t addr);

#endif /* CMD_STRINGS_H */
