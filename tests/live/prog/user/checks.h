/* SPDX-License-Identifier: GPL-2.0-only */
/* The checks of ucheck; each prints what it saw, and returns 0 if nothing was wrong. */
#ifndef STACKONCE_TEST_CHECKS_H
#define STACKONCE_TEST_CHECKS_H

#include "recview.h"

int check_paths(int argc, char **argv);
int check_probes(int argc, char **argv);
int check_tags(int argc, char **argv);
int check_dump(int argc, char **argv);
int check_go(int argc, char **argv);
int check_gdb(int argc, char **argv);

#endif /* STACKONCE_TEST_CHECKS_H */
