// SPDX-License-Identifier: GPL-2.0-only
/* A library that ucallbacks opens, with probes while the loader works on it. */
#include "probe.h"

#define ALONE static __attribute__((noinline))

__attribute__((constructor)) static void opened(void)
{
	HERE();
	probe();
	GONE();
}

__attribute__((destructor)) static void closed(void)
{
	HERE();
	probe();
	GONE();
}

ALONE void chosen(void)
{
	HERE();
	probe();
	GONE();
}

/* Called by the loader at the function's first call, or when the library is relocated. */
ALONE void (*choose(void))(void)
{
	HERE();
	probe();
	GONE();
	return chosen;
}

void by_choice(void) __attribute__((ifunc("choose")));
void library_function(void);

void library_function(void)
{
	HERE();
	by_choice();
	probe();
	GONE();
}
