/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes of the feature table that are about user stacks. */
#ifndef RECORD_USER_FEATURES_H
#define RECORD_USER_FEATURES_H

#include <stddef.h>

/* The kernel keeps mappings in a maple tree; ret_detail says how it is read. */
int probe_user_mappings(char *ret_detail, size_t len);
/* It counts their changes, so that they need not be looked up for every event. */
int probe_user_changes(char *ret_detail, size_t len);
/* All mappings of all processes can be listed by a program. */
int probe_user_snapshot(char *ret_detail, size_t len);
/* Files can be opened that have been deleted or lie in another mount namespace. */
int probe_map_files(char *ret_detail, size_t len);

#endif /* RECORD_USER_FEATURES_H */
