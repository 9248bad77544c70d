# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Checks the patches of the series in order.  "style": checkpatch reports nothing.  "patches": each
# compiles without a warning with its option on and off, and sparse reports nothing; then two whole
# kernels are built.  The rows: the series with other options and for other architectures.

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

# check_styles PATCH...: each in the tree that it applies to
check_styles()
{
	tree=$k_cache/style
	rm -rf "$tree" "$tree".*
	unpack_source "$tree"
	for p; do
		verdict "$(basename "$p" .patch)" \
			"checkpatch --strict, without $check_ignored" check_style "$tree" "$p"
		apply_patch "$tree" "$p"
	done
	rm -rf "$tree" "$tree".*
}

# check_patches PATCH...: one after the other
check_patches()
{
	tree=$k_cache/check
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
}

# ---- other options, other architectures ----------------------------------------------------------

# What the series is compiled for: NAME|ARCH|WORD..., where a WORD is an option that is set beyond
# those of kernel/config.check, or with a minus one of those that is left out.
check_rows()
{
	cat <<-EOT
	rt|x86_64|64BIT PREEMPT_RT
	context-tracking|x86_64|64BIT NO_HZ_FULL
	ia32|x86_64|64BIT IA32_EMULATION
	latency|x86_64|64BIT IRQSOFF_TRACER PREEMPT PREEMPT_TRACER HWLAT_TRACER KGDB KGDB_KDB
	small|x86_64|64BIT -SMP -MODULES -KALLSYMS -TRACER_SNAPSHOT -KSM -PERF_EVENTS \
		-FTRACE_SYSCALLS -KPROBES -KPROBE_EVENTS -UPROBES -UPROBE_EVENTS
	i386|i386|
	arm64|arm64|
	um|um|64BIT -SMP -JUMP_LABEL -PERF_EVENTS -FUNCTION_TRACER -FUNCTION_GRAPH_TRACER \
		-DYNAMIC_FTRACE -FTRACE_SYSCALLS -KPROBES -KPROBE_EVENTS -UPROBES -UPROBE_EVENTS
	EOT
}

row_names()
{
	check_rows | cut -d '|' -f 1
}

# row_fragment WORD...: the options of a row.
row_fragment()
{
	left_out=:
	for w; do
		left_out=$left_out${w#-}:
	done
	awk -F = -v out="$left_out" 'index(out, ":" substr($1, 8) ":") == 0' kernel/config.check
	for w; do
		[ "${w#-}" != "$w" ] || echo "CONFIG_$w=y"
	done
}

# said_of_ours LOG PATCH...: the lines of a build with W=1 that name a file that the series adds, or
# a C file that it changes; the kernel has warnings of its own.
said_of_ours()
{
	log=$1
	shift
	for p; do
		touched "$p" | grep '\.c$'
		sed -n '/^--- \/dev\/null/{ n; s|^+++ b/||p }' "$p"
	done | sort -u | sed 's/\.[ch]$/./' >"$log.ours"
	grep -F -A 3 -f "$log.ours" "$log"
}

# row_targets PATCH...: what is compiled for a row: where the series is, and where it is called from
row_targets()
{
	echo kernel/trace/ kernel/entry/
	for p; do
		objects_of - "$p"
	done | grep -v '^kernel/trace/' | sort -u
}

# needs_libgcc TREE OBJ: the objects that divide 64 bit numbers by functions of the compiler's
# library, which the kernel does not have on 32 bit
needs_libgcc()
{
	find "$1/$2/kernel/trace" -name '*.o' | while read -r o; do
		"${k_cross}nm" -u "$o" | grep -E ' __(u?div|u?mod)[a-z0-9]*[dt]i[34]$' |
			sed "s|^|${o#"$1/$2/"}:|"
	done | grep .
}

# check_row TREE NAME ARCH WORD...: compiles the series; fails on a warning about it.
check_row()
{
	row_tree=$1
	obj=obj-check-$2
	use_arch "$3"
	shift 3
	mkdir -p "$row_tree/$obj"
	row_fragment "$@" >"$row_tree/$obj/fragment"
	merge_fragments "$row_tree" "$obj" "$obj/fragment" 2>&1 || return 1
	! rejected "$row_tree" "$obj" || return 1
	log=$row_tree/$obj/log
	# shellcheck disable=SC2046 # a list of words
	k_make "$row_tree" "$obj" -j"$k_jobs" W=1 $(row_targets kernel/*.patch) >"$log" 2>&1 || {
		grep -E -B 2 -A 3 'error|Error' "$log" | head -n 40
		return 1
	}
	! said_of_ours "$log" kernel/*.patch | head -n 40 | grep . || return 1
	! needs_libgcc "$row_tree" "$obj" || return 1
	[ -n "${KERNEL_TREE:-}" ] || rm -rf "${row_tree:?}/$obj"
}

# check_other NAME: the row of this name
check_other()
{
	other_tree=$(k_source) || exit 1
	check_rows | while IFS='|' read -r name arch words; do
		[ "$name" = "$1" ] || continue
		# shellcheck disable=SC2086 # a list of words
		verdict series "W=1, row $name" check_row "$other_tree" "$name" "$arch" $words
	done
}

# ---- all of it ----------------------------------------------------------------------------------

# check_parts: their names
check_parts()
{
	echo style
	echo patches
	row_names
}

# k_check PART
k_check()
{
	check_parts | grep -qx -e "$1" || k_die "check knows: $(check_parts | xargs), not '$1'"
	part=$1
	set -- kernel/*.patch
	[ -e "$1" ] || k_die "there are no patches in kernel/"
	mkdir -p "$out" "$k_cache"
	: >"$out/check.results"
	case $part in
	style) check_styles "$@" ;;
	patches) check_patches "$@" ;;
	*) check_other "$part" ;;
	esac || return 1
	summary "$out/check.results"
}
