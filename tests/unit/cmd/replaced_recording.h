/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two stacks in generated code that is replaced: the events of one type meet the new code first in
 * one stack, those of the other type in the other.
 */
#ifndef REPLACED_RECORDING_H
#define REPLACED_RECORDING_H

void make_replaced(const char *path);

#endif /* REPLACED_RECORDING_H */
