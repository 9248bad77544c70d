/* SPDX-License-Identifier: GPL-2.0-only */
/* System call numbers by the names the kernel's syscalls: events use. */
#ifndef RECORD_SYSCALL_H
#define RECORD_SYSCALL_H

/* "openat" -> 257; -ENOENT for names this build does not know. */
int syscall__number(const char *name);

#endif /* RECORD_SYSCALL_H */
