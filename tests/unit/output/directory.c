// SPDX-License-Identifier: GPL-2.0-only
#include "directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"

char message[512];

static void keep_message(void *ctx, enum stk_log_level level, const char *text)
{
	snprintf(message, sizeof(message), "%s", text);
}

int directory__enter(void **state)
{
	char path[] = "/tmp/stackonce-output-XXXXXX";

	log_set_sink(keep_message, NULL);
	*state = mkdtemp(path) ? strdup(path) : NULL;
	return *state ? chdir(*state) : -1;
}

int directory__leave(void **state)
{
	_cleanup_free_ char *command = NULL, *path = *state;

	if (asprintf(&command, "rm -rf '%s'", path) < 0)
		return -1;
	return chdir("/") || system(command);
}

void put(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

void expect(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char got[256];
	ssize_t n = read(fd, got, sizeof(got) - 1);

	assert_true(n >= 0);
	got[n] = '\0';
	assert_string_equal(got, text);
}

unsigned int names(void)
{
	_cleanup_closedir_ DIR *d = opendir(".");
	struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	return n;
}

int begin(const char *path, struct output_opts opts, struct output **ret_output)
{
	opts.path = path;
	*message = '\0';
	return output__open(&opts, ret_output);
}

int write_file(const char *path, const char *text, struct output_opts opts)
{
	_cleanup_(output__freep) struct output *o = NULL;
	int err = begin(path, opts, &o);

	if (!err)
		err = output__write(o, text, strlen(text));
	return err ? err : output__commit(o);
}

void expect_refused(const char *path, const char *words, struct output_opts opts)
{
	unsigned int before = names();

	assert_true(write_file(path, "other", opts) < 0);
	if (!strstr(message, words))
		fail_msg("'%s' is not in '%s'", words, message);
	assert_int_equal(names(), before);
}
