/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Rewrites format texts at recording time, while the recorded kernel is accessible. */
#include "format_priv.h"

#include "cleanup.h"
#include "log.h"
#include "strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_quoted(const char *s, const char *end)
{
	char quote = *s++;

	while (s < end && *s != quote)
		s += *s == '\\' && end - s > 1 ? 2 : 1;
	return s < end ? s + 1 : end;
}

/* Whether the name of n bytes at s can be a constant: not a member, not a function. */
static bool is_candidate(const char *start, const char *s, size_t n, const char *end)
{
	const char *next = s + n, *prev = s;

	while (next < end && isspace((unsigned char)*next))
		next++;
	while (prev > start && isspace((unsigned char)prev[-1]))
		prev--;
	return !(next < end && *next == '(') && !(prev > start && (prev[-1] == '.')) &&
	       !(prev - start > 1 && prev[-1] == '>' && prev[-2] == '-') &&
	       !isdigit((unsigned char)*s);
}

/* Whether it is the name of a field.  Helpers take field names: __get_str(name). */
static bool is_field(const char *text, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; (p = memmem(p, end - p, name, n)); p++)
		if (p > text && !is_ident(p[-1]) && p + n < end && (p[n] == ';' || p[n] == '['))
			return true;
	return false;
}

static void put_constant(struct strbuf *b, int64_t v)
{
	/* INT64_MIN has no literal of its own */
	if (v < 0)
		strbuf__printf(b, "(%lld%s - 1)", (long long)(v + 1), v < INT32_MIN ? "LL" : "");
	else
		strbuf__s64(b, v);
}

int ev_format__resolve(const char *text, size_t len, ev_constant_fn lookup, void *ctx,
		       char **ret_text, unsigned int *ret_nr)
{
	static const char mark[] = "\nprint fmt:";
	const char *end = text + len, *p = memmem(text, len, mark, strlen(mark)), *start = p;
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	unsigned int nr = 0;
	char name[128];
	int64_t v;

	p = p ? p + strlen(mark) : end;
	strbuf__add(&b, text, p - text);
	while (p < end) {
		const char *s = p;

		if (*p == '"' || *p == '\'')
			p = skip_quoted(p, end);
		else if (!is_ident(*p))
			p++;
		else
			while (p < end && is_ident(*p))
				p++;
		if (is_ident(*s) && (size_t)(p - s) < sizeof(name) &&
		    is_candidate(start, s, p - s, end)) {
			memcpy(name, s, p - s);
			name[p - s] = '\0';
			if (strcmp(name, "REC") && !is_field(text, start, name) &&
			    lookup(ctx, name, &v)) {
				put_constant(&b, v);
				nr++;
				continue;
			}
		}
		strbuf__add(&b, s, p - s);
	}
	strbuf__putc(&b, '\0');
	if (strbuf__failed(&b))
		return log_err(-ENOMEM, "event format");
	*ret_text = take_ptr(b.s);
	*ret_nr = nr;
	return 0;
}

/*
 * Names of the arguments that are NUL-terminated strings, in all system calls of 6.1 to 6.18.  The
 * list omits buffers with a length (buf, optval, u_msg_ptr, u_info) and buffers that the call
 * fills.
 */
static const char *const string_args[] = {
	"filename",	"pathname",	 "path",	"name",	     "oldname",	    "newname",
	"dev_name",	"dir_name",	 "type",	"special",   "specialfile", "put_old",
	"new_root",	"from_pathname", "to_pathname", "u_name",    "uname",	    "_type",
	"_description", "_callout_info", "_key",	"_fs_name",  "fs_name",	    "library",
	"target",	"linkpath",	 "uargs",	"from_path", "to_path",	    "name_user",
};

/* Calls in which an argument of such a name is not a string. */
static const struct {
	const char *call, *arg;
} no_strings[] = {
	{ "sys_enter_gethostname", "name" }, /* filled by the call */
	{ "sys_enter_sethostname", "name" }, /* with a length */
	{ "sys_enter_setdomainname", "name" },
};

static bool is_string_arg(const struct ev_format *f, const struct ev_field *fd)
{
	const char *name = ev_format__name(f);

	if (strcmp(fd->type, "const char *") && strcmp(fd->type, "char *"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(no_strings); i++)
		if (!strcmp(name, no_strings[i].call) && !strcmp(fd->name, no_strings[i].arg))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(string_args); i++)
		if (!strcmp(fd->name, string_args[i]))
			return true;
	return false;
}

static bool is_argv_arg(const struct ev_field *fd)
{
	return !strcmp(fd->name, "argv") &&
	       (!strcmp(fd->type, "const char *const *") ||
		!strcmp(fd->type, "const char * const *") || !strcmp(fd->type, "char **"));
}

/* The string arguments of a system call; their fields' offsets follow the last field. */
static unsigned int find_strings(const struct ev_format *f, struct ev_syscall_string *strings)
{
	uint32_t offset = (ev_format__fixed_size(f) + 3) & ~3u, arg = 0;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < ev_format__nr_fields(f) && arg < EV_SYSCALL_ARGS; i++) {
		const struct ev_field *fd = ev_format__field(f, i);
		bool argv;

		if (fd->is_common || !strcmp(fd->name, "__syscall_nr") || !strcmp(fd->name, "nr") ||
		    fd->kind != EV_FIELD_INT || fd->size != 8)
			continue;
		argv = is_argv_arg(fd);
		if (argv || is_string_arg(f, fd)) {
			strings[nr].arg = arg;
			strings[nr].is_argv = argv;
			strings[nr].offset = offset;
			strings[nr++].field = i;
			offset += 4;
		}
		arg++;
	}
	return nr;
}

static void ev_format__freep(struct ev_format **f)
{
	ev_format__free(*f);
}

/*
 * Leaves out the fields for what arguments point to, which newer kernels have in their own records
 * of some calls.
 */
static void add_without_strings(struct strbuf *b, const char *text, const char *end)
{
	const char *next;

	for (; text < end; text = next) {
		next = memchr(text, '\n', end - text);
		next = next ? next + 1 : end;
		if (!starts_with(text, next - text, "\tfield:__data_loc "))
			strbuf__add(b, text, next - text);
	}
}

/*
 * Leaves out what such a kernel prints of these fields: strings in quotes and bytes in parentheses,
 * behind the argument.  If that is not all that it prints of them, the text is left as it is.
 */
static void add_print_without_strings(struct strbuf *b, const char *text, const char *end)
{
	static const struct {
		const char *s;
		bool is_arg; /* ends with its parenthesis */
	} parts[] = {
		{ " \\\"%s\\\"", false },
		{ " (%s)", false },
		{ ", __get_str(__", true },
		{ ", __print_dynamic_array(__", true },
	};
	const char *p = text;
	size_t start = b->len, i;
	int balance = 0; /* conversions without an argument */

	while (p < end) {
		for (i = 0; i < ARRAY_SIZE(parts); i++)
			if (starts_with(p, end - p, parts[i].s))
				break;
		if (i == ARRAY_SIZE(parts)) {
			strbuf__add(b, p++, 1);
			continue;
		}
		p += strlen(parts[i].s);
		while (parts[i].is_arg && p < end && p[-1] != ')')
			p++;
		balance += parts[i].is_arg ? -1 : 1;
	}
	if (balance) {
		b->len = start;
		strbuf__add(b, text, end - text);
	}
}

bool ev_format__fits_syscall(const struct ev_format *f)
{
	bool is_exit = !strncmp(ev_format__name(f), "sys_exit_", 9);
	unsigned int nr = 0;

	for (unsigned int i = 0; i < ev_format__nr_fields(f); i++) {
		const struct ev_field *fd = ev_format__field(f, i);

		if (fd->is_common || fd->kind == EV_FIELD_DATA_LOC)
			continue;
		if (fd->kind != EV_FIELD_INT || fd->offset != 8 + 8 * nr ||
		    fd->size != (nr ? 8 : 4))
			return false;
		nr++;
	}
	return is_exit ? nr == 2 : nr >= 1 && nr <= 1 + EV_SYSCALL_ARGS;
}

int ev_format__syscall_text(const char *text, size_t len, char **ret_text,
			    struct ev_syscall_string ret_strings[EV_SYSCALL_ARGS],
			    unsigned int *ret_nr)
{
	static const char entry[] = "name: sys_enter_", mark[] = "\n\nprint fmt:";
	bool is_entry = len >= strlen(entry) && !memcmp(text, entry, strlen(entry));
	const char *rest = memmem(text, len, mark, strlen(mark)), *end = text + len;
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	_cleanup_(ev_format__freep) struct ev_format *f = NULL;
	_cleanup_(strbuf__free) struct strbuf b = { 0 }, all = { 0 };
	unsigned int nr = 0;
	size_t fields;
	int err;

	rest = rest ? rest + 1 : end;
	if (is_entry)
		add_without_strings(&b, text, rest);
	else
		strbuf__add(&b, text, rest - text);
	fields = b.len;
	if (fields != (size_t)(rest - text))
		add_print_without_strings(&b, rest, end);
	else
		strbuf__add(&b, rest, end - rest);
	if (strbuf__failed(&b))
		return log_err(-ENOMEM, "event format");
	err = ev_format__parse(b.s, b.len, &f);
	if (err)
		return err;
	if (is_entry && rest < end)
		nr = find_strings(f, strings);
	strbuf__add(&all, b.s, fields);
	for (unsigned int i = 0; i < nr; i++)
		strbuf__printf(&all,
			       "\tfield:__data_loc char[] __%s_val;\toffset:%u;\tsize:4;"
			       "\tsigned:0;\n",
			       ev_format__field(f, strings[i].field)->name, strings[i].offset);
	strbuf__add(&all, b.s + fields, b.len - fields);
	strbuf__putc(&all, '\0');
	if (strbuf__failed(&all))
		return log_err(-ENOMEM, "event format");
	memcpy(ret_strings, strings, nr * sizeof(*strings));
	*ret_text = take_ptr(all.s);
	*ret_nr = nr;
	return 0;
}
