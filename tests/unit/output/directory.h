/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory for the test's files, and what the tests of outputs share. */
#ifndef TEST_DIRECTORY_H
#define TEST_DIRECTORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "output/output.h"

/* cmocka's set up and tear down of a test: an empty directory, in which the test is. */
int directory__enter(void **state);
int directory__leave(void **state);

void put(const char *path, const char *text);
/* Whether the file has just this in it. */
void expect(const char *path, const char *text);
/* How many names there are in the directory. */
unsigned int names(void);

/* output__open() with these options and the path; the last message is in message. */
int begin(const char *path, struct output_opts opts, struct output **ret_output);
extern char message[512];
/* Opens, writes text, commits; a negative errno of any of these. */
int write_file(const char *path, const char *text, struct output_opts opts);
/* The same, which must be refused with words of this message, and change nothing. */
void expect_refused(const char *path, const char *words, struct output_opts opts);

/* A file's text that makes it a recording. */
#define RECORDING(text) "\x89STK\r\n\x1a\n" text

#endif /* TEST_DIRECTORY_H */
