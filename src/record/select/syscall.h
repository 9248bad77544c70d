/* SPDX-License-Identifier: GPL-2.0-only */
/* System call numbers by the names the kernel's syscalls: events use. */
#ifndef RECORD_SYSCALL_H
#define RECORD_SYSCALL_H

/* "openat" -> 257; -ENOENT for names this build does not know. */
int syscall__number(const char *name);
/* 257 -> "openat"; NULL for numbers this build does not know. */
const char *syscall__name(int nr);

#endif /* RECORD_SYSCALL_H */
