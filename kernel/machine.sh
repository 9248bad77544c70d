# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Test machines for the kernels of the series.  A test is kernel/tests/NAME.sh; comments at its top
# state what it needs (kernel/README.md).  Tests that need the same machine share one boot.

# A data race report is about the series if it names one of these; mm/filemap.c has names that begin
# alike, so those of the series are listed.
k_filemap=$(sed -n 's/^+[a-z].*[ *]\(filemap_[a-z0-9_]*\)(.*/\1/p' kernel/*.patch | sort -u |
	paste -s -d '|')
k_ours='stackmap|stack_map|file_map|file_desc_|file_key_|ustack_|user_stack|rmap_walk|trace_filemap'
k_ours="$k_ours|($k_filemap)[+]"
# Error messages of the kernel, other than data races and memory leaks.
k_splats='BUG: |WARNING: |Oops|kernel BUG|general protection|Kernel panic|INFO: task|rcu: INFO'
k_splats="$k_splats|possible (recursive|circular|irq|deadlock)|inconsistent lock|suspicious RCU"
k_splats="$k_splats|sleeping function|scheduling while atomic|trying to register non-static"
k_splats="$k_splats|held lock freed|bad unlock balance"

# ---- what a test needs --------------------------------------------------------------------------

test_names()
{
	for t in kernel/tests/*.sh; do
		case $(basename "$t") in
		lib*.sh | *.host.sh | *.after.sh | '*.sh') ;;
		*) basename "$t" .sh ;;
		esac
	done
}

# need_of TEST WORD: the value of WORD=VALUE among the test's needs, or WORD itself if it has no
# value.
need_of()
{
	[ -f "kernel/tests/$1.sh" ] || return 0
	line=$(sed -n 's/^# needs: //p' "kernel/tests/$1.sh" | tr '\n' ' ')
	case $2 in
	append | qemu)
		printf '%s\n' "$line" | sed -n "s/.*$2=\"\([^\"]*\)\".*/\1/p"
		return
		;;
	esac
	printf '%s\n' "$line" | sed 's/[a-z]*="[^"]*"//g' | tr ' ' '\n' |
		sed -n "s/^$2=//p; s/^$2\$/$2/p" | head -n 1
}

# variants_of TEST
variants_of()
{
	v=$(need_of "$1" variant)
	case $1 in
	kunit) v=default,debug,kcsan,rt ;;
	esac
	case ${v:-default} in
	all) echo default debug kcsan ;;
	*) echo "${v:-default}" | tr ',' ' ' ;;
	esac
}

# machine_of TEST VARIANT: describes the machine that the test needs; tests with the same share a
# boot.
machine_of()
{
	smp=$(need_of "$1" smp)
	mem=$(need_of "$1" mem)
	accel=$(need_of "$1" accel)
	# its threads race
	[ "$1" != kunit ] || accel=multi
	alone=
	[ -z "$(need_of "$1" alone)$(need_of "$1" crash)" ] || alone=$1
	mem=${mem:-1024}
	[ "$2" != debug ] || mem=$((mem * 2))
	printf '%s|%s|%s|%s|%s|%s|%s|%s\n' "$2" "${accel:-single}" "${smp:-2}" "$mem" \
		"$(need_of "$1" live)" "$alone" "$(need_of "$1" append)" "$(need_of "$1" qemu)"
}

# ---- the machine --------------------------------------------------------------------------------

# compile_tests ROOT: compiles each kernel/tests/NAME.c to a program, NAME32.c to a 32 bit one.
compile_tests()
{
	for c in kernel/tests/*.c; do
		case $c in
		*32.c) how="-m32 -nostdlib -fno-stack-protector -fno-pie" ;;
		*) how="-pthread -D_GNU_SOURCE -Isrc/include -Ikernel/tests" ;;
		esac
		# shellcheck disable=SC2086 # a list of words
		gcc -std=gnu17 -O2 -g0 -static -Wall -Wextra -Werror $how \
			-o "$1/tests/$(basename "$c" .c)" "$c" || k_die "$c does not compile"
	done
}

# make_k_initramfs BUILD OUT: writes OUT.cpio, which every machine gets.
make_k_initramfs()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-kernel.XXXXXX")
	base_root "$root"
	mkdir -p "$root/tests" "$root/live"
	cp kernel/init "$root/init"
	chmod 755 "$root/init"
	for f in kernel/tests/*; do
		case $f in
		*.c | *.h | *.host.sh | *.after.sh | 'kernel/tests/*') ;;
		*) cp -r "$f" "$root/tests/" ;;
		esac
	done
	compile_tests "$root"
	add_program "$root" "$1/src/cmd/stackonce" /usr/bin/stackonce
	pack_root "$root" "$2.cpio"
}

# make_live BUILD OUT: writes the archive that is appended to it for live tests.
make_live()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-kernel.XXXXXX")
	live_root "$root" "$1"
	pack_root "$root" "$2"
}

# image_cpio IMAGE OUT: writes an archive with the kernel's modules and selftests.
image_cpio()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-kernel.XXXXXX")
	mkdir -p "$root/live/prog"
	cp -r "$1/selftests" "$root/selftests"
	cp "$1"/modules/*.ko "$root/live/prog/" 2>/dev/null || :
	pack_root "$root" "$2"
}

# k_qemu DIR MACHINE IMAGE APPEND ARG...: becomes qemu, with a second memory node without CPUs.
# With one thread per CPU (accel=multi) the CPUs run in parallel, which race tests need; but then
# qemu lets a CPU execute a half-patched instruction while the function tracer is switched.
k_qemu()
{
	IFS='|' read -r _ accel smp mem live _ words more <<-EOT
	$2
	EOT
	image_cpio "$3" "$1/image.cpio"
	if [ -n "$live" ]; then
		cat "$out/initramfs.cpio" "$out/initramfs-live.cpio" "$1/image.cpio" >"$1/initramfs"
	else
		cat "$out/initramfs.cpio" "$1/image.cpio" >"$1/initramfs"
	fi
	rm -f "$1/image.cpio"
	kernel=$3/bzImage
	append="console=ttyS0 loglevel=5 panic=-1 numa_balancing=disable no_timer_check"
	append="$append watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300"
	append="$append sysctl.kernel.hung_task_timeout_secs=600"
	# In PREEMPT_RT a thread serves many interrupts of the emulated serial lines at once; the
	# kernel would take those for interrupts that nobody serves, and switch the line off.
	append="$append noirqdebug"
	append="$append stackonce.variant=${2%%|*} stackonce.slow=$(slowness "${2%%|*}") $4 $words"
	initramfs=$1/initramfs
	shift 4
	# shellcheck disable=SC2086 # more are words
	exec qemu-system-x86_64 -accel "tcg,thread=$accel" -cpu max -smp "$smp" -m "$mem" \
		-object memory-backend-ram,id=m0,size="$((mem - 256))M" \
		-numa "node,nodeid=0,memdev=m0,cpus=0-$((smp - 1))" \
		-object memory-backend-ram,id=m1,size=256M -numa node,nodeid=1,memdev=m1 \
		-display none -no-reboot -net none -kernel "$kernel" -initrd "$initramfs" \
		-append "$append" $more "$@"
}

# host_part TEST DIR MACHINE-PID: runs TEST.host.sh for as long as the machine runs TEST.
host_part()
{
	until grep -qa "vm: begin $1[[:space:]]" "$2/console" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null || return
		sleep 0.2
	done
	sh "kernel/tests/$1.host.sh" "$2/monitor.in" "$2/console" >"$2/$1.host.log" 2>&1 &
	part=$!
	until grep -qa "vm: done $1[[:space:]]" "$2/console"; do
		kill -0 "$3" 2>/dev/null || break
		sleep 0.2
	done
	end_child TERM "$part"
}

# ---- one boot -----------------------------------------------------------------------------------

# slowness VARIANT: the factor for timeouts.
slowness()
{
	case $1 in
	default | rt | bpf | fp) echo "${SLOW:-1}" ;;
	*) echo $((3 * ${SLOW:-1})) ;;
	esac
}

# boot_limit VARIANT TESTS: seconds without a result after which a machine is killed.
boot_limit()
{
	sum=600
	for t in $2; do
		own=$(sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "kernel/tests/$t.sh" 2>/dev/null)
		[ "$t" != selftests ] || own=600
		sum=$((sum + ${own:-120}))
	done
	echo $((sum * $(slowness "$1")))
}

# splats CONSOLE: the first line of each error message of the kernel.  In the two stacks of a data
# race, frames below an interrupt entry are ignored: the interrupted code takes no part in the race.
# So are those below lock_vma_under_rcu(), which reads a tree that others change, and finds out
# itself that it has read a node that is freed.  A memory leak (kernel/init) is about the series if
# the stack of its allocation is.
splats()
{
	tr -d '\r' <"$1" | awk -v ours="$k_ours" -v splats="$k_splats" '
		/BUG: KCSAN/ { race = $0; taking_part = 1 }
		race != "" {
			if (/ to 0x[0-9a-f]* of [0-9]* bytes by /)
				taking_part = 1
			if (taking_part && $0 ~ ours) {
				print race
				race = ""
			} else if (/ asm_(sysvec|exc|common)_| lock_vma_under_rcu[+]/)
				taking_part = 0
			else if (/==================/)
				race = ""
			next
		}
		/kmemleak: / {
			if (/unreferenced object/) {
				leak = $0
			} else if (leak != "" && /[+]0x/ && $0 ~ ours) {
				print leak
				leak = ""
			}
			next
		}
		$0 ~ splats { print }' | head -n 20
}

# others CONSOLE WHAT: the number of reports that are not about the series.
others()
{
	echo $(($(grep -ca "$2" "$1") - $(splats "$1" | grep -c "$2")))
}

# lines_of DIR TESTS: writes one line per result; a test without one did not finish.
lines_of()
{
	if [ ! -s "$1/lines" ]; then
		tr -d '\r' <"$1/console" | grep -aoE '(ok  |skip|FAIL) [^ ]+: .*' >"$1/lines" || :
	fi
	for t in $2; do
		grep -qE "^(ok  |skip|FAIL) $t[:/]" "$1/lines" && continue
		if [ -n "$(need_of "$t" crash)" ] && [ -f "kernel/tests/$t.after.sh" ]; then
			echo "ok   $t: the machine crashed, as expected" >>"$1/lines"
		else
			echo "FAIL $t: the machine died before the test ended" >>"$1/lines"
		fi
	done
}

# after_parts DIR TESTS IMAGE: runs the parts of tests on the host that check what the machine sent.
after_parts()
{
	for t in $2; do
		[ -f "kernel/tests/$t.after.sh" ] && grep -q "^ok   $t:" "$1/lines" || continue
		mkdir -p "$1/$t"
		rc=0
		STACKONCE=$build/src/cmd/stackonce KERNEL_IMAGE=$3 sh "kernel/tests/$t.after.sh" \
			"$1/$t" "$1/console" >"$1/$t.after.log" 2>&1 || rc=$?
		note=$(sed -n 's/^# //p' "$1/$t.after.log" | tail -n 1 | tr '|&\\' '   ')
		[ "$rc" -ne 77 ] || [ -n "$note" ] || rc=1
		case $rc in
		0) sed -i "s|^\(ok   $t:.*\)|\1 $note|" "$1/lines" ;;
		77) sed -i "s|^ok   $t:.*|skip $t: $note|" "$1/lines" ;;
		*)
			sed -i "s|^ok   $t:.*|FAIL $t: the part on the host: exit status $rc|" \
				"$1/lines"
			cat "$1/$t.after.log" >>"$1/$t.log"
			;;
		esac
	done
}

# k_boot NAME MACHINE IMAGE TESTS
k_boot()
{
	dir=$out/$1
	rm -rf "$dir"
	mkdir -p "$dir"
	started=$(date +%s)
	echo "== $1: $4"
	kunit=0
	case " $4 " in *' kunit '*) kunit=1 ;; esac
	mkfifo "$dir/monitor.in" "$dir/monitor.out"
	: >"$dir/console"
	k_qemu "$dir" "$2" "$3" "stackonce.tests=$(echo "$4" | tr ' ' ',') kunit.enable=$kunit" \
		-chardev "pipe,id=monitor,path=$dir/monitor" -mon chardev=monitor,mode=readline \
		-serial "file:$dir/console" -serial "file:$dir/archive" \
		</dev/null >"$dir/qemu.log" 2>&1 &
	machine=$!
	cat "$dir/monitor.out" >"$dir/monitor.log" &
	drain=$!
	parts=
	for t in $4; do
		[ -f "kernel/tests/$t.host.sh" ] || continue
		host_part "$t" "$dir" "$machine" &
		parts="$parts $!"
	done
	watch_machine "$machine" "$dir" "$(boot_limit "${2%%|*}" "$4")"
	wait "$machine" || :
	machine=
	end_child TERM "$drain"
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$parts" ] || wait $parts 2>/dev/null || :
	rm -f "$dir/monitor.in" "$dir/monitor.out" "$dir/initramfs"
	unpack_archive "$dir" || :
	k_results "$1" "$dir" "$4" "$3"
	echo "$1: $(($(date +%s) - started)) s"
}

# k_results NAME DIR TESTS IMAGE: prints the results and writes them to DIR/results.
k_results()
{
	lines_of "$2" "$3"
	after_parts "$2" "$3" "$4"
	crash=
	for t in $3; do
		crash=$crash$(need_of "$t" crash)
	done
	if [ -z "$crash" ] && [ -n "$(splats "$2/console")" ]; then
		echo "FAIL console: the kernel reports an error ($2/console):" \
			"$(splats "$2/console" | head -n 1)" >>"$2/lines"
	fi
	races=$(others "$2/console" 'BUG: KCSAN')
	[ "$races" -eq 0 ] || echo "$1: $races data races elsewhere in the kernel are ignored"
	leaks=$(others "$2/console" 'kmemleak: unreferenced object')
	[ "$leaks" -eq 0 ] || echo "$1: $leaks memory leaks elsewhere in the kernel are ignored"
	while read -r what line; do
		printf '%s: %-4s %s\n' "$1" "$what" "$line"
		[ "$what" != FAIL ] || tail -n 25 "$2/${line%%[:/]*}.log" 2>/dev/null |
			sed "s/^/$1:     /"
	done <"$2/lines"
	if grep -q ': the machine died' "$2/lines"; then
		cat "$2/qemu.log"
		tail -n 40 "$2/console" | tr -d '\r' | sed "s/^/$1:     /"
	fi
	results_of <"$2/lines" >"$2/results"
	grep '^skip' "$2/lines" | sed "s/^skip /skipped in $1: /" >"$2/skips" || :
}

# ---- all of them --------------------------------------------------------------------------------

# plan VARIANTS TESTS: prints MACHINE<TAB>TEST for the variants in which a test runs.  A test that
# was named on the command line and runs in none of VARIANTS runs in its own variants.
plan()
{
	for v in $1; do
		for t in $2; do
			case " $(variants_of "$t") " in
			*" $v "*) printf '%s\t%s\n' "$(machine_of "$t" "$v")" "$t" ;;
			esac
		done
	done
	[ -n "$named" ] || return 0
	for t in $2; do
		for v in $(variants_of "$t"); do
			case " $1 " in *" $v "*) continue 2 ;; esac
		done
		[ -z "$only" ] || k_die "$t does not run in $only, but in: $(variants_of "$t")"
		for v in $(variants_of "$t"); do
			printf '%s\t%s\n' "$(machine_of "$t" "$v")" "$t"
		done
	done
}

# boot_name VARIANT: sets $name to the variant, with a number from its second boot on.
boot_name()
{
	boots=$((boots + 1))
	[ "$booted" = "$1" ] || boots=1
	booted=$1
	name=$1
	[ "$boots" -eq 1 ] || name=$1-$boots
}

# run_plan FILE
run_plan()
{
	boots=0
	booted=
	cut -f 1 "$1" | awk '!seen[$0]++' >"$1.machines"
	while read -r machine_name <&3; do
		boot_name "${machine_name%%|*}"
		if [ -f "$out/$name/key" ]; then
			echo "== $name: passed before"
			continue
		fi
		image=$(k_build "${machine_name%%|*}") || exit 1
		k_boot "$name" "$machine_name" "$image" "$(
			awk -F '\t' -v m="$machine_name" '$1 == m { print $2 }' "$1" |
				tr '\n' ' ' | sed 's/ $//'
		)"
		grep -q '^FAIL' "$out/$name/lines" || echo "$inputs" >"$out/$name/key"
	done 3<"$1.machines"
}
