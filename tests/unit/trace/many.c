/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Several recordings read as one: what is the same, time, gaps, damage. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "live.h"
#include "trace/write/writer.h"

#define TEXT 0xffffffff81000000ULL
#define MODULE 0xffffffffc0200000ULL
#define FORMAT(id) "name: e\nID: " id "\nformat:\n\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"

/* What the recordings of a test differ in. */
struct spec {
	const char *boot, *build, *clock, *ts, *wall, *filter, *format, *continues, *host;
	uint64_t text, module; /* where the kernel and a module are */
	uint64_t inode;
	const char *path, *id;
	uint64_t first_ts;
	unsigned int nr_events;
	bool torn; /* without END */
	const char *steps, *unverified, *kernel_fields, *start_ts; /* metadata with times */
};

static const struct spec one = {
	.boot = "b1",
	.build = "k1",
	.clock = "mono",
	.ts = "1000",
	.wall = "5000000",
	.filter = "",
	.format = FORMAT("7"),
	.host = "h1",
	.text = TEXT,
	.module = MODULE,
	.inode = 4711,
	.path = "/bin/p",
	.id = "0123456789",
	.first_ts = 1000,
	.nr_events = 2,
};

static char dir[] = "/tmp/stackonce-many.XXXXXX";
static char paths[4][64];
static char last_message[1024];

static void put_meta(struct stk_writer *w, const struct spec *s)
{
	const char *const meta[][2] = {
		{ "boot_id", s->boot },
		{ "kernel.build_id", s->build },
		{ "clock", s->clock },
		{ "clock.ts", s->ts },
		{ "clock.wall_ns", s->wall },
		{ "hostname", s->host },
		{ "continues", s->continues },
		{ "clock.steps", s->steps },
		{ "kernel_unwind.unverified", s->unverified },
		{ "fields.kernel", s->kernel_fields },
		{ "tasks.start_ts", s->start_ts },
	};
	char text[32];

	snprintf(text, sizeof(text), "%#llx", (unsigned long long)s->text);
	assert_int_equal(stk_writer__meta(w, "kernel.text", text), 0);
	for (size_t i = 0; i < ARRAY_SIZE(meta); i++)
		if (meta[i][1])
			assert_int_equal(stk_writer__meta(w, meta[i][0], meta[i][1]), 0);
}

static uint32_t put_file(struct stk_writer *w, const struct spec *s)
{
	struct stk_file f = {
		.path = s->path,
		.host_path = "",
		.inode = s->inode,
		.id_kind = s->id ? STK_ID_BUILD_ID : STK_ID_NONE,
		.id = (const uint8_t *)s->id,
		.id_len = s->id ? strlen(s->id) : 0,
	};
	uint32_t number;

	assert_int_equal(stk_writer__file(w, &f, &number), 0);
	return number;
}

static void write_recording(int i, const struct spec *s)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct stk_writer *w;
	uint32_t task, kstack, ustack;
	int32_t record[3] = { 0, 0, 5 };
	int fd;

	snprintf(paths[i], sizeof(paths[i]), "%s/%d.stk", dir, i);
	fd = open(paths[i], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(stk_writer__new(fd, &opts, &w), 0);
	put_meta(w, s);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "s", "e", s->filter, s->format),
			 0);
	assert_int_equal(stk_writer__task(w, 10 + i, 10, "t", 1, &task), 0);
	assert_int_equal(stk_writer__symbol(w, s->text + 0x1000, 0x100, "f", ""), 0);
	assert_int_equal(stk_writer__symbol(w, s->module + 0x1000, 0x100, "g", "mod"), 0);
	assert_int_equal(stk_writer__stack(w, (uint64_t[]){ s->module + 0x1010, s->text + 0x1020 },
					   2, &kstack),
			 0);
	assert_int_equal(stk_writer__stack(w, (uint64_t[]){ FRAME_USER(put_file(w, s), 0x40) }, 1,
					   &ustack),
			 0);
	for (unsigned int k = 0; k < s->nr_events; k++)
		assert_int_equal(stk_writer__event(w,
						   &(struct stk_writer_event){
							   .ts = s->first_ts + 100 * k,
							   .task = task,
							   .kstack = kstack,
							   .ustack = ustack,
							   .record = record,
							   .record_len = sizeof(record) }),
				 0);
	assert_int_equal(stk_writer__end_round(w, s->first_ts + 100 * s->nr_events, 0), 0);
	if (!s->torn)
		assert_int_equal(stk_writer__finish(w, "end", 0), 0);
	stk_writer__free(w);
}

static void keep_message(void *ctx, enum stk_log_level level, const char *msg)
{
	snprintf(last_message, sizeof(last_message), "%s", msg);
}

static int open_all(int nr, struct stk_reader **ret_reader)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .log = keep_message };
	const char *all[ARRAY_SIZE(paths)];

	*last_message = '\0';
	for (int i = 0; i < nr; i++)
		all[i] = paths[i];
	return stk_reader__open_many(all, nr, &opts, ret_reader);
}

/* What the events of two recordings have. */
struct seen {
	unsigned int nr, nr_types, nr_boots;
	uint64_t ts[4];
	uint32_t tid[4], kstack[4], ustack[4];
	char host[4][16];
};

static struct stk_reader *read_two(const struct spec *a, const struct spec *b, struct seen *s)
{
	const struct stk_event *e;
	struct stk_reader *r;

	write_recording(0, a);
	write_recording(1, b);
	memset(s, 0, sizeof(*s));
	assert_int_equal(open_all(2, &r), 0);
	for (; stk_reader__next(r, &e) == 1; s->nr++) {
		assert_true(s->nr < 4);
		s->ts[s->nr] = stk_event__ts(e);
		s->tid[s->nr] = stk_event__tid(e);
		s->kstack[s->nr] = stk_event__kstack(e);
		s->ustack[s->nr] = stk_event__ustack(e);
		snprintf(s->host[s->nr], sizeof(s->host[0]), "%s", stk_event__host(e));
	}
	s->nr_types = stk_reader__nr_types(r);
	s->nr_boots = stk_reader__nr_boots(r);
	return r;
}

static struct stk_frame frame_of(struct stk_reader *r, uint32_t stack, unsigned int i)
{
	struct stk_frame frames[4];

	assert_true(stk_reader__frames(r, stack, frames, 4) > (int)i);
	return frames[i];
}

/* ---- identity -------------------------------------------------------------------------------- */

static void segments_share_all(void **state)
{
	struct spec second = one;
	struct stk_totals t;
	struct seen s;
	struct stk_reader *r;

	second.first_ts = 1050;
	r = read_two(&one, &second, &s);
	assert_int_equal(s.nr, 4);
	assert_int_equal(s.nr_types, 1);
	assert_int_equal(s.nr_boots, 1);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(s.ts[i], 1000 + 50 * i);
		assert_int_equal(s.tid[i], 10 + i % 2);
		assert_int_equal(s.kstack[i], s.kstack[0]);
		assert_int_equal(s.ustack[i], s.ustack[0]);
	}
	stk_reader__totals(r, &t);
	assert_int_equal(t.events, 4);
	assert_int_equal(t.stacks, 2);
	assert_int_equal(t.nodes, 3);
	assert_true(t.clean_end);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_string_equal(stk_reader__meta(r, "hostname"), "h1");
	assert_null(stk_reader__meta(r, "uuid"));
	assert_string_equal(last_message, "");
	stk_reader__free(r);
}

static void other_boots_of_a_kernel_share_code(void **state)
{
	struct spec other = one;
	struct seen s;
	struct stk_reader *r;
	struct stk_frame f;

	other.boot = "b2";
	other.host = "h2";
	other.text = TEXT + 0x2000000;
	other.module = MODULE + 0x5000;
	other.inode = 99;
	other.path = "/usr/bin/p";
	other.format = FORMAT("8");
	r = read_two(&other, &one, &s);
	assert_int_equal(s.nr_types, 1);
	assert_int_equal(s.nr_boots, 2);
	assert_int_equal(s.kstack[3], s.kstack[0]);
	assert_int_equal(s.ustack[3], s.ustack[0]);
	f = frame_of(r, s.kstack[0], 0);
	assert_string_equal(f.sym, "g");
	assert_int_equal(f.ip, MODULE + 0x6010);
	assert_int_equal(f.off, 0x10);
	f = frame_of(r, s.kstack[0], 1);
	assert_string_equal(f.sym, "f");
	assert_int_equal(f.kernel, 0);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_string_not_equal(s.host[0], s.host[1]);
	stk_reader__free(r);
}

static void other_kernels_share_nothing(void **state)
{
	struct spec other = one;
	struct seen s;
	struct stk_reader *r;
	struct stk_frame f;

	other.boot = "b2";
	other.build = "k2";
	r = read_two(&one, &other, &s);
	assert_int_not_equal(s.kstack[0], s.kstack[1]);
	assert_int_equal(s.ustack[0], s.ustack[1]);
	for (int i = 0; i < 2; i++) {
		f = frame_of(r, s.kstack[i], 1);
		assert_string_equal(f.sym, "f");
		assert_int_equal(f.ip, TEXT + 0x1020);
		assert_int_equal(f.kernel, i);
	}
	stk_reader__free(r);
}

static void files_without_id_are_of_one_boot(void **state)
{
	struct spec a = one, b;
	struct seen s;
	struct stk_reader *r;

	a.id = NULL;
	b = a;
	r = read_two(&a, &b, &s);
	assert_int_equal(s.ustack[0], s.ustack[3]);
	stk_reader__free(r);
	b.boot = "b2";
	r = read_two(&a, &b, &s);
	assert_int_equal(stk_reader__nr_files(r), 2);
	assert_int_not_equal(s.ustack[0], s.ustack[1]);
	stk_reader__free(r);
}

/* In one boot another inode is another file, and so is another content at the same place. */
static void copies_stay_copies(void **state)
{
	struct spec b = one;
	struct seen s;
	struct stk_reader *r;

	b.inode++;
	r = read_two(&one, &b, &s);
	assert_int_equal(stk_reader__nr_files(r), 2);
	stk_reader__free(r);
	b = one;
	b.id = "9876543210";
	r = read_two(&one, &b, &s);
	assert_int_equal(stk_reader__nr_files(r), 2);
	stk_reader__free(r);
}

static void other_types_stay_apart(void **state)
{
	struct spec b = one;
	struct seen s;
	struct stk_reader *r;

	b.filter = "x > 1";
	r = read_two(&one, &b, &s);
	assert_int_equal(s.nr_types, 2);
	assert_int_equal(stk_reader__nr_types(r), 2);
	assert_string_equal(stk_event_type__name(stk_reader__type(r, 1)), "e");
	stk_reader__free(r);
	b = one;
	b.format = "name: e\nID: 7\nformat:\n\tfield:long x;\toffset:8;\tsize:8;\tsigned:1;\n";
	r = read_two(&one, &b, &s);
	assert_int_equal(s.nr_types, 2);
	stk_reader__free(r);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void other_boots_are_on_the_wall_clock(void **state)
{
	struct spec b = one;
	struct seen s;
	struct stk_reader *r;

	b.boot = "b2";
	b.ts = "900000";
	b.first_ts = 900050; /* 50 ns after its moment on both clocks, as 1050 is of the other */
	r = read_two(&one, &b, &s);
	assert_int_equal(s.ts[0], 5000000);
	assert_int_equal(s.ts[1], 5000050);
	assert_int_equal(s.ts[2], 5000100);
	assert_int_equal(s.ts[3], 5000150);
	assert_non_null(strstr(last_message, "different boots"));
	assert_string_equal(stk_reader__meta(r, "clock"), "wall");
	stk_reader__free(r);
}

/* One without the time of day is placed by another one of its clock, wherever that is given. */
static void a_later_one_places_earlier_ones(void **state)
{
	struct spec a = one, b = one, c = one;
	const struct stk_event *e;
	struct stk_reader *r;
	uint64_t ts[6];
	int nr = 0;

	a.ts = a.wall = NULL;
	b.first_ts = 1050;
	c.boot = "b2";
	c.first_ts = 2000;
	write_recording(0, &a);
	write_recording(1, &b);
	write_recording(2, &c);
	assert_int_equal(open_all(3, &r), 0);
	while (stk_reader__next(r, &e) == 1 && nr < 6)
		ts[nr++] = stk_event__ts(e);
	assert_int_equal(nr, 6);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ts[i], 5000000 + 50 * i);
	assert_int_equal(ts[4], 5001000);
	assert_null(strstr(last_message, "does not say"));
	stk_reader__free(r);

	/* none of this clock knows the time of day: they keep their distances */
	b.ts = b.wall = NULL;
	write_recording(1, &b);
	assert_int_equal(open_all(3, &r), 0);
	for (nr = 0; stk_reader__next(r, &e) == 1 && nr < 6; nr++)
		ts[nr] = stk_event__ts(e);
	assert_int_equal(nr, 6);
	for (int i = 2; i < 6; i++) /* the wall clock of the files is later than that of c */
		assert_int_equal(ts[i], ts[2] + 50 * (i - 2));
	stk_reader__free(r);
}

static void times_in_metadata_are_those_of_the_whole(void **state)
{
	struct spec a = one, b = one;
	struct seen s;
	struct stk_reader *r;

	a.steps = "-5 at 1010, 7 at 1020";
	a.unverified = "s:e 3 1000 1100\nu:p:f(a, b) 4 1000 x";
	a.kernel_fields = "s:e 1100\n";
	a.start_ts = "1000";
	b.clock = "boot"; /* of the same boot */
	b.ts = "2000";
	b.steps = "9 at 2050";
	b.unverified = "s:e 3 2000 2100";
	b.first_ts = 2200;
	r = read_two(&a, &b, &s);
	assert_string_equal(stk_reader__meta(r, "clock.steps"),
			    "-5 at 5000010, 7 at 5000020, 9 at 5000050");
	assert_string_equal(stk_reader__meta(r, "kernel_unwind.unverified"),
			    "s:e 3 5000000 5000100\nu:p:f(a, b) 4 5000000 x\n"
			    "s:e 3 5000000 5000100");
	assert_string_equal(stk_reader__meta(r, "fields.kernel"), "s:e 5000100\n");
	assert_string_equal(stk_reader__meta(r, "tasks.start_ts"), "5000000");
	assert_null(stk_reader__meta(r, "clock.ts"));
	stk_reader__free(r);

	/* equal values that mean different times */
	b.steps = a.steps;
	b.start_ts = a.start_ts;
	r = read_two(&a, &b, &s);
	assert_string_equal(stk_reader__meta(r, "clock.steps"),
			    "-5 at 5000010, 7 at 5000020, -5 at 4999010, 7 at 4999020");
	assert_string_equal(stk_reader__meta(r, "tasks.start_ts"), "5000000");
	stk_reader__free(r);

	/* one clock: as they are */
	b.clock = a.clock;
	r = read_two(&a, &b, &s);
	assert_string_equal(stk_reader__meta(r, "clock.steps"), a.steps);
	assert_string_equal(stk_reader__meta(r, "tasks.start_ts"), "1000");
	stk_reader__free(r);
}

/* ---- addresses, counts ----------------------------------------------------------------------- */

/* The places of an address in the first events of two recordings, resolved when all is read. */
static void read_places(const struct spec *a, const struct spec *b, const uint64_t *addr,
			uint64_t *ret_places, struct stk_frame *ret_frames)
{
	const struct stk_event *e;
	struct stk_reader *r;

	write_recording(0, a);
	write_recording(1, b);
	assert_int_equal(open_all(2, &r), 0);
	while (stk_reader__next(r, &e) == 1) {
		unsigned int i = strcmp(stk_event__host(e), a->host) ? 1 : 0;

		for (int k = 0; k < 2; k++)
			assert_int_equal(stk_event__place(e, addr[i], &ret_places[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stk_reader__place_symbol(r, ret_places[i], &ret_frames[i]), 0);
		ret_frames[i].sym = ret_frames[i].sym && *ret_frames[i].sym == 'f' ? "f" : NULL;
	}
	stk_reader__free(r);
}

static void addresses_are_of_a_kernel(void **state)
{
	const uint64_t same[] = { TEXT + 0x1010, TEXT + 0x1010 };
	const uint64_t moved[] = { TEXT + 0x1010, TEXT + 0x2001010 };
	const uint64_t loaded[] = { MODULE + 0x1050, MODULE + 0x301050 };
	const uint64_t user[] = { 0x401010, 0x401010 }, data[] = { TEXT + 9, TEXT + 9 };
	struct spec b = one;
	struct stk_frame f[2];
	uint64_t p[2];

	/* the number means different places, each with its own name */
	b.boot = "b2";
	b.build = "k2";
	b.host = "h2";
	read_places(&one, &b, same, p, f);
	assert_int_equal(p[0], same[0]);
	assert_int_not_equal(p[0], p[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(f[i].ip, same[i]);
		assert_int_equal(f[i].kernel, i);
		assert_string_equal(f[i].sym, "f");
		assert_int_equal(f[i].off, 0x10);
	}
	read_places(&one, &b, data, p, f);
	assert_int_not_equal(p[0], p[1]);
	assert_int_equal(f[1].ip, data[1]);
	read_places(&one, &b, user, p, f);
	assert_int_equal(p[1], user[1]);

	/* another boot of the same build: a function is the same place, wherever it is */
	b.build = one.build;
	b.text = TEXT + 0x2000000;
	read_places(&one, &b, moved, p, f);
	assert_int_equal(p[0], p[1]);
	assert_string_equal(f[1].sym, "f");
	/* so it is in a module, also where no stack has it */
	b.module = MODULE + 0x300000;
	read_places(&one, &b, loaded, p, f);
	assert_int_equal(p[0], p[1]);
}

static void counted_ones_have_no_fields(void **state)
{
	const struct stk_event *e;
	uint64_t count, ts = 0;
	struct stk_reader *r;
	unsigned int nr = 0;
	size_t len;

	write_recording(0, &one);
	write_recording(1, &one);
	assert_int_equal(open_all(2, &r), 0);
	for (; stk_reader__next_counted(r, &e, &count) == 1; nr++) {
		assert_int_equal(count, 1);
		assert_true(stk_event__ts(e) >= ts);
		ts = stk_event__ts(e);
		assert_null(stk_event__record(e, &len));
	}
	assert_int_equal(nr, 4);
	assert_int_equal(stk_reader__next(r, &e), -EINVAL);
	stk_reader__free(r);
}

static bool none(void *ctx, const struct stk_event *e)
{
	++*(unsigned int *)ctx;
	return false;
}

/* Events that are not selected count in the totals. */
static void selections_are_of_the_whole(void **state)
{
	unsigned int asked = 0;
	struct stk_select select = {
		.size = sizeof(select), .to = 1099, .event = none, .ctx = &asked
	};
	const struct stk_event *e;
	struct stk_totals t;
	struct stk_reader *r;

	write_recording(0, &one);
	write_recording(1, &one);
	assert_int_equal(open_all(2, &r), 0);
	assert_int_equal(stk_reader__select(r, &select), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__select(r, &select), -EINVAL);
	assert_int_equal(asked, 2); /* those in time */
	stk_reader__totals(r, &t);
	assert_int_equal(t.events, 4);
	stk_reader__free(r);
}

/* ---- gaps, damage, misuse -------------------------------------------------------------------- */

static bool may_miss(struct stk_reader *r, uint64_t from, uint64_t to)
{
	struct stk_span span = {
		.type = stk_reader__type(r, 0),
		.cpu = STK_ANY_CPU,
		.tid = STK_ANY_TASK,
		.fields = true,
		.from = from,
		.to = to,
	};

	return stk_reader__may_miss(r, &span);
}

static void gaps_may_miss(void **state)
{
	struct spec b = one;
	struct seen s;
	struct stk_reader *r;
	char uuid[64];

	b.first_ts = 5000;
	r = read_two(&one, &b, &s);
	assert_false(may_miss(r, 1000, 1100));
	assert_false(may_miss(r, 5000, 5100));
	assert_true(may_miss(r, 1100, 5000));
	snprintf(uuid, sizeof(uuid), "%s", stk_reader__meta(stk_reader__member(r, 0), "uuid"));
	stk_reader__free(r);

	b.continues = uuid;
	write_recording(1, &b);
	assert_int_equal(open_all(2, &r), 0);
	for (const struct stk_event *e; stk_reader__next(r, &e) == 1;)
		;
	assert_false(may_miss(r, 1100, 5000));
	stk_reader__free(r);

	/* an overlap leaves no gap */
	b = one;
	b.first_ts = 1150;
	r = read_two(&one, &b, &s);
	assert_false(may_miss(r, 1000, 1250));
	stk_reader__free(r);
}

static void damage_ends_one(void **state)
{
	struct spec b = one;
	const struct stk_event *e;
	struct stk_reader *r;
	struct stk_totals t;
	int fd, got, nr = 0;

	b.torn = true;
	b.nr_events = 1;
	write_recording(0, &b);
	write_recording(1, &one);
	fd = open(paths[0], O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "this is the header of no block, which is damage", 40), 40);
	close(fd);
	assert_int_equal(open_all(2, &r), 0);
	while ((got = stk_reader__next(r, &e)) == 1)
		nr++;
	assert_int_equal(got, -EBADMSG);
	assert_int_equal(nr, 3);
	assert_non_null(strstr(last_message, paths[0]));
	stk_reader__totals(r, &t);
	assert_false(t.clean_end);
	stk_reader__totals(stk_reader__member(r, 1), &t);
	assert_true(t.clean_end);
	stk_reader__free(r);
}

/* Events wait for a recording in progress, which may still get earlier ones, and for no other. */
static void followed_ones_are_waited_for(void **state)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .follow = true };
	const char *const both[] = { paths[0], paths[1] };
	struct spec b = one;
	const struct stk_event *e;
	struct stk_reader *r;
	uint64_t ts = 0;
	int fd, nr = 0, got;

	write_recording(0, &one);
	b.first_ts = 1050;
	b.torn = true;
	write_recording(1, &b);
	fd = open(paths[1], O_RDWR | O_CLOEXEC);
	assert_int_equal(live__lock(fd), 0);
	assert_int_equal(stk_reader__open_many(both, 2, &opts, &r), 0);
	assert_true(stk_reader__is_live(r));
	assert_int_equal(stk_reader__next(r, &e), -EAGAIN);
	assert_int_equal(stk_reader__next(r, &e), -EAGAIN);
	close(fd);
	for (; (got = stk_reader__next(r, &e)) == 1; nr++) {
		assert_true(stk_event__ts(e) > ts);
		ts = stk_event__ts(e);
	}
	assert_int_equal(got, 0);
	assert_int_equal(nr, 4);
	assert_false(stk_reader__is_live(r));
	stk_reader__free(r);
}

/* Once no recorder writes it any more, its last events are returned, and then it has ended. */
static void an_abandoned_one_ends(void **state)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .follow = true };
	const struct stk_event *e;
	struct spec torn = one;
	struct stk_reader *r;
	int fd, got, nr = 0;

	torn.torn = true;
	write_recording(0, &torn);
	fd = open(paths[0], O_RDWR | O_CLOEXEC);
	assert_int_equal(live__lock(fd), 0);
	assert_int_equal(stk_reader__open(paths[0], &opts, &r), 0);
	while ((got = stk_reader__next(r, &e)) == 1)
		nr++;
	assert_int_equal(got, -EAGAIN);
	close(fd);
	while ((got = stk_reader__next(r, &e)) == 1)
		nr++;
	assert_int_equal(got, 0);
	assert_int_equal(nr, 2);
	stk_reader__free(r);
	/* one that had no recorder is waited for, as it may be copied here */
	assert_int_equal(stk_reader__open(paths[0], &opts, &r), 0);
	while ((got = stk_reader__next(r, &e)) == 1)
		;
	assert_int_equal(got, -EAGAIN);
	stk_reader__free(r);
}

static void given_twice_is_refused(void **state)
{
	const char *twice[] = { paths[0], paths[1], paths[0] };
	struct stk_reader *r = NULL;

	write_recording(0, &one);
	write_recording(1, &one);
	assert_int_equal(stk_reader__open_many(twice, 3, NULL, &r), -EEXIST);
	assert_int_equal(stk_reader__open_many(twice, 0, NULL, &r), -EINVAL);
	assert_null(r);
	assert_int_equal(stk_reader__open_many(twice, 1, NULL, &r), 0);
	assert_int_equal(stk_reader__nr_members(r), 1);
	assert_ptr_equal(stk_reader__member(r, 0), r);
	assert_string_equal(stk_reader__path(r), paths[0]);
	stk_reader__free(r);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		unlink(paths[i]);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_share_all),
		cmocka_unit_test(other_boots_of_a_kernel_share_code),
		cmocka_unit_test(other_kernels_share_nothing),
		cmocka_unit_test(files_without_id_are_of_one_boot),
		cmocka_unit_test(copies_stay_copies),
		cmocka_unit_test(other_types_stay_apart),
		cmocka_unit_test(other_boots_are_on_the_wall_clock),
		cmocka_unit_test(a_later_one_places_earlier_ones),
		cmocka_unit_test(times_in_metadata_are_those_of_the_whole),
		cmocka_unit_test(addresses_are_of_a_kernel),
		cmocka_unit_test(counted_ones_have_no_fields),
		cmocka_unit_test(selections_are_of_the_whole),
		cmocka_unit_test(gaps_may_miss),
		cmocka_unit_test(damage_ends_one),
		cmocka_unit_test(followed_ones_are_waited_for),
		cmocka_unit_test(an_abandoned_one_ends),
		cmocka_unit_test(given_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
