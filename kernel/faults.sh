# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Faults that the tests must find: each is put into a copy of the series, and all of the tests that
# are named for it have to fail.  What the faults were is in kernel/README.md.  Those that make a
# test hang are not among them.

all_faults()
{
	fault key-leak trace.c \
		's/if (enabled && (mask & USER_STACKMAP_FLAGS) &&$/if (enabled \&\&/' \
		ustack_test_static_key
	fault key-stays trace_ustack.c \
		's/^\tstatic_branch_dec(&trace_ustack_key);/\t;/' \
		ustack_test_static_key ustack_test_key_removed
	fault hit-writes trace_stackmap.c \
		's/^\treturn map->base + stack->offset;/\tatomic_inc(\&map->races);\n&/' \
		stackmap_test_hit_writes_nothing stackmap_test_event_writes_nothing
	fault overwritten trace_filemap.c \
		's/if (overrun != READ_ONCE(mark->overrun) &&/if (0 \&\&/' \
		user_overwrite filemap_test_moved filemap_test_lap
	fault subbuf-epoch trace.c \
		'/^buffer_subbuf_size_write/,/^}/s/trace_filemap_ring_reset(tr);/;/' \
		user_subbuf
	fault snapshot-epoch trace.c \
		'/^update_max_tr/,/^}/s/trace_filemap_ring_reset(tr);/;/' \
		user_snapshot
	fault no-epoch trace_filemap.c \
		'/^void trace_filemap_ring_reset/,/^}/s/if (fm)/if (0)/' \
		user_subbuf user_snapshot user_files
	fault dump-ids trace_ustack_output.c \
		's/if (paths)/if (0)/' \
		user_dump
	fault full-ring trace_stackmap.c \
		's/return \(stackmap_admits(map, stack, reason)\);/return \1 || true;/' \
		stackmap_test_full_ring
	fault after-exit ../exit.c \
		'/^\ttrace_ustack_exit();$/d
			s/^\texit_mm();$/&\n\ttrace_ustack_exit();/' \
		user_life
	fault after-exec ../../fs/exec.c \
		'/^\ttrace_ustack_exec();$/d' \
		user_life
	fault no-flush trace_ustack.c \
		's/if (!flush.slot || /if (1 || /' \
		user_stop
	fault entry-locks trace_ustack_walk.c \
		's/v->vma = lock_vma_under_rcu(mm, addr);/v->vma = NULL;/' \
		user_entries
	fault entry-allocates trace_ustack.c \
		's/if (static_branch_likely(&trace_ustack_key))$/if (0)/' \
		user_entries
	fault unmapped-locks trace_ustack_walk.c \
		's/if (!ustack_is_mapped(mm, addr))/if (0)/' \
		user_entries
	fault build-id-waits trace_filemap.c \
		's/build_id_parse_file_nofault(/build_id_parse_file(/' \
		filemap_test_unread
	fault stack-file-waits trace_ustack_walk.c \
		's/(vma_is_anonymous(vma) || vma_is_shmem(vma));/true;/' \
		ustack_test_stack_in_file
	fault taking-uncounted trace_ustack.c \
		's/return smp_load_acquire(&t->taking) & BIT(slot);/return false;/' \
		ustack_test_taking
	fault no-owner trace_filemap.c \
		's/owner = owner_id ? filemap_owner_find(fm, owner_id) : NULL;/owner = NULL;/' \
		user_limits filemap_test_owner
	fault not-charged trace_filemap.c \
		's/gfp | __GFP_ACCOUNT/gfp/' \
		user_memory
	fault any-root trace_filemap.c \
		's/if (ns == mount_ns_of(&init_task))/if (1)/' \
		filemap_test_no_namespace user_limits
	fault leaderless trace_filemap_fs.c \
		's/for_each_thread(task, thread) {/for (thread = task; thread; thread = NULL) {/' \
		user_leaderless
	fault module-gone trace_stackmap_modules.c \
		's/WRITE_ONCE(changed->flags, record->flags . STACKMAP_GONE);/(void)changed;/' \
		modules stackmap_test_module_gone
	fault reset-open trace_stackmap_fs.c \
		's/tracing_reset_and_hold(tr);/tracing_reset_online_cpus(\&tr->array_buffer);/
			s/tracing_unhold(tr);/;/' \
		stackmap_test_reset_holds
	fault reset-running trace_stackmap_fs.c \
		's/if (tracer_tracing_is_on(tr))$/if (0)/' \
		stackmap_test_reset_refused
	fault reset-offline trace.c \
		'/^void tracing_reset_and_hold/,/^}/s/_all_cpus(&tr->arr/_online_cpus(\&tr->arr/' \
		stackmap_stale.tc
	fault reset-one trace.c \
		'/^void tracing_reset_and_hold/,/^}/s/tracing_reset_all_cpus(&tr->max_buffer);/;/' \
		reset_snapshot
	fault return-probe trace_ustack_walk.c \
		's/if (ri->stack == slot)/if (0)/' \
		user_uretprobe
	fault map-kept trace_stackmap.c \
		's/if (!map || trace_stackmap_is_used/if (1 || trace_stackmap_is_used/' \
		given_back
	fault user-map-kept trace_ustack.c \
		'/^void trace_ustack_give_back/,/^}/s/if (!tr->ustack_slot/if (1/' \
		ustack_test_given_back given_back
	fault preempt-off trace_ustack.c \
		's/(buffer, type, size, s->trace_ctx);/(buffer, type, size, tracing_gen_ctx());/' \
		user_offsets
	fault refs-wrap trace_stackmap.c \
		's/return min_t(u64, sum, U32_MAX);/return sum;/' \
		stackmap_test_refs_saturate
	fault last-entry trace_stackmap.c \
		'/^static bool index_take/,/^}/s/if (indexes > map->max_entries)/if (0)/' \
		stackmap_test_last_entry
	fault exception-split trace_stackmap.c \
		's/^\(#define INTERRUPT_ENTRIES\t\)asm_common_interrupt/\1__entry_text_start/' \
		stackmap_test_split
	fault every-reset trace_ustack.c \
		's/ || tries >= USTACK_MAX_TRIES/ || (0 \&\& tries)/' \
		ustack_test_resets
	fault flush-all trace_ustack.c \
		's/return f->written < ring_buffer_size(buffer, /return 1 || ring_buffer_size(buffer, /' \
		user_left_out ustack_test_flush_room
	fault read-holes trace_ustack_walk.c \
		's/ && sp >= range->start && sp < range->end &&$/ \&\&/' \
		user_hole ustack_test_read_in
}

# fault_tree: prints the path of a copy of the patched source.
fault_tree()
{
	tree=$k_cache/faults-$(source_key)
	if [ ! -d "$tree" ]; then
		rm -rf "$k_cache"/faults-*
		source=$(k_source) || return 1
		mkdir "$tree.new"
		tar -C "$source" -cf - --exclude='./obj*' . | tar -C "$tree.new" -xf -
		mv "$tree.new" "$tree"
	fi
	echo "$tree"
}

# run_of TEST: what `test` calls it: a KUnit test has "_test_" in its name, a selftest ends with .tc
run_of()
{
	case $1 in
	*_test_*) echo kunit ;;
	*.tc) echo selftests ;;
	*) echo "$1" ;;
	esac
}

# not_found TEST...: the tests that have not failed; a kernel that dies has failed them.
not_found()
{
	for t; do
		failed="(kunit/[a-z-]+\.|selftests/)?${t%.tc}:|$(run_of "$t"): the machine died"
		grep -qsE "^FAIL ($failed)" "$out"/*/lines || echo "$t"
	done | xargs
}

# fault NAME FILE SCRIPT TEST...: if it is selected, changes a file of kernel/trace by sed, and runs
# the tests.
fault()
{
	case " $selected " in
	*" $1 "* | '  ') ;;
	*) return 0 ;;
	esac
	name=$1
	file=$KERNEL_TREE/kernel/trace/$2
	cp "$file" "$file.right"
	sed -i "$3" "$file"
	! cmp -s "$file" "$file.right" || k_die "fault $name: $2 has no such text"
	shift 3
	drop_boots
	(run_tests default "$(for t; do run_of "$t"; done | sort -u | xargs)") \
		>"$out/$name.log" 2>&1 || :
	cp "$file.right" "$file"
	rm "$file.right"
	passed=$(not_found "$@")
	if [ -z "$passed" ]; then
		echo "ok   $name: found by $*"
	else
		echo "FAIL $name: not found by $passed, see $out/$name.log"
	fi
	printf '%s\t%s\n' "$name" "${passed:+FAIL}" >>"$out/faults.results"
}

# cmd_faults [NAME...]
cmd_faults()
{
	# a kernel that has died is not waited for as long as one that may be slow
	boot_limit()
	{
		echo $((420 * ${SLOW:-1}))
	}
	selected=$*
	named=1
	only=
	begin_tests || return 1
	KERNEL_TREE=$(fault_tree) || return 1
	# of a run that was interrupted
	find "$KERNEL_TREE/kernel" -name '*.right' | while read -r f; do
		mv "$f" "${f%.right}"
	done
	: >"$out/faults.results"
	all_faults
	awk '{ n++; missed += $2 == "FAIL" } END { print n + 0, "faults,", missed + 0, "not found"
		exit !n || missed }' "$out/faults.results"
}
