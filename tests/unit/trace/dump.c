// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_dump FILE: prints everything that the reader returns for a recording. golden.sh compares
 * it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stackonce.h"

static void print_text(const char *what, const char *s)
{
	printf(" %s=", what);
	for (; *s; s++)
		if (*s == '\n')
			printf("\\n");
		else if (*s == '\t')
			printf("\\t");
		else
			putchar(*s);
}

static void dump_event(const struct stk_event *e)
{
	const uint8_t *rec;
	size_t len;

	printf("event ts=%" PRIu64 " cpu=%u type=%u tid=%u pid=%u kstack=%u ustack=%u marks=%x "
	       "flags=%x preempt=%u",
	       stk_event__ts(e), stk_event__cpu(e), stk_event_type__index(stk_event__type(e)),
	       stk_event__tid(e), stk_event__pid(e), stk_event__kstack(e), stk_event__ustack(e),
	       stk_event__marks(e), stk_event__flags(e), stk_event__preempt_count(e));
	print_text("comm", stk_event__comm(e));
	printf(" record=");
	rec = stk_event__record(e, &len);
	for (size_t i = 0; i < len; i++)
		printf("%02x", rec[i]);
	printf("\n");
}

static void dump_tables(const struct stk_reader *r)
{
	const char *key, *value;

	for (unsigned int i = 0; i < stk_reader__nr_meta(r); i++) {
		stk_reader__meta_at(r, i, &key, &value);
		printf("meta");
		print_text(key, value);
		printf("\n");
	}
	for (unsigned int i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);

		printf("type %u kind=%d", i, stk_event_type__kind(t));
		print_text("system", stk_event_type__system(t));
		print_text("name", stk_event_type__name(t));
		print_text("filter", stk_event_type__filter(t));
		print_text("format", stk_event_type__format(t));
		for (int c = 0; c < STK_NR_COUNTERS; c++)
			if (stk_reader__counter(r, t, c))
				printf(" %s=%" PRIu64, stk_counter_name(c),
				       stk_reader__counter(r, t, c));
		printf("\n");
	}
}

static void dump_frame(const struct stk_frame *f)
{
	printf("  kind=%d ip=%" PRIx64 " exact=%d sym=%s+%" PRIx64 "/%" PRIx64 " mod=%s node=%u "
	       "parent=%u",
	       f->kind, f->ip, f->exact, f->sym ? f->sym : "-", f->off, f->size,
	       f->mod ? f->mod : "-", f->node, f->parent);
	if (f->kind == STK_FRAME_USER)
		printf(" file=%u guessed=%d", f->file, f->guessed);
	printf("\n");
}

static void dump_stacks(struct stk_reader *r)
{
	static struct stk_frame f[STK_MAX_DEPTH];
	struct stk_stack s;

	for (uint32_t i = 1; !stk_reader__stack(r, i, &s); i++) {
		int n = stk_reader__frames(r, i, f, STK_MAX_DEPTH);

		printf("stack %u id=%u alias=%u depth=%u end=%s generation=%u refs=%" PRIu64 "\n",
		       s.number, s.id, s.alias_of, s.depth, stk_stack_end_name(s.end), s.generation,
		       s.refs);
		for (int k = 0; k < n; k++)
			dump_frame(&f[k]);
	}
}

static void dump_files(const struct stk_reader *r)
{
	const char *path, *host;
	struct stk_file f;

	for (uint32_t i = 1; i <= stk_reader__nr_files(r); i++) {
		if (stk_reader__file(r, i, &f))
			continue;
		printf("file %u kind=%d flags=%x hash=%08x dev=%x:%x inode=%" PRIu64
		       " size=%" PRIu64 " mtime=%" PRIu64 " pid=%u start=%" PRIu64 " base=%" PRIx64
		       " symbols=%d id=%d:",
		       f.number, f.kind, f.flags, f.hash, f.dev_major, f.dev_minor, f.inode, f.size,
		       f.mtime_ns, f.pid, f.start_ns, f.base, stk_reader__has_symbols(r, i),
		       f.id_kind);
		for (unsigned int k = 0; k < f.id_len; k++)
			printf("%02x", f.id[k]);
		for (unsigned int k = 0; !stk_reader__file_name(r, i, k, &path, &host); k++) {
			print_text("path", path);
			print_text("host", host);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	const struct stk_event *e;
	struct stk_totals t;
	struct stk_reader *r;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: trace_dump FILE\n");
		return 2;
	}
	err = stk_reader__open(argv[1], NULL, &r);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	while ((err = stk_reader__next(r, &e)) == 1)
		dump_event(e);
	dump_tables(r);
	dump_files(r);
	dump_stacks(r);
	stk_reader__totals(r, &t);
	printf("end=%d clean=%d events=%" PRIu64 " stacks=%" PRIu64 " duplicates=%" PRIu64
	       " nodes=%" PRIu64 " bytes=%" PRIu64 " event_bytes=%" PRIu64 " first=%" PRIu64
	       " last=%" PRIu64 " late=%" PRIu64 " bad=%" PRIu64 "\n",
	       err, t.clean_end, t.events, t.stacks, t.duplicates, t.nodes, t.bytes, t.event_bytes,
	       t.first_ts, t.last_ts, t.late, t.bad_blocks);
	stk_reader__free(r);
	return 0;
}
