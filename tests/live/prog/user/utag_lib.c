// SPDX-License-Identifier: GPL-2.0-only
/* A tagged library: one function. */
#include "tag_code.h"

unsigned long tag_enter(unsigned long n);

unsigned long tag_enter(unsigned long n)
{
	unsigned long r = tag_a(n);

	TAG_KEEP(r);
	return r;
}
