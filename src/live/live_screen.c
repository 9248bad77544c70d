// SPDX-License-Identifier: GPL-2.0-only
/* The terminal by ncurses, which is loaded on demand. */
#include "live_screen.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ui/ui.h"

#define LIBRARY "libncursesw.so.6"

/* Declared as in ncurses' curses.h. */
typedef struct screen SCREEN;
typedef struct _win_st WINDOW;

struct live_screen {
	SCREEN *screen;
	WINDOW *window;
	SCREEN *(*newterm)(const char *type, FILE *out, FILE *in);
	void (*delscreen)(SCREEN *screen);
	int (*endwin)(void);
	int (*cbreak)(void);
	int (*noecho)(void);
	int (*curs_set)(int visibility);
	int (*wtimeout)(WINDOW *w, int ms);
	int (*wgetch)(WINDOW *w);
	int (*werase)(WINDOW *w);
	int (*wmove)(WINDOW *w, int y, int x);
	int (*waddnstr)(WINDOW *w, const char *s, int n);
	int (*redrawwin)(WINDOW *w);
	int (*wrefresh)(WINDOW *w);
	int (*getmaxx)(const WINDOW *w);
	int (*getmaxy)(const WINDOW *w);
};

/* Never unloaded: it keeps the state of the terminal. */
static int load(struct live_screen *s, void **ret_library)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void **to;
	} functions[] = {
		{ "newterm", (void **)&s->newterm },   { "delscreen", (void **)&s->delscreen },
		{ "endwin", (void **)&s->endwin },     { "cbreak", (void **)&s->cbreak },
		{ "noecho", (void **)&s->noecho },     { "curs_set", (void **)&s->curs_set },
		{ "wtimeout", (void **)&s->wtimeout }, { "wgetch", (void **)&s->wgetch },
		{ "werase", (void **)&s->werase },     { "wmove", (void **)&s->wmove },
		{ "waddnstr", (void **)&s->waddnstr }, { "redrawwin", (void **)&s->redrawwin },
		{ "wrefresh", (void **)&s->wrefresh }, { "getmaxx", (void **)&s->getmaxx },
		{ "getmaxy", (void **)&s->getmaxy },
	};
	size_t i;

	for (i = 0; library && i < ARRAY_SIZE(functions); i++) {
		*functions[i].to = dlsym(library, functions[i].name);
		if (!*functions[i].to)
			return -EOPNOTSUPP;
	}
	*ret_library = library;
	return library ? 0 : -EOPNOTSUPP;
}

int live_screen__open(struct live_screen **ret_screen)
{
	_cleanup_free_ struct live_screen *s = NULL;
	WINDOW **standard;
	void *library;
	int err;

	if (!ui__has_page())
		return -ENOTTY;
	s = calloc(1, sizeof(*s));
	err = s ? load(s, &library) : -ENOMEM;
	if (err)
		return err;
	setlocale(LC_CTYPE, ""); /* ncurses needs it to print UTF-8 */
	standard = dlsym(library, "stdscr");
	s->screen = standard ? s->newterm(NULL, stdout, stdin) : NULL;
	if (!s->screen)
		return -ENOTTY;
	s->window = *standard;
	s->cbreak();
	s->noecho();
	s->curs_set(0);
	s->wtimeout(s->window, 0);
	*ret_screen = s;
	s = NULL;
	return 0;
}

void live_screen__close(struct live_screen *s)
{
	if (!s)
		return;
	s->endwin();
	s->delscreen(s->screen);
	free(s);
}

void live_screen__size(const struct live_screen *s, unsigned int *ret_width,
		       unsigned int *ret_height)
{
	int width = s->getmaxx(s->window), height = s->getmaxy(s->window);

	*ret_width = width > 0 ? width : 80;
	*ret_height = height > 0 ? height : 24;
}

void live_screen__show(struct live_screen *s, const char *text)
{
	int y, len;

	s->werase(s->window);
	for (y = 0; *text; y++, text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (s->wmove(s->window, y, 0) == 0)
			s->waddnstr(s->window, text, len);
	}
	/* Whatever else was printed on the terminal meanwhile is painted over. */
	s->redrawwin(s->window);
	s->wrefresh(s->window);
}

int live_screen__key(struct live_screen *s)
{
	int key = s->wgetch(s->window);

	return key > 0 ? key : 0;
}
