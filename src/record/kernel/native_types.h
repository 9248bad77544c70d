/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments of tracepoints and members of structs, as the kernel's BTF describes them. */
#ifndef RECORD_NATIVE_TYPES_H
#define RECORD_NATIVE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct btf;
struct strbuf;

#define NATIVE_MAX_ARGS 12 /* of a raw tracepoint program */
#define NATIVE_MAX_STEPS 3

/* An argument, which the program gets in 8 bytes, zero-extended. */
struct native_arg {
	uint32_t pointee; /* BTF id of the struct or integer to which it points; 0: neither */
	uint32_t size; /* of the argument itself: 1, 2, 4 or 8 */
	bool is_signed, is_bool;
};

enum native_kind {
	NATIVE_NUMBER, /* of 1, 2, 4 or 8 bytes, an enum or a pointer to anything but char */
	NATIVE_CHARS, /* char[size] */
	NATIVE_CHAR_POINTER,
	NATIVE_OTHER,
};

/* A member: the offset in the last struct, and before it those of the pointers that lead there. */
struct native_place {
	uint32_t off[NATIVE_MAX_STEPS];
	unsigned int nr;
	uint32_t size; /* of the member */
	enum native_kind kind;
	bool is_signed;
};

/*
 * The arguments of a tracepoint, and their types as text, which is appended.  Returns how many;
 * -ENOENT: the types do not have this tracepoint, -EINVAL: they cannot be arguments of a program.
 */
int native_types__args(const struct btf *btf, const char *event,
		       struct native_arg ret_args[NATIVE_MAX_ARGS], struct strbuf *text);

/*
 * Finds a member by its path, as "thread_info.cpu" or "dev->name"; an array in the middle of a path
 * stands for its first element, and an empty path for the type itself.  -ENOENT: no such member, or
 * it is a bit field, or its offset is beyond that of any known struct.
 */
int native_types__member(const struct btf *btf, uint32_t type, const char *path,
			 struct native_place *ret_place);

/* BTF id of a function of the kernel; 0: it has no such function. */
uint32_t native_types__function(const struct btf *btf, const char *name);

/* BTF id of struct pt_regs if it begins with 8 bytes that may be loaded as a number; else 0. */
uint32_t native_types__any_word(const struct btf *btf);

#endif /* RECORD_NATIVE_TYPES_H */
