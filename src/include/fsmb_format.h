/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FSMB version 2: the binary stack map of the proposed ftrace stackmap (tracefs stack_map_bin).
 *
 *   file  = struct fsmb_header stack*
 *   stack = struct fsmb_stack, then u64 ips[nr], innermost first
 *
 * Everything is in the byte order of the machine that wrote it; the magic tells which one.
 */
#ifndef FSMB_FORMAT_H
#define FSMB_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define FSMB_MAGIC 0x464d5342u
#define FSMB_VERSION 2u

struct fsmb_header {
	uint32_t magic;
	uint32_t version;
	uint32_t nr_stacks;
	uint32_t reserved; /* 0 */
};
static_assert(sizeof(struct fsmb_header) == 16, "FSMB header is 16 bytes");

struct fsmb_stack {
	uint32_t stack_id;
	uint32_t nr; /* frames that follow */
	uint32_t ref_count;
	uint32_t reserved; /* 0 */
};
static_assert(sizeof(struct fsmb_stack) == 16, "FSMB stack head is 16 bytes");

#endif /* FSMB_FORMAT_H */
