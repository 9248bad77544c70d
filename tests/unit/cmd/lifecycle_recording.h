/* SPDX-License-Identifier: GPL-2.0-only */
/* Small recordings of lifecycles. */
#ifndef LIFECYCLE_RECORDING_H
#define LIFECYCLE_RECORDING_H

/*
 * An exit, a signal to threads, a child reaped by the kernel, one never freed, a zombie whose child
 * outlives it, a name with control bytes.
 */
void make_lifecycle(const char *path);
/* Zombies whose parent reaps them late, or ends, and whose reaping or free is not recorded. */
void make_zombies(const char *path);

#endif /* LIFECYCLE_RECORDING_H */
