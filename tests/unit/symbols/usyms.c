// SPDX-License-Identifier: GPL-2.0-only
/* Files found under roots and by id, debug files, source lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "built.h"
#include "symbols/usyms.h"

#define USER 1000
#define OTHER_ID "0123456789abcdef0123456789abcdef01234568"
#define ID "0123456789abcdef0123456789abcdef01234567"

static const uint8_t id[20] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
				0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67 };
static const uint8_t other_id[20] = { 0x99 };

static struct usyms *new_usyms(const char *sysroot, bool inlines)
{
	static char debug[300];
	static const char *const dirs[] = { "/nowhere", debug, NULL };
	struct usyms_opts opts = { .sysroot = sysroot, .debug_dirs = dirs, .inlines = inlines };
	struct usyms *u;

	snprintf(debug, sizeof(debug), "%s/debug", built__dir());
	assert_int_equal(usyms__new(&opts, &u), 0);
	return u;
}

static struct usyms_file file_at(const char *path)
{
	return (struct usyms_file){ .path = path, .id = id, .id_len = sizeof(id) };
}

static void expect(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		   const char *name)
{
	struct elf_symbol found;

	assert_int_equal(usyms__find(u, file, offset, &found), 0);
	assert_string_equal(found.name, name);
}

/* Creates a new directory with "whole", "bare" and "bare.debug", linked with these options. */
static void build(const char *options)
{
	built__run("rm -rf root debug whole* bare* .debug && mkdir -p root debug/.build-id/01 && "
		   "$CC -nostdlib -shared -Wl,--build-id=0x%s %s -o whole functions.S && "
		   "objcopy --only-keep-debug whole bare.debug && strip -o bare whole",
		   ID, options);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void test_paths(void **state)
{
	struct usyms *u = new_usyms(NULL, false);
	struct usyms_file file;
	struct elf_symbol found;
	const char *path = NULL;

	build("");
	file = file_at(built__path("whole"));
	expect(u, &file, built__mark("whole", 9), "inner");
	expect(u, &file, built__mark("whole", 1), "alpha");
	assert_int_equal(usyms__find(u, &file, built__mark("whole", 6), &found), -ENOENT);
	assert_int_equal(usyms__verify(u, &file, &path), 0);
	assert_string_equal(path, built__path("whole"));
	/* the host's path comes first, the other path if that has no file */
	file.host_path = file.path;
	file.path = "/nowhere/at/all";
	expect(u, &file, built__mark("whole", 9), "inner");
	file.path = file.host_path;
	file.host_path = "/nowhere/at/all";
	expect(u, &file, built__mark("whole", 9), "inner");
	file.host_path = "";
	expect(u, &file, built__mark("whole", 9), "inner");
	usyms__free(u);
	usyms__free(NULL);
}

static void test_not_found(void **state)
{
	struct usyms *u = new_usyms(NULL, false);
	struct usyms_file file = { 0 };
	struct elf_symbol found;
	const char *path = "unchanged";
	static const char *const none[] = { NULL, "", "relative", "/nowhere/at/all", "[vdso]" };

	build("");
	for (size_t i = 0; i < 5; i++) {
		file = file_at(none[i]);
		assert_int_equal(usyms__find(u, &file, 0x1000, &found), -ENODEV);
		assert_int_equal(usyms__verify(u, &file, &path), -ENODEV);
	}
	file = file_at(built__path("whole"));
	file.id = other_id;
	assert_int_equal(usyms__find(u, &file, 0x1000, &found), -ESTALE);
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	file.id = id;
	file.id_len = 19;
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	/* opening a FIFO would wait */
	built__run("mkfifo fifo");
	file = file_at(built__path("fifo"));
	assert_int_equal(usyms__verify(u, &file, &path), -ENODEV);
	file = file_at(built__path("root"));
	assert_int_equal(usyms__verify(u, &file, &path), -ENODEV);
	assert_string_equal(path, "unchanged");
	usyms__free(u);
}

static void test_sysroot(void **state)
{
	struct usyms_file file = file_at("/opt/links/to");
	struct usyms *u;
	const char *path;

	build("");
	/* links are resolved as for a process in that root */
	built__run("mkdir -p root/opt root/real && mv whole root/real/file && "
		   "ln -s /real root/opt/links && ln -s ../../../../real/file root/real/to");
	u = new_usyms(built__path("root"), false);
	expect(u, &file, built__mark("root/real/file", 9), "inner");
	assert_int_equal(usyms__verify(u, &file, &path), 0);
	assert_string_equal(path, built__path("root/opt/links/to"));
	file.path = "/real/../../../../opt/links/file";
	expect(u, &file, built__mark("root/real/file", 9), "inner");
	/* a file that is not in the root may be outside */
	file.path = built__path("bare");
	expect(u, &file, built__mark("bare", 1), "alpha");
	usyms__free(u);
	/* but it does not replace a file in the root, unless it matches */
	build("");
	built__run("mkdir -p root/%s && cp /bin/sh root/%s/whole", built__dir(), built__dir());
	u = new_usyms(built__path("root"), false);
	file.path = built__path("whole");
	assert_int_equal(usyms__verify(u, &file, &path), 0);
	assert_string_equal(path, built__path("whole"));
	usyms__free(u);
}

/* ---- debug files ----------------------------------------------------------------------------- */

static void expect_debug(const char *sysroot, bool found)
{
	struct usyms *u = new_usyms(sysroot, false);
	struct usyms_file file = file_at(built__path("bare"));

	expect(u, &file, built__mark("bare", 1), "alpha");
	expect(u, &file, built__mark("bare", 9), found ? "inner" : "outer");
	usyms__free(u);
}

static void test_debug_by_id(void **state)
{
	build("");
	expect_debug(NULL, false);
	built__run("cp bare.debug debug/.build-id/01/%s.debug", ID + 2);
	expect_debug(NULL, true);
	built__run("mkdir -p root/%s && mv debug root/%s", built__dir(), built__dir());
	expect_debug(NULL, false);
	expect_debug(built__path("root"), true);
	/* a program that was stripped of most symbols */
	built__run("mv root/$PWD/debug . && strip --strip-all --keep-symbol=second -o bare whole");
	expect_debug(NULL, true);
	built__run("rm -rf debug");
	/* of another build */
	built__run("mkdir -p debug/.build-id/01 && $CC -nostdlib -shared -Wl,--build-id=0x%s -o "
		   "debug/.build-id/01/%s.debug functions.S",
		   OTHER_ID, ID + 2);
	expect_debug(NULL, false);
}

static void test_debug_by_link(void **state)
{
	build("");
	built__run("objcopy --add-gnu-debuglink=bare.debug bare");
	expect_debug(NULL, true);
	built__run("mkdir .debug && mv bare.debug .debug");
	expect_debug(NULL, true);
	built__run("mkdir -p debug/$PWD && mv .debug/bare.debug debug/$PWD");
	expect_debug(NULL, true);
	/* changed since the link was made */
	built__run("echo >>debug/$PWD/bare.debug");
	expect_debug(NULL, false);
	/* the checksum matches, but the build id does not */
	build("");
	built__run("$CC -nostdlib -shared -Wl,--build-id=0x" OTHER_ID
		   " -o bare.debug functions.S && "
		   "objcopy --add-gnu-debuglink=bare.debug bare");
	expect_debug(NULL, false);
	/* without a build id only the checksum is compared */
	build("-Wl,--build-id=none");
	built__run("objcopy --add-gnu-debuglink=bare.debug bare");
	{
		struct usyms *u = new_usyms(NULL, false);
		struct usyms_file file = { .path = built__path("bare") };
		struct stat st;

		assert_int_equal(stat(file.path, &st), 0);
		file.size = st.st_size;
		file.mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
		expect(u, &file, built__mark("bare", 9), "inner");
		usyms__free(u);
	}
}

/* The program was deleted, but the distribution keeps it by build id. */
static void test_by_id_only(void **state)
{
	struct usyms *u = new_usyms(NULL, false);
	struct usyms_file file = file_at("/nowhere/at/all");
	const char *path;

	build("");
	built__run("cp whole debug/.build-id/01/%s", ID + 2);
	expect(u, &file, built__mark("whole", 9), "inner");
	assert_int_equal(usyms__verify(u, &file, &path), -ENODEV);
	usyms__free(u);
}

static void test_debuginfod(void **state)
{
	struct usyms_opts opts = { .debuginfod = true };
	struct usyms_file file = file_at("/nowhere/at/all");
	struct elf_symbol found;
	struct usyms *u;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library) {
		print_message("libdebuginfod.so.1 is not installed\n");
		skip();
	}
	build("");
	built__run("mkdir -p server/buildid/%s && cp bare server/buildid/%s/executable && "
		   "cp bare.debug server/buildid/%s/debuginfo",
		   ID, ID, ID);
	setenv("DEBUGINFOD_CACHE_PATH", built__path("cache"), 1);
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(usyms__new(&opts, &u), 0);
	assert_int_equal(usyms__find(u, &file, 0, &found), -ENODEV);
	usyms__free(u);
	{
		char url[400];

		snprintf(url, sizeof(url), "file://%s", built__path("server"));
		setenv("DEBUGINFOD_URLS", url, 1);
	}
	opts.debuginfod = false;
	assert_int_equal(usyms__new(&opts, &u), 0);
	assert_int_equal(usyms__find(u, &file, 0, &found), -ENODEV);
	usyms__free(u);
	opts.debuginfod = true;
	assert_int_equal(usyms__new(&opts, &u), 0);
	expect(u, &file, built__mark("whole", 9), "inner");
	usyms__free(u);
	unsetenv("DEBUGINFOD_URLS");
}

/* ---- source lines ---------------------------------------------------------------------------- */

/* "function:line function:line ...", innermost first; "?" is unknown. */
static void lines_at(struct usyms *u, const char *name, unsigned int mark, char *ret, size_t size)
{
	struct usyms_file file = file_at(built__path(name));
	struct usyms_line lines[16];
	size_t at = 0;
	int nr = usyms__lines(u, &file, built__mark(name, mark), lines, 16);

	ret[0] = '\0';
	if (nr < 0)
		snprintf(ret, size, "%s", strerror(-nr));
	for (int i = 0; i < nr; i++) {
		const char *source = lines[i].source ? strrchr(lines[i].source, '/') : NULL;

		if (source)
			assert_string_equal(source, "/inlined.c");
		at += snprintf(ret + at, size - at, "%s%s:%u", i ? " " : "",
			       lines[i].function ? lines[i].function : "?",
			       source ? lines[i].line : 0);
	}
}

static void expect_lines(struct usyms *u, const char *name, unsigned int mark, const char *lines)
{
	char text[1000];

	lines_at(u, name, mark, text, sizeof(text));
	assert_string_equal(text, lines);
}

static void expect_inlined(const char *name)
{
	struct usyms *u = new_usyms(NULL, true);
	struct usyms_file file = file_at(built__path(name));
	struct usyms_line line;

	expect_lines(u, name, 1, "leaf:4 middle:9 function:13");
	expect_lines(u, name, 2, "function:14");
	/* as many as requested, innermost first */
	assert_int_equal(usyms__lines(u, &file, built__mark(name, 1), &line, 1), 1);
	assert_string_equal(line.function, "leaf");
	assert_int_equal(usyms__lines(u, &file, 0, &line, 1), -ENOENT);
	usyms__free(u);
}

#define BUILD "$CC -O2 -Wl,--build-id=0x" ID " "

static void test_lines(void **state)
{
	static const char *const options[] = {
		"-gdwarf-4",
		"-gdwarf-5",
		"-gdwarf-5 -no-pie -fno-pie",
		"-gdwarf-5 -fPIC -shared",
		"-gdwarf-5 -static",
		"-gdwarf-5 -Wl,--compress-debug-sections=zlib",
		"-gdwarf-4 -Wl,--compress-debug-sections=zlib-gnu",
		"-gdwarf-4 -fdebug-types-section",
		"-gdwarf-5 -ffunction-sections -freorder-functions",
		"-gdwarf-4 -gsplit-dwarf",
		"-gdwarf-5 -gsplit-dwarf",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		built__run(BUILD "%s -o lines $PWD/inlined.c", options[i]);
		expect_inlined("lines");
	}
}

#define BUILD_SPLIT                                                       \
	"rm -rf root built *.dwo && mkdir built && cd built && " BUILD    \
	"-gdwarf-5 -gsplit-dwarf -o lines $PWD/../inlined.c && cd .. && " \
	"mv built/lines . && "

/* A unit may refer to a file of its own, which is opened only if it is a split DWARF file. */
static void test_lines_split(void **state)
{
	static const char *const wrong[] = { "mkfifo", "ln -s /dev/zero", "ln -s /etc/passwd",
					     "ln -s $PWD/lines", "mkdir" };
	struct usyms *u;

	built__run(BUILD_SPLIT "mv built/*.dwo ."); /* beside the program */
	expect_inlined("lines");
	built__run(BUILD_SPLIT "mkdir -p root/$PWD && mv built root/$PWD");
	u = new_usyms(built__path("root"), true);
	expect_lines(u, "lines", 1, "leaf:4 middle:9 function:13");
	usyms__free(u);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		built__run(BUILD_SPLIT "cd built && dwo=$(echo *.dwo) && rm $dwo && %s $dwo",
			   wrong[i]);
		u = new_usyms(NULL, true);
		expect_lines(u, "lines", 1, "function:4");
		usyms__free(u);
	}
}

static void test_lines_debug_file(void **state)
{
	struct usyms *u = new_usyms(NULL, false);

	built__run("rm -rf debug && mkdir -p debug/.build-id/01 && " BUILD
		   "-g -o whole $PWD/inlined.c && strip -o lines whole && "
		   "objcopy --only-keep-debug whole debug/.build-id/01/%s.debug",
		   ID + 2);
	expect_inlined("lines");
	expect_lines(u, "lines", 1, "No such file or directory");
	usyms__free(u);
}

static void test_lines_only(void **state)
{
	static const char *const options[] = { "-gdwarf-4", "-gdwarf-5" };

	for (int i = 0; i < 2; i++) {
		struct usyms *u = new_usyms(NULL, true);

		built__run(BUILD "%s -o whole $PWD/inlined.c && objcopy -R .debug_info "
				 "-R .debug_abbrev -R .debug_aranges whole lines",
			   options[i]);
		expect_lines(u, "lines", 1, "function:4");
		expect_lines(u, "lines", 2, "function:14");
		usyms__free(u);
	}
}

/*
 * The file to which dwz(1) moves common data, here the names.  @link: its name in
 * .gnu_debugaltlink.
 */
static void expect_alt(const char *at, const char *link, const char *sysroot)
{
	struct usyms *u = new_usyms(sysroot, true);
	struct usyms_file file = file_at(built__path("lines"));
	struct usyms_line lines[4];

	built__run("rm -rf debug root && mkdir -p debug/.build-id/01 debug/.dwz root/.dwz && "
		   "sed 's/leaf/leaf_of_a_long_name/' inlined.c >alt.c && "
		   "echo 'struct common { int first, second; long third; };' >common.h && "
		   "printf '#include \"common.h\"\\nstruct common common;\\n' >>alt.c && " BUILD
		   "-g -o whole $PWD/alt.c && strip -o lines whole && "
		   "objcopy --only-keep-debug whole debug/.build-id/01/%s.debug && "
		   "sed 's/MARK(2)/MARK(3)/' alt.c >alt2.c && $CC -O2 -g -o two $PWD/alt2.c && "
		   "dwz -m %s -M %s debug/.build-id/01/%s.debug two",
		   ID + 2, at, link, ID + 2);
	built__run("readelf -SW %s | grep -q debug_info", at);
	assert_int_equal(usyms__lines(u, &file, built__mark("lines", 1), lines, 4), 3);
	assert_non_null(lines[0].function);
	assert_string_equal(lines[0].function, "leaf_of_a_long_name");
	assert_int_equal(lines[0].line, 4);
	usyms__free(u);
}

static void test_lines_alt(void **state)
{
	if (system("dwz --version >/dev/null 2>&1")) {
		print_message("dwz is not installed\n");
		skip();
	}
	expect_alt("debug/.dwz/common", "../../.dwz/common", NULL);
	expect_alt("root/.dwz/common", "/.dwz/common", built__path("root"));
}

/* Many files are asked in turn: there are fewer children than files. */
static void test_lines_many(void **state)
{
	struct usyms *u = new_usyms(NULL, true);
	char name[20];

	built__run(BUILD "-g -o lines $PWD/inlined.c && "
			 "for i in 0 1 2 3 4 5 6 7; do cp lines lines$i; done");
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "lines%d", i % 8);
		expect_lines(u, name, 1, "leaf:4 middle:9 function:13");
	}
	usyms__free(u);
}

/* Returns the only child of this process, or 0 if it cannot be found. */
static int child_pid(void)
{
	int pid = 0, other;
	FILE *f = fopen("/proc/thread-self/children", "r");

	if (f && fscanf(f, "%d %d", &pid, &other) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

/* If the process that reads a file's DWARF dies, only the lines of that file are lost. */
static void test_lines_crash(void **state)
{
	struct usyms *u = new_usyms(NULL, true);
	struct usyms_file file;
	int pid;

	built__run(BUILD "-g -o lines $PWD/inlined.c && cp lines lines2");
	expect_lines(u, "lines", 1, "leaf:4 middle:9 function:13");
	pid = child_pid();
	if (!pid) {
		print_message("/proc/thread-self/children does not have the child's PID\n");
		usyms__free(u);
		skip();
	}
	assert_int_equal(kill(pid, SIGSEGV), 0);
	expect_lines(u, "lines", 1, "Input/output error");
	expect_lines(u, "lines", 1, "Input/output error");
	expect_lines(u, "lines2", 1, "leaf:4 middle:9 function:13");
	file = file_at(built__path("lines"));
	expect(u, &file, built__mark("lines", 1), "function");
	usyms__free(u);
	assert_int_equal(child_pid(), 0);
}

/* Whatever DWARF a file has, this process survives, and finds lines of other files. */
static void test_lines_broken(void **state)
{
	unsigned int seed = 1;
	size_t len, from, tries;
	char *data, text[2000];
	struct usyms *u;

	built__run(BUILD "-gdwarf-5 -o good $PWD/inlined.c");
	data = built__read("good", &len);
	from = built__mark("good", 2);
	for (tries = 0; tries < 200; tries++) {
		char *copy = malloc(len);

		memcpy(copy, data, len);
		for (int i = 0; i < 20; i++)
			copy[from + rand_r(&seed) % (len - from)] = rand_r(&seed);
		built__write("lines", copy, len);
		u = new_usyms(NULL, true);
		if (memmem(copy, len, &(uint64_t){ MARK(1) }, 8)) {
			struct usyms_file file = file_at(built__path("lines"));
			struct usyms_line lines[16];
			uint64_t mark = built__mark("good", 1);

			usyms__lines(u, &file, mark, lines, 16);
			usyms__lines(u, &file, mark + 4, lines, 16);
		}
		lines_at(u, "good", 1, text, sizeof(text));
		assert_string_equal(text, "leaf:4 middle:9 function:13");
		usyms__free(u);
		free(copy);
	}
	free(data);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),	      cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_sysroot),	      cmocka_unit_test(test_debug_by_id),
		cmocka_unit_test(test_debug_by_link), cmocka_unit_test(test_by_id_only),
		cmocka_unit_test(test_debuginfod),    cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_split),   cmocka_unit_test(test_lines_debug_file),
		cmocka_unit_test(test_lines_only),    cmocka_unit_test(test_lines_alt),
		cmocka_unit_test(test_lines_many),    cmocka_unit_test(test_lines_crash),
		cmocka_unit_test(test_lines_broken),
	};

	/* --as-user */
	if (argc > 1 && !geteuid() &&
	    (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER)))
		return 1;
	return cmocka_run_group_tests(tests, built__setup, built__teardown);
}
