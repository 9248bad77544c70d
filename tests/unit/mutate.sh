#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mutate.sh SOURCE MUTATION OUT: writes a copy of the source of the stack map, the kernel walk or
# the rings with one deliberate error, for tests that must detect it.  Fails if the text to change
# no longer exists.
set -eu
case $2 in
# the stack map
publish-first)	# the slot refers to a record that is not written yet
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
leak)		# the loser does not free its memory
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$//' changes=2 ;;
double-free)	# the loser frees its memory twice
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$/&\
&/' changes=1 ;;
no-padding)	# bytes after the last word are hashed and compared
	script='s/^\tb->w\[n.*\] = 0;$//' changes=6 ;;
relaxed-load)	# a slot is read without acquiring its record; on x86 only TSan detects this
	script='s/__atomic_load_n((const __u64 \*)(p), __ATOMIC_ACQUIRE)/__atomic_load_n(p, __ATOMIC_RELAXED)/' \
	changes=2 ;;
# the kernel walk
walk-off-by-one)	# a frame is looked up at its return address, not at its call
	script='s/at = s->signal ? ip : ip - 1, cfa;/at = ip, cfa;/' changes=2 ;;
walk-no-bounds)	# a read may leave the stack
	script='s/return !s->size || (addr - s->low <= s->size .*$/return true;/' changes=2 ;;
walk-loops)	# a frame may be below its callee's frame
	script='s/if (cfa - s->sp - 1 >= kwalk_settings.stack_size || \(.*\))$/if (\1)/' changes=2 ;;
walk-old-rbp)	# an interrupted context has the rbp of its interrupt
	script='s/s->bp_at = 0; \/\* these registers include rbp \*\//;/' changes=2 ;;
walk-guest)	# a stack ends at registers of user mode whose address is in the kernel
	script='s/^\tif (kwalk_read(s, at + KWALK_REGS_CS_AT) & KWALK_USER_MODE)$/\tif (0)/' changes=2 ;;
memo-no-seq)	# an entry that is written during the read is used
	script='s/return kwalk_get32(&m->seq) == seq ? word : 0;/return word;/' changes=2 ;;
memo-no-claim)	# an entry is written without being marked
	script='s/if (seq & 1 || kwalk_cas32(.*) != seq)$/if (0)/' changes=2 ;;
memo-no-tag)	# an entry with another first address or salt is used
	script='s/if ((kwalk_get64(&m->tag) .*) != kwalk_get64(&s->tag))$/if (!m->tag)/' changes=2 ;;
memo-half)	# only half of a word is compared
	script='s/kwalk_word(by_load, s, at) != (__u64)upper)$/(__u32)kwalk_word(by_load, s, at) != (__u32)upper)/' \
	changes=2 ;;
memo-any-base)	# a frame may lie anywhere
	script='s/return word - (base + KWALK_BIAS + above) - 1 < size;/return true;/' \
	changes=2 ;;
memo-any-stack)	# a walk may go from one stack to any other
	script='s/if ((word - s->task <= kwalk_settings.stack_size) != (kind == KWALK_TO_TASK))/if (0)/' \
	changes=2 ;;
memo-down)	# a walk may go down on the task's stack
	script='s/if (s->replay.last != ~7ull && (kind != KWALK_TO_TASK || word + upper <= at))/if (0)/' changes=2 ;;
memo-any-mode)	# interrupted user mode and kernel mode are the same
	script='s/if (kwalk_mode_differs(word, (__u64)upper))/if (0)/' changes=2 ;;
memo-guest)	# an entry that ends at other registers of user mode is used
	script='s/at + KWALK_REGS_IP_AT, KWALK_NO_TEXT/at + KWALK_REGS_CS_AT, KWALK_LOW_SET/' changes=2 ;;
memo-old-modules) # an entry with unloaded modules is used
	script='s/if (s->modules && !kwalk_modules_hold(s))/if (0)/' changes=2 ;;
memo-no-bounds)	# a read may leave the stack
	script='s/if (at - low > last || /if (/' changes=2 ;;
# the same in registers
plain-no-seq)	# an entry that is written during the read is used
	script='s/return kwalk_get32(&m->seq) != seq ? 0 : step;/return step;/' changes=2 ;;
plain-odd-seq)	# an entry that is half written is used
	script='s/return kwalk_get32(&m->seq) & ~1u;/return kwalk_get32(\&m->seq);/' changes=2 ;;
plain-no-tag)	# an entry with another first address or salt is used
	script='s/if (kwalk_get64(&m->tag) != tag)$/if (!(m->tag \& KWALK_TAG_PLAIN))/' changes=2 ;;
plain-any-step)	# a step of another kind is taken for one that reads the mode
	script='s/^\t\t\ttag \&= ~KWALK_TAG_PLAIN;$/\t\t\ttag |= 0;/' changes=2 ;;
plain-half)	# only half of a word is compared
	script='s/if (found != (__u64)((__s64)step >> 32))$/if ((__u32)found != step >> 32)/' changes=2 ;;
plain-any-base)	# a frame may lie anywhere
	script='s/if (!kwalk_is_up(base, (__s64)step >> 32, found, size))$/if (0)/' changes=2 ;;
plain-any-mode)	# interrupted user mode and kernel mode are the same
	script='s/if (kwalk_mode_differs(found, step >> 32))/if (0)/' changes=2 ;;
plain-old-modules) # an entry with unloaded modules is used
	script='s/if (step && !kwalk_tables_hold(step))/if (0)/' changes=2 ;;
plain-no-bounds) # a read may leave the stack
	script='s/ last = size - 8, step/ last = ~0ull, step/' changes=2 ;;
# frame pointers
frames-down)	# a frame may be below its callee's frame
	script='s/} else if (frame - s->sp >= kwalk_settings.stack_size) {/} else if (0) {/' changes=2 ;;
frames-no-bounds) # a frame may leave the stack
	script='s/if (!kwalk_within(s, frame, size))/if (0)/' changes=2 ;;
frames-any-text) # data counts as text
	script='s/return ip - kwalk_settings.text - kwalk_settings.gap .*$/return true;/' changes=2 ;;
frames-no-tracer) # a return address that a tracer has written is used
	script='s/if (kwalk_is_hidden(s->ip - 1))/if (0)/' changes=2 ;;
frames-any-mode) # the walk goes on past registers of user mode
	script='s/if (cs & KWALK_USER_MODE)$/if (0)/' changes=2 ;;
frames-sample-regs) # a sample that starts at registers uses their instruction
	script='s/if (!s->bp_at)$/if (0)/' changes=2 ;;
frames-sample-stack) # a sample may be on one stack and its frame on another
	script='s/if (!regs && !s->bp_at)$/if (0)/' changes=2 ;;
frames-task-regs) # a frame may be in the task's saved registers
	script='s/return kwalk_within(s, s->sp, KWALK_REGS_SIZE) ? .*$/return KWALK_STOPS;/' changes=2 ;;
frames-memo-bit) # registers and frames are the same
	script='s/kwalk_note(s, KWALK_MODE, s->bp_at, KWALK_LOW_SET);/s->odd |= 0;/' changes=2 ;;
frames-memo-up)	# registers may overlap the frame below
	script='s/regs ? s->bp_at + 7 - s->sp : 0;/regs ? -1 : 0;/' changes=2 ;;
frames-memo-zero) # any 0 ends the stack
	script='s/s->odd |= !s->ip && !regs;.*$//' changes=2 ;;
due-stays)	# a walk that was compared is the next one to be compared
	script='s/^\tblock++;$//' changes=2 ;;
# the rings of events: the writer
ring-commit-first) # a record is published before its words are stored
	script='s/^\tfirst = .* len;$/&\
\tring_commit(to, first);/' changes=1 ;;
ring-no-cas)	# load, then store, instead of compare-and-swap
	script='s/if (__sync_val_compare_and_swap(.*) == head)$/if ((p->head = head + len))/' \
	changes=2 ;;
ring-no-room)	# a record may overlap the oldest one
	script='s/(head + len - RING_LOAD/(head - RING_LOAD/' changes=2 ;;
ring-unsigned)	# a tail beyond the head means that the ring is full
	script='s/(__wire_s64)(head + len/(head + len/' changes=2 ;;
ring-used-late)	# the tail is read after the head
	script='s/tail = RING_LOAD(&p->tail);/tail = RING_LOAD(\&p->head);/
		s/return RING_LOAD(&p->head) - tail;/return tail - RING_LOAD(\&p->tail);/' \
	changes=4 ;;
ring-relaxed-commit) # words are not released with the first one; on x86 only TSan detects this
	script='s/__atomic_store_n(at, word, __ATOMIC_RELEASE)/__atomic_store_n(at, word, __ATOMIC_RELAXED)/' \
	changes=2 ;;
# their reader
ring-no-clear)	# what was read stays in the ring
	script='/memset(records, 0, len);/d' changes=1 ;;
ring-clear-little) # only the first record is cleared
	script='s/memset(records, 0, len);/memset(records, 0, 16);/' changes=2 ;;
ring-clear-late) # the memory is given back before it is cleared, which TSan detects
	script='/memset(records, 0, len);/d
		s/^\t__atomic_store_n(&r->pos->tail.*$/&\
\tmemset(records, 0, len);/' changes=2 ;;
ring-relaxed-read) # words are read without acquiring them; on x86 only TSan detects this
	script='s/__atomic_load_n((const uint64_t \*)at, __ATOMIC_ACQUIRE)/__atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED)/' \
	changes=2 ;;
ring-relaxed-tail) # and the cleared memory is not released
	script='s/r->pos->tail + len, __ATOMIC_RELEASE/r->pos->tail + len, __ATOMIC_RELAXED/' changes=2 ;;
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
