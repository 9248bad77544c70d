/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory for the test's files, and helpers shared by the tests of outputs. */
#ifndef TEST_DIRECTORY_H
#define TEST_DIRECTORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "output/output.h"

/* cmocka's setup and teardown of a test: create an empty directory and chdir() to it. */
int directory__enter(void **state);
int directory__leave(void **state);

void put(const char *path, const char *text);
/* Checks that the file contains exactly this text. */
void expect(const char *path, const char *text);
/* The number of names in the directory. */
unsigned int names(void);

/* output__open() with these options and the path; keeps the last message in `message`. */
int begin(const char *path, struct output_opts opts, struct output **ret_output);
extern char message[512];
/* Opens, writes text, commits; returns the first negative errno. */
int write_file(const char *path, const char *text, struct output_opts opts);
/* The same, which must be refused with a message that contains words, and change nothing. */
void expect_refused(const char *path, const char *words, struct output_opts opts);

/* A text that makes a file a recording. */
#define RECORDING(text) "\x89STK\r\n\x1a\n" text

#endif /* TEST_DIRECTORY_H */
