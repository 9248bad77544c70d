// SPDX-License-Identifier: GPL-2.0-only
/* Holds the page. */
#include "template.h"

static const unsigned char page[] = {
#include "view_page.inc"
};

int view_template__get(const char **ret_text, size_t *ret_len)
{
	*ret_text = (const char *)page;
	*ret_len = sizeof(page);
	return 0;
}
