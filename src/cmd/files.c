// SPDX-License-Identifier: GPL-2.0-only
/* Prints the file map of a recording, and verifies that the files here are the same. */
#include "ui/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "symbols/debug_file.h"
#include "symbols/usyms.h"
#include "ui/frames.h"
#include "ui/stack_refs.h"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_OTHER, VERDICT_GONE };

static const char *const verdicts[] = { "cannot tell", "same", "other", "gone" };

struct row {
	uint32_t number; /* of the file; 0: frames of unknown files */
	uint64_t frames, events, ends[STK_NR_ENDS];
	uint32_t stacks;
	uint32_t last_stack; /* the last one counted in stacks */
	enum verdict verdict;
	const char *verified; /* path of the file that was compared */
};

struct files {
	struct reading rd;
	struct out out;
	bool verify;
	struct stack_refs refs; /* of the events */
	struct row *rows; /* the first is for frames of unknown files */
	uint32_t nr_rows;
	uint32_t *row_of; /* index in rows, by file number; numbers may be sparse */
	bool differs;
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct files, rd, A_RECORDING),
	{ "--verify", "compare with the files here; exit status 1 if some differ",
	  OPT_FLAG(struct files, verify) },
	SYSROOT_OPTION("verify the files under DIR"),
	SELECT_OPTIONS("count only events", "count only these events, separated by commas"),
	JSON_OPTION("one JSON object per file"),
	HELP_OPTION
};
/* clang-format on */

static void files__free(struct files *fs)
{
	free(fs->refs.v);
	free(fs->rows);
	free(fs->row_of);
	reading__free(&fs->rd);
}

static int parse_options(struct files *fs, int argc, char **argv)
{
	int code = reading__options(&fs->rd, &cmd_files, argc, argv);

	fs->rd.names.hash_all = fs->verify;
	if (!code && fs->rd.names.sysroot && !fs->verify)
		return ui__usage_error(argv[0], "--sysroot needs --verify");
	return code;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void count_stack(struct files *fs, uint32_t number, uint64_t refs)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int n = stack__frames(fs->rd.reader, number, frames), i;
	struct stk_stack st;
	struct row *row = NULL;

	for (i = 0; i < n; i++) {
		if (frames[i].kind != STK_FRAME_USER)
			continue;
		row = &fs->rows[0];
		if (frames[i].file <= stk_reader__nr_files(fs->rd.reader))
			row = &fs->rows[fs->row_of[frames[i].file]];
		row->frames += refs;
		if (row->last_stack == number)
			continue;
		row->last_stack = number;
		row->stacks++;
		row->events += refs;
	}
	/* The stack ended in the file of its outermost frame. */
	if (row && !stk_reader__stack(fs->rd.reader, number, &st) && st.end < STK_NR_ENDS)
		row->ends[st.end] += refs;
}

/* Makes a row for each file that the recording describes. */
static int make_rows(struct files *fs)
{
	uint32_t nr = stk_reader__nr_files(fs->rd.reader), i;
	struct stk_file file;

	fs->row_of = calloc((size_t)nr + 1, sizeof(*fs->row_of));
	if (!fs->row_of)
		return -ENOMEM;
	fs->nr_rows = 1;
	for (i = 1; i <= nr; i++)
		if (!stk_reader__file(fs->rd.reader, i, &file))
			fs->row_of[i] = fs->nr_rows++;
	fs->rows = calloc(fs->nr_rows, sizeof(*fs->rows));
	if (!fs->rows)
		return -ENOMEM;
	for (i = 1; i <= nr; i++)
		if (fs->row_of[i])
			fs->rows[fs->row_of[i]].number = i;
	return 0;
}

static int count_stacks(struct files *fs)
{
	int err = make_rows(fs);
	uint32_t i;

	if (err)
		return err;
	for (i = 1; i < fs->refs.nr; i++)
		if (fs->refs.v[i].user)
			count_stack(fs, i, fs->refs.v[i].user);
	return 0;
}

static int by_frames(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- verifying ------------------------------------------------------------------------------- */

/*
 * Other commands accept an identical file anywhere; this one reports whether the file under
 * --sysroot is identical.
 */
static int verify_in_sysroot(struct files *fs, const struct usyms_file *f, const char **ret_path)
{
	const char *root = fs->rd.names.sysroot, *paths[] = { f->host_path, f->path };
	size_t len = strlen(root ?: ""), i;
	int err = usyms__verify(user_names__usyms(&fs->rd.names), f, ret_path);

	while (len && root[len - 1] == '/')
		len--;
	if (err || !len || (!strncmp(*ret_path, root, len) && (*ret_path)[len] == '/'))
		return err;
	*ret_path = NULL;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = -1;

		if (*paths[i] == '/' && !root__open(root, paths[i], &fd))
			return -ESTALE;
	}
	return -ENODEV;
}

static void verify(struct files *fs, struct row *row, const struct stk_file *file)
{
	struct usyms_file f;
	int err;

	/* A file that could not be opened while recording has nothing to compare. */
	if (!user_names__usyms(&fs->rd.names) || !file->number || file->kind != STK_FILE_FILE ||
	    (!file->id_len && !file->size && !file->mtime_ns))
		return;
	user_names__usyms_file(file, &f);
	err = verify_in_sysroot(fs, &f, &row->verified);
	row->verdict = !err	      ? VERDICT_SAME :
		       err == -ESTALE ? VERDICT_OTHER :
		       err == -ENODEV ? VERDICT_GONE :
					VERDICT_NONE;
	fs->differs |= row->verdict == VERDICT_OTHER;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_head(struct files *fs)
{
	strbuf__printf(&fs->out.b, "%s%-10s  %-4s  %-18s  %13s  %13s  %9s  %s%-40s  path%s\n",
		       out__colour(&fs->out, OUT_HEAD), "hash", "kind", "dev:inode", "size",
		       "frames", "stacks", fs->verify ? "here         " : "", "build_id",
		       out__colour(&fs->out, OUT_PLAIN));
}

static void put_device(struct strbuf *b, const struct stk_file *f)
{
	size_t start = b->len;

	if (f->kind == STK_FILE_JIT)
		strbuf__printf(b, "pid %u", f->pid);
	else if (f->number && f->kind == STK_FILE_FILE)
		strbuf__printf(b, "%02x:%02x:%" PRIu64, f->dev_major, f->dev_minor, f->inode);
	else
		strbuf__putc(b, '-');
	out__fill(b, start, 20);
}

static void put_ends(struct strbuf *b, const struct row *row)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < STK_NR_ENDS; i++) {
		if (!row->ends[i])
			continue;
		strbuf__printf(b, "%s%s %s", any ? ", " : "            stacks end here: ",
			       text__number(row->ends[i]).s, stk_stack_end_name(i));
		any = true;
	}
	if (any)
		strbuf__putc(b, '\n');
}

/* The other paths of the file, and the host's paths where they differ. */
static void put_names(struct files *fs, const struct stk_file *f)
{
	struct strbuf *b = &fs->out.b;
	const char *path, *host;
	unsigned int i;

	for (i = 0; i < f->nr_names; i++) {
		if (stk_reader__file_name(fs->rd.reader, f->number, i, &path, &host))
			continue;
		if (i) {
			strbuf__puts(b, "            also ");
			strbuf__text(b, path);
			strbuf__putc(b, '\n');
		}
		if (*host && strcmp(host, path)) {
			strbuf__puts(b, "            on the host ");
			strbuf__text(b, host);
			strbuf__putc(b, '\n');
		}
	}
}

static void put_row(struct files *fs, const struct row *row, const struct stk_file *f)
{
	struct strbuf *b = &fs->out.b;
	size_t start;

	if (f->number)
		strbuf__printf(b, "0x%08x  %-4s  ", f->hash, file__kind(f));
	else
		strbuf__printf(b, "%-10s  %-4s  ", "-", "-");
	put_device(b, f);
	strbuf__printf(b, "%13s  %13s  %9s  ", text__number(f->size).s, text__number(row->frames).s,
		       text__number(row->stacks).s);
	if (fs->verify)
		strbuf__printf(b, "%-11s  ", verdicts[row->verdict]);
	start = b->len;
	file__id(b, f, "sha256:");
	if (b->len == start)
		strbuf__putc(b, '-');
	out__fill(b, start, 41);
	strbuf__putc(b, ' ');
	if (f->number)
		strbuf__text(b, f->path);
	else
		strbuf__puts(b, "[unknown]");
	strbuf__puts(b, f->flags & STK_FILE_DELETED ? " (deleted)\n" : "\n");
	put_names(fs, f);
	put_ends(b, row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_json_names(struct files *fs, const struct stk_file *f)
{
	struct json *j = &fs->out.json;
	const char *path, *host;
	unsigned int i;

	json__array(j, "names");
	for (i = 0; i < f->nr_names; i++) {
		if (stk_reader__file_name(fs->rd.reader, f->number, i, &path, &host))
			continue;
		json__object(j, NULL);
		json__string(j, "path", path);
		json__string(j, "host_path", *host ? host : NULL);
		json__end(j);
	}
	json__end(j);
}

static void put_json(struct files *fs, const struct row *row, const struct stk_file *f)
{
	struct json *j = &fs->out.json;
	unsigned int i;

	json__record(j, f->number ? "file" : "unknown");
	json__maybe(j, "file", f->number, f->number);
	if (f->number) {
		file__json(j, f);
		put_json_names(fs, f);
		json__bool(j, "symbols", stk_reader__has_symbols(fs->rd.reader, f->number));
	} else {
		json__null(j, "hash");
		json__string(j, "kind", "unknown");
		json__null(j, "path");
	}
	json__u64(j, "frames", row->frames);
	json__u64(j, "stacks", row->stacks);
	json__u64(j, "events", row->events);
	json__object(j, "ends");
	for (i = 0; i < STK_NR_ENDS; i++)
		json__u64(j, stk_stack_end_name(i), row->ends[i]);
	json__end(j);
	if (fs->verify && f->number) {
		json__string(j, "here", verdicts[row->verdict]);
		json__string(j, "here_path", row->verified);
	}
	json__end(j);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int put_files(struct files *fs)
{
	bool any = false;
	uint32_t i;
	int err;

	stack_refs__fold(&fs->refs, fs->rd.reader);
	err = count_stacks(fs);
	if (err)
		return log_err(err, "count the frames");
	qsort(fs->rows, fs->nr_rows, sizeof(*fs->rows), by_frames);
	for (i = 0; i < fs->nr_rows && !out__drain(&fs->out); i++) {
		struct row *row = &fs->rows[i];
		struct stk_file file = { 0 };

		if ((!row->number || fs->rd.sel.any) && !row->frames)
			continue;
		if (row->number && stk_reader__file(fs->rd.reader, row->number, &file))
			continue;
		if (fs->verify)
			verify(fs, row, &file);
		if (!fs->rd.json && !any)
			put_head(fs);
		any = true;
		if (fs->rd.json)
			put_json(fs, row, &file);
		else
			put_row(fs, row, &file);
	}
	if (!any && !fs->rd.json)
		strbuf__puts(&fs->out.b, "The recording has no user frames.\n");
	return 0;
}

static int run(int argc, char **argv)
{
	/* Function names are not printed. */
	_cleanup_(files__free) struct files fs = { .rd.names.no_symbols = true };
	const struct stk_event *e;
	uint64_t count;
	int code, err = 0;

	code = parse_options(&fs, argc, argv) ?: reading__open(&fs.rd, STK_WANT_EVENTS);
	if (code)
		return code;
	out__open(&fs.out, true);
	while (!err && reading__next_counted(&fs.rd, &fs.out, NULL, NULL, &e, &count))
		err = stack_refs__add(&fs.refs, fs.rd.reader, e, count);
	if (err)
		log_err(err, "count the stacks");
	else
		err = put_files(&fs);
	code = reading__finish(&fs.rd);
	return out__close(&fs.out, err || fs.differs ? CMD_FAILURE : code);
}

const struct cmd cmd_files = {
	.name = "files",
	.summary = "print the files that user stacks run through, and verify them",
	.run = run,
	.options = options,
	.text = "Prints the files of user frames: identity, counts, and how stacks end in them.\n",
	.notes = "A frame counts once for each event whose stack has it.\n",
};
