/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A tracepoint's tracefs `format` text, parsed once into fields and a printing plan.
 *
 * Source: Documentation/trace/events.rst; the print helpers are those of the kernel's
 * include/trace/stages/stage3_trace_output.h.  Text and records are untrusted.
 */
#ifndef EVENTS_FORMAT_H
#define EVENTS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

enum ev_field_kind {
	EV_FIELD_INT, /* 1, 2, 4 or 8 bytes */
	EV_FIELD_STRING, /* char name[N]: NUL-terminated within its size, or full */
	EV_FIELD_ARRAY, /* any other fixed array or blob; elem_size per element */
	EV_FIELD_DATA_LOC, /* __data_loc: u32 len << 16 | offset from the record's start */
	EV_FIELD_REL_LOC, /* __rel_loc: the same, offset from the end of this field */
};

/* Whether a field is an address, by its type and by the conversion that prints it. */
enum ev_address {
	EV_NO_ADDRESS,
	EV_ADDRESS, /* a pointer, or printed by %p */
	EV_FUNCTION, /* printed by %ps: code, by the name of its function */
	EV_CODE, /* printed by %pS: code, with the offset in its function */
};

struct ev_field {
	const char *name; /* "prev_comm" */
	const char *type; /* "char[16]", "__data_loc char[]", "pid_t": as in the text */
	uint32_t offset, size; /* bytes in the record */
	uint32_t elem_size; /* arrays and dynamic fields: bytes per element, at least 1 */
	enum ev_field_kind kind;
	enum ev_address address; /* EV_FIELD_INT only */
	bool is_signed; /* as in the text */
	bool is_char; /* elements are char: a string when dynamic */
	bool is_pointer; /* the type ends in '*' */
	bool is_common; /* common_type, common_flags, ... */
	bool is_cpumask; /* dynamic cpumask_t / bitmask, as the kernel's filters define it */
};

struct ev_format;

/*
 * Parses text (len bytes; no NUL is required).  -EINVAL: not a format, -ENOMEM; a message is
 * logged.  A print fmt that cannot be compiled is not an error: ev_format__compiled() then returns
 * false, and ev_format__print() falls back to "name=value" for every field.
 */
int ev_format__parse(const char *text, size_t len, struct ev_format **ret_format);
void ev_format__free(struct ev_format *f);

const char *ev_format__name(const struct ev_format *f);
uint32_t ev_format__id(const struct ev_format *f);
bool ev_format__compiled(const struct ev_format *f);
const char *ev_format__why(const struct ev_format *f); /* why it is not compiled, or NULL */
uint32_t ev_format__fixed_size(const struct ev_format *f); /* end of the last field */
unsigned int ev_format__nr_fields(const struct ev_format *f); /* common ones first */
const struct ev_field *ev_format__field(const struct ev_format *f, unsigned int i);
const struct ev_field *ev_format__find(const struct ev_format *f, const char *name);
/* The field "__NAME_val" with the string to which the argument NAME of a call points; or NULL. */
const struct ev_field *ev_format__companion(const struct ev_format *f,
					    const struct ev_field *field);
/* Whether the field is not shown on its own: common, or the companion of another. */
bool ev_format__is_hidden(const struct ev_format *f, const struct ev_field *field);

struct ev_print_ctx {
	/* Appends "sym+0x1/0x2 [mod]" as %pS does (for %ps without offset) and returns true. */
	bool (*symbol)(void *ctx, uint64_t addr, bool with_offset, struct strbuf *out);
	void *symbol_ctx;
	/*
	 * Returns the string at a kernel address (%s of a const char * field: the recording's copy
	 * of printk_formats), or NULL if unknown: then the address is printed.
	 */
	const char *(*string)(void *ctx, uint64_t addr);
	void *string_ctx;
	uint32_t hz; /* the kernel's CONFIG_HZ, for jiffies_to_msecs(); 0: 250 */
	/*
	 * The kernel's jiffies at the event, from which a few events subtract; 0: unknown, and
	 * these events print as fields.  As of CLOCK_MONOTONIC ns t: (uint32_t)(-300 * hz) + t * hz
	 * / 1e9.
	 */
	uint64_t jiffies;
	uint32_t long_size; /* of the recorded machine: 8 */
};

/*
 * Prints the text that the kernel prints for this record after "event: " in the `trace` file.  rec
 * has len bytes in the format's layout and may be shorter than the format says: missing bytes print
 * like zeros, and nothing outside is read.  The output is raw bytes: the caller escapes them for
 * terminals.
 */
void ev_format__print(const struct ev_format *f, const struct ev_print_ctx *ctx, const void *rec,
		      size_t len, struct strbuf *out);

/*
 * Prints {"prev_comm":"x","prev_pid":1,...}: every field except the common ones.  Integers are
 * numbers, char arrays strings, other arrays arrays of numbers, addresses "0x..." strings.  A
 * system call's string arguments are strings (argv: an array of them) under the argument's name;
 * the fields added for them are not printed.
 */
void ev_format__json(const struct ev_format *f, const void *rec, size_t len, struct strbuf *out);

/* Whether the field is among those that ev_format__json() prints. */
bool ev_format__is_shown(const struct ev_format *f, const struct ev_field *field);

/*
 * Prints one field's value, without its name, as --fields does.  Code addresses are symbols if ctx,
 * which may be NULL, knows them; other addresses are 0x....
 */
void ev_format__print_field(const struct ev_format *f, const struct ev_field *field,
			    const struct ev_print_ctx *ctx, const void *rec, size_t len,
			    struct strbuf *out);
/* The same for the value of a field that is an address. */
void ev_field__print_address(const struct ev_field *field, const struct ev_print_ctx *ctx,
			     uint64_t addr, struct strbuf *out);

/* ---- format texts at recording time ---------------------------------------------------------- */

/* The value of an enum constant or kernel variable; false if unknown. */
typedef bool (*ev_constant_fn)(void *ctx, const char *name, int64_t *ret_value);

/*
 * Kernels leave some enum constants as names in their print fmts.  Replaces every name in the print
 * fmt that lookup knows by its value, as the kernel does with the constants that it has values for.
 * Call it while the kernel's type information is available.  lookup may also be called for
 * "vmemmap_base", the value of that variable.  ret_text is malloced and NUL-terminated; ret_nr:
 * names replaced.
 */
int ev_format__resolve(const char *text, size_t len, ev_constant_fn lookup, void *ctx,
		       char **ret_text, unsigned int *ret_nr);

#define EV_SYSCALL_ARGS 6

struct ev_syscall_string {
	uint32_t arg; /* argument of the call, from 0 */
	bool is_argv; /* NULL-terminated array of strings; else one string */
	uint32_t offset; /* of the added field in the record */
	uint32_t field; /* index of the argument's field */
};

/*
 * Returns the format of a system call (sys_enter_NAME) with a field "__data_loc char[] __ARG_val"
 * added for every argument that is a string (for argv: several strings, each with its NUL), and
 * without such fields that newer kernels have themselves, which only their own records fill.
 * Records in that format print such an argument as "the string" or ["the", "strings"]; if the data
 * is empty, as the address.  Other formats are returned unchanged with *ret_nr 0.  ret_text is
 * malloced and NUL-terminated; the outputs are untouched on failure.
 */
int ev_format__syscall_text(const char *text, size_t len, char **ret_text,
			    struct ev_syscall_string ret_strings[EV_SYSCALL_ARGS],
			    unsigned int *ret_nr);

/*
 * Whether a record of raw_syscalls:sys_enter or sys_exit has the fields of this call's event
 * (sys_enter_NAME or sys_exit_NAME): the number, then its arguments or its result in 8 bytes each.
 */
bool ev_format__fits_syscall(const struct ev_format *f);

/* Whether it is a field added for an argv: several strings, each with its NUL. */
bool ev_format__is_argv(const struct ev_format *f, const struct ev_field *field);

/* ---- single fields --------------------------------------------------------------------------- */

/* Value of an integer field (sign-extended if signed); 0 if it lies outside the record. */
uint64_t ev_field__value(const struct ev_field *field, const void *rec, size_t len);
/* Bytes of an array or dynamic field; NULL, 0 if they lie outside the record. */
const void *ev_field__bytes(const struct ev_field *field, const void *rec, size_t len,
			    size_t *ret_len);

#endif /* EVENTS_FORMAT_H */
