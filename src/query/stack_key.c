// SPDX-License-Identifier: GPL-2.0-only
/* Hashes what frames are, not where they were. */
#include "stack_key.h"

#include <sha2.h>
#include <string.h>

#include "cleanup.h"
#include "metadata.h"
#include "text.h"

#define VERSION 1
#define KERNEL_SIZE (1ull << 30) /* of the addresses that the kernel's own text may have */

/* Part of the hashed bytes. */
enum key_kind {
	KEY_KERNEL_TEXT = 1,
	KEY_KERNEL_FUNCTION = 2,
	KEY_KERNEL_ADDRESS = 3,
	KEY_FILE = 4,
	KEY_FILE_WITHOUT_ID = 5,
	KEY_GENERATED = 6,
	KEY_UNKNOWN = 7,
};
#define KEY_EXACT 1
#define KEY_GUESSED 2

void stack_keys__init(struct stack_keys *k, struct stk_reader *r)
{
	const char *build_id = stk_reader__meta(r, "kernel.build_id");

	*k = (struct stack_keys){ .r = r, .boot_id = stk_reader__meta(r, "boot_id") ?: "" };
	if (build_id)
		k->build_id_len = text__hex_bytes(build_id, k->build_id, sizeof(k->build_id));
	metadata__u64(r, "kernel.text", &k->text);
}

/* ---- the hashed bytes ------------------------------------------------------------------------ */

static void put_u8(SHA2_CTX *sha, uint8_t v)
{
	SHA256Update(sha, &v, sizeof(v));
}

static void put_le(SHA2_CTX *sha, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		put_u8(sha, v);
		v >>= 8;
	}
}

static void put_bytes(SHA2_CTX *sha, const void *bytes, uint32_t len)
{
	put_le(sha, len, 4);
	SHA256Update(sha, bytes, len);
}

static void put_text(SHA2_CTX *sha, const char *s)
{
	put_bytes(sha, s, strlen(s));
}

static struct stack_key finish(SHA2_CTX *sha)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	struct stack_key key;

	SHA256Final(digest, sha);
	memcpy(key.v, digest, sizeof(key.v));
	return key;
}

/* ---- frames ---------------------------------------------------------------------------------- */

bool stack_keys__is_text(const struct stack_keys *k, const struct stk_frame *f)
{
	return f->kind == STK_FRAME_KERNEL && f->sym && !f->mod && k->build_id_len && k->text &&
	       f->ip - k->text < KERNEL_SIZE;
}

static void put_kernel_frame(SHA2_CTX *sha, const struct stack_keys *k, const struct stk_frame *f)
{
	if (stack_keys__is_text(k, f)) {
		put_u8(sha, KEY_KERNEL_TEXT);
		put_bytes(sha, k->build_id, k->build_id_len);
		put_le(sha, f->ip - k->text, 8);
		return;
	}
	put_u8(sha, f->sym ? KEY_KERNEL_FUNCTION : KEY_KERNEL_ADDRESS);
	if (f->sym && k->build_id_len)
		put_bytes(sha, k->build_id, k->build_id_len);
	else
		put_text(sha, k->boot_id);
	if (f->sym) {
		put_text(sha, f->mod ?: "");
		put_text(sha, f->sym);
	}
	put_le(sha, f->sym ? f->off : f->ip, 8);
}

static void put_file(SHA2_CTX *sha, const struct stack_keys *k, const struct stk_file *file)
{
	if (file->id_kind != STK_ID_NONE) {
		put_u8(sha, KEY_FILE);
		put_u8(sha, file->id_kind);
		put_bytes(sha, file->id, file->id_len);
		return;
	}
	put_u8(sha, KEY_FILE_WITHOUT_ID);
	put_text(sha, k->boot_id);
	put_text(sha, file->path);
	put_le(sha, file->dev_major, 4);
	put_le(sha, file->dev_minor, 4);
	put_le(sha, file->inode, 8);
	put_le(sha, file->size, 8);
	put_le(sha, file->mtime_ns, 8);
}

static void put_user_frame(SHA2_CTX *sha, const struct stack_keys *k, const struct stk_frame *f)
{
	struct stk_file file;

	if (!f->file || stk_reader__file(k->r, f->file, &file)) {
		put_u8(sha, KEY_UNKNOWN);
	} else if (file.kind == STK_FILE_JIT) {
		put_u8(sha, KEY_GENERATED);
		put_text(sha, f->sym ?: "");
	} else {
		put_file(sha, k, &file);
		put_le(sha, f->ip, 8);
	}
}

struct stack_key stack_key__of_frame(const struct stack_keys *k, const struct stk_frame *f)
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	put_u8(&sha, 'F');
	put_u8(&sha, VERSION);
	put_u8(&sha, (f->exact ? KEY_EXACT : 0) | (f->guessed ? KEY_GUESSED : 0));
	if (f->kind == STK_FRAME_KERNEL)
		put_kernel_frame(&sha, k, f);
	else if (f->kind == STK_FRAME_USER)
		put_user_frame(&sha, k, f);
	else
		put_u8(&sha, KEY_UNKNOWN);
	return finish(&sha);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

struct stack_key stack_key__of_frames(enum stk_stack_end end, const struct stack_key *frames,
				      uint32_t nr)
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	put_u8(&sha, 'S');
	put_u8(&sha, VERSION);
	put_u8(&sha, end);
	put_le(&sha, nr, 4);
	SHA256Update(&sha, frames[0].v, nr * sizeof(*frames));
	return finish(&sha);
}

int stack_key__of_stack(const struct stack_keys *k, uint32_t number, struct stack_key *ret_key)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct stack_key keys[STK_MAX_DEPTH];
	struct stk_stack s;
	int nr, i, err = stk_reader__stack(k->r, number, &s);

	if (err)
		return err;
	nr = stk_reader__frames(k->r, number, frames, STK_MAX_DEPTH);
	if (nr < 0)
		return nr;
	nr = MIN(nr, STK_MAX_DEPTH);
	for (i = 0; i < nr; i++)
		keys[i] = stack_key__of_frame(k, &frames[i]);
	*ret_key = stack_key__of_frames(s.end, keys, nr);
	return 0;
}
