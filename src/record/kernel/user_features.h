/* SPDX-License-Identifier: GPL-2.0-only */
/* The probes of the feature table for user stacks. */
#ifndef RECORD_USER_FEATURES_H
#define RECORD_USER_FEATURES_H

#include <stddef.h>

/* The mappings are in a maple tree; ret_detail says how programs read it. */
int probe_user_mappings(char *ret_detail, size_t len);
/* The kernel counts changes of mappings, so they need not be looked up for every event. */
int probe_user_changes(char *ret_detail, size_t len);
/* A program can iterate over the mappings of all processes. */
int probe_user_snapshot(char *ret_detail, size_t len);
/* Mapped files can be opened even if deleted or in another mount namespace. */
int probe_map_files(char *ret_detail, size_t len);

#endif /* RECORD_USER_FEATURES_H */
