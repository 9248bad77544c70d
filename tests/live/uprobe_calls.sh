#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# u:, ur: and usdt: of a program whose calls are known: the recording has as many events as calls,
# with the arguments and return values of each, and its callers.
# shellcheck disable=SC2086 # $roomy is an option and its value
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

p=$PROG/probed
calls=$(scale 1500 100) threads=4
all=$((calls * threads))

# want_count FILE EVENT HAPPENED RECORDED [LOST]
want_count()
{
	for what in "happened $3" "recorded $4" "filtered $(($3 - $4 - ${5:-0}))" "lost ${5:-0}"; do
		n=$(counted "$1" "$2" "${what% *}")
		[ "$n" -eq "${what#* }" ] || fail "$2: $n ${what% *}, ${what#* } expected"
	done
}

# fields FILE GLOB: prints the events' fields without time and place
fields()
{
	"$STACKONCE" script --no-stacks --no-header --event "$2" "$1" |
		sed '/^CPU:.* \[LOST /d; s/.*: (0x[0-9a-f]*) \(arg[14]\|ret\)/\1/; s/ arg5=.*//' |
		sort
}

# callers FILE GLOB NAMES: the stacks of all these events begin with these functions, but for those
# with a page that was being migrated
callers()
{
	"$STACKONCE" script --full --no-header --event "$2" "$1" | awk -v max="$(echo "$3" | wc -w)" '
		function done() { if (n > 0) print names; names = "" }
		/^<user stack/ { next }
		/^ => <memory not readable>$/ { n = 0; names = ""; next }
		/^ => / {
			sub(/\+0x.*/, "", $NF)
			if (n++ < max)
				names = names " " $NF
			next
		}
		{ done(); n = 0 }
		END { done() }' | sort | uniq -c >callers
	[ "$(wc -l <callers)" -eq 1 ] && [ "$(sed 's/^ *[0-9]* *//' callers)" = "$3" ] || {
		cat callers
		fail "$2 has other callers than $3"
	}
}

# All probes at once: they do not disturb each other.
record $roomy -o all.stk -e "u:$p:leaf" -e "ur:$p:leaf" -e "usdt:$p:stackonce:leaf" \
	-e "u:$p:stepped+6" -e "ur:$p:middle" "$p" "$calls" "$threads"
want_user all.stk
for e in "u:$p:leaf" "ur:$p:leaf" "usdt:$p:stackonce:leaf" "u:$p:stepped+6" "ur:$p:middle"; do
	want_count all.stk "$e" "$all" "$all"
done

t=0
while [ "$t" -lt "$threads" ]; do
	i=0
	while [ "$i" -lt "$calls" ]; do
		printf 'arg1=0x%x arg2=0x%x arg3=0x7 arg4=0x%x\n' "$i" "$((-i))" "$t" >&3
		printf 'ret=0x%x\n' $((3 * i + t)) >&4
		printf 'ret=0x%x\n' $((3 * i + t + 1)) >&5
		printf 'arg1=%d arg2=%d arg3=%d\n' "$i" "$((-i))" "$t" >&6
		printf 'arg1=0x%x arg2=0x%x\n' "$i" $((2 * i)) >&7
		i=$((i + 1))
	done
	t=$((t + 1))
done 3>leaf 4>leaf_ret 5>middle_ret 6>usdt 7>stepped
compare()
{
	sort "$2" >expected
	cmp -s expected "$1" || {
		diff expected "$1" | head -n 10
		fail "$2: values differ from the program's"
	}
}
fields all.stk "u:*:leaf" >got
compare got leaf
fields all.stk "ur:*:leaf" >got
compare got leaf_ret
fields all.stk "ur:*:middle" >got
compare got middle_ret
fields all.stk "usdt:*" >got
compare got usdt
fields all.stk "u:*:stepped+6" | sed 's/ arg3=.*//' | sort >got
compare got stepped
note "$((5 * all)) events, all with the program's values"

info_of all.stk .user_stacks.ends >checked
want_complete "$(info_of all.stk .totals.recorded)" \
	"$(info_of all.stk '.totals.recorded - .user_stacks.ends.complete')" \
	"$(info_of all.stk .user_stacks.ends.unreadable)"
callers all.stk "u:*:leaf" "leaf middle top work"
callers all.stk "usdt:*" "leaf middle top work"
callers all.stk "ur:*:leaf" "middle top work"
callers all.stk "ur:*:middle" "top work"
callers all.stk "u:*:stepped+6" "stepped work"

# A program given by a relative path is found by that path.
cp "$p" given || fail "cannot copy a program"
record $roomy -o given.stk -e u:./given:leaf ./given 10 1
"$STACKONCE" script --no-stacks --no-header --event u:./given:leaf given.stk >got ||
	fail "script ended with $?"
n=$(wc -l <got)
[ "$n" -eq 10 ] || fail "u:./given:leaf finds $n of 10 events"

# Recursion, and calls that do not return because of longjmp(3).  Of a thread's nested calls the
# kernel sees the returns of the 64 outermost ones.
falls=$((calls + 1 + 41)) unseen=$((calls + 1 - 64))
record $roomy -o deep.stk -e "u:$p:fall" -e "ur:$p:fall" -e "u:$p:jump" -e "ur:$p:jump" \
	"$p" "$calls" "$threads"
want_user deep.stk
want_count deep.stk "u:$p:fall" $((falls * threads)) $((falls * threads))
want_count deep.stk "ur:$p:fall" $((falls * threads)) $(((falls - unseen) * threads)) \
	$((unseen * threads))
[ "$(info_of deep.stk '.totals.lost_by.return')" -eq $((unseen * threads)) ] ||
	fail "unseen returns have another reason: $(info_of deep.stk -c .totals.lost_by)"
for _ in $(seq 1 "$threads"); do
	for i in $(seq 0 40) $(seq "$unseen" "$calls"); do
		printf 'ret=0x%x\n' "$i"
	done
done >fall_ret
fields deep.stk "ur:*:fall" >got
compare got fall_ret
want_count deep.stk "u:$p:jump" $((calls % 100 * threads + threads)) \
	$((calls % 100 * threads + threads))
want_count deep.stk "ur:$p:jump" 0 0

# Filters on arguments: events that do not match are counted as happened, too.
record $roomy -o filtered.stk -e "u:$p:leaf" --filter 'arg1 < 50 && arg4 != 1' \
	-e "ur:$p:leaf" --filter 'ret == 31' -e "usdt:$p:stackonce:leaf" --filter 'arg2 >= -2' \
	"$p" "$calls" "$threads"
want_user filtered.stk
want_count filtered.stk "u:$p:leaf" "$all" $((50 * (threads - 1)))
want_count filtered.stk "ur:$p:leaf" "$all" 1
want_count filtered.stk "usdt:$p:stackonce:leaf" "$all" $((3 * threads))
