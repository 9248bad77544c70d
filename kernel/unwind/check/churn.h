/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module whose functions have stack frames of ROOM words.  Modules with different ROOM have the
 * same code but for the offsets: loaded one after the other at the same address, they have the same
 * return addresses with different ORC entries.
 */
#include <linux/module.h>
#include <linux/slab.h>

static noinline void run(unsigned int depth)
{
	unsigned long room[ROOM] __attribute__((uninitialized));

	room[0] = depth;
	barrier_data(room);
	if (room[0])
		run(room[0] - 1);
	else
		kfree(kmalloc(4096, GFP_KERNEL)); /* an event at which stacks are compared */
	barrier_data(room);
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	run(7);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init churn_init(void)
{
	run(3);
	return 0;
}

static void __exit churn_exit(void)
{
	run(3);
}
module_init(churn_init);
module_exit(churn_exit);
MODULE_DESCRIPTION("Frames of a known size");
MODULE_LICENSE("GPL");
