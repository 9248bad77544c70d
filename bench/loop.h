/* SPDX-License-Identifier: GPL-2.0-only */
/* What loop.bpf.c and loop.c share. */
#ifndef LOOP_H
#define LOOP_H

/* Each takes up to two of the 33 tail calls that the kernel allows in one run. */
#define LOOP_EVENTS 15

#endif /* LOOP_H */
