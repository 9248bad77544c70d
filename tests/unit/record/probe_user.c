// SPDX-License-Identifier: GPL-2.0-only
/* u: and ur:, in programs built for the test: see probed.S. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>

#include "../symbols/built.h"
#include "cleanup.h"
#include "probe_check.h"

#define ARGS                                                                    \
	"unsigned long arg1:8:0;unsigned long arg2:8:0;unsigned long arg3:8:0;" \
	"unsigned long arg4:8:0;unsigned long arg5:8:0;unsigned long arg6:8:0;"
#define OPCODE 2 /* bytes before the mark */

static char real_dir[PATH_MAX];

static int setup(void **state)
{
	if (built__setup(state) || !realpath(built__dir(), real_dir))
		return -1;
	built__run("$CC -nostdlib -o plain %s/probed.S %s/probed_again.S", PROBED_DIR, PROBED_DIR);
	built__run("cp plain stripped && strip stripped");
	built__run(
		"cp plain apart && objcopy --only-keep-debug apart apart.debug && strip apart && "
		"objcopy --add-gnu-debuglink=apart.debug apart");
	built__run("echo 'V1 { }; V2 { };' >versions && $CC -nostdlib -shared "
		   "-Wl,--version-script=versions -o versions.so %s/probed_versions.S",
		   PROBED_DIR);
	built__run("$CC -c -o object.o %s/probed.S && echo text >text", PROBED_DIR);
	built__run("objcopy --add-section .gopclntab=versions stripped go");
	built__run("mkdir 'a:b' && cp plain a:b/c:d");
	probe_check__listen();
	return 0;
}

/* One event, of the function at that mark. */
static void found(const char *spec, const char *file, unsigned int nr, unsigned int plus,
		  const char *shown)
{
	struct probe_events l = { 0 };
	char name[PATH_MAX + 100];

	if (probe_check__resolve(&l, NULL, spec, file))
		fail_msg("%s: %s", spec, probe_check__message());
	assert_int_equal(l.nr, 1);
	assert_false(l.globbed);
	snprintf(name, sizeof(name), "%s/%s", real_dir, file);
	assert_string_equal(l.v[0].probe.path, name);
	assert_int_equal(l.v[0].probe.offset, built__mark(file, nr) - OPCODE + plus);
	snprintf(name, sizeof(name), "%s/%s:%s", real_dir, file, shown);
	assert_string_equal(l.v[0].event, name);
	if (l.v[0].probe.how == PROBE_USER) {
		assert_string_equal(l.v[0].system, "u");
		probe_check__format(&l.v[0], ARGS);
	} else {
		assert_string_equal(l.v[0].system, "ur");
		probe_check__format(&l.v[0], "unsigned long ret:8:0;");
	}
	probe_events__clear(&l);
}

static void refused(const char *spec, const char *file, int err, const char *words)
{
	probe_check__refused(NULL, spec, file, err, words);
}

static void test_spec(void **state)
{
	assert_true(probe__is_spec("f:vfs_read"));
	assert_true(probe__is_spec("r:x"));
	assert_true(probe__is_spec("u:/bin/sh:main"));
	assert_true(probe__is_spec("ur:/bin/sh:main"));
	assert_true(probe__is_spec("usdt:a:b:c"));
	assert_false(probe__is_spec("f"));
	assert_false(probe__is_spec("sched:sched_switch"));
	assert_false(probe__is_spec("us:a"));
	assert_false(probe__is_spec("usdtx:a"));
	assert_false(probe__is_spec(":a"));
	assert_false(probe__is_spec("uprobes"));
}

/* The path as it was given is kept beside the one that it leads to. */
static void test_given(void **state)
{
	struct probe_events l = { 0 };
	char cwd[PATH_MAX], name[PATH_MAX + 100];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(real_dir), 0);
	assert_int_equal(probe_check__resolve(&l, NULL, "u:./plain:alone", NULL), 0);
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(l.nr, 1);
	assert_string_equal(l.v[0].probe.given, "./plain");
	snprintf(name, sizeof(name), "%s/plain", real_dir);
	assert_string_equal(l.v[0].probe.path, name);
	probe_events__clear(&l);
}

static void test_names(void **state)
{
	found("u:%s:alone", "plain", 1, 0, "alone");
	found("ur:%s:alone", "plain", 1, 0, "alone");
	found("u:%s:alias", "plain", 1, 0, "alias");
	found("u:%s:alone+0xa", "plain", 1, 10, "alone+0xa");
	found("u:%s:alone+10", "plain", 1, 10, "alone+10");
	found("u:%s:alone+0", "plain", 1, 0, "alone+0");
	found("u:%s:_ZN2ns3addEii", "plain", 4, 0, "_ZN2ns3addEii");
	found("u:%s:ns::add", "plain", 4, 0, "ns::add");
	found("u:%s:ns::add+0xa", "plain", 4, 10, "ns::add+0xa");
	found("u:%s:ns::add(int, int)", "plain", 4, 0, "ns::add(int, int)");
	found("u:%s:ns::of(char*)", "plain", 6, 0, "ns::of(char*)");
	found("u:%s:alone", "a:b/c:d", 1, 0, "alone");
	found("u:%s:alone", "apart", 1, 0, "alone");
}

static void test_offsets(void **state)
{
	char spec[100], shown[32];
	uint64_t twice = built__mark("plain", 3) - OPCODE;

	snprintf(shown, sizeof(shown), "0x%jx", (uintmax_t)twice);
	snprintf(spec, sizeof(spec), "u:%%s:0x%jx", (uintmax_t)twice);
	found(spec, "plain", 3, 0, shown);
	found(spec, "stripped", 3, 0, shown);
	snprintf(spec, sizeof(spec), "ur:%%s:0x%jx", (uintmax_t)twice);
	found(spec, "plain", 3, 0, shown);
	/* after the first instruction, and inside it */
	snprintf(spec, sizeof(spec), "ur:%%s:0x%jx", (uintmax_t)twice + 10);
	refused(spec, "plain", -EINVAL, "from the start of a function, here twice+0xa");
	refused(spec, "go", -EINVAL, "Go moves its stacks");
	snprintf(spec, sizeof(spec), "u:%%s:0x%jx", (uintmax_t)twice + 3);
	refused(spec, "plain", -EINVAL, "in the middle of an instruction of twice, at +0x0");
	snprintf(spec, sizeof(spec), "u:%%s:0x%jx", (uintmax_t)built__mark("plain", 20));
	refused(spec, "plain", -EINVAL, "is not in the code");
	refused("u:%s:0xffffffffffffffff", "plain", -EINVAL, "is not in the code");
	refused("u:%s:0x10000000000000000", "plain", -ENOENT, "no function");
	refused("u:%s:0x12monkeys", "plain", -ENOENT, "no function");
}

static void test_refused(void **state)
{
	char words[100];

	refused("u:%s:alona", "plain", -ENOENT, "did you mean alone");
	refused("u:%s:ns::ad", "plain", -ENOENT, "did you mean ns::add");
	refused("u:%s:data_one", "plain", -ENOENT, "no function");
	refused("u:%s:alone+0xb", "plain", -EINVAL, "alone has 0xb bytes");
	refused("u:%s:alone+0x5", "plain", -EINVAL, "in the middle of an instruction");
	refused("u:%s:alone+0xffffffffffffffff", "plain", -EINVAL, "alone has 0xb bytes");
	refused("u:%s:alone+x", "plain", -ENOENT, "no function");
	refused("ur:%s:alone+0xa", "plain", -EINVAL, "from the start of a function");
	refused("u:%s:chosen", "plain", -EINVAL, "chosen when the program is loaded");
	snprintf(words, sizeof(words), "plain:0x%jx", (uintmax_t)built__mark("plain", 2) - OPCODE);
	refused("u:%s:twice", "plain", -EINVAL, words);
	snprintf(words, sizeof(words), "plain:0x%jx", (uintmax_t)built__mark("plain", 3) - OPCODE);
	refused("u:%s:twice", "plain", -EINVAL, words);
	refused("u:%s:ns::of", "plain", -EINVAL, "(ns::of(char*))");
	refused("u:%s:alone", "stripped", -ENOENT, "it is stripped; PATH:0xOFFSET");
	refused("u:%s:x", "missing", -ENOENT, "No such file");
	refused("u:%s:x", ".", -EINVAL, "is not a regular file");
	refused("u:%s:x", "text", -ENOEXEC, "not an ELF file");
	refused("u:%s:x", "object.o", -ENOEXEC, "neither a program nor a library");
	refused("u:%s", "plain", -EINVAL, "a function is missing");
	refused("u:%s:", "plain", -EINVAL, "a function is missing");
	refused("u:", NULL, -EINVAL, "a program or library is missing");
	refused("u:no-such-program:x", NULL, -ENOENT, "neither in $PATH nor a library");
	refused("u:%s:a\nlone", "plain", -EINVAL, "control characters");
}

static void test_path(void **state)
{
	_cleanup_free_ char *before = strdup(getenv("PATH"));
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/nowhere:%s", built__dir());
	setenv("PATH", path, 1);
	found("u:plain:alone", "plain", 1, 0, "alone");
	refused("u:plain:missing", NULL, -ENOENT, "no function");
	setenv("PATH", "", 1);
	refused("u:plain:alone", NULL, -ENOENT, "neither in $PATH nor a library");
	setenv("PATH", before, 1);
}

/* New programs call the default version, which is what the plain name refers to. */
static void test_versions(void **state)
{
	struct probe_events l = { 0 };

	found("u:%s:changed", "versions.so", 11, 0, "changed");
	found("u:%s:changed_old", "versions.so", 10, 0, "changed_old");
	assert_int_equal(probe_check__resolve(&l, NULL, "u:%s:change*", "versions.so"), 0);
	assert_int_equal(l.nr, 2);
	probe_events__clear(&l);
}

static void test_globs(void **state)
{
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, NULL, "u:%s:group_*", "plain"), 0);
	assert_string_equal(probe_check__message(), "");
	assert_true(l.globbed);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.v[0].probe.offset, built__mark("plain", 8) - OPCODE);
	assert_int_equal(l.v[1].probe.offset, built__mark("plain", 9) - OPCODE);
	assert_string_equal(strrchr(l.v[1].event, ':'), ":group_two");
	/* two names at one address are one event; twice and chosen cannot be probed */
	assert_int_equal(probe_check__resolve(&l, NULL, "u:%s:*", "plain"), 0);
	assert_non_null(strstr(probe_check__message(), "left out 3 functions"));
	assert_int_equal(l.nr, 2 + 7);
	assert_int_equal(probe_check__resolve(&l, NULL, "ur:%s:ns::[a-f]*(int, int)", "plain"), 0);
	assert_int_equal(l.nr, 2 + 7 + 1);
	assert_string_equal(strrchr(l.v[9].event, ':'), ":_ZN2ns3addEii");
	probe_events__clear(&l);
	refused("u:%s:nothing*", "plain", -ENOENT, "nothing*");
}

static void test_print(void **state)
{
	const uint64_t call[] = { 0x401000, 1, 0xffffffff, 3, 4, 5, 0xffffffffffffffff };
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, NULL, "u:%s:alone", "plain"), 0);
	assert_int_equal(probe_check__resolve(&l, NULL, "ur:%s:alone", "plain"), 0);
	probe_check__print(&l.v[0], call, 7,
			   "(0x401000) arg1=0x1 arg2=0xffffffff arg3=0x3 arg4=0x4 arg5=0x5 "
			   "arg6=0xffffffffffffffff");
	probe_check__print(&l.v[1], call, 2, "(0x401000) ret=0x1");
	assert_true(probe_check__filter(&l.v[0], call, 7, "arg1 == 1 && arg2 == 0xffffffff"));
	assert_false(probe_check__filter(&l.v[0], call, 7, "arg3 & 4"));
	assert_true(probe_check__filter(&l.v[0], call, 7, "arg6 > 0x7fffffffffffffff"));
	assert_false(probe_check__filter(&l.v[1], call, 2, "ret != 1"));
	probe_events__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec),	cmocka_unit_test(test_names),
		cmocka_unit_test(test_given),	cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_versions),
		cmocka_unit_test(test_globs),	cmocka_unit_test(test_print),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, setup, built__teardown);
}
