/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WAKERS_RECORDING_H
#define WAKERS_RECORDING_H

/* record -p: a selected task waits for a futex; tasks whose user stack is not recorded wake it. */
void make_wakers(const char *path);

/* record -p -G -u -C with presets that need -a: types, what was selected, and no event. */
void make_selected(const char *path);

#endif /* WAKERS_RECORDING_H */
