// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Symbols added to existing recordings: whole, truncated and damaged ones. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "gen.h"
#include "output/output.h"
#include "trace/write/rewrite.h"
#include "trace/stk.h"
#include "trace/bytes.h"
#include "written.h"

#define NR_EVENTS 40

static char dir[] = "/tmp/stk-rewrite-XXXXXX";
static char path[PATH_MAX];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/it.stk", dir);
	return 0;
}

static int remove_dir(void **state)
{
	unlink(path);
	return rmdir(dir); /* the directory is empty */
}

/* Two files with a stack each, events in two rounds, no names. */
static void make_file(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct stk_writer *w = gen_open(f, &opts);
	uint32_t number, stacks[2];

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(stk_writer__file(w, &(struct stk_file){ .path = "/a" }, &number),
				 0);
		assert_int_equal(stk_writer__stack(w, &(uint64_t){ FRAME_USER(number, 0x110) }, 1,
						   &stacks[i]),
				 0);
	}
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		struct stk_writer_event e = { .ts = i, .ustack = stacks[i % 2] };

		assert_int_equal(stk_writer__event(w, &e), 0);
		if (i % 20 == 19)
			assert_int_equal(stk_writer__end_round(w, i, 0), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static void save(const void *p, size_t len)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, len), len);
	close(fd);
}

/* The present contents of the file; the caller frees them. */
static uint8_t *load(size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *p;

	assert_true(fd >= 0 && !fstat(fd, &st));
	p = malloc(st.st_size + 1);
	assert_int_equal(read(fd, p, st.st_size), st.st_size);
	close(fd);
	*ret_len = st.st_size;
	return p;
}

static void assert_content(const void *want, size_t len)
{
	size_t got;
	uint8_t *p = load(&got);

	assert_int_equal(got, len);
	assert_memory_equal(p, want, len);
	free(p);
}

/* No other file is left in the directory. */
static void assert_alone(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	assert_int_equal(n, 1);
}

/* Names the function of file 1, and gives file 2 a larger size. */
static void name_one(struct stk_rewrite *rw, const char *name)
{
	const struct stk_user_symbol s = { name, 0x100, 0x100 };

	assert_int_equal(stk_rewrite__user_symbols(rw, 1, &s, 1), 0);
	assert_int_equal(
		stk_rewrite__file(rw, &(struct stk_file){ .number = 2, .path = "/b", .size = 9 }),
		0);
}

/* Replaces the file as `symbolize` does. */
static int put_back(struct stk_rewrite *rw, const char *at)
{
	const struct output_opts opts = { .path = at, .force = true };
	_cleanup_(output__freep) struct output *o = NULL;
	int err;

	assert_true(stk_rewrite__is_changed(rw));
	assert_int_equal(output__open(&opts, &o), 0);
	err = stk_rewrite__write(rw, output__fd(o));
	return err ? err : output__commit(o);
}

static void rewrite_at(const char *at, const char *name)
{
	struct stk_rewrite *rw;

	assert_int_equal(stk_rewrite__open(at, &rw), 0);
	name_one(rw, name);
	assert_int_equal(put_back(rw, at), 0);
	stk_rewrite__free(rw);
}

static void rewrite(const char *name)
{
	rewrite_at(path, name);
}

/* Returns the number of events; every frame of file 1 must have this name. */
static uint32_t read_all(const char *name, struct stk_totals *ret_totals)
{
	const struct stk_event *e;
	struct stk_frame frame;
	struct stk_reader *r;
	struct stk_file file;
	uint32_t n = 0;

	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1) {
		n++;
		assert_int_equal(stk_reader__frames(r, stk_event__ustack(e), &frame, 1), 1);
		if (frame.file == 1)
			assert_string_equal(frame.sym, name);
	}
	assert_true(stk_reader__has_symbols(r, 1));
	assert_int_equal(stk_reader__file(r, 2, &file), 0);
	assert_int_equal(file.size, 9);
	assert_int_equal(file.nr_names, 2);
	stk_reader__totals(r, ret_totals);
	stk_reader__free(r);
	return n;
}

static size_t find_block(const struct gen_file *f, uint16_t type)
{
	size_t pos = STK_HEADER_SIZE;

	while (header_at(f->p, pos).type != type)
		pos += sizeof(struct stk_block_header) + header_at(f->p, pos).stored_len;
	return pos;
}

static void test_whole(void **state)
{
	struct stk_totals totals;
	struct gen_file f;
	size_t end, len;
	uint8_t *p;

	make_file(&f);
	/* an unknown block and bytes after the end are kept */
	end = find_block(&f, STK_BLOCK_ROUND);
	f.p[end + 4] = 77;
	len = crc32c(0, f.p + end, offsetof(struct stk_block_header, header_crc));
	memcpy(f.p + end + offsetof(struct stk_block_header, header_crc), &len, 4);
	f.p = realloc(f.p, f.len + 5);
	memcpy(f.p + f.len, "after", 5);
	f.len += 5;
	save(f.p, f.len);
	rewrite("one");
	assert_int_equal(read_all("one", &totals), NR_EVENTS);
	assert_true(totals.clean_end);
	assert_int_equal(totals.bad_blocks, 0);
	end = find_block(&f, STK_BLOCK_END);
	p = load(&len);
	assert_true(len > f.len);
	assert_memory_equal(p, f.p, end);
	assert_memory_equal(p + len - (f.len - end), f.p + end, f.len - end);
	free(p);
	/* the last name is used */
	rewrite("two");
	assert_int_equal(read_all("two", &totals), NR_EVENTS);
	gen_close(&f);
}

/* Cut at any byte: all whole blocks are kept, and new blocks follow them. */
static void test_torn(void **state)
{
	struct stk_totals totals;
	struct stk_rewrite *rw;
	struct gen_file f;
	size_t block = STK_HEADER_SIZE, files, len;
	uint32_t events = 0;
	uint8_t *p;

	make_file(&f);
	files = find_block(&f, STK_BLOCK_NODES);
	for (size_t cut = 0; cut < f.len; cut++) {
		struct stk_block_header h;
		bool whole;

		save(f.p, cut);
		if (cut < STK_HEADER_SIZE) {
			assert_int_equal(stk_rewrite__open(path, &rw), -EINVAL);
			continue;
		}
		h = header_at(f.p, block);
		whole = cut == block + sizeof(h) + h.stored_len;
		if (whole) {
			block = cut;
			events += h.type == STK_BLOCK_EVENTS ? 20 : 0;
		}
		if (cut < files)
			continue; /* no file to name */
		if (whole) /* zeros for the rest */
			assert_int_equal(truncate(path, cut + 1000), 0);
		rewrite("torn");
		assert_int_equal(read_all("torn", &totals), events);
		assert_false(totals.clean_end);
		assert_int_equal(totals.bad_blocks, 0);
		p = load(&len);
		assert_true(len > block && len < f.len + 500);
		assert_memory_equal(p, f.p, block);
		free(p);
	}
	assert_int_equal(events, NR_EVENTS);
	gen_close(&f);
}

static void test_damaged(void **state)
{
	struct stk_rewrite *rw = NULL;
	struct stk_totals totals;
	struct gen_file f;
	size_t pos;

	make_file(&f);
	/* the rest of the file is unknown and must not be thrown away */
	pos = find_block(&f, STK_BLOCK_EVENTS);
	f.p[pos + 9] ^= 1;
	save(f.p, f.len);
	assert_int_equal(stk_rewrite__open(path, &rw), -EBADMSG);
	assert_content(f.p, f.len);
	f.p[pos + 9] ^= 1;
	/* one bad block remains one bad block */
	f.p[pos + 40] ^= 1;
	save(f.p, f.len);
	rewrite("one");
	assert_int_equal(read_all("one", &totals), NR_EVENTS - 20);
	assert_int_equal(totals.bad_blocks, 1);
	assert_true(totals.clean_end);
	gen_close(&f);

	make_file(&f);
	f.p[8]++;
	save(f.p, f.len);
	assert_int_equal(stk_rewrite__open(path, &rw), -ENOTSUP);
	f.p[8]--;
	f.p[50] = 1;
	save(f.p, f.len);
	assert_int_equal(stk_rewrite__open(path, &rw), -EINVAL);
	f.p[50] = 0;
	f.p[0] = 1;
	save(f.p, f.len);
	assert_int_equal(stk_rewrite__open(path, &rw), -EINVAL);
	assert_int_equal(stk_rewrite__open(dir, &rw), -EINVAL);
	assert_int_equal(stk_rewrite__open("/dev/null", &rw), -EINVAL);
	assert_int_equal(stk_rewrite__open("/nonexistent", &rw), -ENOENT);
	assert_null(rw);
	gen_close(&f);
}

static void test_busy(void **state)
{
	struct stk_rewrite *rw;
	struct gen_file f;
	int fd;

	make_file(&f);
	save(f.p, f.len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0) {
		print_message("no leases here: %s\n", strerror(errno));
		close(fd);
		gen_close(&f);
		skip();
	}
	close(fd);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(stk_rewrite__open(path, &rw), 0);
	assert_true(stk_rewrite__is_busy(rw));
	close(fd);
	assert_false(stk_rewrite__is_busy(rw));
	stk_rewrite__free(rw);
	rewrite("one");
	gen_close(&f);
}

static void test_untouched(void **state)
{
	const struct stk_user_symbol s = { "f", 0, 1 };
	struct stk_rewrite *rw;
	struct gen_file f;

	make_file(&f);
	save(f.p, f.len);
	assert_int_equal(stk_rewrite__open(path, &rw), 0);
	name_one(rw, "never");
	stk_rewrite__free(rw);
	assert_int_equal(stk_rewrite__open(path, &rw), 0);
	assert_int_equal(stk_rewrite__user_symbols(rw, 0, &s, 1), -EINVAL);
	assert_int_equal(stk_rewrite__file(rw, &(struct stk_file){ .path = "/new" }), -EINVAL);
	assert_false(stk_rewrite__is_changed(rw));
	stk_rewrite__free(rw);
	stk_rewrite__free(NULL);
	assert_content(f.p, f.len);
	gen_close(&f);
}

static void test_no_room(void **state)
{
	struct rlimit old, small;
	struct stk_rewrite *rw;
	struct gen_file f;
	int err;

	make_file(&f);
	save(f.p, f.len);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t room = 1; room < f.len + 50; room += f.len / 2) {
		assert_int_equal(stk_rewrite__open(path, &rw), 0);
		name_one(rw, "never");
		small = (struct rlimit){ room, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		err = put_back(rw, path);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(err, -EFBIG);
		stk_rewrite__free(rw);
		assert_content(f.p, f.len);
		assert_alone();
	}
	signal(SIGXFSZ, SIG_DFL);
	gen_close(&f);
}

static void test_mode(void **state)
{
	struct stk_totals totals;
	struct gen_file f;
	struct stat before, after;
	char link[PATH_MAX];

	make_file(&f);
	save(f.p, f.len);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("it.stk", link), 0);
	assert_int_equal(chmod(path, 0640), 0);
	if (!geteuid())
		assert_int_equal(chown(path, 12345, 54321), 0);
	assert_int_equal(stat(path, &before), 0);
	rewrite_at(link, "linked");
	assert_int_equal(lstat(link, &after), 0);
	assert_true(S_ISLNK(after.st_mode));
	assert_int_equal(lstat(path, &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_gid, before.st_gid);
	assert_int_equal(read_all("linked", &totals), NR_EVENTS);
	assert_int_equal(unlink(link), 0);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	  cmocka_unit_test(test_torn),
		cmocka_unit_test(test_damaged),	  cmocka_unit_test(test_busy),
		cmocka_unit_test(test_untouched), cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_mode),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
