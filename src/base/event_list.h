/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of events, as for -e: items separated by commas.  A comma within brackets is a part of a
 * function's name, as in "u:PATH:f(int, int)" and "u:PATH:g<int, int>".
 */
#ifndef EVENT_LIST_H
#define EVENT_LIST_H

/*
 * Cuts the first item off *rest and returns it, as strsep(3) does: *rest is NULL after the last
 * one.  NULL: there was no more.
 */
char *event_list__next(char **rest);

#endif /* EVENT_LIST_H */
