/* SPDX-License-Identifier: GPL-2.0-only */
/* The running kernel's symbols, from every source that this machine permits. */
#ifndef RECORD_KERNEL_NAMES_H
#define RECORD_KERNEL_NAMES_H

struct cache_dir;
struct kernel_names;
struct ksyms;

/*
 * A thread reads them; ksyms__wait() has its errors.  cache: where the kernel's own functions are
 * kept, borrowed; NULL: nowhere.
 */
int kernel_names__new(struct cache_dir *cache, struct kernel_names **ret_names);
void kernel_names__free(struct kernel_names *n);

struct ksyms *kernel_names__syms(struct kernel_names *n);

#endif /* RECORD_KERNEL_NAMES_H */
