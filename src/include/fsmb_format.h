/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FSMB: the binary stack map of the proposed ftrace stackmap (tracefs stack_map_bin).  Version 2 is
 * the older form.  The fourth version of the proposal (June 2026) has another magic and calls
 * itself version 1; otherwise it is the same.  The series in kernel/ uses the reserved fields and
 * adds a trailer, at first to version 2, later to version 1.
 *
 *   file  = struct fsmb_header stack* [struct fsmb_trailer]
 *   stack = struct fsmb_stack, then u64 words[nr], innermost first: addresses, or for user stacks
 *           pairs of file hash and offset
 *
 * All fields are in the byte order of the machine that wrote them; the magic shows which one.
 */
#ifndef FSMB_FORMAT_H
#define FSMB_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define FSMB_MAGIC 0x464d5342u
#define FSMB_VERSION 2u
#define FSMB_MAGIC_V1 0x46534d42u
#define FSMB_VERSION_V1 1u

struct fsmb_header {
	uint32_t magic;
	uint32_t version;
	uint32_t nr_stacks;
	uint32_t generation; /* 0 without a trailer */
};
static_assert(sizeof(struct fsmb_header) == 16, "FSMB header is 16 bytes");

struct fsmb_stack {
	uint32_t stack_id;
	uint32_t nr; /* words that follow */
	uint32_t ref_count;
	uint32_t flags; /* FSMB_STACK_*; 0 without a trailer */
};
static_assert(sizeof(struct fsmb_stack) == 16, "FSMB stack head is 16 bytes");

#define FSMB_STACK_TRUNCATED 1u /* there were more frames */
#define FSMB_STACK_USER 2u /* the words are pairs {file hash, offset in the file} */
#define FSMB_STACK_GONE 4u /* has frames of a module that was unloaded: another may be there now */

#define FSMB_TRAILER_MAGIC 0x46534d4eu
#define FSMB_TRAILER_SIZE 160u /* minimum: the fields after release are optional */

struct fsmb_trailer {
	uint32_t magic;
	uint32_t size; /* of the trailer in bytes */
	uint64_t text_base; /* address of _text in that boot */
	uint32_t page_shift;
	uint32_t build_id_size;
	uint8_t build_id[24]; /* of the kernel */
	char boot_id[40], release[72]; /* NUL-padded; boot_id may be empty */
	uint64_t boot_time; /* CLOCK_REALTIME ns when that boot began */
};
static_assert(sizeof(struct fsmb_trailer) == 168, "FSMB trailer is 168 bytes");

#endif /* FSMB_FORMAT_H */
