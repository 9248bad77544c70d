// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads DWARF with libdw, in a process of its own (line_child.c): nothing is freed, and a file that
 * crashes libdw ends only that process.
 */
#include "line_reader.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "string_table.h"

#define MAX_SCOPES 256 /* of a function, each nested in the one before */
#define MAX_DEPTH 64 /* of functions in namespaces, classes and functions */

struct unit;

/* A range of code and its entry: a unit's or a function's. */
struct range {
	uint64_t start, end;
	Dwarf_Die die;
	struct unit *unit; /* NULL: a function */
};

struct ranges {
	struct range *v;
	size_t nr, cap;
};

/* The functions of a compilation unit, read at the first lookup in it. */
struct unit {
	bool scanned;
	Dwarf_Die split; /* the unit's own entry, or the one in its .dwo file */
	struct ranges functions;
};

/* A row of a .debug_line table that no unit refers to. */
struct row {
	uint64_t addr;
	const char *source; /* NULL: the code ends here */
	int line;
};

struct dwarf_lines {
	Dwarf *dwarf;
	struct ranges units;
	struct row *rows;
	size_t nr_rows;
	struct string_table paths; /* of source files, where the DWARF has them in two parts */
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void ranges_add(struct ranges *r, Dwarf_Die *die, struct unit *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (end <= start)
			continue;
		if (array__grow(&r->v, r->nr, &r->cap))
			must(NULL);
		r->v[r->nr++] = (struct range){ start, end, *die, unit };
	}
}

/* Of equal ranges the last one in the file sorts last and is used. */
static int range_compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return CMP(a->start, b->start) ?: CMP(a->die.addr, b->die.addr);
}

static void ranges_sort(struct ranges *r)
{
	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), range_compare);
}

static struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t low = array__bisect(r->nr, i, r->v[i].start <= addr);

	return low && addr < r->v[low - 1].end ? &r->v[low - 1] : NULL;
}

/* ---- units and their functions --------------------------------------------------------------- */

static void find_units(struct dwarf_lines *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
			ranges_add(&d->units, &die, must(calloc(1, sizeof(struct unit))));
	}
	ranges_sort(&d->units);
}

static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_module:
		return true;
	default:
		return false;
	}
}

static void find_functions(struct ranges *functions, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			ranges_add(functions, &die, NULL);
		if (holds_functions(tag))
			find_functions(functions, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void unit_scan(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Die split = { 0 };

	unit->scanned = true;
	unit->split = *die;
	if (!dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr)
		unit->split = split;
	find_functions(&unit->functions, &unit->split, 0);
	ranges_sort(&unit->functions);
}

/* ---- line tables without a unit -------------------------------------------------------------- */

/* Where one sequence ends and another begins, the latter is used. */
static int row_compare(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return !!a->source - !!b->source;
}

static void rows_add(struct dwarf_lines *d, Dwarf_Lines *lines, size_t nr)
{
	d->rows = must(realloc(d->rows, (d->nr_rows + nr + 1) * sizeof(*d->rows)));
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct row row = { 0 };
		Dwarf_Addr addr;
		bool end = true;

		if (dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end) ||
		    dwarf_lineno(line, &row.line))
			continue;
		row.addr = addr;
		row.source = end ? NULL : dwarf_linesrc(line, NULL, NULL);
		d->rows[d->nr_rows++] = row;
	}
}

static void find_rows(struct dwarf_lines *d)
{
	Dwarf_Off at = 0, next;
	Dwarf_Lines *lines;
	Dwarf_CU *cu = NULL;
	size_t nr;

	while (!dwarf_next_lines(d->dwarf, at, &next, &cu, NULL, NULL, &lines, &nr) && next > at) {
		rows_add(d, lines, nr);
		at = next;
	}
	if (d->nr_rows)
		qsort(d->rows, d->nr_rows, sizeof(*d->rows), row_compare);
}

static unsigned int find_row(const struct dwarf_lines *d, uint64_t addr, struct usyms_line *ret)
{
	size_t low = array__bisect(d->nr_rows, i, d->rows[i].addr <= addr);

	if (!low || !d->rows[low - 1].source)
		return 0;
	*ret = (struct usyms_line){ .source = d->rows[low - 1].source,
				    .line = MAX(d->rows[low - 1].line, 0) };
	return 1;
}

/* ---- answers --------------------------------------------------------------------------------- */

static const char *string_of(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &attr));
}

static const char *function_name(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : dwarf_diename(die);
}

/* The function and the calls inlined into it at this address, outermost first. */
static unsigned int find_scopes(Dwarf_Die *function, uint64_t addr, Dwarf_Die *ret_scopes)
{
	unsigned int nr = 1, depth;
	Dwarf_Die at = *function, die;

	ret_scopes[0] = *function;
	for (depth = 1; depth < MAX_SCOPES && !dwarf_child(&at, &die); depth++) {
		int tag;

		do {
			tag = dwarf_tag(&die);
			if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
			    dwarf_haspc(&die, addr) > 0)
				break;
			tag = 0;
		} while (!dwarf_siblingof(&die, &die));
		if (!tag)
			break;
		if (tag == DW_TAG_inlined_subroutine)
			ret_scopes[nr++] = die;
		at = die;
	}
	return nr;
}

/* The source position of an inlined call. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *call, struct usyms_line *ret_line)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word value;
	size_t nr;

	ret_line->line = 0;
	ret_line->source = NULL;
	if (!dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attr), &value) &&
	    value <= UINT32_MAX)
		ret_line->line = value;
	if (!dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attr), &value) &&
	    !dwarf_getsrcfiles(unit, &files, &nr) && value < nr)
		ret_line->source = dwarf_filesrc(files, value, NULL, NULL);
}

/* DWARF 5 has paths relative to the directory in which the compiler ran. */
static const char *full_path(struct dwarf_lines *d, Dwarf_Die *unit, const char *source)
{
	const char *dir = string_of(unit, DW_AT_comp_dir);
	char path[PATH_MAX];
	int len;

	if (!source || *source == '/' || !dir || *dir != '/')
		return source;
	len = snprintf(path, sizeof(path), "%s/%s", dir, source);
	if (len < 0 || (size_t)len >= sizeof(path))
		return source;
	return must((char *)string_table__keep(&d->paths, path));
}

unsigned int dwarf_lines__find(struct dwarf_lines *d, uint64_t vaddr, struct usyms_line *ret_lines,
			       unsigned int max)
{
	struct range *range = ranges_find(&d->units, vaddr), *function;
	struct usyms_line at = { 0 };
	Dwarf_Die scopes[MAX_SCOPES];
	unsigned int nr, done = 0;
	Dwarf_Line *line;
	int number;

	if (!range)
		return find_row(d, vaddr, ret_lines);
	if (!range->unit->scanned)
		unit_scan(range->unit, &range->die);
	line = dwarf_getsrc_die(&range->die, vaddr);
	if (line && !dwarf_lineno(line, &number)) {
		at.source = dwarf_linesrc(line, NULL, NULL);
		at.line = MAX(number, 0);
	}
	function = ranges_find(&range->unit->functions, vaddr);
	nr = function ? find_scopes(&function->die, vaddr, scopes) : 0;
	while (nr-- && done < max) {
		at.function = function_name(&scopes[nr]);
		at.source = full_path(d, &range->die, at.source);
		ret_lines[done++] = at;
		call_site(&range->unit->split, &scopes[nr], &at);
	}
	at.source = full_path(d, &range->die, at.source);
	if (!done && at.source)
		ret_lines[done++] = at;
	return done;
}

struct dwarf_lines *dwarf_lines__new(int fd, int alt_fd)
{
	struct dwarf_lines *d = must(calloc(1, sizeof(*d)));

	elf_version(EV_CURRENT);
	d->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!d->dwarf)
		return NULL;
	if (alt_fd >= 0)
		dwarf_setalt(d->dwarf, dwarf_begin(alt_fd, DWARF_C_READ));
	find_units(d);
	if (!d->units.nr)
		find_rows(d);
	return d;
}
