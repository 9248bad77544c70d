/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the generator have in common: the code that grows, and how it is written. */
#ifndef RECORD_NATIVE_PRIV_H
#define RECORD_NATIVE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/bpf.h>

#include "native_code.h"
#include "native_types.h"

struct ev_field;

#define NATIVE_COMMON 8 /* bytes of struct trace_entry */
/* A place for addresses on the way to a member: the last 8 bytes of the record's room. */
#define NATIVE_TEMPORARY (NATIVE_ROOM - 8)

/* The registers that src/bpf/native_hole.bpf.h sets. */
#define NATIVE_RECORD BPF_REG_8
#define NATIVE_CTX BPF_REG_9

struct native_maker {
	const struct btf *btf;
	enum native_reader reader;
	uint32_t cast, any_word; /* BTF ids */
	struct native_arg args[NATIVE_MAX_ARGS];
	unsigned int nr_args;
	struct native_code *code;
	unsigned int to_failure[NATIVE_HOLE]; /* jumps to the end, where r0 is 0 */
	unsigned int nr_to_failure;
	uint32_t fixed; /* bytes of the record's fixed part */
	uint32_t most; /* bytes that the whole record may have */
	uint32_t string_at; /* offset of the last string's field; 0: not yet any */
	bool is_full; /* more instructions than the hole has */
	char *why;
};

/* ---- native_insns.c: instructions ------------------------------------------------------------ */

#define NATIVE_SET (BPF_ALU64 | BPF_MOV)
#define NATIVE_SET32 (BPF_ALU | BPF_MOV) /* the upper half becomes 0 */
#define NATIVE_ADD (BPF_ALU64 | BPF_ADD)
#define NATIVE_SUB (BPF_ALU64 | BPF_SUB)
#define NATIVE_AND (BPF_ALU64 | BPF_AND)
#define NATIVE_OR (BPF_ALU64 | BPF_OR)
#define NATIVE_XOR (BPF_ALU64 | BPF_XOR)
#define NATIVE_LEFT (BPF_ALU64 | BPF_LSH)
#define NATIVE_RIGHT (BPF_ALU64 | BPF_RSH)
#define NATIVE_RIGHT_SIGNED (BPF_ALU64 | BPF_ARSH)

void native_op(struct native_maker *m, int op, int reg, int32_t value);
void native_op_register(struct native_maker *m, int op, int to, int from);
void native_set64(struct native_maker *m, int reg, uint64_t value);
void native_call(struct native_maker *m, int helper);
void native_exit(struct native_maker *m);
void native_load(struct native_maker *m, int to, int from, uint32_t off, uint32_t size);
/* Stores a register in the record's fixed part, or in NATIVE_TEMPORARY. */
void native_store(struct native_maker *m, int from, uint32_t off, uint32_t size);

/* A jump if reg OP value, to where native_land() is called with the result. */
unsigned int native_jump(struct native_maker *m, int op, int reg, int32_t value);
void native_land(struct native_maker *m, unsigned int from);
/* A jump to the end, where the result is that a field is unavailable. */
void native_fail_if(struct native_maker *m, int op, int reg, int32_t value);

/* The argument, from 0, or the running task for NATIVE_CURRENT. */
void native_load_arg(struct native_maker *m, int to, int arg);
/* r1 = the address of the place; all registers below r6 are lost. */
void native_find(struct native_maker *m, int arg, const struct native_place *p);
/* r1 = the 8 bytes at the address r1; those behind the kernel's object are not to be used. */
void native_follow(struct native_maker *m);
/* Stores size bytes at the address r1, more than its 8 only by the helper, in the record. */
void native_copy(struct native_maker *m, uint32_t to, uint32_t size);

/* ---- native_fill.c: fields ------------------------------------------------------------------- */

struct native_field;

/* Why an event is refused, because of a field or, if that is NULL, in all; returns -EOPNOTSUPP. */
__attribute__((format(printf, 3, 4))) int
native_refuse(struct native_maker *m, const struct ev_field *f, const char *reason, ...);

/* to = where the record ends so far: behind its last string, or behind the fields. */
void native_end_of_record(struct native_maker *m, int to, int temporary);

/* Adds the instructions for a field. */
int native_fill_field(struct native_maker *m, const struct ev_field *f,
		      const struct native_field *row);

#endif /* RECORD_NATIVE_PRIV_H */
