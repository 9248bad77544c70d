/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small recording of lifecycles: an exit, a signal to threads, a child reaped by the kernel, one
 * never freed, a zombie whose child outlives it, a name with control bytes.
 */
#ifndef LIFECYCLE_RECORDING_H
#define LIFECYCLE_RECORDING_H

void make_lifecycle(const char *path);

#endif /* LIFECYCLE_RECORDING_H */
