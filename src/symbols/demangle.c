// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names are untrusted: substitutions let a short name expand to a text of any length, so a jump out
 * of the demangler's callback ends printing, and long names are not demangled at all.
 */
#include "usyms.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ARRAY_SIZE /* libiberty has its own */
#include "array.h"
#include "cleanup.h"

#define MAX_MANGLED 4096 /* the demangler takes some 100 bytes of stack per byte */
#define MAX_DEMANGLED (64u << 10)

struct output {
	char *s;
	size_t len, cap;
	jmp_buf give_up;
};

static void output_add(const char *s, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (len >= MAX_DEMANGLED - out->len)
		longjmp(out->give_up, 1);
	if (array__reserve(&out->s, out->len + len + 1, &out->cap))
		longjmp(out->give_up, 1);
	memcpy(out->s + out->len, s, len);
	out->len += len;
	out->s[out->len] = '\0';
}

typedef int (*demangler_fn)(const char *mangled, int options, demangle_callbackref callback,
			    void *ctx);

/* The jump leaks nothing: both demanglers work on the stack. */
static char *run(demangler_fn demangler, const char *name, int options)
{
	struct output *out = calloc(1, sizeof(*out));
	char *s = NULL;

	if (!out)
		return NULL;
	if (!setjmp(out->give_up) && demangler(name, options, output_add, out) && out->len) {
		s = out->s;
		out->s = NULL;
	}
	free(out->s);
	free(out);
	return s;
}

/* The suffix of a mangled name: ".cold", ".constprop.0", "@plt". */
static const char *suffix_of(const char *name)
{
	const char *last = strrchr(name, 'E'), *suffix;

	/* Legacy Rust names contain dots, but end with an E. */
	suffix = strpbrk(last ? last : name, ".@");
	return suffix ? suffix : name + strlen(name);
}

static char *demangle_as(const char *name, int options)
{
	_cleanup_free_ char *bare = NULL, *s = NULL;
	const char *suffix;
	char *whole;

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) ||
	    strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return NULL;
	suffix = suffix_of(name);
	bare = strndup(name, suffix - name);
	if (!bare)
		return NULL;
	/* Legacy Rust names are C++ names that end with a hash, which identifies them. */
	s = run(rust_demangle_callback, bare, options);
	if (!s && name[1] == 'Z')
		s = run(cplus_demangle_v3_callback, bare, options);
	if (!s)
		return NULL;
	/* LLVM appends a number to symbols that it promotes to global. */
	if (!strncmp(suffix, ".llvm.", strlen(".llvm.")))
		suffix = "";
	return asprintf(&whole, "%s%s", s, suffix) < 0 ? NULL : whole;
}

char *demangle(const char *name)
{
	return demangle_as(name, DMGL_NO_OPTS);
}

char *demangle_with_params(const char *name)
{
	return demangle_as(name, DMGL_PARAMS | DMGL_ANSI);
}
