/* SPDX-License-Identifier: GPL-2.0-only */
/* System call numbers by the names in the kernel's syscalls: events. */
#ifndef RECORD_SYSCALL_H
#define RECORD_SYSCALL_H

/* "openat" -> 257; -ENOENT for names unknown to this build. */
int syscall__number(const char *name);
/* 257 -> "openat"; NULL for numbers unknown to this build. */
const char *syscall__name(int nr);

#endif /* RECORD_SYSCALL_H */
