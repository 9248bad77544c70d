// SPDX-License-Identifier: GPL-2.0-only
/* Resolves f: and r:, functions of the kernel and its modules. */
#include "probe_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "nearest.h"
#include "probe_types.h"
#include "record/kernel/tracefs.h"
#include "slurp.h"
#include "symbols/ksyms.h"

/* Names of functions that the kernel lists, sorted. */
struct names {
	char *text; /* holds the names */
	const char **v;
	size_t nr, cap;
};

struct functions {
	struct names traceable; /* one name per address */
	bool listed; /* traceable is the kernel's list; else all functions of kallsyms */
	struct names refused; /* the blacklist of kprobes */
	const struct ksyms *syms;
	struct ksym *by_name; /* what kallsyms lists */
	size_t nr;
	struct probe_types *types;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_syms(const void *pa, const void *pb)
{
	const struct ksym *a = pa, *b = pb;
	int by_name = strcmp(a->name, b->name);

	if (by_name)
		return by_name;
	return CMP(a->start, b->start);
}

static int names_add(struct names *n, const char *name)
{
	if (array__grow(&n->v, n->nr, &n->cap))
		return -ENOMEM;
	n->v[n->nr++] = name;
	return 0;
}

static void names_sort(struct names *n)
{
	if (n->nr)
		qsort(n->v, n->nr, sizeof(*n->v), compare_names);
}

/* Adds one word of each line, after `skip` others. */
static int names_split(struct names *n, unsigned int skip)
{
	char *rest = n->text, *line;
	int err = 0;

	while (!err && (line = strsep(&rest, "\n"))) {
		char *word = line;

		for (unsigned int i = 0; i < skip && *word; i++) {
			word += strcspn(word, " \t");
			word += strspn(word, " \t");
		}
		word[strcspn(word, " \t")] = '\0';
		if (*word && strncmp(word, "__ftrace_invalid_address", 24))
			err = names_add(n, word);
	}
	names_sort(n);
	return err;
}

static bool names_have(const struct names *n, const char *name)
{
	return n->nr && bsearch(&name, n->v, n->nr, sizeof(*n->v), compare_names);
}

static int load_syms(struct functions *f)
{
	f->nr = f->syms ? ksyms__nr(f->syms) : 0;
	f->by_name = calloc(f->nr + 1, sizeof(*f->by_name));
	if (!f->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++)
		ksyms__get(f->syms, i, &f->by_name[i]);
	qsort(f->by_name, f->nr, sizeof(*f->by_name), compare_syms);
	return 0;
}

/* Adds the first name of each address, as the kernel's list has it. */
static int names_from_syms(struct names *n, const struct ksyms *syms)
{
	uint64_t last = 0;
	struct ksym sym;
	int err = 0;

	for (size_t i = 0; syms && i < ksyms__nr(syms) && !err; i++) {
		ksyms__get(syms, i, &sym);
		if (sym.start != last)
			err = names_add(n, sym.name);
		last = sym.start;
	}
	names_sort(n);
	return err;
}

static void functions_free(struct functions *f)
{
	free(f->traceable.text);
	free(f->traceable.v);
	free(f->refused.text);
	free(f->refused.v);
	free(f->by_name);
	probe_types__free(f->types);
}

/* Without the kernel's lists, attaching shows what cannot be probed. */
static int functions_load(struct functions *f, const struct ksyms *syms)
{
	int err;

	f->syms = syms;
	err = load_syms(f);
	if (!err)
		err = probe_types__load(&f->types);
	f->listed = !err && !tracefs__file("available_filter_functions", &f->traceable.text);
	if (!err)
		err = f->listed ? names_split(&f->traceable, 0) :
				  names_from_syms(&f->traceable, syms);
	if (!err && !slurp("/sys/kernel/debug/kprobes/blacklist", &f->refused.text, NULL))
		err = names_split(&f->refused, 1);
	if (err)
		functions_free(f);
	return err;
}

/* The range [*ret_first, return value) of by_name that has this name. */
static size_t range_of(const struct functions *f, const char *name, size_t *ret_first)
{
	size_t low = array__bisect(f->nr, i, strcmp(f->by_name[i].name, name) < 0);

	*ret_first = low;
	while (low < f->nr && !strcmp(f->by_name[low].name, name))
		low++;
	return low;
}

/* The kernel lists only one of the names of an address as traceable. */
static bool is_traceable(const struct functions *f, const char *name, uint64_t address)
{
	struct ksym sym;

	if (!f->listed || names_have(&f->traceable, name))
		return true;
	for (size_t i = 0; address && i < ksyms__nr(f->syms); i++) {
		ksyms__get(f->syms, i, &sym);
		if (sym.start == address && names_have(&f->traceable, sym.name))
			return true;
	}
	return false;
}

static int add(struct functions *f, enum probe_how how, const char *name, const char *module,
	       uint64_t address, struct probe_events *l)
{
	struct probe p = { .how = how, .function = strdup(name), .address = address };
	struct probe_field fields[PROBE_ARGS];
	unsigned int nr = 0;

	if (!p.function)
		return -ENOMEM;
	if (!l->no_formats)
		probe_types__describe(f->types, name, module, how == PROBE_RETURN, fields, &nr);
	return probe_events__add(l, name, &p, fields, nr);
}

static int complain_unknown(const struct functions *f, const char *spec, const char *name)
{
	_cleanup_free_ char *message = NULL;

	if (!f->traceable.nr)
		return log_why(-EACCES, "event '%s': the kernel lists its functions only for root",
			       spec);
	if (asprintf(&message, "event '%s': the kernel has no function '%s'", spec, name) < 0) {
		message = NULL;
		return -ENOMEM;
	}
	return nearest__complain_name(message, name, f->traceable.v, f->traceable.nr);
}

static int resolve_plain(struct functions *f, const char *spec, enum probe_how how,
			 const char *name, struct probe_events *l)
{
	struct ksym none = { .module = "" }, *sym = &none;
	size_t first, end = range_of(f, name, &first);

	if (end - first > 1)
		return log_why(
			-EINVAL,
			"event '%s': the kernel has %zu functions '%s' and cannot attach to one of "
			"them by name",
			spec, end - first, name);
	if (end > first)
		sym = &f->by_name[first];
	else if (f->nr || (f->listed && !names_have(&f->traceable, name)))
		return complain_unknown(f, spec, name);
	if (names_have(&f->refused, name))
		return log_why(-EINVAL,
			       "event '%s': the kernel refuses to probe '%s' (it is in "
			       "/sys/kernel/debug/kprobes/blacklist)",
			       spec, name);
	if (!is_traceable(f, name, sym->start))
		return log_why(-EINVAL,
			       "event '%s': the kernel cannot trace '%s' (it is not in tracefs's "
			       "available_filter_functions)",
			       spec, name);
	return add(f, how, name, sym->module, sym->start, l);
}

/* Whether a glob selects a function: ambiguous names and the blacklist of kprobes are left out. */
static bool is_selected(const struct functions *f, const char *glob, const char *name,
			struct ksym *ret_sym)
{
	size_t first, end;

	if (fnmatch(glob, name, 0) || names_have(&f->refused, name))
		return false;
	end = range_of(f, name, &first);
	if (f->nr && end - first != 1)
		return false;
	*ret_sym = f->nr ? f->by_name[first] : (struct ksym){ .module = "" };
	return true;
}

static int resolve_glob(struct functions *f, const char *spec, enum probe_how how, const char *glob,
			struct probe_events *l)
{
	_cleanup_free_ size_t *selected = calloc(f->traceable.nr + 1, sizeof(*selected));
	const char *const *all = f->traceable.v;
	size_t nr = f->traceable.nr, found = 0, i;
	struct ksym sym;
	int err;

	if (!selected)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		/* listed twice: several functions have this name */
		if ((i && !strcmp(all[i - 1], all[i])) ||
		    (i + 1 < nr && !strcmp(all[i], all[i + 1])))
			continue;
		if (is_selected(f, glob, all[i], &sym))
			selected[found++] = i;
	}
	if (!found)
		return complain_unknown(f, spec, glob);
	err = probe_events__room(l, spec, found);
	for (i = 0; i < found && !err; i++) {
		is_selected(f, glob, all[selected[i]], &sym);
		err = add(f, how, all[selected[i]], sym.module, sym.start, l);
	}
	return err;
}

static int resolve(const char *spec, enum probe_how how, const char *name, struct ksyms *syms,
		   struct probe_events *l)
{
	struct functions f = { 0 };
	int err = functions_load(&f, syms);

	if (err)
		return log_err(err, "event '%s': load the kernel's functions", spec);
	l->globbed = probe__is_glob(name);
	err = l->globbed ? resolve_glob(&f, spec, how, name, l) :
			   resolve_plain(&f, spec, how, name, l);
	functions_free(&f);
	return err;
}

int probe_function__resolve(const char *spec, enum probe_how how, const char *rest,
			    struct ksyms *syms, struct probe_events *l)
{
	const char *name = l->is_list && !*rest ? "*" : rest;
	struct ksyms *own = NULL;
	int err = 0;

	if (!*name)
		return log_why(-EINVAL, "event '%s': a function is missing", spec);
	if (!syms)
		err = ksyms__load(&own);
	if (!err)
		err = resolve(spec, how, name, syms ? syms : own, l);
	ksyms__free(own);
	return err;
}
