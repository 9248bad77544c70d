/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Fuzz target: a hostile recording.  The reader is built with STK_FUZZ: it ignores checksums, and
 * uses small pieces of memory.  The first byte of the uuid selects how the input is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "stackonce.h"
#include "trace/stk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { /* uuid[0] */
       OPT_HEADS = 1, /* no fields */
       OPT_INFO = 2, /* no events */
       OPT_FILE = 4, /* from a file, not from memory */
       OPT_FOLLOW = 8, /* from a file that grows during the read */
       OPT_PIPE = 16,
       OPT_ASK = 32, /* symbols also from a callback */
       OPT_COMPARE = 64, /* counts and a selection with the events; the other bits select */
       OPT_MANY = 128, /* two recordings read as one: the second begins at the next magic number,
		       * or is a copy with another uuid */
};
#define UUID_AT 16

static volatile uint64_t sink;

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void use_string(const char *s)
{
	check(s != NULL);
	sink += strlen(s);
}

static void use_frame(const struct stk_reader *r, const struct stk_frame *f)
{
	struct stk_file file;

	sink += f->ip + f->off + f->guessed;
	if (f->sym)
		use_string(f->sym);
	if (f->mod)
		use_string(f->mod);
	check(f->sym ? !f->size || f->off <= f->size : !f->off && !f->size);
	if (f->kind != STK_FRAME_USER) {
		check(!f->file && !f->guessed);
		return;
	}
	check(f->mod && f->ip < 1ull << 40);
	check(!f->file || !stk_reader__file(r, f->file, &file));
	check(f->file || !f->sym);
}

static void use_files(const struct stk_reader *r)
{
	uint32_t nr = stk_reader__nr_files(r), hashes[16] = { 0 };
	const char *path, *host_path;
	struct stk_file f;

	for (uint32_t i = 0; i <= nr + 1 && i < 64; i++) {
		if (stk_reader__file(r, i, &f) < 0) {
			check(!stk_reader__has_symbols(r, i));
			check(stk_reader__file_name(r, i, 0, &path, &host_path) < 0);
			continue;
		}
		check(f.number == i && i && i <= nr && f.id_len <= 64 && f.kind <= STK_FILE_JIT);
		check((f.id_kind == STK_ID_NONE) == !f.id_len);
		for (unsigned int k = 0; k < f.id_len; k++)
			sink += f.id[k];
		check(f.nr_names >= 1 && f.nr_names <= 64);
		for (unsigned int k = 0; k < f.nr_names; k++) {
			check(!stk_reader__file_name(r, i, k, &path, &host_path));
			use_string(path);
			use_string(host_path);
		}
		check(stk_reader__file_name(r, i, f.nr_names, &path, &host_path) < 0);
		use_string(f.path);
		use_string(f.host_path);
		sink += stk_reader__has_symbols(r, i);
		check(f.hash != 0);
		for (uint32_t k = 0; k < i && k < 16; k++)
			check(f.hash != hashes[k]);
		if (i < 16)
			hashes[i] = f.hash;
	}
}

/* Functions of 64 bytes, of which every eighth is unknown; some answers are invalid. */
static int symbolize(void *ctx, const struct stk_file *file, uint64_t offset,
		     struct stk_user_symbol *ret_symbol)
{
	static char name[32];
	const struct stk_reader *r = ctx;

	use_string(file->path);
	check(!stk_reader__has_symbols(r, file->number) && file->number && offset < 1ull << 40);
	if (offset % 512 < 64)
		return -2;
	snprintf(name, sizeof(name), "f%x", (unsigned int)offset >> 7);
	ret_symbol->name = offset % 512 < 70 ? NULL : offset % 512 < 80 ? "" : name;
	ret_symbol->start = offset & ~63ull;
	ret_symbol->size = offset % 512 < 96 ? 8 : offset % 512 < 128 ? 0 : 64;
	return 0;
}

static void use_event(struct stk_reader *r, const struct stk_event *e, uint64_t *max_ts)
{
	struct stk_frame frame;
	const uint8_t *rec;
	uint64_t sum = 0;
	size_t len;

	if (!(stk_event__marks(e) & STK_MARK_LATE)) {
		check(stk_event__ts(e) >= *max_ts);
		*max_ts = stk_event__ts(e);
	}
	check(stk_event__type(e) != NULL);
	check(stk_event__kstack(e) <= stk_reader__nr_stacks(r));
	check(stk_event__ustack(e) <= stk_reader__nr_stacks(r));
	use_string(stk_event__comm(e));
	if (stk_event__ustack(e) && stk_reader__frames(r, stk_event__ustack(e), &frame, 1) > 0)
		use_frame(r, &frame);
	sink += stk_event__cpu(e) + stk_event__tid(e) + stk_event__pid(e) + stk_event__flags(e) +
		stk_event__preempt_count(e);
	rec = stk_event__record(e, &len);
	check((rec != NULL) == (len >= STK_RECORD_HEAD) && len <= STK_MAX_RECORD);
	for (size_t i = 0; i < len; i++)
		sum += rec[i];
	sink += sum;
}

static void use_stacks(struct stk_reader *r)
{
	static struct stk_frame frames[STK_MAX_DEPTH];
	uint32_t nr = stk_reader__nr_stacks(r);
	struct stk_stack s;

	for (uint32_t i = 0; i <= nr + 1 && i < 64; i++) {
		int n = stk_reader__frames(r, i, frames, i % 2 ? STK_MAX_DEPTH : 3);

		if (stk_reader__stack(r, i, &s) < 0) {
			check(n < 0 && (!i || i > nr));
			continue;
		}
		check(s.number == i && s.alias_of && s.alias_of <= i);
		check(n == (int)s.depth && n <= STK_MAX_DEPTH);
		use_string(stk_stack_end_name(s.end));
		for (int k = 0; k < n && k < (i % 2 ? STK_MAX_DEPTH : 3); k++)
			use_frame(r, &frames[k]);
	}
	check(!stk_reader__kernel_symbol(r, 0xffffffff81001010, frames));
}

static void use_tables(struct stk_reader *r)
{
	struct stk_totals totals;
	const char *key, *value;

	for (unsigned int i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);

		check(stk_event_type__index(t) == i);
		use_string(stk_event_type__system(t));
		use_string(stk_event_type__name(t));
		use_string(stk_event_type__filter(t));
		use_string(stk_event_type__format(t));
		sink += stk_event_type__kind(t);
		for (int c = 0; c <= STK_NR_COUNTERS; c++) {
			sink += stk_reader__counter(r, t, c);
			use_string(stk_counter_name(c));
		}
	}
	check(!stk_reader__type(r, stk_reader__nr_types(r)));
	for (unsigned int i = 0; i < stk_reader__nr_meta(r); i++) {
		stk_reader__meta_at(r, i, &key, &value);
		use_string(key);
		use_string(value);
		use_string(stk_reader__meta(r, key));
	}
	stk_reader__totals(r, &totals);
	check(totals.stacks == stk_reader__nr_stacks(r) && totals.duplicates <= totals.stacks);
}

static void use_all(struct stk_reader *r, uint8_t how, uint64_t *max_ts)
{
	const struct stk_event *e;
	int got;

	if (how & OPT_ASK)
		stk_reader__set_symbolizer(r, symbolize, r);
	for (uint32_t i = 0; i < 4096 && (got = stk_reader__next(r, &e)) == 1; i++)
		use_event(r, e, max_ts);
	use_tables(r);
	use_stacks(r);
	use_files(r);
}

static void log_nothing(void *ctx, enum stk_log_level level, const char *msg)
{
	sink += strlen(msg);
}

static int pipe_of(const uint8_t *data, size_t size)
{
	int fds[2];

	if (size > 60000 || pipe(fds) < 0)
		return -1;
	check(write(fds[1], data, size) == (ssize_t)size);
	close(fds[1]);
	return fds[0];
}

/* Through a file descriptor; a followed file is written in two parts. */
static void read_fd(const uint8_t *data, size_t size, struct stk_reader_opts *opts, uint8_t how)
{
	size_t first =
		(how & (OPT_FOLLOW | OPT_PIPE)) == OPT_FOLLOW ? STK_HEADER_SIZE + size / 2 : size;
	uint64_t max_ts = 0;
	struct stk_reader *r;
	char path[32];
	int fd;

	first = first < size ? first : size;
	fd = how & OPT_PIPE ? pipe_of(data, size) : memfd_create("fuzz", 0);
	if (fd < 0)
		return;
	if (!(how & OPT_PIPE))
		check(pwrite(fd, data, first, 0) == (ssize_t)first);
	opts->follow = how & OPT_FOLLOW;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!stk_reader__open(path, opts, &r)) {
		use_all(r, how, &max_ts);
		if (first < size) {
			check(pwrite(fd, data + first, size - first, first) ==
			      (ssize_t)(size - first));
			use_all(r, how, &max_ts);
		}
		stk_reader__free(r);
	}
	close(fd);
}

/* ---- ways of reading that must agree --------------------------------------------------------- */

struct wanted {
	uint64_t from, to;
	unsigned int every; /* nth CPU, and type */
};

static bool cpu_wanted(void *ctx, uint32_t cpu)
{
	return !(cpu % ((const struct wanted *)ctx)->every);
}

static bool event_wanted(void *ctx, const struct stk_event *e)
{
	return !(stk_event_type__index(stk_event__type(e)) % ((const struct wanted *)ctx)->every);
}

static uint64_t hash_event(const struct stk_event *e)
{
	uint64_t h = stk_event__cpu(e);

	h = h * 0x9e3779b97f4a7c15ULL + stk_event__tid(e);
	h = h * 0x9e3779b97f4a7c15ULL + stk_event__kstack(e);
	h = h * 0x9e3779b97f4a7c15ULL + stk_event__marks(e);
	h = h * 0x9e3779b97f4a7c15ULL + stk_event_type__index(stk_event__type(e));
	return h ^ h >> 29;
}

/* A sum over the wanted events, in whatever order they come; false: the reader gave up. */
static bool sum_up(const uint8_t *data, size_t size, struct wanted *w, bool library, bool counted,
		   uint64_t *ret_sum)
{
	struct stk_select select = { .size = sizeof(select),
				     .from = w->from,
				     .to = w->to,
				     .cpu = cpu_wanted,
				     .event = event_wanted,
				     .ctx = w };
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_EVENTS };
	uint64_t count = 1, sum = 0;
	const struct stk_event *e;
	struct stk_reader *r;
	int got = 0;

	if (stk_reader__open_mem(data, size, &opts, &r))
		return false;
	check(!library || !stk_reader__select(r, &select));
	while ((got = counted ? stk_reader__next_counted(r, &e, &count) :
				stk_reader__next(r, &e)) == 1) {
		bool wanted = stk_event__ts(e) >= w->from && stk_event__ts(e) <= w->to &&
			      cpu_wanted(w, stk_event__cpu(e)) && event_wanted(w, e);

		check(!library || wanted);
		check(count);
		sum += wanted ? count * hash_event(e) : 0;
	}
	stk_reader__free(r);
	*ret_sum = sum;
	return got != -ENOBUFS && got != -ENOMEM;
}

static uint64_t first_time(const uint8_t *data, size_t size, uint64_t *ret_last)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_FIELDS };
	struct stk_totals t = { 0 };
	const struct stk_event *e;
	struct stk_reader *r;

	if (!stk_reader__open_mem(data, size, &opts, &r)) {
		stk_reader__next(r, &e);
		stk_reader__totals(r, &t);
		stk_reader__free(r);
	}
	*ret_last = t.last_ts;
	return t.first_ts;
}

static void compare(const uint8_t *data, size_t size, uint8_t how)
{
	uint64_t last, first = first_time(data, size, &last), plain, other;
	uint64_t part = (last - first) / 8;
	struct wanted w = { .from = first + (how & 7) * part,
			    .to = first + (how & 7) * part + part,
			    .every = 1 + (how >> 4 & 3) };

	if (how & 8)
		w = (struct wanted){ .to = UINT64_MAX, .every = w.every };
	if (w.from > w.to || !sum_up(data, size, &w, false, false, &plain))
		return;
	for (int i = 1; i < 4; i++)
		check(!sum_up(data, size, &w, i & 1, i & 2, &other) || plain == other ||
		      (!(i & 1) && !(how & 8)));
}

static int file_of(const uint8_t *data, size_t size, char *ret_path)
{
	int fd = memfd_create("fuzz", 0);

	check(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	sprintf(ret_path, "/proc/self/fd/%d", fd);
	return fd;
}

static void read_two(const uint8_t *data, size_t size, const struct stk_reader_opts *opts,
		     uint8_t how)
{
	const uint8_t *second = memmem(data + 1, size - 1, STK_MAGIC, 8);
	char names[2][32];
	const char *paths[] = { names[0], names[1] };
	uint8_t other = ~data[UUID_AT + 1];
	uint64_t max_ts = 0;
	struct stk_reader *r;
	int fds[2];

	fds[0] = file_of(data, second ? (size_t)(second - data) : size, names[0]);
	fds[1] = file_of(second ?: data, second ? size - (second - data) : size, names[1]);
	if (!second)
		check(pwrite(fds[1], &other, 1, UUID_AT + 1) == 1);
	if (!stk_reader__open_many(paths, 2, opts, &r)) {
		use_all(r, how, &max_ts);
		check(stk_reader__nr_members(r) == 2 && stk_reader__nr_boots(r) <= 2);
		stk_reader__free(r);
	}
	close(fds[0]);
	close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .log = log_nothing };
	uint8_t how = size > UUID_AT ? data[UUID_AT] : 0;
	uint64_t max_ts = 0;
	struct stk_reader *r;

	if (how & OPT_COMPARE) {
		compare(data, size, how);
		return 0;
	}
	if (how & OPT_HEADS)
		opts.want = STK_WANT_EVENTS;
	if (how & OPT_INFO)
		opts.want = STK_WANT_FIELDS;
	/* system calls are slow: use them only for some values of this byte */
	if (how < 64 && how & (OPT_FILE | OPT_FOLLOW | OPT_PIPE)) {
		read_fd(data, size, &opts, how);
		return 0;
	}
	if ((how & 0xf0) == OPT_MANY) {
		read_two(data, size, &opts, how);
		return 0;
	}
	if (stk_reader__open_mem(data, size, how ? &opts : NULL, &r))
		return 0;
	use_all(r, how, &max_ts);
	stk_reader__free(r);
	return 0;
}
