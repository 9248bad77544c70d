// SPDX-License-Identifier: GPL-2.0-only
/* The TSDL of a CTF trace: what precedes the event classes. */
#include "ctf_metadata.h"

#include <inttypes.h>
#include <stdio.h>

#include "cleanup.h"
#include "ctf_tables.h"
#include "ctf_tsdl.h"
#include "query/metadata.h"

#define NS_PER_S 1000000000
#define MAX_NS (INT64_MAX / 2) /* since 1970, with room for what readers compute; in 2116 */

static void put_uuid(struct strbuf *b, const uint8_t uuid[CTF_UUID_SIZE])
{
	unsigned int i;

	strbuf__putc(b, '"');
	for (i = 0; i < CTF_UUID_SIZE; i++) {
		strbuf__hex(b, uuid[i], 2);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			strbuf__putc(b, '-');
	}
	strbuf__putc(b, '"');
}

static void put_trace(struct strbuf *b, const uint8_t uuid[CTF_UUID_SIZE])
{
	strbuf__puts(b, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = ");
	put_uuid(b, uuid);
	strbuf__puts(b, ";\n\tbyte_order = le;\n"
			"\tpacket.header := struct {\n"
			"\t\tx32 magic;\n"
			"\t\tu8 uuid[16];\n"
			"\t\tu32 stream_id;\n"
			"\t};\n};\n");
}

/* ---- env ------------------------------------------------------------------------------------- */

static void put_env(struct strbuf *b, const char *name, const char *value)
{
	if (!value)
		return;
	strbuf__printf(b, "\t%s = ", name);
	tsdl__string(b, value);
	strbuf__puts(b, ";\n");
}

static void put_tracer(struct strbuf *b)
{
	unsigned int v[3] = { 0 };

	sscanf(STACKONCE_VERSION, "%u.%u.%u", &v[0], &v[1], &v[2]);
	put_env(b, "tracer_name", "stackonce");
	strbuf__printf(b, "\ttracer_major = %u;\n\ttracer_minor = %u;\n\ttracer_patchlevel = %u;\n",
		       v[0], v[1], v[2]);
}

/* The names are those of LTTng, as far as it has such. */
static void put_envs(struct strbuf *b, const struct stk_reader *r)
{
	static const struct {
		const char *name, *key;
	} rows[] = {
		{ "hostname", "hostname" },
		{ "kernel_release", "kernel.release" },
		{ "kernel_version", "kernel.version" },
		{ "architecture", "machine" },
		{ "boot_id", "boot_id" },
		{ "recording_uuid", "uuid" },
		{ "recorder", "recorder" },
		{ "cmdline", "cmdline" },
	};
	unsigned int i;

	strbuf__puts(b, "\nenv {\n");
	put_env(b, "domain", "kernel");
	put_env(b, "sysname", "Linux");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		put_env(b, rows[i].name, stk_reader__meta(r, rows[i].key));
	put_tracer(b);
	strbuf__puts(b, "};\n");
}

/* ---- clock ----------------------------------------------------------------------------------- */

/* The wall clock, in ns since 1970, at time 0 of the recording's clock. */
static bool clock_offset(const struct stk_reader *r, uint64_t *ret_ns)
{
	struct wall_clock clock;

	*ret_ns = 0;
	if (!wall_clock__of(r, &clock) || clock.wall_ns > MAX_NS || clock.ts > clock.wall_ns)
		return false;
	*ret_ns = clock.wall_ns - clock.ts;
	return true;
}

uint64_t ctf_metadata__max_ts(const struct stk_reader *r)
{
	uint64_t offset;

	clock_offset(r, &offset);
	return MAX_NS - offset;
}

static bool is_uuid(const char *s)
{
	unsigned int i;

	for (i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? s[i] != '-' : !s[i] || !strchr("0123456789abcdef", s[i]))
			return false;
	}
	return !s[36];
}

/* The name that LTTng has for the kernel's clock. */
static const char *clock_name(const char *clock)
{
	return !clock		      ? "unknown" :
	       !strcmp(clock, "mono") ? "monotonic" :
	       !strcmp(clock, "boot") ? "boottime" :
	       !strcmp(clock, "tai")  ? "tai" :
	       !strcmp(clock, "wall") ? "realtime" :
					"unknown";
}

static bool put_clock(struct strbuf *b, const struct stk_reader *r)
{
	const char *name = clock_name(stk_reader__meta(r, "clock"));
	const char *boot = stk_reader__meta(r, "boot_id");
	uint64_t offset;
	bool known = clock_offset(r, &offset);

	strbuf__printf(b, "\nclock {\n\tname = \"%s\";\n", name);
	if (boot && is_uuid(boot))
		strbuf__printf(b, "\tuuid = \"%s\";\n", boot);
	strbuf__printf(b,
		       "\tdescription = \"%s\";\n\tfreq = %d;\n\tprecision = 1;\n"
		       "\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64 ";\n\tabsolute = %s;\n};\n"
		       "\ntypealias integer { size = 64; align = 8; signed = false; "
		       "map = clock.%s.value; } := time;\n",
		       known ? "the clock of the recording" :
			       "the clock of the recording, whose distance from 1970 is unknown",
		       NS_PER_S, offset / NS_PER_S, offset % NS_PER_S, known ? "TRUE" : "FALSE",
		       name);
	return known;
}

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * has_events: babeltrace2 2.0.4 fails an assertion where a class of streams without event classes
 * has a context with sequences.
 */
static void put_stream(struct strbuf *b, enum ctf_stream_class class, bool has_events)
{
	strbuf__printf(b,
		       "\nstream {\n\tid = %u;\n"
		       "\tevent.header := struct {\n"
		       "\t\tu32 id;\n"
		       "\t\ttime timestamp;\n"
		       "\t};\n"
		       "\tpacket.context := struct {\n"
		       "\t\ttime timestamp_begin;\n"
		       "\t\ttime timestamp_end;\n"
		       "\t\tu64 content_size;\n"
		       "\t\tu64 packet_size;\n"
		       "\t\tu64 events_discarded;\n"
		       "%s"
		       "\t};\n",
		       class, class == CTF_STREAM_CPU ? "\t\tu32 cpu_id;\n" : "");
	if (class == CTF_STREAM_CPU && has_events)
		strbuf__puts(b, "\tevent.context := struct {\n"
				"\t\ts32 _tid;\n"
				"\t\ts32 _pid;\n"
				"\t\tstring _comm;\n"
				"\t\tx8 _flags;\n"
				"\t\tu8 _preempt_count;\n"
				"\t\tx8 _marks;\n"
				"\t\tu32 _kstack;\n"
				"\t\tu32 _ustack;\n"
				"\t\tu32 __callstack_kernel_length;\n"
				"\t\tx64 _callstack_kernel[__callstack_kernel_length];\n"
				"\t\tu32 __callstack_user_length;\n"
				"\t\tx64 _callstack_user[__callstack_user_length];\n"
				"\t};\n");
	strbuf__puts(b, "};\n");
}

bool ctf_metadata__put(struct strbuf *b, const struct stk_reader *r,
		       const uint8_t uuid[CTF_UUID_SIZE], const struct ctf_classes *classes)
{
	bool known;

	strbuf__puts(b, CTF_SIGNATURE "\n");
	tsdl__types(b);
	put_trace(b, uuid);
	put_envs(b, r);
	known = put_clock(b, r);
	put_stream(b, CTF_STREAM_TABLES, true);
	put_stream(b, CTF_STREAM_CPU, ctf_classes__any(classes));
	ctf_tables__tsdl(b);
	ctf_classes__tsdl(classes, b);
	return known;
}
