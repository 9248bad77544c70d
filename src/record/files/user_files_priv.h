/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_FILES_PRIV_H
#define RECORD_FILES_PRIV_H

#include "user_files.h"

/* News, as if they had come by the ring. */
int files__take_news(struct files *f, const struct wire_news *n);

#endif /* RECORD_FILES_PRIV_H */
