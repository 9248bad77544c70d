/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The payloads of FILES and USER_SYMBOLS blocks. */
#ifndef TRACE_FILE_TABLE_H
#define TRACE_FILE_TABLE_H

#include "stackonce.h"
#include "trace/bytes.h"

/*
 * Append an entry.  On failure nothing is appended.  -E2BIG: a string or the entry is too long;
 * -EINVAL: invalid kind or id.
 */
int file_table__put(struct bytes_buf *b, uint32_t number, const struct stk_file *file);
int file_table__put_symbols(struct bytes_buf *b, uint32_t file,
			    const struct stk_user_symbol *symbols, size_t nr);

#endif /* TRACE_FILE_TABLE_H */
