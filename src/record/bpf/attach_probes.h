/* SPDX-License-Identifier: GPL-2.0-only */
/* Attaches to functions of the kernel and of programs, and to USDT. */
#ifndef RECORD_ATTACH_PROBES_H
#define RECORD_ATTACH_PROBES_H

struct programs;

/* Errors are logged; unavailable events that a glob matched are left out. */
int attach_probes__all(struct programs *p);

#endif /* RECORD_ATTACH_PROBES_H */
