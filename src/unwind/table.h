/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An unwind table: the contents of .eh_frame of one file, compact and fast to search.  The kernel's
 * maps and the recorder's memory hold the same words.
 *
 * A table is an array of u32 words, position independent:
 *
 *   pages  u64 per 4 KiB page of the *file* (not of memory), from first_page on:
 *          bits 31..0 word offset of the page's rows in this table, bits 47..32 their number
 *   rows   u32 each, of each page in ascending order
 *   rules  u64 each, for rules that do not fit into a row
 *
 * A row applies from its offset to the next row's.  Bits 31..20: offset in the page, bits 19..0:
 * the rule.  The first row of a page has offset 0.  Rows of one page do not cross a multiple of
 * UNW_CHUNK_WORDS words.  A table of more than that many words is loaded at such a multiple, a
 * smaller one where it does not cross any.  u64 values are at even words.
 *
 * "Slots" are words of eight bytes below the CFA: slot 2 is CFA - 16.  The return address is
 * always at CFA - 8, and the caller's stack pointer is the CFA, except where a rule says otherwise.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#define UNW_PAGE_SHIFT 12
#define UNW_CHUNK_WORDS 8192 /* one value of the BPF map: 32 KiB */

/* ---- rows ------------------------------------------------------------------------------------ */

#define UNW_ROW(off, rule) ((unsigned int)(off) << 20 | (rule))
#define UNW_ROW_RULE(row) ((row)&0xfffff)
#define UNW_ROW_OFF(row) ((row) >> 20)

/*
 * A rule of 20 bits, bit 19 clear: CFA = (bit 18 ? frame pointer : stack pointer) + 8 * bits 17..8;
 * the caller's frame pointer was saved in slot bits 7..4, rbx in slot bits 3..0 (0: still in the
 * register).
 */
#define UNW_SIMPLE(fp, cfa_words, fp_slot, bx_slot) \
	((unsigned int)(fp) << 18 | (unsigned int)(cfa_words) << 8 | (fp_slot) << 4 | (bx_slot))
#define UNW_ESCAPE \
	(1u << 19) /* bits 18..0: enum unw_escape, or UNW_ESCAPE_RULES + index of a rule */

enum unw_escape {
	UNW_NONE = 0, /* no rule: no FDE, or one that cannot be expressed */
	UNW_END = 1, /* the outermost frame: there is no return address */
	UNW_SIGNAL = 2, /* a signal frame: the ucontext contains all registers */
	UNW_UNSEEN =
		3, /* generated code that the recorder has not looked at: the stack is deferred */
	UNW_ESCAPE_RULES = 16,
};

/* The rule to try where no rule is known: CFA = frame pointer + 16, saved in slot 2. */
#define UNW_FRAME_POINTER UNW_SIMPLE(1, 2, 2, 0)

/* ---- rules of 64 bits ------------------------------------------------------------------------ */

/*
 * bits  3..0   how the CFA is computed, enum unw_cfa
 * bits  7..4   from which register, a DWARF number (amd64: 6 rbp, 7 rsp, 3 rbx).  Other registers
 *              are known in a frame only where the program was interrupted.
 * bits  9..8   where the frame pointer was saved, enum unw_saved
 * bits 11..10  the same for rbx
 * bits 15..12  if not 0, the return address is at CFA - 8 * this instead of CFA - 8
 * bits 23..16  signed: the frame pointer's place, in words of eight bytes
 * bits 31..24  the same for rbx
 * bits 39..32  signed addend of UNW_CFA_DEREF; of UNW_CFA_PLT: the value of (ip & 15) from which
 *              one more word is on the stack
 * bits 63..40  signed offset in bytes
 */
enum unw_cfa {
	UNW_CFA_REG = 0, /* register + offset */
	UNW_CFA_DEREF = 1, /* the word at register + offset, plus addend */
	UNW_CFA_PLT = 2, /* stack pointer + offset + ((ip & 15) >= addend ? 8 : 0) */
	UNW_CFA_RA_REG = 3, /* register + offset, with the return address in register `addend`:
			     * vfork(3) has popped it.  Only where the program was interrupted. */
	UNW_CFA_FORK = 4, /* register + offset, in the parent of clone(2).  In the child, where it
			   * returns 0, the stack is new: this is the outermost frame. */
	UNW_CFA_GUESS =
		5, /* register + offset; the caller's frame and all outer ones are guesses */
};
enum unw_saved {
	UNW_SAVED_NOT = 0, /* still in the register */
	UNW_SAVED_CFA = 1, /* at CFA + 8 * place */
	UNW_SAVED_FP = 2, /* at this frame's frame pointer + 8 * place */
	UNW_SAVED_LOST = 3, /* unknown */
};
#define UNW_RULE(cfa, reg, fp_how, fp_n, bx_how, bx_n, ra_slot, add, off)                     \
	((unsigned long long)(cfa) | (unsigned long long)(reg) << 4 |                         \
	 (unsigned long long)(fp_how) << 8 | (unsigned long long)(bx_how) << 10 |             \
	 (unsigned long long)((ra_slot)&15) << 12 | (unsigned long long)((fp_n)&0xff) << 16 | \
	 (unsigned long long)((bx_n)&0xff) << 24 | (unsigned long long)((add)&0xff) << 32 |   \
	 (unsigned long long)((off)&0xffffff) << 40)
#define UNW_RULE_CFA(r) ((unsigned int)(r)&15)
#define UNW_RULE_REG(r) ((unsigned int)(r) >> 4 & 15)
#define UNW_RULE_FP_HOW(r) ((unsigned int)(r) >> 8 & 3)
#define UNW_RULE_BX_HOW(r) ((unsigned int)(r) >> 10 & 3)
#define UNW_RULE_RA_SLOT(r) ((unsigned int)(r) >> 12 & 15)
#define UNW_RULE_FP_N(r) ((int)(signed char)((r) >> 16))
#define UNW_RULE_BX_N(r) ((int)(signed char)((r) >> 24))
#define UNW_RULE_ADD(r) ((int)(signed char)((r) >> 32))
#define UNW_RULE_OFF(r) ((int)((long long)(r) >> 40))

#endif /* UNWIND_TABLE_H */
