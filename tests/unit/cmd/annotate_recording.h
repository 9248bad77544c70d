/* SPDX-License-Identifier: GPL-2.0-only */
/* Timer samples in functions of the same name: of the kernel, a module and two files. */
#ifndef ANNOTATE_RECORDING_H
#define ANNOTATE_RECORDING_H

void make_annotate(const char *path);

#endif /* ANNOTATE_RECORDING_H */
