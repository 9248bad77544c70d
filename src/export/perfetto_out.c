// SPDX-License-Identifier: GPL-2.0-only
/* Packs packets into a buffer, and writes it when it is full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto_priv.h"

#define SEQUENCE 1 /* any number but 0 */
#define NEEDS_INTERNED 2
#define HEAD 11 /* most bytes of tag and length */

int pf_out__init(struct pf_out *o, const struct output *output)
{
	o->output = output;
	o->cap = PF_OUT_SIZE;
	o->buf = malloc(o->cap);
	return o->buf ? 0 : -ENOMEM;
}

void pf_out__fail(struct pf_out *o, int err)
{
	o->err = o->err ?: err;
}

static void flush(struct pf_out *o)
{
	o->err = o->err ?: output__write(o->output, o->buf, o->len);
	o->len = 0;
}

/* Makes room for more bytes. */
static bool reserve(struct pf_out *o, size_t more)
{
	void *buf;

	if (o->cap - o->len >= more)
		return true;
	flush(o);
	if (o->cap < more) {
		buf = realloc(o->buf, more);
		if (!buf) {
			o->err = o->err ?: -ENOMEM;
			return false;
		}
		o->buf = buf;
		o->cap = more;
	}
	return true;
}

static size_t put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = v | 0x80;
	to[n++] = v;
	return n;
}

void pf_out__packet(struct pf_out *o, Pf__TracePacket *p, size_t most)
{
	size_t len, head = 1;
	uint8_t *to;

	if (!most)
		most = pf__trace_packet__get_packed_size(p);
	if (o->err || !reserve(o, most + HEAD))
		return;
	to = o->buf + o->len;
	len = pf__trace_packet__pack(p, to + HEAD);
	to[0] = 1 << 3 | 2; /* Trace.packet */
	head += put_varint(to + 1, len);
	memmove(to + head, to + HEAD, len);
	o->len += head + len;
}

int pf_out__finish(struct pf_out *o)
{
	if (!o->err)
		flush(o);
	return o->err;
}

void pf_out__free(struct pf_out *o)
{
	free(o->buf);
}

Pf__TracePacket pf_packet(const uint64_t *time)
{
	Pf__TracePacket p = PF__TRACE_PACKET__INIT;

	PF_SET(&p, trusted_packet_sequence_id, SEQUENCE);
	PF_SET(&p, sequence_flags, NEEDS_INTERNED);
	if (time)
		PF_SET(&p, timestamp, *time);
	return p;
}
