/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats as kernels print them: argv[1] is the directory of format files captured on 6.12 and
 * 6.18, named SYSTEM.EVENT.format.
 */
#include "format_test.h"

#include <glob.h>

static const char *dir;

static char *load(const char *name)
{
	char path[1024];
	_cleanup_fclose_ FILE *file = NULL;
	char *text = calloc(1, 1 << 16);

	snprintf(path, sizeof(path), "%s/%s.format", dir, name);
	file = fopen(path, "re");
	if (!file || !text)
		fail_msg("cannot read %s", path);
	assert_in_range(fread(text, 1, (1 << 16) - 1, file), 1, (1 << 16) - 2);
	return text;
}

static struct ev_format *load_format(const char *name)
{
	_cleanup_free_ char *text = load(name);

	return parse_compiled(text);
}

/* A record under construction: fields by name, dynamic data appended. */
struct builder {
	struct ev_format *f;
	uint8_t rec[1024];
	size_t len;
};

static void build(struct builder *b, struct ev_format *f)
{
	memset(b, 0, sizeof(*b));
	b->f = f;
	b->len = ev_format__fixed_size(f);
}

static void set(struct builder *b, const char *name, uint64_t v)
{
	const struct ev_field *fd = ev_format__find(b->f, name);

	assert_non_null(fd);
	assert_int_equal(fd->kind, EV_FIELD_INT);
	memcpy(b->rec + fd->offset, &v, fd->size);
}

static void set_bytes(struct builder *b, const char *name, const void *s, size_t n)
{
	const struct ev_field *fd = ev_format__find(b->f, name);
	uint32_t loc = n << 16 | b->len;

	assert_non_null(fd);
	if (fd->kind == EV_FIELD_DATA_LOC) {
		memcpy(b->rec + fd->offset, &loc, 4);
		memcpy(b->rec + b->len, s, n);
		b->len += n;
	} else {
		assert_in_range(n, 0, fd->size);
		memcpy(b->rec + fd->offset, s, n);
	}
}

static void expect(const struct builder *b, const char *want)
{
	_cleanup_free_ char *got = print(b->f, b->rec, b->len);

	assert_string_equal(got, want);
}

static void expect_json(const struct builder *b, const char *want)
{
	struct strbuf out = { 0 };

	ev_format__json(b->f, b->rec, b->len, &out);
	assert_string_equal(out.s, want);
	strbuf__free(&out);
}

static void expect_field(const struct builder *b, const char *name, const char *want)
{
	struct strbuf out = { 0 };

	strbuf__reset(&out);
	strbuf__puts(&out, "");
	ev_format__print_field(b->f, ev_format__find(b->f, name), NULL, b->rec, b->len, &out);
	assert_string_equal(out.s, want);
	strbuf__free(&out);
}

/* Only formats with names that 6.18 leaves unresolved may fall back. */
static void test_all_compile(void **state)
{
	char pattern[1024];
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/*.format", dir);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	assert_in_range(g.gl_pathc, 20, 1000);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *name = strrchr(g.gl_pathv[i], '/') + 1;
		_cleanup_free_ char *text = NULL;
		struct ev_format *f;

		*strrchr(name, '.') = '\0';
		text = load(name);
		f = parse(text);
		assert_string_equal(ev_format__name(f), strchr(name, '.') + 1);
		if (!strncmp(name, "writeback.", 10))
			assert_non_null(strstr(ev_format__why(f), "'I_DIRTY_SYNC'"));
		else if (!ev_format__compiled(f))
			fail_msg("%s: %s", name, ev_format__why(f));
		ev_format__free(f);
	}
	globfree(&g);
}

static void test_fields(void **state)
{
	struct ev_format *f = load_format("sched.sched_switch");
	const struct ev_field *fd = ev_format__find(f, "prev_comm");

	assert_int_equal(fd->kind, EV_FIELD_STRING);
	assert_string_equal(fd->type, "char[16]");
	assert_true(fd->is_char && fd->elem_size == 1 && fd->size == 16 && fd->offset == 8);
	fd = ev_format__find(f, "common_pid");
	assert_true(fd->is_common && fd->is_signed && fd->kind == EV_FIELD_INT);
	fd = ev_format__find(f, "prev_state");
	assert_true(!fd->is_common && fd->kind == EV_FIELD_INT && fd->size == 8);
	assert_null(ev_format__find(f, "prev"));
	assert_int_equal(ev_format__fixed_size(f), 64);
	assert_int_equal(ev_format__nr_fields(f), 11);
	assert_null(ev_format__field(f, 11));
	ev_format__free(f);

	f = load_format("ipi.ipi_send_cpumask");
	fd = ev_format__find(f, "cpumask");
	assert_string_equal(fd->type, "__data_loc cpumask_t");
	assert_true(fd->kind == EV_FIELD_DATA_LOC && fd->is_cpumask && !fd->is_char);
	fd = ev_format__find(f, "callsite");
	assert_true(fd->is_pointer && fd->size == 8);
	ev_format__free(f);

	f = load_format("dma.dma_map_sg");
	fd = ev_format__find(f, "lengths");
	assert_true(fd->kind == EV_FIELD_DATA_LOC && fd->elem_size == 4 && !fd->is_char);
	ev_format__free(f);

	f = load_format("ftrace.kernel_stack");
	fd = ev_format__find(f, "caller");
	assert_true(fd->kind == EV_FIELD_ARRAY && fd->elem_size == 8 && fd->size == 64);
	ev_format__free(f);
}

static void test_sched_switch(void **state)
{
	struct builder b;

	build(&b, load_format("sched.sched_switch"));
	set_bytes(&b, "prev_comm", "a b\"\n", 5);
	set(&b, "prev_pid", 12);
	set(&b, "prev_prio", 120);
	set(&b, "prev_state", 1);
	set_bytes(&b, "next_comm", "0123456789abcdef", 16); /* no NUL: ends with the field */
	set(&b, "next_pid", -1);
	expect(&b, "prev_comm=a b\"\n prev_pid=12 prev_prio=120 prev_state=S ==> "
		   "next_comm=0123456789abcdef next_pid=-1 next_prio=0");
	set(&b, "prev_state", 0);
	expect(&b, "prev_comm=a b\"\n prev_pid=12 prev_prio=120 prev_state=R ==> "
		   "next_comm=0123456789abcdef next_pid=-1 next_prio=0");
	set(&b, "prev_state", 0x100);
	expect(&b, "prev_comm=a b\"\n prev_pid=12 prev_prio=120 prev_state=R+ ==> "
		   "next_comm=0123456789abcdef next_pid=-1 next_prio=0");
	expect_json(&b, "{\"prev_comm\":\"a b\\\"\\u000a\",\"prev_pid\":12,\"prev_prio\":120,"
			"\"prev_state\":256,\"next_comm\":\"0123456789abcdef\",\"next_pid\":-1,"
			"\"next_prio\":0}");
	expect_field(&b, "next_pid", "-1");
	expect_field(&b, "next_comm", "0123456789abcdef");
	ev_format__free(b.f);
}

static void test_dynamic(void **state)
{
	struct builder b;

	build(&b, load_format("sched.sched_process_exec"));
	set_bytes(&b, "filename", "/bin/ls", 8);
	set(&b, "pid", 3);
	expect(&b, "filename=/bin/ls pid=3 old_pid=0");
	expect_json(&b, "{\"filename\":\"/bin/ls\",\"pid\":3,\"old_pid\":0}");
	ev_format__free(b.f);

	build(&b, load_format("rmap.rmap_walk_end"));
	set(&b, "folio_addr", 0xffffea0000000040);
	set_bytes(&b, "page_type", "anon", 5);
	set(&b, "locked", 1);
	expect(&b, "folio=ffffea0000000040 rwc=0000000000000000 page_type=anon locked=true");
	ev_format__free(b.f);

	build(&b, load_format("dma.dma_map_sg"));
	set_bytes(&b, "device", "0000:00:01.0", 13);
	set_bytes(&b, "lengths", "\x01\0\0\0\x00\x10\0", 8);
	set(&b, "full_nents", 200);
	set(&b, "full_ents", 3);
	set(&b, "dir", 1);
	set(&b, "attrs", 4);
	expect(&b, "0000:00:01.0 dir=TO_DEVICE nents=128/200 ents=3/3 dma_addrs={} "
		   "sizes={0x1,0x1000} phys_addrs={} attrs=WRITE_COMBINE");
	ev_format__free(b.f);
}

static void test_addresses(void **state)
{
	struct builder b;

	build(&b, load_format("sock.inet_sock_set_state"));
	set(&b, "family", 2);
	set(&b, "protocol", 6);
	set(&b, "sport", 65535);
	set(&b, "oldstate", 7);
	set(&b, "newstate", 2);
	set_bytes(&b, "saddr", "\x7f\0\0\1", 4);
	set_bytes(&b, "saddr_v6", "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	expect(&b, "family=AF_INET protocol=IPPROTO_TCP sport=65535 dport=0 saddr=127.0.0.1 "
		   "daddr=0.0.0.0 saddrv6=::ffff:127.0.0.1 daddrv6=:: oldstate=TCP_CLOSE "
		   "newstate=TCP_SYN_SENT");
	ev_format__free(b.f);
}

static bool symbol(void *ctx, uint64_t addr, bool with_offset, struct strbuf *out)
{
	if (addr != 0xffffffff81000010)
		return false;
	strbuf__puts(out, with_offset ? "startup+0x10/0x20" : "startup");
	return true;
}

static void test_symbols(void **state)
{
	const struct ev_print_ctx ctx = { .symbol = symbol, .long_size = 8 };
	struct strbuf out = { 0 };
	struct builder b;

	build(&b, load_format("ipi.ipi_send_cpumask"));
	set(&b, "callsite", 0xffffffff81000010);
	set(&b, "callback", 0xffffffff81000020);
	set_bytes(&b, "cpumask", "\3\0\0\0\0\0\0", 8);
	ev_format__print(b.f, &ctx, b.rec, b.len, &out);
	assert_string_equal(out.s, "cpumask=00000000,00000003 callsite=startup+0x10/0x20 "
				   "callback=0xffffffff81000020");
	strbuf__free(&out);
	ev_format__free(b.f);

	build(&b, load_format("timer.timer_start"));
	set(&b, "timer", 0xffff888000000000);
	set(&b, "function", 0xffffffff81000010);
	set(&b, "expires", 4295000000);
	set(&b, "now", 4295000250);
	set(&b, "flags", 0x00080003 | 5 << 22);
	ev_format__print(b.f, &ctx, b.rec, b.len, &out);
	assert_string_equal(out.s, "timer=ffff888000000000 function=startup expires=4295000000 "
				   "[timeout=-250] bucket_expiry=0 cpu=3 idx=5 flags=D");
	strbuf__free(&out);
	ev_format__free(b.f);
}

static void test_probes(void **state)
{
	static const char text[] =
		FORMAT("x",
		       FIELD("unsigned long __probe_func", 8, 8, 0)
			       FIELD("unsigned long __probe_ret_ip", 16, 8, 0)
				       FIELD("u32 a", 24, 4, 0),
		       "\"(%lx <- %lx) a=0x%x\", REC->__probe_func, REC->__probe_ret_ip, REC->a");
	const struct ev_print_ctx ctx = { .symbol = symbol, .long_size = 8 };
	struct strbuf out = { 0 };
	struct builder b;

	build(&b, parse_compiled(text));
	set(&b, "__probe_func", 0xffffffff81000010);
	set(&b, "__probe_ret_ip", 0xffffffff81000010);
	ev_format__print(b.f, &ctx, b.rec, b.len, &out);
	assert_string_equal(out.s, "(startup+0x10/0x20 <- startup) a=0x0");
	set(&b, "__probe_ret_ip", 0x401000);
	set(&b, "__probe_func", 0xffffffff81000020);
	expect(&b, "(0x401000 <- 0xffffffff81000020) a=0x0");
	strbuf__free(&out);
	ev_format__free(b.f);
}

static struct ev_format *syscall_format(const char *name, struct ev_syscall_string *strings,
					unsigned int want_nr)
{
	_cleanup_free_ char *text = load(name), *more = NULL;
	unsigned int nr = 99;

	assert_int_equal(ev_format__syscall_text(text, strlen(text), &more, strings, &nr), 0);
	assert_int_equal(nr, want_nr);
	return parse_compiled(more);
}

static void test_syscall_string(void **state)
{
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	struct ev_format *f = syscall_format("syscalls.sys_enter_openat", strings, 1);
	const struct ev_field *fd = ev_format__find(f, "__filename_val");
	struct builder b;

	assert_true(strings[0].arg == 1 && !strings[0].is_argv);
	assert_non_null(fd);
	assert_true(fd->offset == strings[0].offset && fd->offset == 48 && fd->size == 4);
	assert_true(fd->kind == EV_FIELD_DATA_LOC && fd->is_char);
	assert_string_equal(ev_format__field(f, strings[0].field)->name, "filename");
	assert_ptr_equal(ev_format__companion(f, ev_format__find(f, "filename")), fd);
	assert_null(ev_format__companion(f, ev_format__find(f, "flags")));
	assert_true(ev_format__is_hidden(f, fd));
	build(&b, f);
	set(&b, "dfd", 0xffffff9c);
	set(&b, "filename", 0x7fff12345678);
	set(&b, "flags", 0x80000);
	expect(&b,
	       "dfd: 0xffffff9c, filename: 0x7fff12345678, flags: 0x00080000, mode: 0x00000000");
	expect_field(&b, "filename", "0x7fff12345678");
	set_bytes(&b, "__filename_val", "/etc/\"pass\\wd\"\n\x01\xc3\xa9", 19);
	expect(&b, "dfd: 0xffffff9c, filename: \"/etc/\\\"pass\\\\wd\\\"\\n\\x01\xc3\xa9\", "
		   "flags: 0x00080000, mode: 0x00000000");
	set_bytes(&b, "__filename_val", "/etc/passwd", 12);
	expect_field(&b, "filename", "/etc/passwd");
	expect_json(&b, "{\"__syscall_nr\":0,\"dfd\":4294967196,\"filename\":\"/etc/passwd\","
			"\"flags\":524288,\"mode\":0}");
	set_bytes(&b, "__filename_val", "", 1);
	expect(&b, "dfd: 0xffffff9c, filename: \"\", flags: 0x00080000, mode: 0x00000000");
	ev_format__free(f);
}

/* A string of another name belongs to no argument, and is shown. */
static void test_no_companion(void **state)
{
	static const char text[] =
		"name: sys_enter_open\nID: 1\nformat:\n"
		"\tfield:const char * path;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __name_val;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"%s\", __get_str(__name_val)\n";
	struct ev_format *f;

	assert_int_equal(ev_format__parse(text, strlen(text), &f), 0);
	assert_null(ev_format__companion(f, ev_format__find(f, "path")));
	assert_false(ev_format__is_hidden(f, ev_format__find(f, "__name_val")));
	ev_format__free(f);
}

static void test_syscall_argv(void **state)
{
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	struct ev_format *f = syscall_format("syscalls.sys_enter_execve", strings, 2);
	struct builder b;

	assert_true(strings[0].arg == 0 && !strings[0].is_argv && strings[0].offset == 40);
	assert_true(strings[1].arg == 1 && strings[1].is_argv && strings[1].offset == 44);
	build(&b, f);
	set(&b, "argv", 0x1000);
	set_bytes(&b, "__filename_val", "/bin/ls", 8);
	expect(&b, "filename: \"/bin/ls\", argv: 0x00001000, envp: 0x00000000");
	set_bytes(&b, "__argv_val", "ls\0-l\0", 7);
	expect(&b, "filename: \"/bin/ls\", argv: [\"ls\", \"-l\", \"\"], envp: 0x00000000");
	set_bytes(&b, "__argv_val", "ls\0-l", 6);
	expect(&b, "filename: \"/bin/ls\", argv: [\"ls\", \"-l\"], envp: 0x00000000");
	expect_json(&b, "{\"__syscall_nr\":0,\"filename\":\"/bin/ls\",\"argv\":[\"ls\",\"-l\"],"
			"\"envp\":\"0x0\"}");
	expect_field(&b, "argv", "[\"ls\", \"-l\"]");
	set_bytes(&b, "__argv_val", "ls\0-long", 5); /* cut: no NUL at the end */
	expect(&b, "filename: \"/bin/ls\", argv: [\"ls\", \"-l\"], envp: 0x00000000");
	ev_format__free(f);
}

#define NUMBER FIELD("int __syscall_nr", 8, 4, 1)
#define ARG(name, offset) FIELD("long " name, offset, 8, 0)
#define STRING(name, offset) FIELD("__data_loc char[] " name, offset, 4, 0)

/* Newer kernels have fields for data of some calls; only those that programs fill are left. */
static void test_syscall_newer(void **state)
{
	static const char text[] =
		FORMAT("sys_enter_setxattr",
		       NUMBER FIELD("const char * pathname", 16, 8, 0)
			       FIELD("const void * value", 24, 8, 0) STRING("__pathname_val", 32)
				       STRING("__value_val", 36),
		       "\"pathname: 0x%08lx \\\"%s\\\", value: 0x%08lx (%s)\", "
		       "((unsigned long)(REC->pathname)), __get_str(__pathname_val), "
		       "((unsigned long)(REC->value)), __print_dynamic_array(__value_val, 1)");
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	_cleanup_free_ char *more = NULL;
	struct ev_format *f;
	struct builder b;
	unsigned int nr;

	assert_int_equal(ev_format__syscall_text(text, strlen(text), &more, strings, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(strings[0].offset, 32);
	f = parse_compiled(more);
	assert_int_equal(ev_format__find(f, "__pathname_val")->offset, 32);
	assert_null(ev_format__find(f, "__value_val"));
	assert_true(ev_format__fits_syscall(f));
	build(&b, f);
	set(&b, "value", 16);
	set_bytes(&b, "__pathname_val", "/a", 3);
	expect(&b, "pathname: \"/a\", value: 0x00000010");
	ev_format__free(f);
}

/* As newer kernels print openat: flags by name. */
static void test_syscall_newer_openat(void **state)
{
	static const char text[] =
		FORMAT("sys_enter_openat",
		       NUMBER ARG("dfd", 16) FIELD("const char * filename", 24, 8, 0)
			       ARG("flags", 32) ARG("mode", 40) STRING("__filename_val", 48),
		       "\"dfd: 0x%08lx, filename: 0x%08lx \\\"%s\\\", flags: %s%s, mode: 0%03o\", "
		       "((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), "
		       "__get_str(__filename_val), "
		       "(REC->flags & ~3) && !(REC->flags & 3) ? \"O_RDONLY|\" : \"\",  "
		       "REC->flags ? __print_flags(REC->flags, \"|\", { 0x1, \"O_WRONLY\" }, "
		       "{ 0x40, \"O_CREAT\" }, { 0x80000, \"O_CLOEXEC\" }) : \"O_RDONLY\",  "
		       "((unsigned long)(REC->mode))");
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	_cleanup_free_ char *more = NULL;
	struct builder b;
	unsigned int nr;

	assert_int_equal(ev_format__syscall_text(text, strlen(text), &more, strings, &nr), 0);
	assert_int_equal(nr, 1);
	build(&b, parse_compiled(more));
	set(&b, "dfd", 0xffffff9c);
	set(&b, "flags", 0x80000);
	set_bytes(&b, "__filename_val", "/a \"(%s)", 9);
	expect(&b, "dfd: 0xffffff9c, filename: \"/a \\\"(%s)\", flags: O_RDONLY|O_CLOEXEC, "
		   "mode: 0000");
	set(&b, "flags", 0x41);
	set(&b, "mode", 0644);
	set_bytes(&b, "__filename_val", "b", 2);
	expect(&b, "dfd: 0xffffff9c, filename: \"b\", flags: O_WRONLY|O_CREAT, mode: 0644");
	ev_format__free(b.f);
}

/* A print format that shows something else of these fields is left as it is. */
static void test_syscall_newer_unknown(void **state)
{
	static const char text[] =
		FORMAT("sys_enter_chdir",
		       NUMBER FIELD("const char * path", 16, 8, 0) STRING("__path_val", 24),
		       "\"path: %lx <%s>\", REC->path, __get_str(__path_val)");
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	_cleanup_free_ char *more = NULL;
	unsigned int nr;

	assert_int_equal(ev_format__syscall_text(text, strlen(text), &more, strings, &nr), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(more, text);
}

/* In a kernel's own record the string is printed where its print format says. */
static void test_syscall_newer_own(void **state)
{
	static const char text[] =
		FORMAT("sys_enter_chdir",
		       NUMBER FIELD("const char * path", 16, 8, 0) STRING("__path_val", 24),
		       "\"path: 0x%08lx \\\"%s\\\"\", REC->path, __get_str(__path_val)");
	struct builder b;

	build(&b, parse_compiled(text));
	set(&b, "path", 0x1000);
	set_bytes(&b, "__path_val", "/a", 3);
	expect(&b, "path: 0x00001000 \"/a\"");
	expect_field(&b, "path", "/a");
	ev_format__free(b.f);
}

/* Which formats a record with the number and eight bytes for each argument has. */
static void test_fits_syscall(void **state)
{
#define ENTRY(fields) FORMAT("sys_enter_x", fields, "\"\"")
#define EXIT(fields) FORMAT("sys_exit_x", fields, "\"\"")
	static const struct {
		const char *text;
		bool fits;
	} rows[] = {
		{ ENTRY(NUMBER), true },
		{ ENTRY(NUMBER ARG("a", 16) ARG("b", 24)), true },
		{ ENTRY(NUMBER ARG("a", 16) STRING("__a_val", 24)), true },
		{ ENTRY(ARG("a", 16)), false },
		{ ENTRY(FIELD("long __syscall_nr", 8, 8, 1)), false },
		{ ENTRY(FIELD("int __syscall_nr", 12, 4, 1)), false },
		{ ENTRY(NUMBER FIELD("int a", 12, 4, 1)), false },
		{ ENTRY(NUMBER FIELD("int a", 16, 4, 1)), false },
		{ ENTRY(NUMBER FIELD("char a[8]", 16, 8, 1)), false },
		{ ENTRY(NUMBER ARG("a", 24)), false },
		{ ENTRY(NUMBER ARG("a", 16) ARG("b", 32)), false },
		{ ENTRY(NUMBER ARG("a", 16) ARG("b", 24) ARG("c", 32) ARG("d", 40) ARG("e", 48)
				ARG("f", 56)),
		  true },
		{ ENTRY(NUMBER ARG("a", 16) ARG("b", 24) ARG("c", 32) ARG("d", 40) ARG("e", 48)
				ARG("f", 56) ARG("g", 64)),
		  false },
		{ EXIT(NUMBER ARG("ret", 16)), true },
		{ EXIT(NUMBER), false },
		{ EXIT(NUMBER ARG("ret", 16) ARG("more", 24)), false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ev_format *f = parse(rows[i].text);

		assert_int_equal(ev_format__fits_syscall(f), rows[i].fits);
		ev_format__free(f);
	}
}

/* Formats without string arguments, or that have the strings already, are returned unchanged. */
static void test_syscall_unchanged(void **state)
{
	static const char *const names[] = { "syscalls.sys_exit_openat", "sched.sched_switch" };
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	unsigned int nr;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *text = load(names[i]), *more = NULL;

		assert_int_equal(ev_format__syscall_text(text, strlen(text), &more, strings, &nr),
				 0);
		assert_int_equal(nr, 0);
		assert_string_equal(text, more);
	}
	{
		_cleanup_free_ char *text = load("syscalls.sys_enter_openat"), *one = NULL,
				    *two = NULL;

		assert_int_equal(ev_format__syscall_text(text, strlen(text), &one, strings, &nr),
				 0);
		assert_int_equal(ev_format__syscall_text(one, strlen(one), &two, strings, &nr), 0);
		assert_int_equal(nr, 1);
		assert_string_equal(one, two);
	}
}

static bool constant(void *ctx, const char *name, int64_t *ret_value)
{
	int *nr = ctx;

	assert_string_not_equal(name, "REC");
	assert_string_not_equal(name, "name"); /* a field */
	if (strncmp(name, "I_", 2))
		return false;
	*ret_value = !strcmp(name, "I_DIRTY_SYNC") ? 0x10 : !strcmp(name, "I_NEW") ? -2 : 1LL << 40;
	(*nr)++;
	return true;
}

static void test_resolve(void **state)
{
	_cleanup_free_ char *text = load("writeback.writeback_mark_inode_dirty"), *more = NULL;
	unsigned int nr = 0;
	int asked = 0;
	struct builder b;

	assert_int_equal(ev_format__resolve(text, strlen(text), constant, &asked, &more, &nr), 0);
	assert_int_equal(nr, asked);
	assert_in_range(nr, 10, 100);
	assert_non_null(strstr(more, "\"I_DIRTY_SYNC\"")); /* the names themselves stay */
	build(&b, parse_compiled(more));
	set_bytes(&b, "name", "8:0", 4);
	set(&b, "ino", 5);
	set(&b, "flags", 0x11);
	expect(&b, "bdi 8:0: ino=5 state= flags=I_DIRTY_SYNC|0x1");
	ev_format__free(b.f);
}

/* Fields that the print fmt prints as addresses, whatever their types are. */
static void test_address_fields(void **state)
{
	static const char text[] =
		FORMAT("t",
		       FIELD("unsigned long site", 0, 8, 0) FIELD("unsigned long fn", 8, 8, 0)
			       FIELD("long p", 16, 8, 1) FIELD("unsigned long n", 24, 8, 0)
				       FIELD("void * q", 32, 8, 0),
		       "\"%pS %ps %p %lu\", (void *)REC->site, (void *)REC->fn, (void *)REC->p, "
		       "REC->n");
	static const char *const want[] = { "startup+0x10/0x20", "startup", "0xffffffff81000010",
					    "18446744071578845200", "0xffffffff81000010" };
	const struct ev_print_ctx ctx = { .symbol = symbol };
	struct ev_format *f = parse_compiled(text);
	struct strbuf out = { 0 };
	uint64_t rec[5];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rec); i++)
		rec[i] = 0xffffffff81000010;
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		strbuf__reset(&out);
		ev_format__print_field(f, ev_format__field(f, i), &ctx, rec, sizeof(rec), &out);
		assert_string_equal(out.s, want[i]);
	}
	strbuf__reset(&out);
	ev_format__json(f, rec, sizeof(rec), &out);
	assert_string_equal(out.s, "{\"site\":\"0xffffffff81000010\","
				   "\"fn\":\"0xffffffff81000010\","
				   "\"p\":\"0xffffffff81000010\",\"n\":18446744071578845200,"
				   "\"q\":\"0xffffffff81000010\"}");
	strbuf__free(&out);
	ev_format__free(f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_compile),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_sched_switch),
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_syscall_string),
		cmocka_unit_test(test_no_companion),
		cmocka_unit_test(test_syscall_newer),
		cmocka_unit_test(test_syscall_newer_openat),
		cmocka_unit_test(test_syscall_newer_unknown),
		cmocka_unit_test(test_syscall_newer_own),
		cmocka_unit_test(test_fits_syscall),
		cmocka_unit_test(test_syscall_argv),
		cmocka_unit_test(test_syscall_unchanged),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_address_fields),
	};

	if (argc != 2)
		return 2;
	dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
