/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_USER_FILES_PRIV_H
#define RECORD_USER_FILES_PRIV_H

#include "user_files.h"

/* Handles a file event as if it had arrived in the ring. */
int user_files__take_file_event(struct user_files *f, const struct wire_file_event *n);

#endif /* RECORD_USER_FILES_PRIV_H */
