// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of template.c in a build without the page. */
#include <errno.h>

#include "log.h"
#include "template.h"

int view_template__get(const char **ret_text, size_t *ret_len)
{
	log_err(0,
		"this stackonce was built without the page of 'view', which needs " VIEW_PAGE_NEEDS
		": install that, then build again");
	return -ENOSYS;
}
