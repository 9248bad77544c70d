#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mutate.sh HEADER MUTATION OUT: a copy of the stack map's or the kernel walk's header with one deliberate
# error, for tests that must notice it.  Fails if the text to be damaged is no longer there.
set -eu
case $2 in
# the stack map
publish-first)	# the slot shows a record that is not written yet
	script='s/if (stackmap_write(b, n, off, flags))/if (0)/
		s/id = stackmap_probe(b, n, h, off, flags);/&\
	STACKMAP_PAUSE();\
	stackmap_write(b, n, off, flags);/' changes=4 ;;
hash-only)	# equal hash and length count as equal
	script='s/ || !stackmap_same(p + 1, b->w, n)//' changes=2 ;;
blind-publish)	# load, then store, instead of compare-and-swap
	script='s/v = stackmap_cas64(at, 0, \(.*\));$/STACKMAP_PAUSE();\
				*at = \1;\
				v = 0;/' changes=4 ;;
leak)		# the loser forgets its room
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$//' changes=2 ;;
double-free)	# the loser gives its room back twice
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$/&\
&/' changes=1 ;;
no-padding)	# leftovers behind the last word are hashed and compared
	script='s/^\tb->w\[n.*\] = 0;$//' changes=6 ;;
relaxed-load)	# a slot is read without ordering what it names; x86 hides this from all but TSan
	script='s/__atomic_load_n((const __u64 \*)(p), __ATOMIC_ACQUIRE)/__atomic_load_n(p, __ATOMIC_RELAXED)/' \
	changes=2 ;;
# the kernel walk
walk-off-by-one)	# a frame is looked up where its call returns, not where it was
	script='s/at = s->signal ? ip : ip - 1, cfa;/at = ip, cfa;/' changes=2 ;;
walk-no-bounds)	# a read may leave the stack
	script='s/return !s->size || (addr - s->low <= s->size .*$/return true;/' changes=2 ;;
walk-loops)	# a frame need not lie above the one that it called
	script='s/if (cfa - s->sp - 1 >= kwalk_settings.stack_size || \(.*\))$/if (\1)/' changes=2 ;;
walk-guest)	# a stack ends at the registers of a guest's kernel
	script='s/return kind == KWALK_IRET_SP && .*$/return KWALK_DONE;/' changes=2 ;;
memo-no-seq)	# what is written while it is read counts
	script='s/return kwalk_get32(&m->seq) == seq ? value : 0;/return value;/' changes=2 ;;
memo-no-claim)	# written without a mark
	script='s/if (seq & 1 || kwalk_cas32(.*) != seq)$/if (0)/' changes=2 ;;
memo-no-tag)	# of another first address or salt
	script='s/return kwalk_get64(&m->tag) == s->tag &&$/return m->tag \&\&/' changes=2 ;;
memo-half)	# half of a word is compared
	script='s/kwalk_read(s, at) != (__u64)((__s64)step >> 32))$/(__u32)kwalk_read(s, at) != step >> 32)/' \
	changes=2 ;;
memo-any-base)	# a frame may lie anywhere
	script='s/if (word - (base + KWALK_BIAS + upper) - 1 >= kwalk_settings.stack_size)/if (0)/' changes=2 ;;
memo-any-stack)	# from one stack to any
	script='s/if ((word - s->task <= kwalk_settings.stack_size) != .*$/if (0)/' changes=2 ;;
memo-down)	# on the task's stack, down
	script='s/if (last != ~7ull && (kind != KWALK_TO_TASK || word + upper <= at))/if (0)/' changes=2 ;;
memo-any-mode)	# what was interrupted in user mode, or was not, is the same
	script='s/word & KWALK_USER_MODE/0/;s/!(0)/0/' changes=4 ;;
memo-old-modules) # of modules that have gone
	script='s/if (s->modules && !kwalk_modules_hold(s))/if (0)/' changes=2 ;;
memo-no-bounds)	# a read may leave the stack
	script='s/if (at - low > last || kwalk_read/if (kwalk_read/' changes=2 ;;
# along frame pointers
frames-down)	# a frame need not lie above the one that it called
	script='s/} else if (frame - s->sp >= kwalk_settings.stack_size) {/} else if (0) {/' changes=2 ;;
frames-no-bounds) # a frame may leave the stack
	script='s/if (!kwalk_within(s, frame, size))/if (0)/' changes=2 ;;
frames-any-text) # data is text
	script='s/return ip - kwalk_settings.text - kwalk_settings.gap .*$/return true;/' changes=2 ;;
frames-no-tracer) # a return address that a tracer has put there counts
	script='s/if (kwalk_is_hidden(s->ip - 1))/if (0)/' changes=2 ;;
frames-any-mode) # on, over registers of user space
	script='s/if (cs & KWALK_USER_MODE)$/if (0)/' changes=2 ;;
frames-sample-regs) # a sample that begins with registers has their instruction
	script='s/if (!s->bp_at)$/if (0)/' changes=2 ;;
frames-sample-stack) # a sample is on one stack, its frame on another
	script='s/if (!regs && !s->bp_at)$/if (0)/' changes=2 ;;
frames-task-regs) # a frame may lie in the task's own registers
	script='s/return kwalk_within(s, s->sp, KWALK_REGS_SIZE) ? .*$/return KWALK_STOPS;/' changes=2 ;;
frames-memo-bit) # registers and frames are the same
	script='s/kwalk_note(s, KWALK_USER, s->bp_at, 0);/s->odd |= 0;/' changes=2 ;;
frames-memo-up)	# registers may lie over the frame below
	script='s/regs ? s->bp_at + 7 - s->sp : 0;/regs ? -1 : 0;/' changes=2 ;;
frames-memo-zero) # any 0 ends the stack
	script='s/s->odd |= !s->ip && !regs;.*$//' changes=2 ;;
*)
	echo "no mutation '$2'" >&2
	exit 2 ;;
esac
sed "$script" "$1" >"$3"
found=$(diff "$1" "$3" | grep -c '^[<>]') || :
if [ "$found" != "$changes" ]; then
	echo "mutation '$2' changed $found line(s) of $1, not $changes" >&2
	exit 1
fi
