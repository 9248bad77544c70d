// SPDX-License-Identifier: GPL-2.0-only
/* Resolves u: and ur:, functions of programs and libraries. */
#include "probe_priv.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch_insn.h"
#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "nearest.h"
#include "probe_file.h"
#include "strbuf.h"
#include "symbols/elf_names.h"
#include "symbols/usyms.h"
#include "text.h"

#define SHOWN 8 /* addresses of one name in a message */

struct user_spec {
	const char *spec;
	enum probe_how how;
	struct probe_file file;
};

/* Functions found, each at its own offset. */
struct found {
	struct elf_name *v;
	size_t nr, cap;
};

static int found_add(struct found *f, const struct elf_name *name)
{
	if (array__grow(&f->v, f->nr, &f->cap))
		return -ENOMEM;
	f->v[f->nr++] = *name;
	return 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct elf_name *a = pa, *b = pb;

	return CMP(a->start, b->start) ?: strcmp(a->name, b->name);
}

/* Keeps only the first of several names at the same offset. */
static void found_unique(struct found *f)
{
	size_t to = 0;

	if (f->nr)
		qsort(f->v, f->nr, sizeof(*f->v), by_start);
	for (size_t i = 0; i < f->nr; i++)
		if (!to || f->v[i].start != f->v[to - 1].start)
			f->v[to++] = f->v[i];
	f->nr = to;
}

static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

/* "ns::f", or "ns::f(int)" */
static bool is_demangled(const char *name, const char *wanted)
{
	_cleanup_free_ char *plain = NULL;

	if (!is_mangled(name))
		return false;
	plain = strchr(wanted, '(') ? demangle_with_params(name) : demangle(name);
	return plain && !strcmp(plain, wanted);
}

/* Drops old symbol versions if there is a default one, as new programs call that. */
static void leave_out_old(struct found *f)
{
	size_t to = 0, i;

	for (i = 0; i < f->nr && f->v[i].old; i++)
		;
	if (i == f->nr)
		return;
	for (i = 0; i < f->nr; i++)
		if (!f->v[i].old)
			f->v[to++] = f->v[i];
	f->nr = to;
}

static int find_functions(const struct elf_names *names, const char *wanted,
			  struct found *ret_found)
{
	size_t nr = elf_names__nr(names), i;
	struct elf_name name;
	int err = 0;

	for (i = elf_names__find(names, wanted); i < nr && !err; i++) {
		elf_names__get(names, i, &name);
		if (strcmp(name.name, wanted))
			break;
		err = found_add(ret_found, &name);
	}
	if (ret_found->nr || err)
		nr = 0;
	for (i = 0; i < nr && !err; i++) {
		elf_names__get(names, i, &name);
		if (is_demangled(name.name, wanted))
			err = found_add(ret_found, &name);
	}
	leave_out_old(ret_found);
	found_unique(ret_found);
	return err;
}

static int complain_several(const struct user_spec *u, const char *wanted,
			    const struct found *found)
{
	struct strbuf b = { 0 };

	for (size_t i = 0; i < MIN(found->nr, (size_t)SHOWN); i++) {
		_cleanup_free_ char *plain = demangle_with_params(found->v[i].name);

		strbuf__printf(&b, "%s%s:0x%" PRIx64, i ? ", " : "", u->file.path,
			       found->v[i].start);
		if (plain)
			strbuf__printf(&b, " (%s)", plain);
	}
	if (found->nr > SHOWN)
		strbuf__puts(&b, ", ...");
	log_err(0, "event '%s': %zu functions are named '%s'; use one of: %s", u->spec, found->nr,
		wanted, strbuf__failed(&b) ? "" : b.s);
	strbuf__free(&b);
	return -EINVAL;
}

static int complain_unknown(const struct user_spec *u, const char *wanted)
{
	size_t nr = elf_names__nr(u->file.names), i;
	char **all = calloc(nr + 1, sizeof(*all));
	_cleanup_free_ char *message = NULL;
	struct elf_name name;
	int err = all ? 0 : -ENOMEM;

	if (asprintf(&message, "event '%s': no function of '%s' is named '%s'%s", u->spec,
		     u->file.path, wanted,
		     u->file.stripped ? " (it is stripped; PATH:0xOFFSET can be probed)" : "") <
	    0) {
		message = NULL;
		err = -ENOMEM;
	}
	for (i = 0; i < nr && !err; i++) {
		elf_names__get(u->file.names, i, &name);
		all[i] = is_mangled(name.name) ? demangle(name.name) : NULL;
		if (!all[i])
			all[i] = strdup(name.name);
		if (!all[i])
			err = -ENOMEM;
	}
	if (!err)
		err = nearest__complain_name(message, wanted, (const char *const *)all, nr);
	for (i = 0; all && i < nr; i++)
		free(all[i]);
	free(all);
	return err;
}

/* "0x1f" or "31", the whole string. */
static bool parse_number(const char *s, uint64_t *ret_value)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret_value = strtoull(s, &end, strncmp(s, "0x", 2) ? 10 : 16);
	return !*end && !errno;
}

/* The innermost function around an offset; one of unknown size extends to the next. */
static bool function_around(const struct elf_names *names, uint64_t offset,
			    struct elf_name *ret_name)
{
	bool found = false;
	uint64_t best = 0;

	for (size_t i = 0; i < elf_names__nr(names); i++) {
		struct elf_name name;

		elf_names__get(names, i, &name);
		if (name.start > offset || (found && name.start <= best) ||
		    (name.size && offset - name.start >= name.size))
			continue;
		*ret_name = name;
		best = name.start;
		found = true;
	}
	return found;
}

/*
 * A breakpoint in the middle of an instruction would corrupt it.  Decodes the code from the
 * function's start.  Code that cannot be read or decoded is accepted: the kernel checks the
 * instruction itself.
 */
static int check_boundary(const struct user_spec *u, const struct elf_name *function,
			  uint64_t offset)
{
	_cleanup_free_ char *code = NULL;
	uint64_t at = 0, wanted = offset - function->start;
	size_t len = MIN(wanted + 15, u->file.elf.size - function->start);
	struct arch_insn insn;

	if (elf_file__load(&u->file.elf, function->start, len, &code))
		return 0;
	while (at < wanted) {
		if (!arch_insn__decode((const uint8_t *)code + at, len - at, &insn))
			return 0;
		at += insn.len;
	}
	if (at == wanted)
		return 0;
	return log_why(-EINVAL,
		       "event '%s': 0x%" PRIx64
		       " is in the middle of an instruction of %s, at +0x%" PRIx64,
		       u->spec, offset, function->name, at - insn.len);
}

static int check_place(const struct user_spec *u, const struct elf_name *function, uint64_t offset)
{
	uint64_t vaddr;

	if (!elf_file__code_vaddr(&u->file.elf, offset, &vaddr))
		return log_why(-EINVAL, "event '%s': 0x%" PRIx64 " is not in the code of '%s'",
			       u->spec, offset, u->file.path);
	if (!function || function->start == offset)
		return 0;
	/* The return address is on top of the stack only at the start of a function. */
	if (u->how == PROBE_USER_RETURN)
		return log_why(
			-EINVAL,
			"event '%s': returns can only be probed from the start of a function, here "
			"%s+0x%" PRIx64,
			u->spec, function->name, offset - function->start);
	return check_boundary(u, function, offset);
}

static int add(const struct user_spec *u, const char *what, uint64_t offset, struct probe_events *l)
{
	struct probe p = { .how = u->how,
			   .path = strdup(u->file.path),
			   .given = strdup(u->file.given),
			   .offset = offset };
	struct probe_field fields[PROBE_ARGS];
	_cleanup_free_ char *name = NULL;
	unsigned int nr = PROBE_ARGS;

	if (!p.path || !p.given || asprintf(&name, "%s:%s", u->file.path, what) < 0) {
		name = NULL;
		probe__clear(&p);
		return -ENOMEM;
	}
	probe_fields__unknown(fields, 0, PROBE_ARGS);
	if (u->how == PROBE_USER_RETURN) {
		strcpy(fields[0].name, "ret");
		nr = 1;
	}
	return probe_events__add(l, name, &p, fields, nr);
}

/*
 * A return probe replaces the return address.  The kernel kills a program that saves the
 * replacement and returns through it more than once.
 */
static const char *why_no_return(const struct user_spec *u, const char *function)
{
	static const char *const returns_twice[] = { "setjmp",	    "_setjmp",	  "sigsetjmp",
						     "__sigsetjmp", "getcontext", "swapcontext",
						     "setcontext",  "savectx" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(returns_twice); i++)
		if (!strcmp(function, returns_twice[i]))
			return "it may return more than once, and a return probe would kill the "
			       "program";
	if (u->file.is_go)
		return "Go moves its stacks, and a return probe would crash the program";
	return NULL;
}

static int complain_return(const struct user_spec *u, const char *what, const char *why)
{
	return log_why(-EINVAL, "event '%s': returns of %s cannot be probed: %s", u->spec, what,
		       why);
}

/* Checks and adds a probe in one function. */
static int resolve_function(const struct user_spec *u, const char *what,
			    const struct elf_name *function, uint64_t plus, struct probe_events *l)
{
	const char *why;
	int err;

	if (function->is_ifunc)
		return log_why(
			-EINVAL,
			"event '%s': '%s' is an IFUNC, whose function is chosen when the program "
			"is loaded; probe one of these functions",
			u->spec, function->name);
	why = u->how == PROBE_USER_RETURN ? why_no_return(u, function->name) : NULL;
	if (why)
		return complain_return(u, function->name, why);
	if (function->size && plus >= function->size)
		return log_why(-EINVAL, "event '%s': %s has 0x%" PRIx64 " bytes", u->spec,
			       function->name, function->size);
	err = check_place(u, function, function->start + plus);
	return err ?: add(u, what, function->start + plus, l);
}

/* An offset outside of all known functions is accepted if it is in code. */
static int resolve_offset(const struct user_spec *u, uint64_t offset, struct probe_events *l)
{
	struct elf_name function;
	const char *why;
	char what[32];
	int err;

	snprintf(what, sizeof(what), "0x%" PRIx64, offset);
	why = u->how == PROBE_USER_RETURN ? why_no_return(u, "") : NULL;
	if (why)
		return complain_return(u, what, why);
	if (u->file.names && function_around(u->file.names, offset, &function)) {
		if (function.start == offset && u->how == PROBE_USER_RETURN)
			return resolve_function(u, what, &function, 0, l);
		err = check_place(u, &function, offset);
	} else {
		err = check_place(u, NULL, offset);
	}
	return err ?: add(u, what, offset, l);
}

static int resolve_plain(const struct user_spec *u, const char *what, struct probe_events *l)
{
	_cleanup_free_ char *symbol = strdup(what);
	char *plus = symbol ? strrchr(symbol, '+') : NULL;
	struct found found = { 0 };
	uint64_t offset = 0;
	int err;

	if (!symbol)
		return -ENOMEM;
	err = find_functions(u->file.names, symbol, &found);
	if (!err && !found.nr && plus && parse_number(plus + 1, &offset)) {
		*plus = '\0';
		err = find_functions(u->file.names, symbol, &found);
	}
	if (!err && !found.nr)
		err = complain_unknown(u, symbol);
	else if (!err && found.nr > 1)
		err = complain_several(u, symbol, &found);
	else if (!err)
		err = resolve_function(u, what, &found.v[0], offset, l);
	free(found.v);
	return err;
}

static bool glob_matches(const char *glob, const char *name)
{
	_cleanup_free_ char *plain = NULL;

	if (!fnmatch(glob, name, 0))
		return true;
	plain = is_mangled(name) ? demangle_with_params(name) : NULL;
	return plain && !fnmatch(glob, plain, 0);
}

/* Leaves out functions with the same name, which a recording could not distinguish. */
static int find_glob(const struct elf_names *names, const char *glob, struct found *ret_found,
		     size_t *ret_left_out)
{
	size_t nr = elf_names__nr(names), left_out = 0, i, next;
	struct elf_name name, same;
	int err = 0;

	for (i = 0; i < nr && !err; i = next) {
		struct found found = { 0 };

		elf_names__get(names, i, &name);
		for (next = i; next < nr && !err; next++) {
			elf_names__get(names, next, &same);
			if (strcmp(same.name, name.name))
				break;
			err = found_add(&found, &same);
		}
		if (!err && glob_matches(glob, name.name)) {
			leave_out_old(&found);
			if (found.nr == 1 && !found.v[0].is_ifunc)
				err = found_add(ret_found, &found.v[0]);
			else
				left_out += found.nr;
		}
		free(found.v);
	}
	found_unique(ret_found);
	*ret_left_out = left_out;
	return err;
}

static int resolve_glob(const struct user_spec *u, const char *glob, struct probe_events *l)
{
	struct found found = { 0 };
	size_t left_out = 0, i;
	int err;

	l->globbed = true;
	err = find_glob(u->file.names, glob, &found, &left_out);
	if (!err && !found.nr)
		err = complain_unknown(u, glob);
	if (!err)
		err = probe_events__room(l, u->spec, found.nr);
	for (i = 0; i < found.nr && !err; i++) {
		if (u->how == PROBE_USER_RETURN && why_no_return(u, found.v[i].name))
			left_out++;
		else
			err = add(u, found.v[i].name, found.v[i].start, l);
	}
	if (!err && left_out)
		log_warn("'%s': left out %s: ambiguous name, IFUNC, or return not probeable",
			 u->spec, text__count(left_out, "function").s);
	free(found.v);
	return err;
}

static int resolve(struct user_spec *u, const char *what, struct probe_events *l)
{
	struct found found = { 0 };
	uint64_t offset;
	int err;

	if (!what || !*what)
		return log_why(-EINVAL, "event '%s': a function is missing; use %s:PATH:SYMBOL",
			       u->spec, probe__system(u->how));
	err = probe_file__load_names(&u->file);
	if (err && err != -ENOENT)
		return err;
	if (!strncmp(what, "0x", 2) && parse_number(what, &offset))
		return resolve_offset(u, offset, l);
	if (err) {
		log_err(0,
			"event '%s': '%s' has no symbols, it is stripped; PATH:0xOFFSET, an offset "
			"in the file, can be probed",
			u->spec, u->file.path);
		return err;
	}
	if (!probe__is_glob(what))
		return resolve_plain(u, what, l);
	/* "f(char*)" may be a name, not a glob */
	err = find_functions(u->file.names, what, &found);
	free(found.v);
	if (err)
		return err;
	return found.nr ? resolve_plain(u, what, l) : resolve_glob(u, what, l);
}

int probe_user__resolve(const char *spec, enum probe_how how, const char *rest,
			struct probe_events *l)
{
	struct user_spec u = { .spec = spec, .how = how };
	const char *what = NULL;
	int err = probe_file__open(spec, rest, &u.file, &what);

	if (err)
		return err;
	err = resolve(&u, l->is_list && !what ? "*" : what, l);
	probe_file__close(&u.file);
	return err;
}
