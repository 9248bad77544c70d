/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format_equal INSTANCE-DIRECTORY: prints every record of a stopped trace instance with our plans
 * and compares the text with the kernel's in per_cpu/cpuN/trace.
 * The options context-info and annotate of the instance must be off.
 *
 * Prints a line per event: NAME compared mismatched unknown hashed.  "unknown" counts records whose
 * text depends on data of the kernel that we do not have: symbols of modules, strings at addresses
 * that are not in printk_formats, the jiffies at the time of printing.  "hashed" counts records
 * that are equal only in the text with the option hash-ptr on, without their pointers: with the
 * option off, 6.1 does not print the strings of many events.  Exit status: 1 on a mismatch.
 */
#include "events/format.h"
#include "record/kernel/constants.h"
#include "cleanup.h"
#include "strbuf.h"

#include <ctype.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>

#define MAX_ID 65536

struct event {
	struct ev_format *f;
	char *text;
	unsigned long compared, mismatched, unknown, hashed;
};

struct sym {
	uint64_t addr;
	char *name, *mod;
};

struct fmt_string {
	uint64_t addr;
	char *s;
};

static struct event events[MAX_ID];
static struct sym *syms;
static size_t nr_syms, nr_sorted;
static struct fmt_string strings[4096];
static size_t nr_strings;
static uint64_t vmemmap_base;
static uint64_t text_start;
static uint64_t text_end; /* end of the kernel's text, if it has no data symbols */
static struct btf *types;
static bool unsure; /* the last record depends on unknown data */

/* NULL if it cannot be read, with errno. */
static char *read_file(const char *path, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t cap = 1 << 16, len = 0;
	char *s = malloc(cap);
	ssize_t n;

	if (fd < 0 || !s) {
		free(s);
		return NULL;
	}
	while ((n = read(fd, s + len, cap - len - 1)) > 0) {
		len += n;
		if (cap - len < 2) {
			cap *= 2;
			s = realloc(s, cap);
			if (!s)
				return NULL;
		}
	}
	if (n < 0) {
		free(s);
		return NULL;
	}
	s[len] = '\0';
	*ret_len = len;
	return s;
}

/* ---- symbols and strings of the kernel ------------------------------------------------------- */

static int load_kallsyms(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], mod[128], type;
	unsigned long long addr;
	size_t cap = 0, nr_data = 0;

	while (file && fgets(line, sizeof(line), file)) {
		int n = sscanf(line, "%llx %c %511s [%127[^]]", &addr, &type, name, mod);

		if (n < 3)
			continue;
		if (nr_syms == cap) {
			cap = cap ? cap * 2 : 1 << 17;
			syms = realloc(syms, cap * sizeof(*syms));
			if (!syms)
				return -ENOMEM;
		}
		nr_data += type == 'd' || type == 'b';
		if (!strcmp(name, "_stext"))
			text_start = addr;
		if (!strcmp(name, "_etext"))
			text_end = addr;
		syms[nr_syms].addr = addr;
		syms[nr_syms].name = strdup(name);
		syms[nr_syms++].mod = n > 3 ? strdup(mod) : NULL;
	}
	/* CONFIG_KALLSYMS_ALL: the kernel also resolves data addresses */
	if (nr_data > 100)
		text_end = UINT64_MAX;
	/* The table is sorted up to the modules, which are not used. */
	for (nr_sorted = 1; nr_sorted < nr_syms; nr_sorted++)
		if (syms[nr_sorted].addr < syms[nr_sorted - 1].addr)
			break;
	return nr_syms && syms[nr_syms / 2].addr ? 0 : -EPERM;
}

static bool put_symbol(void *ctx, uint64_t addr, bool with_offset, struct strbuf *out)
{
	size_t lo = 0, hi = nr_sorted, next;

	if (addr < syms[0].addr || addr >= syms[hi - 1].addr) {
		unsure |= addr >= 1ULL << 63;
		return false;
	}
	/* lower values are offsets in per-CPU memory */
	if (addr < text_start || addr >= text_end)
		return false;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (syms[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	while (lo && syms[lo - 1].addr == syms[lo].addr)
		lo--;
	for (next = lo; syms[next].addr == syms[lo].addr;)
		next++;
	unsure |= syms[lo].mod != NULL;
	strbuf__puts(out, syms[lo].name);
	if (with_offset)
		strbuf__printf(out, "+0x%llx/0x%llx", (unsigned long long)(addr - syms[lo].addr),
			       (unsigned long long)(syms[next].addr - syms[lo].addr));
	return true;
}

static void load_printk_formats(const char *tracefs)
{
	char path[512], line[4096];
	_cleanup_fclose_ FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/printk_formats", tracefs);
	file = fopen(path, "re");
	while (file && nr_strings < ARRAY_SIZE(strings) && fgets(line, sizeof(line), file)) {
		char *quote = strchr(line, '"'), *end = strrchr(line, '"');

		if (!quote || end == quote)
			continue;
		*end = '\0';
		strings[nr_strings].addr = strtoull(line, NULL, 16);
		strings[nr_strings++].s = strdup(quote + 1);
	}
}

static const char *find_string(void *ctx, uint64_t addr)
{
	for (size_t i = 0; i < nr_strings; i++)
		if (strings[i].addr == addr)
			return strings[i].s;
	unsure = true;
	return NULL;
}

/* Names in print fmts: enum constants, and the start of the page array. */
static bool constant(void *ctx, const char *name, int64_t *ret_value)
{
	if (!strcmp(name, "vmemmap_base") && vmemmap_base) {
		*ret_value = (int64_t)vmemmap_base;
		return true;
	}
	return types && constants__lookup(types, name, ret_value);
}

/* ---- events ---------------------------------------------------------------------------------- */

static int load_event(const char *path)
{
	_cleanup_free_ char *text = NULL, *resolved = NULL;
	struct ev_format *f;
	unsigned int nr;
	size_t len;
	int err;

	text = read_file(path, &len);
	if (!text && (errno == ENOENT || errno == ENODEV))
		return 0; /* a probe that was removed */
	if (!text) {
		perror(path);
		return -EIO;
	}
	err = ev_format__parse(text, len, &f);
	if (!err && !ev_format__compiled(f)) {
		ev_format__free(f);
		err = ev_format__resolve(text, len, constant, NULL, &resolved, &nr);
		if (!err)
			err = ev_format__parse(resolved, strlen(resolved), &f);
	}
	if (err) {
		printf("FAIL %s: %s\n", path, strerror(-err));
		return err;
	}
	if (ev_format__id(f) >= MAX_ID) {
		ev_format__free(f);
		return -ERANGE;
	}
	ev_format__free(events[ev_format__id(f)].f);
	free(events[ev_format__id(f)].text);
	events[ev_format__id(f)].f = f;
	events[ev_format__id(f)].text = take_ptr(text);
	return 0;
}

static int load_events(const char *tracefs)
{
	char pattern[512];
	glob_t g = { 0 };
	int err = 0;

	snprintf(pattern, sizeof(pattern), "%s/events/*/*/format", tracefs);
	if (glob(pattern, 0, NULL, &g))
		return -ENOENT;
	for (size_t i = 0; !err && i < g.gl_pathc; i++)
		err = load_event(g.gl_pathv[i]);
	globfree(&g);
	return err;
}

/* "page=ADDRESS pfn=0xN" in the kernel's text shows where the page array starts. */
static void learn_vmemmap(const char *text)
{
	const char *p = text;
	unsigned long long page, pfn;

	while (!vmemmap_base && (p = strstr(p, "page="))) {
		if (sscanf(p, "page=%llx pfn=0x%llx", &page, &pfn) == 2 && page && pfn)
			vmemmap_base = page - pfn * 64;
		p += 5;
	}
	for (size_t i = 0; vmemmap_base && i < MAX_ID; i++) {
		_cleanup_free_ char *resolved = NULL;
		unsigned int nr;

		if (!events[i].text || !strstr(events[i].text, "vmemmap_base") ||
		    ev_format__resolve(events[i].text, strlen(events[i].text), constant, NULL,
				       &resolved, &nr))
			continue;
		ev_format__free(events[i].f);
		if (ev_format__parse(resolved, strlen(resolved), &events[i].f))
			abort();
	}
}

/* ---- one record ------------------------------------------------------------------------------ */

/*
 * The kernel prints system calls in a special form, with or without 0x depending on the release:
 * sys_read(fd: 3, ...) and sys_read -> 0x10.  We print ours in that form, and compare both without
 * 0x and leading zeros.
 */
static void strip_hex(struct strbuf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (n - i > 2 && s[i] == '0' && s[i + 1] == 'x')
			for (i += 2; s[i] == '0' && i + 1 < n && isxdigit((unsigned char)s[i + 1]);)
				i++;
		strbuf__putc(out, s[i]);
	}
}

static bool is_syscall(const struct ev_format *f)
{
	return !strncmp(ev_format__name(f), "sys_enter_", 10) ||
	       !strncmp(ev_format__name(f), "sys_exit_", 9);
}

static void print_syscall(struct ev_format *f, const struct ev_print_ctx *ctx, const void *rec,
			  size_t len, struct strbuf *out)
{
	const char *name = ev_format__name(f);
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	bool enter = name[4] == 'e' && name[5] == 'n';

	strbuf__printf(&b, "sys_%s%s", name + (enter ? 10 : 9), enter ? "(" : " -> ");
	ev_format__print(f, ctx, rec, len, &b);
	strbuf__puts(&b, enter ? ")" : "");
	strip_hex(out, b.s, b.len);
}

static void print_record(struct event *e, const uint8_t *rec, size_t len, struct strbuf *out)
{
	const struct ev_print_ctx ctx = { .symbol = put_symbol,
					  .string = find_string,
					  .long_size = 8 };

	unsure = !ev_format__compiled(e->f) || strstr(e->text, "(jiffies - ");
	if (is_syscall(e->f)) {
		print_syscall(e->f, &ctx, rec, len, out);
	} else {
		strbuf__printf(out, "%s: ", ev_format__name(e->f));
		ev_format__print(e->f, &ctx, rec, len, out);
	}
	strbuf__putc(out, '\n');
}

/* The kernel's text for the records of one CPU, and how far it has been compared. */
struct kernel_text {
	char *s;
	const char *pos, *end;
};

/* The length of the lines of a record whose text has that many newlines. */
static size_t lines_len(const struct kernel_text *t, unsigned int lines)
{
	const char *p = t->pos, *nl;

	for (; lines && p < t->end; lines--) {
		nl = memchr(p, '\n', t->end - p);
		p = nl ? nl + 1 : t->end;
	}
	return p - t->pos;
}

/* Replaces numbers of 16 hexadecimal digits, as %p prints them, by a star. */
static void mask_pointers(struct strbuf *out, const char *s, size_t n)
{
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 0; i + run < n && isxdigit((unsigned char)s[i + run]); run++)
			;
		if (run == 16)
			strbuf__putc(out, '*');
		else
			strbuf__add(out, s + i, run ? run : 1);
		run = run ? run : 1;
	}
}

typedef void (*change_fn)(struct strbuf *out, const char *s, size_t n);

static bool same_after(change_fn change, const char *a, size_t a_len, const char *b, size_t b_len)
{
	_cleanup_(strbuf__free) struct strbuf x = { 0 }, y = { 0 };

	change(&x, a, a_len);
	change(&y, b, b_len);
	return x.len == y.len && !memcmp(x.s, y.s, x.len);
}

/* Compares with the kernel's texts (plain: with unhashed addresses) and moves past the record. */
static void compare(struct event *e, const struct strbuf *ours, struct kernel_text *plain,
		    struct kernel_text *hashed)
{
	unsigned int lines = 0;
	size_t len, hashed_len;
	bool equal;

	for (size_t i = 0; i < ours->len; i++)
		lines += ours->s[i] == '\n';
	len = lines_len(plain, lines);
	hashed_len = lines_len(hashed, lines);
	e->compared++;
	if (is_syscall(e->f))
		equal = same_after(strip_hex, plain->pos, len, ours->s, ours->len);
	else
		equal = len == ours->len && !memcmp(plain->pos, ours->s, len);
	if (!equal && same_after(mask_pointers, hashed->pos, hashed_len, ours->s, ours->len)) {
		e->hashed++;
		equal = true;
	}
	if (!equal && unsure)
		e->unknown++;
	else if (!equal && e->mismatched++ < 3)
		printf("MISMATCH\n  kernel: %.*s  ours:   %s", (int)len, plain->pos, ours->s);
	plain->pos += len;
	hashed->pos += hashed_len;
}

/* ---- pages of the ring buffer: see events/header_page and header_event ----------------------- */

static void do_record(const uint8_t *rec, size_t len, struct kernel_text *plain,
		      struct kernel_text *hashed)
{
	_cleanup_(strbuf__free) struct strbuf out = { 0 }, json = { 0 };
	uint16_t id;

	if (len < sizeof(id))
		return;
	memcpy(&id, rec, sizeof(id));
	if (!events[id].f) {
		printf("record of an unknown event %u\n", id);
		exit(1);
	}
	print_record(&events[id], rec, len, &out);
	compare(&events[id], &out, plain, hashed);
	ev_format__json(events[id].f, rec, len, &json);
}

static void do_page(const uint8_t *page, size_t size, struct kernel_text *plain,
		    struct kernel_text *hashed)
{
	uint64_t commit;
	size_t at = 16, stop;

	memcpy(&commit, page + 8, sizeof(commit));
	stop = MIN(16 + (commit & 0xfffff), size);
	while (at + 4 <= stop) {
		uint32_t head, type, len, extra = 0;

		memcpy(&head, page + at, 4);
		if (at + 8 <= stop)
			memcpy(&extra, page + at + 4, 4);
		type = head & 31;
		if (type == 29 && !(head >> 5))
			return;
		len = type == 0 ? extra : type <= 28 ? type * 4 : type == 29 ? extra : 4;
		if (len > stop - at - 4)
			return;
		if (type == 0)
			do_record(page + at + 8, len - 4, plain, hashed);
		else if (type <= 28)
			do_record(page + at + 4, len, plain, hashed);
		at += 4 + len;
	}
}

static void kernel_text__free(struct kernel_text *t)
{
	free(t->s);
}

/* The text for the records of a CPU; reading it does not consume them. */
static int kernel_text__read(struct kernel_text *t, const char *instance, int cpu, bool hash)
{
	char path[512];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/options/hash-ptr", instance);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fputs(hash ? "1" : "0", file);
	if (fclose(file))
		return -errno;
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace", instance, cpu);
	t->s = read_file(path, &len);
	if (!t->s)
		return -ENOENT;
	t->end = t->s + len;
	for (t->pos = t->s; t->pos < t->end && *t->pos == '#';)
		t->pos += lines_len(t, 1);
	return 0;
}

static int do_cpu(const char *instance, unsigned int cpu)
{
	_cleanup_(kernel_text__free) struct kernel_text plain = { 0 }, hashed = { 0 };
	_cleanup_close_ int fd = -1;
	static uint8_t page[4096];
	char path[512];
	ssize_t n;
	int err;

	err = kernel_text__read(&hashed, instance, cpu, true);
	if (!err)
		err = kernel_text__read(&plain, instance, cpu, false);
	if (err)
		return err;
	if (!vmemmap_base)
		learn_vmemmap(plain.pos);
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", instance, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, page, sizeof(page))) > 0)
		do_page(page, n, &plain, &hashed);
	if (plain.pos != plain.end || hashed.pos != hashed.end) {
		printf("cpu%u: %zd bytes of the kernel's text have no record\n", cpu,
		       plain.end - plain.pos);
		return -EINVAL;
	}
	return 0;
}

static int report(void)
{
	unsigned long compared = 0, mismatched = 0, unknown = 0, hashed = 0;
	unsigned int nr = 0;

	for (size_t i = 0; i < MAX_ID; i++) {
		const struct event *e = &events[i];

		if (!e->compared)
			continue;
		printf("%s %lu %lu %lu %lu\n", ev_format__name(e->f), e->compared, e->mismatched,
		       e->unknown, e->hashed);
		nr++;
		compared += e->compared;
		mismatched += e->mismatched;
		unknown += e->unknown;
		hashed += e->hashed;
	}
	printf("# %lu records of %u events compared, %lu mismatches, %lu unknown, %lu hashed\n",
	       compared, nr, mismatched, unknown, hashed);
	return mismatched || !compared;
}

int main(int argc, char **argv)
{
	char tracefs[256];
	int err;

	if (argc != 2) {
		fputs("usage: format_equal TRACEFS/instances/NAME\n", stderr);
		return 2;
	}
	snprintf(tracefs, sizeof(tracefs), "%s/../..", argv[1]);
	if (load_kallsyms()) {
		puts("SKIP: kernel addresses are hidden (kernel.kptr_restrict)");
		return 77;
	}
	load_printk_formats(tracefs);
	types = btf__load_vmlinux_btf();
	if (!types)
		puts("no BTF: constants are printed as names");
	err = load_events(tracefs);
	for (unsigned int cpu = 0; !err && cpu < 4096; cpu++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/per_cpu/cpu%u", argv[1], cpu);
		if (access(path, F_OK))
			break;
		err = do_cpu(argv[1], cpu);
	}
	if (err)
		printf("FAIL: %s\n", strerror(-err));
	return report() || err;
}
