/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A terminal that shows a page of text and takes keys.  ncurses does that; it is loaded when it is
 * needed, so that everything else works without it.
 */
#ifndef LIVE_SCREEN_H
#define LIVE_SCREEN_H

struct live_screen;

/* -ENOTTY: no terminal that can show a page; -EOPNOTSUPP: ncurses cannot be loaded; -ENOMEM. */
int live_screen__open(struct live_screen **ret_screen);
/* Gives the terminal back as it was; NULL is fine. */
void live_screen__close(struct live_screen *s);

void live_screen__size(const struct live_screen *s, unsigned int *ret_width,
		       unsigned int *ret_height);
/* Shows lines of text, from the top. */
void live_screen__show(struct live_screen *s, const char *text);
/* The next key that was pressed, or 0; does not wait. */
int live_screen__key(struct live_screen *s);

#endif /* LIVE_SCREEN_H */
