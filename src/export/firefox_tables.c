// SPDX-License-Identifier: GPL-2.0-only
/* Writes the tables that all threads of the profile share: a column for each property. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "firefox_priv.h"

#define MAX_ID 64 /* bytes of a build id */
#define BREAKPAD_SIZE 16 /* of these, in an id of Breakpad's */

/* ---- columns --------------------------------------------------------------------------------- */

/* Writes the value of row i. */
typedef void (*put_fn)(const struct ff_frames *f, struct json *j, uint32_t i);

struct column {
	const char *name;
	put_fn put;
};

static void put_null(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__null(j, NULL);
}

static void put_false(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__bool(j, NULL, false);
}

static void put_one(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, 1);
}

static void put_or_minus(struct json *j, uint64_t number, uint64_t none)
{
	json__s64(j, NULL, number == none ? -1 : (int64_t)number);
}

static void put_string(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__bytes(j, NULL, f->strings.v[i].s, f->strings.v[i].len);
}

static void put_node_frame(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->nodes[i].frame);
}

static void put_node_prefix(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->nodes[i].prefix == FF_NONE ? 0 : i - f->nodes[i].prefix);
}

static const struct column node_columns[] = {
	{ "frame", put_node_frame },
	{ "prefixOffset", put_node_prefix },
	{ 0 },
};

static void put_address(const struct ff_frames *f, struct json *j, uint32_t i)
{
	put_or_minus(j, f->frames[i].address, FF_NO_ADDRESS);
}

static void put_frame_lib(const struct ff_frames *f, struct json *j, uint32_t i)
{
	put_or_minus(j, f->funcs[f->frames[i].func].lib, FF_NONE);
}

static void put_depth(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->frames[i].depth);
}

static void put_category(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->frames[i].category);
}

static void put_subcategory(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->frames[i].subcategory);
}

static void put_func(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->frames[i].func);
}

static void put_line(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__maybe(j, NULL, f->frames[i].line, f->frames[i].line);
}

static const struct column frame_columns[] = {
	{ "address", put_address },
	{ "lib", put_frame_lib },
	{ "inlineDepth", put_depth },
	{ "category", put_category },
	{ "subcategory", put_subcategory },
	{ "func", put_func },
	{ "nativeSymbol", put_null },
	{ "innerWindowID", put_null },
	{ "line", put_line },
	{ "column", put_null },
	{ "originalLocation", put_null },
	{ 0 },
};

static void put_func_name(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->funcs[i].name);
}

/* Each lib is a resource of the same number. */
static void put_resource(const struct ff_frames *f, struct json *j, uint32_t i)
{
	put_or_minus(j, f->funcs[i].lib, FF_NONE);
}

static void put_source(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__maybe(j, NULL, f->funcs[i].source != FF_NONE, f->funcs[i].source);
}

static const struct column func_columns[] = {
	{ "name", put_func_name },
	{ "isJS", put_false },
	{ "relevantForJS", put_false },
	{ "resource", put_resource },
	{ "source", put_source },
	{ "lineNumber", put_null },
	{ "columnNumber", put_null },
	{ "originalLocation", put_null },
	{ 0 },
};

static void put_resource_name(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->libs[i].name);
}

static const struct column resource_columns[] = {
	{ "name", put_resource_name },
	{ "host", put_null },
	{ "type", put_one }, /* a library */
	{ 0 },
};

static void put_source_name(const struct ff_frames *f, struct json *j, uint32_t i)
{
	json__u64(j, NULL, f->source_names[i]);
}

static const struct column source_columns[] = {
	{ "id", put_null },
	{ "filename", put_source_name },
	{ "startLine", put_one },
	{ "startColumn", put_one },
	{ "sourceMapURL", put_null },
	{ "content", put_null },
	{ 0 },
};

/* Tables that must exist, of which no row is needed. */
static const struct column symbol_columns[] = {
	{ "libIndex", put_null },
	{ "address", put_null },
	{ "name", put_null },
	{ "functionSize", put_null },
	{ 0 },
};

static const struct column location_columns[] = {
	{ "source", put_null },
	{ "line", put_null },
	{ "column", put_null },
	{ 0 },
};

static int put_column(const struct ff_frames *f, struct ff_out *o, const char *name, uint32_t nr,
		      put_fn put)
{
	uint32_t i;
	int err = 0;

	json__array(&o->json, name);
	for (i = 0; i < nr && !err; i++) {
		put(f, &o->json, i);
		err = ff_out__drain(o);
	}
	json__end(&o->json);
	return err;
}

static int put_table(const struct ff_frames *f, struct ff_out *o, const char *name, uint32_t nr,
		     const struct column *columns)
{
	int err = 0;

	json__object(&o->json, name);
	for (; columns->name && !err; columns++)
		err = put_column(f, o, columns->name, nr, columns->put);
	json__u64(&o->json, "length", nr);
	json__end(&o->json);
	return err;
}

/* ---- files ----------------------------------------------------------------------------------- */

static unsigned int parse_hex(const char *hex, uint8_t ret_id[MAX_ID])
{
	unsigned int nr = 0;

	for (; nr < MAX_ID && isxdigit(hex[0]) && isxdigit(hex[1]); hex += 2)
		sscanf(hex, "%2hhx", &ret_id[nr++]);
	return nr;
}

/* The build id; returns its length, 0: unknown. */
static unsigned int id_of(const struct ff_frames *f, const struct ff_lib *lib,
			  const struct stk_file *file, uint8_t ret_id[MAX_ID])
{
	const struct stk_reader *first = stk_reader__member(f->src->reader, 0);
	const char *hex;

	if (lib->file) {
		if (file->id_kind != STK_ID_BUILD_ID)
			return 0;
		memcpy(ret_id, file->id, MIN(file->id_len, MAX_ID));
		return MIN(file->id_len, MAX_ID);
	}
	hex = lib->mod || lib->kernel ? NULL : stk_reader__meta(first, "kernel.build_id");
	return hex ? parse_hex(hex, ret_id) : 0;
}

/* Its first bytes as a GUID of a little-endian machine, and the age, which is 0. */
static void put_breakpad_id(struct json *j, const uint8_t *id, unsigned int len)
{
	static const uint8_t order[BREAKPAD_SIZE] = { 3, 2, 1,	0,  5,	4,  7,	6,
						      8, 9, 10, 11, 12, 13, 14, 15 };
	char text[2 * BREAKPAD_SIZE + 2] = "";
	unsigned int i;

	for (i = 0; len && i < BREAKPAD_SIZE; i++)
		sprintf(text + 2 * i, "%02X", order[i] < len ? id[order[i]] : 0);
	json__printf(j, "breakpadId", "%s%s", text, len ? "0" : "");
}

static void put_code_id(struct json *j, const uint8_t *id, unsigned int len)
{
	char text[2 * MAX_ID + 1];
	unsigned int i;

	for (i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	json__string(j, "codeId", len ? text : NULL);
}

static void put_lib(const struct ff_frames *f, const struct ff_lib *lib, struct json *j)
{
	const char *name = string_table__get(&f->strings, lib->name), *path = name;
	struct stk_file file = { 0 };
	uint8_t id[MAX_ID];
	unsigned int len;

	if (lib->file && !stk_reader__file(f->src->reader, lib->file, &file))
		path = file.path;
	len = id_of(f, lib, &file, id);
	json__object(j, NULL);
	json__string(j, "arch", stk_reader__meta(f->src->reader, "machine") ?: "");
	json__string(j, "name", name);
	json__string(j, "path", path);
	json__string(j, "debugName", name);
	json__string(j, "debugPath", path);
	put_breakpad_id(j, id, len);
	put_code_id(j, id, len);
	json__end(j);
}

int ff_frames__put(struct ff_frames *f, struct ff_out *o)
{
	struct json *j = &o->json;
	uint32_t i;
	int err = 0;

	json__array(j, "libs");
	for (i = 0; i < f->nr_libs && !err; i++) {
		put_lib(f, &f->libs[i], j);
		err = ff_out__drain(o);
	}
	json__end(j);
	json__object(j, "shared");
	err = err ?: put_table(f, o, "stackTable", f->nr_nodes, node_columns);
	err = err ?: put_table(f, o, "frameTable", f->nr_frames, frame_columns);
	err = err ?: put_table(f, o, "funcTable", f->nr_funcs, func_columns);
	err = err ?: put_table(f, o, "resourceTable", f->nr_libs, resource_columns);
	err = err ?: put_table(f, o, "nativeSymbols", 0, symbol_columns);
	err = err ?: put_table(f, o, "sources", f->nr_source_names, source_columns);
	err = err ?: put_table(f, o, "sourceLocationTable", 0, location_columns);
	err = err ?: put_column(f, o, "stringArray", f->strings.nr, put_string);
	json__end(j);
	return err;
}
