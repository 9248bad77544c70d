// SPDX-License-Identifier: GPL-2.0-only
/* Writes a recording as a trace in the Common Trace Format, version 1.8. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "cleanup.h"
#include "ctf_event.h"
#include "ctf_metadata.h"
#include "ctf_stream.h"
#include "ctf_tables.h"
#include "formats.h"
#include "log.h"
#include "output/directory.h"
#include "text.h"

#define METADATA "metadata"

struct ctf {
	const struct export_source *src;
	struct output_dir *dir;
	struct ctf_streams streams;
	struct ctf_classes classes;
	struct ctf_tables tables;
	uint64_t nr_events;
	uint64_t nr_left_out; /* events that no stream of their CPU can take */
};

/* ---- the directory --------------------------------------------------------------------------- */

static bool is_stream(const char *name)
{
	return !strcmp(name, "tables") ||
	       (!strncmp(name, "cpu_", 4) && !name[strspn(name, "cpu_late0123456789")]);
}

static bool is_ours(const char *name, int fd)
{
	char head[sizeof(CTF_SIGNATURE) - 1];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	uint32_t magic = CTF_MAGIC;

	if (strcmp(name, METADATA))
		return is_stream(name) && (!n || (n >= (ssize_t)sizeof(magic) &&
						  !memcmp(head, &magic, sizeof(magic))));
	return n == sizeof(head) && !memcmp(head, CTF_SIGNATURE, sizeof(head));
}

static const struct output_dir_kind kind = { "a CTF trace", METADATA, is_ours };

/* ---- events ---------------------------------------------------------------------------------- */

struct context_head {
	uint32_t tid, pid;
} __attribute__((packed));

struct context_tail {
	uint8_t flags, preempt_count, marks;
	uint32_t kstack, ustack;
} __attribute__((packed));

static void put_callstack(const struct ctf *c, struct strbuf *b, const struct ctf_stack *st)
{
	strbuf__add(b, (const char *)&st->depth, sizeof(st->depth));
	if (st->depth)
		strbuf__add(b, (const char *)&c->tables.addresses[st->at],
			    st->depth * sizeof(*c->tables.addresses));
}

/* The context, as ctf_metadata.c describes it. */
static void put_context(const struct ctf *c, struct strbuf *b, const struct stk_event *e,
			const struct ctf_stack *kstack, const struct ctf_stack *ustack)
{
	const char *comm = stk_event__comm(e);
	struct context_head head = { stk_event__tid(e), stk_event__pid(e) };
	struct context_tail tail = { .flags = stk_event__flags(e),
				     .preempt_count = stk_event__preempt_count(e),
				     .marks = stk_event__marks(e),
				     .kstack = kstack->id,
				     .ustack = ustack->id };

	strbuf__add(b, (const char *)&head, sizeof(head));
	ctf__put_string(b, comm, strlen(comm));
	strbuf__add(b, (const char *)&tail, sizeof(tail));
	put_callstack(c, b, kstack);
	put_callstack(c, b, ustack);
}

static int put_event(struct ctf *c, struct ctf_stream *s, struct ctf_class *class,
		     const struct stk_event *e)
{
	bool has_fields = !(stk_event__marks(e) & STK_MARK_NO_FIELDS);
	uint64_t ts = stk_event__ts(e);
	struct ctf_stack kstack, ustack;
	const void *rec;
	struct strbuf *b;
	size_t len, before;
	int err;

	err = ctf_tables__stack(&c->tables, stk_event__kstack(e), ts, &kstack)	       ?:
		      ctf_tables__stack(&c->tables, stk_event__ustack(e), ts, &ustack) ?:
		      ctf_stream__begin(s, ctf_class__id(class, has_fields), ts, &b);
	if (err)
		return err;
	before = b->len;
	put_context(c, b, e, &kstack, &ustack);
	rec = stk_event__record(e, &len);
	if (has_fields)
		ctf_class__put(class, b, rec, len);
	c->nr_events++;
	len = b->len - before;
	return ctf_stream__end(s) ?: export_source__charge(c->src, len);
}

static int add_event(void *ctx, const struct stk_event *e)
{
	struct ctf *c = ctx;
	struct ctf_class *class = ctf_classes__of(&c->classes, stk_event__type(e));
	uint64_t ts = stk_event__ts(e);
	struct ctf_stream *s;
	int err;

	if (!class)
		return log_err(-ENOMEM, "export");
	err = ts > c->tables.max_ts ? -ERANGE :
				      ctf_streams__at(&c->streams, stk_event__cpu(e), ts, &s);
	if (err != -ERANGE)
		return err ?: put_event(c, s, class, e);
	c->nr_left_out++;
	/* Its time must not become the stream's. */
	return ctf_streams__cpu(&c->streams, stk_event__cpu(e), &s) ?: ctf_stream__lost(s, 0, 1);
}

static int add_loss(void *ctx, const struct stk_loss *loss)
{
	struct ctf *c = ctx;

	return ctf_tables__loss(&c->tables, loss);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static int write_metadata(struct ctf *c)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	int fd, err;

	if (!ctf_metadata__put(&text, c->src->reader, c->streams.uuid, &c->classes))
		log_warn("the recording does not say the time of day: the times of the trace are "
			 "those of its clock");
	err = output_dir__create(c->dir, METADATA, &fd);
	if (err)
		return err;
	err = strbuf__failed(&text) ? -ENOMEM : output__write_to(fd, text.s, text.len);
	return err ? output_dir__failed(c->dir, METADATA, err) : 0;
}

static void put_summary(const struct ctf *c, struct strbuf *summary)
{
	if (c->classes.nr_unparsed)
		log_warn("no fields in the events of %s, whose format cannot be parsed",
			 text__count(c->classes.nr_unparsed, "type").s);
	if (c->nr_left_out)
		log_warn(
			"left out, and counted as discarded, %s too far out of order or later than "
			"any clock",
			text__count(c->nr_left_out, "event").s);
	strbuf__printf(summary, "%s of %s, %s", text__count(c->nr_events, "event").s,
		       text__count(c->streams.nr_used, "CPU").s,
		       text__count(c->tables.nr_written, "stack").s);
	if (c->tables.nr_lost)
		strbuf__printf(summary, "; %s lost", text__count(c->tables.nr_lost, "event").s);
}

static void ctf__clear(struct ctf *c)
{
	ctf_tables__clear(&c->tables);
	ctf_classes__clear(&c->classes);
	ctf_streams__clear(&c->streams);
	output_dir__free(c->dir);
}

/* A uuid of version 4 (RFC 4122): two exports of a recording may differ, so it is not of this. */
static int make_uuid(uint8_t ret_uuid[CTF_UUID_SIZE])
{
	if (getrandom(ret_uuid, CTF_UUID_SIZE, 0) != CTF_UUID_SIZE)
		return log_err(-errno, "make a uuid");
	ret_uuid[6] = (ret_uuid[6] & 0x0f) | 0x40;
	ret_uuid[8] = (ret_uuid[8] & 0x3f) | 0x80;
	return 0;
}

int export__ctf(const struct export_source *src, const struct output_opts *output,
		struct strbuf *summary)
{
	_cleanup_(ctf__clear) struct ctf c = { .src = src };
	const struct export_taker taker = { add_event, add_loss, &c };
	int damage, err;

	c.tables = (struct ctf_tables){ .src = src,
					.streams = &c.streams,
					.max_ts = ctf_metadata__max_ts(src->reader) };
	err = output_dir__open(output, &kind, &c.dir) ?: make_uuid(c.streams.uuid);
	c.streams.dir = c.dir;
	err = err ?: export_source__each(src, &taker, &damage);
	err = err ?: ctf_streams__finish(&c.streams);
	err = err ?: write_metadata(&c);
	err = err ?: output_dir__commit(c.dir);
	if (err)
		return err;
	put_summary(&c, summary);
	return damage;
}
