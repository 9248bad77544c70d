/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of a trace.dat file as entries, made once per stack, and the functions of the kernel that
 * they and fields name, as kallsyms.
 *
 * A kernel stack is ftrace's own entry with the addresses.  A user frame is a place in a file, and
 * the addresses of its process are unknown and would mean nothing to readers; so a user stack is an
 * entry with its functions as text.
 */
#ifndef EXPORT_TRACE_DAT_STACKS_H
#define EXPORT_TRACE_DAT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"
#include "strbuf.h"
#include "string_table.h"

#define TRACE_DAT_USER_TEXT 1024 /* bytes of a user stack, except for what says that it was cut */

struct trace_dat_stack {
	uint64_t at; /* of the entry in `entries`, from behind its head on */
	uint32_t len; /* 0: the stack has no frames */
	bool known;
};

/* A function, or the end of one. */
struct trace_dat_symbol {
	uint64_t start, end;
	uint32_t name, module; /* in `names` */
};

struct trace_dat_stacks {
	const struct export_source *src;
	struct trace_dat_stack *v[2]; /* kernel and user stacks by number */
	uint32_t nr[2];
	struct strbuf entries;
	struct trace_dat_symbol *symbols;
	uint32_t nr_symbols, max_symbols;
	struct string_table names;
	uint64_t *addresses; /* of fields, that have been looked up */
	uint32_t nr_addresses, max_addresses;
	struct index address_index;
	uint64_t seed;
	uint32_t nr_written; /* stacks */
	uint64_t memory; /* charged to the budget of the recording */
};

/* All functions return 0 or a negative errno; -ENOMEM and -ENOBUFS without a message. */

/* The entry of an event's kernel or user stack; *ret_len 0: without frames, no entry. */
int trace_dat_stacks__get(struct trace_dat_stacks *s, uint32_t number, bool is_user,
			  const char **ret_entry, size_t *ret_len);
/* Adds the function at a code address of the kernel, which a field has. */
int trace_dat_stacks__add_address(struct trace_dat_stacks *s, uint64_t address);
/* Appends the functions as lines of /proc/kallsyms, by address. */
void trace_dat_stacks__kallsyms(struct trace_dat_stacks *s, struct strbuf *b);
void trace_dat_stacks__clear(struct trace_dat_stacks *s);

#endif /* EXPORT_TRACE_DAT_STACKS_H */
