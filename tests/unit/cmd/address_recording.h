/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations and their frees, from code in the kernel, in a module and without a symbol. */
#ifndef ADDRESS_RECORDING_H
#define ADDRESS_RECORDING_H

void make_addresses(const char *path);

#endif /* ADDRESS_RECORDING_H */
