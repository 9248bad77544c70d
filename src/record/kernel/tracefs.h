/* SPDX-License-Identifier: GPL-2.0-only */
/* tracefs: its mount point, its files and the tracepoints that it lists. */
#ifndef RECORD_TRACEFS_H
#define RECORD_TRACEFS_H

#include <stddef.h>

#define TRACEFS_ROOT "/sys/kernel/tracing" /* the usual mount point */

/* The mount point; NULL: not mounted. */
const char *tracefs__mounted(void);
/*
 * The mount point of tracefs, usually TRACEFS_ROOT.  Tries to mount tracefs if it is not mounted,
 * and returns the errno of mount(2) if that fails.
 */
int tracefs__root(const char **ret_root);

/* 0 if this process may create instances, else a negative errno. */
int tracefs__may_record(void);

/* Reads ROOT/NAME; the caller frees the text. */
int tracefs__file(const char *name, char **ret_text);
/* Reads ROOT/events/SYSTEM/NAME/format; the caller frees the text. */
int tracefs__format(const char *system, const char *name, char **ret_text);

/* All tracepoints as "system:name", sorted; free them with tracefs__free_events(). */
int tracefs__events(char ***ret_events, size_t *ret_nr);
void tracefs__free_events(char **events, size_t nr);

/*
 * Tries expr as the filter of this event, in a tracefs instance created for that.  Returns 0 if the
 * kernel accepts it, -EINVAL if it does not, another negative errno if it could not be tried.
 */
int tracefs__try_filter(const char *system, const char *name, const char *expr);

#endif /* RECORD_TRACEFS_H */
