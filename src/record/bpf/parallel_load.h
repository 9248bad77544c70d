/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets the kernel verify the large programs of an object in threads of their own.  Verifying takes
 * most of the time that a recording takes to start; meanwhile the other parts of the start go on.
 */
#ifndef RECORD_PARALLEL_LOAD_H
#define RECORD_PARALLEL_LOAD_H

struct bpf_object;
struct parallel_load;

/* Call before the object is opened.  Only one may exist at a time. */
int parallel_load__new(struct parallel_load **ret_load);
/* Settings become part of the instructions, see fold.h.  Call before the object is loaded. */
void parallel_load__fold(struct parallel_load *l, const struct bpf_object *obj);
/*
 * Call after the object is loaded.  Until then the descriptors of large programs are those of
 * programs that do nothing, and must not be attached or put into maps.
 */
int parallel_load__wait(struct parallel_load *l);
/* Waits, too.  Call before the object is freed: the threads use its types.  NULL is fine. */
void parallel_load__free(struct parallel_load *l);

#endif /* RECORD_PARALLEL_LOAD_H */
