/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The streams of a CTF trace: files of packets with events of ascending times.
 *
 * CTF demands that the times of a stream never descend, and readers like babeltrace2 end at the
 * first that does.  An event that is older than the one before on its CPU therefore goes to another
 * stream of that CPU, so that it keeps its time: readers merge streams by time.
 */
#ifndef EXPORT_CTF_STREAM_H
#define EXPORT_CTF_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

#define CTF_MAGIC 0xc1fc1fc1 /* CTF 1.8.3, 5.1 */
#define CTF_UUID_SIZE 16
#define CTF_PACKET_MAX 65536 /* bytes, unless a single event is larger */
#define CTF_MAX_LATE 16 /* streams of a CPU for late events */

/*
 * The classes of streams, as ctf_metadata.c describes them.  Of events at the same time babeltrace2
 * puts those of the smaller class first, so a stack precedes the events that have it.
 */
enum ctf_stream_class {
	CTF_STREAM_TABLES, /* stacks, files and losses, which belong to no CPU */
	CTF_STREAM_CPU, /* the events of a CPU */
};

struct output_dir;
struct ctf_stream;

struct ctf_streams {
	struct output_dir *dir; /* borrowed */
	uint8_t uuid[CTF_UUID_SIZE]; /* of the trace */
	struct ctf_stream **cpus; /* by CPU; NULL: none yet */
	uint32_t nr_cpus;
	uint32_t nr_used; /* CPUs with a stream */
	struct ctf_stream *tables;
};

/* All functions return 0 or a negative errno, after a message. */

int ctf_streams__tables(struct ctf_streams *s, struct ctf_stream **ret_stream);
int ctf_streams__cpu(struct ctf_streams *s, uint32_t cpu, struct ctf_stream **ret_stream);
/* The stream of a CPU for an event of that time; -ERANGE, without a message: no stream has room. */
int ctf_streams__at(struct ctf_streams *s, uint32_t cpu, uint64_t ts,
		    struct ctf_stream **ret_stream);
/* Writes the last packets. */
int ctf_streams__finish(struct ctf_streams *s);
void ctf_streams__clear(struct ctf_streams *s);

/*
 * Begins an event, whose context and fields the caller appends to *ret_to before ctf_stream__end().
 * A time before that of the event before becomes the latter.
 */
int ctf_stream__begin(struct ctf_stream *s, uint32_t id, uint64_t ts, struct strbuf **ret_to);
int ctf_stream__end(struct ctf_stream *s);
/* Adds events that were lost from ts on, as far as is known. */
int ctf_stream__lost(struct ctf_stream *s, uint64_t ts, uint64_t count);

#endif /* EXPORT_CTF_STREAM_H */
