// SPDX-License-Identifier: GPL-2.0-only
/* Exports a recording to Perfetto in memory, and compresses that. */
#include "view_perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cleanup.h"
#include "export/formats.h"
#include "log.h"
#include "strbuf.h"
#include "ui/pairs/pair_kinds.h"
#include "ui/reading.h"

/* An event takes at least five bytes, compressed: what has more of them need not be tried. */
#define MAX_EVENTS (VIEW_PERFETTO_MAX / 5)
#define MAX_TRACE (64 << 20) /* bytes, not compressed */
#define LOOK_AT_SIZE 64 /* events; each may be large */
#define PIECE (64 << 10)
#define GZIP 16 /* for the window bits of zlib */

#ifdef HAVE_PERFETTO
static const bool is_built = true;
#else
static const bool is_built;
#endif

struct trace {
	struct reading *rd;
	struct pair_kinds *pairs;
	int fd; /* of the trace */
	uint64_t events;
	bool is_too_large;
};

/* Whether all was read that is selected. */
static bool is_whole(const struct reading *rd)
{
	struct stk_totals totals;

	stk_reader__totals(rd->reader, &totals);
	return !rd->code && !rd->error && !rd->sel.error && !totals.bad_blocks;
}

bool view_perfetto__may_fit(const struct reading *rd, uint64_t events)
{
	unsigned int i;

	for (i = 0; i < rd->nr_paths; i++)
		if (!strcmp(rd->paths[i], "-") || !selection__is_file(rd->paths[i]))
			return false;
	return is_built && events && events <= MAX_EVENTS && is_whole(rd) && !rd->live &&
	       stk_reader__nr_boots(rd->reader) == 1;
}

static bool is_too_large(struct trace *t)
{
	struct stat st;

	if (++t->events % LOOK_AT_SIZE || fstat(t->fd, &st) || st.st_size <= MAX_TRACE)
		return false;
	t->is_too_large = true;
	return true;
}

/* As export does it: an event that is not selected may end a pair that is. */
static int next(void *ctx, const struct stk_event **ret_event)
{
	struct trace *t = ctx;
	int n, err = 0;

	while ((n = reading__next_selected(t->rd, ret_event)) == 1) {
		if (is_too_large(t))
			return -ECANCELED;
		if (t->pairs->nr)
			err = pair_kinds__add(t->pairs, t->rd, *ret_event);
		if (err) {
			log_err(err, "match starts and ends");
			return -ECANCELED;
		}
		if (!t->rd->sel.any || reading__selected(t->rd, *ret_event))
			return 1;
	}
	if (n != -ECANCELED)
		reading__end(t->rd, n);
	return n;
}

static bool has_loss(void *ctx, const struct stk_loss *loss)
{
	struct trace *t = ctx;

	return reading__loss_selected(t->rd, loss);
}

static int export_trace(struct trace *t)
{
	const struct output_opts output = { .path = "the trace for Perfetto", .fd = &t->fd };
	const struct export_source src = {
		.reader = t->rd->reader,
		.names = &t->rd->names,
		.is_selection = t->rd->sel.any,
		.next = next,
		.has_loss = has_loss,
		.pairs = t->pairs->nr ? &t->pairs->taker : NULL,
		.ctx = t,
	};
	_cleanup_(strbuf__free) struct strbuf summary = { 0 };

	return export__perfetto(&src, &output, &summary);
}

/* Compresses all of the file: Z_STREAM_END, Z_OK if it does not fit, or a negative errno. */
static int deflate_file(z_stream *z, int fd)
{
	_cleanup_free_ Bytef *piece = malloc(PIECE);
	int how = Z_OK;
	off_t at = 0;
	ssize_t n;

	if (!piece)
		return -ENOMEM;
	while (how == Z_OK && z->avail_out) {
		n = pread(fd, piece, PIECE, at);
		if (n < 0)
			return -errno;
		at += n;
		z->next_in = piece;
		z->avail_in = n;
		how = deflate(z, n ? Z_NO_FLUSH : Z_FINISH);
	}
	return how;
}

/* Appends nothing if it would be too much. */
static int compress_trace(int fd, struct strbuf *out)
{
	_cleanup_free_ Bytef *packed = malloc(VIEW_PERFETTO_MAX);
	z_stream z = { .next_out = packed, .avail_out = VIEW_PERFETTO_MAX };
	int how;

	if (!packed || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP,
				    MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	how = deflate_file(&z, fd);
	if (how == Z_STREAM_END)
		strbuf__add(out, (const char *)packed, z.total_out);
	deflateEnd(&z);
	return how < 0 && how != Z_BUF_ERROR ? how : strbuf__failed(out) ? -ENOMEM : 0;
}

int view_perfetto__make(struct reading *rd, struct pair_kinds *pairs, struct strbuf *out)
{
	_cleanup_close_ int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace t = { .rd = rd, .pairs = pairs, .fd = fd };
	int err;

	if (fd < 0) {
		log_err(-errno, "make a trace for Perfetto");
		return CMD_FAILURE;
	}
	if (reading__open(rd, STK_WANT_EVENTS | STK_WANT_FIELDS))
		return CMD_FAILURE;
	err = pair_kinds__start(pairs, rd);
	if (!err) {
		err = export_trace(&t);
		/* Without a trace there is still a page. */
		if (err)
			return t.is_too_large || err == -ENOBUFS ? CMD_OK : CMD_FAILURE;
		err = is_whole(rd) ? compress_trace(fd, out) : -ENOMEM;
	}
	if (!err)
		return CMD_OK;
	log_err(err, "make a trace for Perfetto");
	return CMD_FAILURE;
}
