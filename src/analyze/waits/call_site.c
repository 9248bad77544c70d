// SPDX-License-Identifier: GPL-2.0-only
/* Finds the frame of a user stack that called the C library. */
#include "call_site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

struct call_sites {
	struct stk_reader *r;
	struct known_site {
		struct call_site site;
		bool known;
	} * v; /* by stack number */
	uint32_t nr;
};

int call_sites__new(struct stk_reader *r, struct call_sites **ret_sites)
{
	struct call_sites *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->r = r;
	*ret_sites = s;
	return 0;
}

void call_sites__free(struct call_sites *s)
{
	if (!s)
		return;
	free(s->v);
	free(s);
}

/* "libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", ... */
static bool is_system_library(const struct stk_frame *f)
{
	static const char *const names[] = { "libc.so",	   "libc-", "libpthread.so", "libpthread-",
					     "ld-linux",   "ld-2",  "ld-musl-",	     "ld.so",
					     "libc.musl-", "[vdso]" };
	size_t i;

	for (i = 0; f->mod && i < ARRAY_SIZE(names); i++)
		if (!strncmp(f->mod, names[i], strlen(names[i])))
			return true;
	return false;
}

bool call_site__frame(struct stk_reader *r, uint32_t ustack, struct stk_frame *ret_frame)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int n = ustack ? stk_reader__frames(r, ustack, frames, STK_MAX_DEPTH) : 0, i;

	if (n <= 0)
		return false;
	n = MIN(n, STK_MAX_DEPTH);
	for (i = 0; i < n && is_system_library(&frames[i]); i++)
		;
	*ret_frame = frames[i < n ? i : 0];
	return true;
}

int call_sites__of(struct call_sites *s, uint32_t ustack, struct call_site *ret_site)
{
	struct call_site site = { 0 };
	struct stk_frame frame;

	if (ustack > stk_reader__nr_stacks(s->r))
		ustack = 0;
	if (array__reach(&s->v, ustack, &s->nr))
		return -ENOMEM;
	if (!s->v[ustack].known) {
		if (call_site__frame(s->r, ustack, &frame))
			site = (struct call_site){ frame.file, frame.ip, frame.guessed };
		s->v[ustack] = (struct known_site){ site, true };
	}
	*ret_site = s->v[ustack].site;
	return 0;
}
