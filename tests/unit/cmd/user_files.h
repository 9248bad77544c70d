/* SPDX-License-Identifier: GPL-2.0-only */
/* A program, its libraries and other code that user stacks are in. */
#ifndef USER_FILES_H
#define USER_FILES_H

#include "trace/write/writer.h"

enum { APP = 1, LIBC, PLUGIN, GONE, VDSO, JIT };

/* LIBC gets a second name, in a container. */
void add_files(struct stk_writer *w);
/* For all but PLUGIN. */
void add_user_symbols(struct stk_writer *w);

#endif /* USER_FILES_H */
