// SPDX-License-Identifier: GPL-2.0-only
/* Packets of CTF streams; the specification is diamon.org/ctf/v1.8.3. */
#include "ctf_stream.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/directory.h"

/* Packet header and packet context, as ctf_metadata.c describes them. */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[CTF_UUID_SIZE];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end;
	uint64_t content_size, packet_size; /* bits */
	uint64_t events_discarded; /* of the stream so far */
	uint32_t cpu_id; /* streams of CPUs only */
} __attribute__((packed));

struct event_head {
	uint32_t id;
	uint64_t timestamp;
} __attribute__((packed));

static_assert(sizeof(struct packet_head) == 68, "as in the metadata");
static_assert(sizeof(struct event_head) == 12, "as in the metadata");

struct ctf_stream {
	const struct ctf_streams *streams;
	enum ctf_stream_class class;
	uint32_t cpu;
	char name[48]; /* of the file */
	int fd;
	struct strbuf packet; /* head and events; empty: none begun */
	uint64_t begin, end; /* times of the packet's events, or of its losses */
	uint64_t last; /* the time of the last event or packet */
	size_t event_at; /* where the last event begins */
	bool has_events, has_losses; /* in this packet */
	bool has_packets; /* some were written */
	uint64_t discarded;
	struct ctf_stream *later; /* the next one for late events of the CPU */
};

/* ---- streams --------------------------------------------------------------------------------- */

static void stream__free(struct ctf_stream *s)
{
	strbuf__free(&s->packet);
	free(s);
}

static int new_stream(struct ctf_streams *streams, enum ctf_stream_class class, uint32_t cpu,
		      const char *name, struct ctf_stream **ret_stream)
{
	struct ctf_stream *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return log_err(-ENOMEM, "export");
	err = output_dir__create(streams->dir, name, &s->fd);
	if (err) {
		free(s);
		return err;
	}
	s->streams = streams;
	s->class = class;
	s->cpu = cpu;
	snprintf(s->name, sizeof(s->name), "%s", name);
	*ret_stream = s;
	return 0;
}

int ctf_streams__tables(struct ctf_streams *s, struct ctf_stream **ret_stream)
{
	int err = s->tables ? 0 : new_stream(s, CTF_STREAM_TABLES, 0, "tables", &s->tables);

	if (!err)
		*ret_stream = s->tables;
	return err;
}

int ctf_streams__cpu(struct ctf_streams *s, uint32_t cpu, struct ctf_stream **ret_stream)
{
	char name[32];
	int err;

	if (cpu >= s->nr_cpus && array__reach(&s->cpus, cpu, &s->nr_cpus))
		return log_err(-ENOMEM, "export");
	if (!s->cpus[cpu]) {
		snprintf(name, sizeof(name), "cpu_%" PRIu32, cpu);
		err = new_stream(s, CTF_STREAM_CPU, cpu, name, &s->cpus[cpu]);
		if (err)
			return err;
		s->nr_used++;
	}
	*ret_stream = s->cpus[cpu];
	return 0;
}

static int late_stream(struct ctf_streams *streams, struct ctf_stream *s, uint64_t ts,
		       struct ctf_stream **ret_stream)
{
	char name[48];
	int nr = 0, err;

	while (s->later) {
		s = s->later;
		nr++;
		if (ts >= s->last) {
			*ret_stream = s;
			return 0;
		}
	}
	if (nr == CTF_MAX_LATE)
		return -ERANGE;
	snprintf(name, sizeof(name), "cpu_%" PRIu32 "_late_%d", s->cpu, nr + 1);
	err = new_stream(streams, CTF_STREAM_CPU, s->cpu, name, &s->later);
	if (!err)
		*ret_stream = s->later;
	return err;
}

int ctf_streams__at(struct ctf_streams *s, uint32_t cpu, uint64_t ts,
		    struct ctf_stream **ret_stream)
{
	struct ctf_stream *first;
	int err = ctf_streams__cpu(s, cpu, &first);

	if (err)
		return err;
	if (ts < first->last)
		return late_stream(s, first, ts, ret_stream);
	*ret_stream = first;
	return 0;
}

/* ---- packets --------------------------------------------------------------------------------- */

static size_t head_size(const struct ctf_stream *s)
{
	const struct packet_head *h;

	return sizeof(*h) - (s->class == CTF_STREAM_TABLES ? sizeof(h->cpu_id) : 0);
}

/* Writes the packet up to its byte `len`. */
static int write_packet(struct ctf_stream *s, size_t len)
{
	struct packet_head head = {
		.magic = CTF_MAGIC,
		.stream_id = s->class,
		.timestamp_begin = s->begin,
		.timestamp_end = s->end,
		.content_size = 8 * len,
		.packet_size = 8 * len,
		.events_discarded = s->discarded,
		.cpu_id = s->cpu,
	};
	int err;

	memcpy(head.uuid, s->streams->uuid, sizeof(head.uuid));
	memcpy(s->packet.s, &head, head_size(s));
	err = output__write_to(s->fd, s->packet.s, len);
	s->has_events = s->has_losses = false;
	s->has_packets = true;
	return err ? output_dir__failed(s->streams->dir, s->name, err) : 0;
}

static int begin_packet(struct ctf_stream *s, uint64_t ts)
{
	static const struct packet_head empty;

	strbuf__reset(&s->packet);
	strbuf__add(&s->packet, (const char *)&empty, head_size(s));
	s->begin = s->end = s->last = MAX(ts, s->last);
	return strbuf__failed(&s->packet) ? log_err(-ENOMEM, "export") : 0;
}

static int end_packet(struct ctf_stream *s)
{
	int err = s->has_events || s->has_losses ? write_packet(s, s->packet.len) : 0;

	strbuf__reset(&s->packet);
	return err;
}

int ctf_stream__begin(struct ctf_stream *s, uint32_t id, uint64_t ts, struct strbuf **ret_to)
{
	struct event_head head = { .id = id, .timestamp = MAX(ts, s->last) };
	int err = s->packet.len ? 0 : begin_packet(s, ts);

	if (err)
		return err;
	if (!s->has_events && !s->has_losses)
		s->begin = head.timestamp;
	s->event_at = s->packet.len;
	s->last = head.timestamp;
	strbuf__add(&s->packet, (const char *)&head, sizeof(head));
	*ret_to = &s->packet;
	return 0;
}

/* The event does not fit any more: those before it are a packet, and it begins the next one. */
static int split_packet(struct ctf_stream *s)
{
	size_t head = head_size(s), len = s->packet.len - s->event_at;
	int err = write_packet(s, s->event_at);

	memmove(s->packet.s + head, s->packet.s + s->event_at, len);
	s->packet.len = head + len;
	s->begin = s->last;
	return err;
}

int ctf_stream__end(struct ctf_stream *s)
{
	int err = 0;

	if (strbuf__failed(&s->packet))
		return log_err(-ENOMEM, "export");
	if (s->packet.len > CTF_PACKET_MAX && s->has_events)
		err = split_packet(s);
	s->has_events = true;
	s->end = s->last;
	return err;
}

/*
 * A reader places them between the end of the packet before and that of this packet, and takes
 * their number from the difference of both.  So a packet ends before them, without events if need
 * be.
 */
int ctf_stream__lost(struct ctf_stream *s, uint64_t ts, uint64_t count)
{
	int err = s->packet.len ? 0 : begin_packet(s, ts);

	if (!err && (s->has_events || !s->has_packets)) {
		err = write_packet(s, s->packet.len);
		err = err ?: begin_packet(s, ts);
	}
	s->has_losses = true;
	s->discarded += count;
	return err;
}

static int finish_streams(struct ctf_stream *s)
{
	int err = 0;

	for (; s && !err; s = s->later)
		err = end_packet(s);
	return err;
}

int ctf_streams__finish(struct ctf_streams *s)
{
	int err = finish_streams(s->tables);
	uint32_t i;

	for (i = 0; i < s->nr_cpus && !err; i++)
		err = finish_streams(s->cpus[i]);
	return err;
}

void ctf_streams__clear(struct ctf_streams *s)
{
	struct ctf_stream *next;
	uint32_t i;

	for (i = 0; i < s->nr_cpus; i++) {
		for (; s->cpus[i]; s->cpus[i] = next) {
			next = s->cpus[i]->later;
			stream__free(s->cpus[i]);
		}
	}
	if (s->tables)
		stream__free(s->tables);
	free(s->cpus);
}
