# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Checks every patch of the series in order: it applies, it compiles without a warning with its
# option on and off, and checkpatch and sparse report nothing.  At the end it builds two whole
# kernels.

# Checkpatch is not asked about MAINTAINERS entries for new files, which a series for Debian's
# source does not need, about names with capitals, which are libelf's, and about the layout of files
# that consist of macros.
check_ignored=FILE_PATH_CHANGES,CAMELCASE
check_layout='^(kernel/trace/trace_entries\.h|include/trace/events/[a-z_]*\.h):'
check_option=FTRACE_STACKMAP

# touched PATCH: the files that exist after it.
touched()
{
	sed -n 's|^+++ b/||p' "$1"
}

# objects_of TREE PATCH: the kernel objects built from its C files.
objects_of()
{
	touched "$2" | sed -n 's/\.c$/.o/p' | while read -r o; do
		case $o in
		tools/* | samples/* | Documentation/*) ;;
		*) echo "$o" ;;
		esac
	done
}

# directories_of TREE PATCH: the directories to compile after it: those of its C files, and those
# that include its headers.
directories_of()
{
	{
		echo kernel/trace/
		objects_of "$1" "$2" | xargs -r dirname | sed 's|$|/|'
		touched "$2" | grep -q '^include/.*rmap' && echo mm/
		touched "$2" | grep -q '^include/' && printf 'kernel/\nfs/proc/\n'
	} | sort -u
}

# check_configs TREE: configures obj-on and obj-off, which differ in the option and what depends on
# it.
check_configs()
{
	for o in on off; do
		k_merge "$1" "obj-$o" default || return 1
	done
	"$1/scripts/config" --file "$1/obj-off/.config" -d "$check_option" \
		-d "${check_option}_KUNIT_TEST"
	for o in on off; do
		k_make "$1" "obj-$o" olddefconfig prepare >"$1/obj-$o.log" 2>&1 || {
			tail -n 20 "$1/obj-$o.log"
			return 1
		}
	done
}

# check_compile TREE OBJ TARGET...: fails if make prints anything; it is silent otherwise.
check_compile()
{
	log=$1/$2.log
	k_make "$@" -j"$k_jobs" >"$log" 2>&1
	rc=$?
	[ "$rc" -eq 0 ] && [ ! -s "$log" ] && return
	head -n 20 "$log"
	return 1
}

# sparse_lines TREE OBJECT...: the reports of sparse, without line numbers.  Skips C files that are
# included by another one and therefore have no object.
sparse_lines()
{
	sparse_tree=$1
	shift
	for o; do
		grep -qw "${o##*/}" "$sparse_tree/${o%/*}/Makefile" &&
			[ -f "$sparse_tree/${o%.o}.c" ] || continue
		k_make "$sparse_tree" obj-on C=2 "$o" 2>&1
	done | grep -E '(warning|error):' | sed 's/:[0-9]*:[0-9]*:/:/' | sort
}

# check_sparse TREE OBJECTS: fails on reports that the unpatched kernel does not have.
check_sparse()
{
	# shellcheck disable=SC2086 # a list of words
	sparse_lines "$1" $2 >"$1.sparse"
	comm -13 "$1.sparse.base" "$1.sparse" >"$1.sparse.new"
	[ ! -s "$1.sparse.new" ] || {
		head -n 20 "$1.sparse.new"
		return 1
	}
}

# verdict NAME WHAT COMMAND...: runs it and prints the result, with its output if it failed.
verdict()
{
	verdict_name=$1
	what=$2
	shift 2
	if said=$("$@"); then
		echo "ok   $verdict_name: $what"
		printf '%s\tOK\t1\t0\t0\n' "$verdict_name" >>"$out/check.results"
	else
		echo "FAIL $verdict_name: $what"
		printf '%s\n' "$said" | sed 's/^/    /'
		printf '%s\tFAIL\t0\t1\t0\n' "$verdict_name" >>"$out/check.results"
	fi
}

# check_tools TREE PATCH...: builds the user space programs that the series adds.
check_tools()
{
	tools_tree=$1
	shift
	for p; do
		touched "$p" | sed -n 's|^\(tools/tracing/.*\)/Makefile$|\1|p'
	done | while read -r d; do
		make -C "$tools_tree/$d" -s --no-print-directory 2>&1 || echo "$d does not build"
	done | (! grep .)
}

# check_style TREE PATCH: runs in the tree, which is no git repository: in one, checkpatch reports
# more.
check_style()
{
	(cd "$1" && perl scripts/checkpatch.pl --strict --no-summary --terse --showfile \
		--ignore "$check_ignored" -) <"$2" 2>&1 | grep -vE "$check_layout" | (! grep .)
}

k_check()
{
	set -- kernel/*.patch
	[ -e "$1" ] || k_die "there are no patches in kernel/"
	tree=$k_cache/check
	mkdir -p "$out" "$k_cache"
	: >"$out/check.results"
	rm -rf "$tree" "$tree".*
	unpack_source "$tree"
	check_configs "$tree" || return 1
	all=
	for p; do
		all="$all $(objects_of "$tree" "$p")"
	done
	# shellcheck disable=SC2086 # a list of words
	sparse_lines "$tree" $(printf '%s\n' $all | sort -u) >"$tree.sparse.base"
	for p; do
		name=$(basename "$p" .patch)
		verdict "$name" "checkpatch --strict, without $check_ignored" \
			check_style "$tree" "$p"
		apply_patch "$tree" "$p"
		check_configs "$tree" || return 1
		dirs=$(directories_of "$tree" "$p" | tr '\n' ' ')
		for o in on off; do
			# shellcheck disable=SC2086 # a list of words
			verdict "$name" "$dirs with the option $o" \
				check_compile "$tree" "obj-$o" $dirs
		done
		verdict "$name" "sparse on the files it touches" \
			check_sparse "$tree" "$(objects_of "$tree" "$p")"
	done
	for o in on off; do
		verdict series "a whole kernel with the option $o" \
			check_compile "$tree" "obj-$o" bzImage
	done
	verdict series "its programs" check_tools "$tree" "$@"
	rm -rf "$tree" "$tree".*
	summary "$out/check.results"
}
