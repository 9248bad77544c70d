// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The payloads of FILES and USER_SYMBOLS blocks. */
#include "file_table.h"

#include "cleanup.h"
#include "log.h"
#include "trace/stk.h"
#include "trace/write/writer.h"

#define MAX_ENTRY (STK_MAX_RAW / 2) /* an entry and those before it fit into one block */

int file_table__put(struct bytes_buf *b, uint32_t number, const struct stk_file *file)
{
	const char *path = file->path ? file->path : "";
	const char *host_path = file->host_path ? file->host_path : "";
	unsigned int id_len = file->id_kind == STK_ID_NONE ? 0 : file->id_len;

	if ((unsigned int)file->kind > STK_FILE_JIT ||
	    (unsigned int)file->id_kind > STK_ID_CONTENT || id_len > STK_MAX_ID)
		return -EINVAL;
	if (strlen(path) > STK_MAX_STRING || strlen(host_path) > STK_MAX_STRING)
		return -E2BIG;
	bytes_put_varint(b, number);
	bytes_put_varint(b, file->kind);
	bytes_put_varint(b, file->flags);
	bytes_put_string(b, path, strlen(path));
	bytes_put_string(b, host_path, strlen(host_path));
	bytes_put_varint(b, file->dev_major);
	bytes_put_varint(b, file->dev_minor);
	bytes_put_varint(b, file->inode);
	bytes_put_varint(b, file->size);
	bytes_put_varint(b, file->mtime_ns);
	bytes_put_varint(b, file->id_kind);
	bytes_put_string(b, (const char *)file->id, id_len);
	bytes_put_varint(b, file->pid);
	bytes_put_varint(b, file->start_ns);
	bytes_put_varint(b, file->base);
	return 0;
}

int file_table__put_symbols(struct bytes_buf *b, uint32_t file,
			    const struct stk_user_symbol *symbols, size_t nr)
{
	size_t before = b->len;
	uint64_t prev = 0;

	bytes_put_varint(b, file);
	bytes_put_varint(b, nr);
	for (size_t i = 0; i < nr; i++) {
		size_t n = strlen(symbols[i].name);

		if (n > STK_MAX_STRING || b->len - before > MAX_ENTRY - n) {
			b->len = before;
			return -E2BIG;
		}
		bytes_put_svarint(b, symbols[i].start - prev);
		bytes_put_varint(b, symbols[i].size);
		bytes_put_string(b, symbols[i].name, n);
		prev = symbols[i].start;
	}
	return 0;
}

int stk_user_symbol__left_out(const char *what, int err)
{
	if (err != -E2BIG && err != -EOVERFLOW)
		return err;
	log_warn("%s: left out names of functions, which are too long or too many", what);
	return 0;
}

int stk_user_symbol__compare(const void *a, const void *b)
{
	const struct stk_user_symbol *x = a, *y = b;

	return CMP(x->start, y->start) ?: CMP(y->size, x->size);
}
