// SPDX-License-Identifier: GPL-2.0-only
/* Mounts and paths, parsed from text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/files/file_paths.h"

static const char host[] =
	"22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	"23 22 0:21 / /proc rw shared:5 - proc proc rw\n"
	"40 22 8:17 / /srv/data\\040disk rw - ext4 /dev/sdb1 rw\n"
	"41 22 8:17 /images /mnt/images ro - ext4 /dev/sdb1 rw\n"
	"50 22 0:44 /@root /mnt/sub rw - btrfs /dev/sdc rw,subvol=/@root\n"
	"60 22 0:52 / /run/ctr/rootfs rw,relatime shared:1 master:2 - overlay overlay "
	"rw,lowerdir=/l/2:/l/a\\134:b:rel,upperdir=/u\\0541,workdir=/w\n";

static struct mounts *parse(const char *text)
{
	struct mounts *m;

	assert_int_equal(mounts__parse(text, strlen(text), &m), 0);
	return m;
}

static void test_parse(void **state)
{
	struct mounts *m = parse(host);
	const struct mount *at;

	assert_int_equal(mounts__nr(m), 6);
	at = mounts__by_id(m, 40);
	assert_ptr_equal(at, mounts__at(m, 2));
	assert_string_equal(at->point, "/srv/data disk");
	assert_string_equal(at->root, "/");
	assert_string_equal(at->type, "ext4");
	assert_int_equal(at->major, 8);
	assert_int_equal(at->minor, 17);
	assert_string_equal(mounts__by_id(m, 60)->type, "overlay");
	assert_null(mounts__by_id(m, 4));
	assert_null(mounts__at(m, 6));
	mounts__free(m);
}

/* None of these is a mount, and none prevents the others from being parsed. */
static void test_damaged(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"1 2 3:4 / /",
		"1 2 3:4 / / rw",
		"1 2 3:4 / / rw shared:1",
		"1 2 3:4 / / rw - ",
		"1 2 3:4 / / rw - ext4 dev",
		"x 2 3:4 / / rw - ext4 dev rw",
		"99999999999999999999999 2 3:4 / / rw - ext4 dev rw",
		"1 2 3 / / rw - ext4 dev rw",
		"1 2 3: / / rw - ext4 dev rw",
		"1 2 3:4x / / rw - ext4 dev rw",
		"1 2 3:4294967296 / / rw - ext4 dev rw",
		"1 2 3:4 root / rw - ext4 dev rw",
		"1 2 3:4 / point rw - ext4 dev rw",
	};
	struct mounts *m;
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s\n7 1 8:1 / /a\\04 rw - ext4 d rw\n%s", bad[i],
			 bad[i]);
		m = parse(text);
		assert_int_equal(mounts__nr(m), 1);
		assert_string_equal(mounts__by_id(m, 7)->point, "/a\\04");
		mounts__free(m);
	}
	/* an escaped NUL is dropped, and a NUL in the text ends it */
	m = parse("7 1 8:1 / /a\\000b rw - ext4 d rw");
	assert_string_equal(mounts__at(m, 0)->point, "/ab");
	mounts__free(m);
	assert_int_equal(mounts__parse("7 1 8:1 / /a rw\0- ext4 d rw", 27, &m), 0);
	assert_int_equal(mounts__nr(m), 0);
	mounts__free(m);
}

static void test_below(void **state)
{
	assert_string_equal(path_below("/a/b", "/a"), "/b");
	assert_string_equal(path_below("/a/b", "/a/"), "/b");
	assert_string_equal(path_below("/a/b", "/"), "/a/b");
	assert_string_equal(path_below("/a", "/a"), "");
	assert_null(path_below("/ab", "/a"));
	assert_null(path_below("/a", "/a/b"));
	assert_null(path_below("a", "/"));
	assert_int_equal(path_len_undeleted("/a (deleted)"), 2);
	assert_int_equal(path_len_undeleted("/a(deleted)"), 11);
	assert_int_equal(path_len_undeleted(" (deleted)"), 10);
	assert_int_equal(path_len_undeleted(""), 0);
}

static void test_parts(void **state)
{
	char *long_part, *path;

	path = path_of_parts("c\0b\0a", 6, 3);
	assert_string_equal(path, "/a/b/c");
	free(path);
	path = path_of_parts("c\0b\0a", 6, 1);
	assert_string_equal(path, "/c");
	free(path);
	assert_null(path_of_parts("c\0b\0a", 5, 3)); /* the last part is not terminated */
	assert_null(path_of_parts("c\0b\0a", 6, 4));
	assert_null(path_of_parts("c\0\0a", 5, 3));
	assert_null(path_of_parts("c\0x/y\0a", 8, 3));
	assert_null(path_of_parts("", 0, 0));
	assert_null(path_of_parts("", 0, 1));
	long_part = malloc(5000);
	memset(long_part, 'x', 5000);
	long_part[4999] = '\0';
	assert_null(path_of_parts(long_part, 5000, 1));
	long_part[4094] = '\0';
	path = path_of_parts(long_part, 4095, 1);
	assert_int_equal(strlen(path), 4095);
	free(path);
	long_part[4095] = '\0';
	long_part[4094] = 'x';
	assert_null(path_of_parts(long_part, 4096, 1));
	free(long_part);
}

/* The paths that were tried, and the one that exists. */
struct tried {
	const char *there;
	char all[1024];
};

static bool try(void *ctx, const char *path)
{
	struct tried *t = ctx;

	strcat(strcat(t->all, path), "|");
	return t->there && !strcmp(path, t->there);
}

static void check_translate(const char *their_mount, const char *path, const char *there,
			    const char *all)
{
	struct mounts *ours = parse(host), *theirs = parse(their_mount);
	struct tried t = { .there = there };
	char *found;

	found = mounts__translate(ours, mounts__at(theirs, 0), path, try, &t);
	assert_string_equal(t.all, all);
	if (there)
		assert_string_equal(found, there);
	else
		assert_null(found);
	free(found);
	mounts__free(ours);
	mounts__free(theirs);
}

static void test_translate(void **state)
{
	/* a container's root is a directory on the host */
	check_translate("1 0 8:17 /images/deb / rw - ext4 /dev/sdb1 rw", "/usr/lib/x.so",
			"/mnt/images/deb/usr/lib/x.so",
			"/srv/data disk/images/deb/usr/lib/x.so|/mnt/images/deb/usr/lib/x.so|");
	/* only a part of the file system is mounted */
	check_translate("1 0 8:17 / /data rw - ext4 /dev/sdb1 rw", "/data/imagesx/y", NULL,
			"/srv/data disk/imagesx/y|");
	/* another subvolume */
	check_translate("1 0 0:44 /@home /home rw - btrfs /dev/sdc rw", "/home/x", NULL, "");
	check_translate("1 0 0:44 /@root / rw - btrfs /dev/sdc rw", "/x", "/mnt/sub/x",
			"/mnt/sub/x|");
	/* an overlay that is also mounted on the host */
	check_translate("1 0 0:52 / / rw - overlay overlay rw", "/bin/sh", "/run/ctr/rootfs/bin/sh",
			"/run/ctr/rootfs/bin/sh|");
	/* a file as mount point, and a path that is not below it */
	check_translate("1 0 8:17 /images/f /etc/f rw - ext4 /dev/sdb1 rw", "/etc/f",
			"/mnt/images/f", "/srv/data disk/images/f|/mnt/images/f|");
	check_translate("1 0 8:17 /images/f /etc/f rw - ext4 /dev/sdb1 rw", "/etc/fx", NULL, "");
	/* another file system */
	check_translate("1 0 0:99 / / rw - tmpfs tmpfs rw", "/x", NULL, "");
}

static void test_layers(void **state)
{
	struct mounts *m = parse(host);
	struct tried t = { .there = "/u,1/bin/sh" };
	char *found;

	found = mount__translate_layers(mounts__by_id(m, 60), "/run/ctr/rootfs/bin/sh", try, &t);
	assert_string_equal(found, "/u,1/bin/sh");
	/* a layer's path contains an escaped colon and is absolute */
	assert_string_equal(t.all, "/l/2/bin/sh|/l/a:b/bin/sh|/u,1/bin/sh|");
	free(found);
	assert_null(mount__translate_layers(mounts__by_id(m, 60), "/run/ctr/x", try, &t));
	assert_null(mount__translate_layers(mounts__by_id(m, 22), "/bin/sh", try, &t));
	mounts__free(m);

	m = parse("1 0 0:52 / / rw - overlay overlay "
		  "lowerdir+=/a,lowerdir+=/b:/c,lowerdir,nfs=lowerdir=/no,upperdir=,"
		  "datadir+=/d\\134");
	t = (struct tried){ 0 };
	assert_null(mount__translate_layers(mounts__at(m, 0), "/x", try, &t));
	assert_string_equal(t.all, "/a/x|/b/x|/c/x|/d\\/x|");
	mounts__free(m);
}

/* The kernel's own file. */
static void test_self(void **state)
{
	struct mounts *m;

	assert_int_equal(mounts__read("/proc/self/mountinfo", &m), 0);
	assert_true(mounts__nr(m) > 0);
	mounts__free(m);
	assert_int_not_equal(mounts__read("/proc/self/none", &m), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_below),	  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_translate), cmocka_unit_test(test_layers),
		cmocka_unit_test(test_self),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
