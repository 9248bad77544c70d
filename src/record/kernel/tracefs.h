/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's tracepoints, as tracefs lists them. */
#ifndef RECORD_TRACEFS_H
#define RECORD_TRACEFS_H

#include <stddef.h>

#define TRACEFS_ROOT "/sys/kernel/tracing" /* where it belongs */

/* Where it is mounted, NULL: nowhere. */
const char *tracefs__mounted(void);
/*
 * The tracefs root (TRACEFS_ROOT, as a rule); mounts it when it is not mounted and we may.
 * -ENOENT or the mount's error otherwise.
 */
int tracefs__root(const char **ret_root);

/* Whether we may make instances in it; 0 or a negative errno. */
int tracefs__may_record(void);

/* Text of ROOT/NAME, to be freed. */
int tracefs__file(const char *name, char **ret_text);
/* Text of ROOT/events/SYSTEM/NAME/format, to be freed. */
int tracefs__format(const char *system, const char *name, char **ret_text);

/* Every "system:name" of the machine, sorted; free with tracefs__free_events(). */
int tracefs__events(char ***ret_events, size_t *ret_nr);
void tracefs__free_events(char **events, size_t nr);

/*
 * Does the kernel take expr as the filter of this event?  Asked in a tracefs instance of our own.
 * 0: yes, -EINVAL: no, another negative errno: it could not be asked.
 */
int tracefs__try_filter(const char *system, const char *name, const char *expr);

#endif /* RECORD_TRACEFS_H */
