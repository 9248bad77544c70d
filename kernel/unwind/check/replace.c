// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces functions of the running kernel by the patched ones: a jump is written over the nop at
 * their entry that the function tracer would use.
 *
 *   /sys/module/unwind_check/parameters/replaced	bit 0: the unwinder, bit 1: what the patch
 *							does when a module is freed
 */
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/moduleloader.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <asm/text-patching.h>

#include "unwinders.h"

static const struct {
	void *from, *to;
	int bit;
} replacements[] = {
	{ unwind_next_frame, after_unwind_next_frame, 1 },
	{ unwind_get_return_address, after_unwind_get_return_address, 1 },
	{ module_arch_freeing_init, after_unwind_module_free, 2 },
};

static int replaced;

/* The entry of a function: behind endbr64, which may have been replaced by a nop. */
static u8 *entry_of(void *function)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, nop[] = { 0x66, 0x0f, 0x1f, 0x00 };
	bool marked =
		!memcmp(function, endbr, sizeof(endbr)) || !memcmp(function, nop, sizeof(nop));

	return function + (marked ? sizeof(endbr) : 0);
}

static int replace(unsigned int i, bool on)
{
	u8 *at = entry_of(replacements[i].from);
	const u8 *nop = x86_nops[JMP32_INSN_SIZE];
	const u8 *jump = text_gen_insn(JMP32_INSN_OPCODE, at, replacements[i].to);

	/* The function tracer or another module has written something else. */
	if (memcmp(at, on ? nop : jump, JMP32_INSN_SIZE))
		return -EBUSY;
	text_poke_bp(at, on ? jump : nop, JMP32_INSN_SIZE, NULL);
	return 0;
}

static int replaced_set(const char *val, const struct kernel_param *kp)
{
	int want, err = kstrtoint(val, 0, &want);
	unsigned int i;

	mutex_lock(&text_mutex);
	for (i = 0; !err && i < ARRAY_SIZE(replacements); i++)
		if ((want ^ replaced) & replacements[i].bit)
			err = replace(i, want & replacements[i].bit);
	if (!err)
		replaced = want;
	mutex_unlock(&text_mutex);
	return err;
}

static const struct kernel_param_ops replaced_ops = {
	.set = replaced_set,
	.get = param_get_int,
};
module_param_cb(replaced, &replaced_ops, &replaced, 0600);
