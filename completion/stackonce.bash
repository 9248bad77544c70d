# SPDX-License-Identifier: GPL-2.0-only
# bash completion for stackonce(1)

_stackonce_tracefs()
{
	local dir

	for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		if [[ -r $dir/available_events ]]; then
			printf '%s\n' "$dir"
			return
		fi
	done
}

_stackonce_presets()
{
	stackonce list --presets --json 2>/dev/null | sed 's/^{"name":"\([^"]*\)".*/\1/'
}

# Words for what stands after an option, empty when it is free text.
_stackonce_value()
{
	local command=$1 option=$2 cur=$3

	case $command:$option in
	*:-o | *:--output | *:-i | *:--input | *:--kallsyms | *:--trace | *:--flamegraph)
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	record:-e | record:--event)
		local dir
		dir=$(_stackonce_tracefs)
		[[ $dir ]] && COMPREPLY=($(compgen -W "$(<"$dir/available_events")" -- "$cur"))
		# The words hold colons, where readline breaks a word.
		local prefix=${cur%"${cur##*:}"}
		[[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
		;;
	*:--sysroot | *:--debug-dir)
		COMPREPLY=($(compgen -d -- "$cur"))
		;;
	*:-p | *:--pid | *:--tid)
		COMPREPLY=($(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur"))
		;;
	record:-k | record:--clock)
		COMPREPLY=($(compgen -W "mono boot tai" -- "$cur"))
		;;
	record:--backend)
		COMPREPLY=($(compgen -W "auto bpf ftrace" -- "$cur"))
		;;
	record:--preset | latency:--preset)
		COMPREPLY=($(compgen -W "$(_stackonce_presets)" -- "${cur##*,}"))
		[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
		;;
	report:--by)
		COMPREPLY=($(compgen -W "event comm pid tid cpu" -- "${cur##*,}"))
		[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
		;;
	lifecycle:--sort)
		COMPREPLY=($(compgen -W "zombie lifetime teardown free time" -- "$cur"))
		;;
	record:--kernel-unwind)
		COMPREPLY=($(compgen -W "auto orc kernel" -- "$cur"))
		;;
	latency:--stack-of)
		COMPREPLY=($(compgen -W "start end" -- "$cur"))
		;;
	futex:--by)
		COMPREPLY=($(compgen -W "site address comm pid" -- "$cur"))
		;;
	offcpu:--by)
		COMPREPLY=($(compgen -W "stack state comm pid tid" -- "$cur"))
		;;
	offcpu:--state)
		COMPREPLY=($(compgen -W "sleep disk stopped traced idle parked preempted new" \
			-- "${cur##*,}"))
		[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
		;;
	script:--fields)
		COMPREPLY=($(compgen -W "comm pid tid cpu flags time event fields kstack ustack" \
			-- "${cur##*,}"))
		[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
		;;
	esac
}

_stackonce()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local line=${COMP_LINE:0:COMP_POINT} command=${COMP_WORDS[1]} i
	local commands="record info script report stacks latency lifecycle futex offcpu files maps symbolize export import list
		doctor version help"
	local select="--time --event --pid --tid --comm --cpu"
	local reading="-i --input --json -h --help"
	local debug="--sysroot --debug-dir --debuginfod"
	local names="--inline --no-demangle --no-symbols $debug"
	local waits="--no-demangle --no-symbols $debug --by --top --stacks --flamegraph --force"
	local with_value="-i --input -o --output -e --event -F --freq -p --pid --filter -k --clock
		--max-depth --stack-map-bits --stack-pool --buffer-size -d --duration --time --tid
		--comm --cpu --fields --by --top --min --id --kallsyms --trace --sysroot --debug-dir
		--start --end --match --start-if --groups --stack-of --flamegraph --preset --sort
		--unwind-memory --state --backend --kernel-unwind"
	local -A options=(
		[record]="-o --output --force -e --event -F --freq -a --all-cpus -p --pid --filter --preset
			-k --clock --max-depth --stack-map-bits --stack-pool --buffer-size -d --duration
			--no-kernel-stacks --kernel-unwind --user-stacks --no-user-stacks --no-symbols --unwind-memory
			--include-self --idle --backend --fsync -q --quiet -v --verbose
			-h --help"
		[info]="$reading -v --verbose --follow"
		[script]="$reading $select $names --fields --ns --no-stacks --no-header --ids --stacks
			--follow"
		[report]="$reading $select $names --by --top --tree --callees --flamegraph --force --folded --min --kernel --user"
		[latency]="$reading $select $names --start --end --preset --match --start-if --single --by
			--groups --top --linear --stacks --flamegraph --force --stack-of"
		[lifecycle]="$reading $names --time --event --pid --comm --top --sort --tree --threads --stacks"
		[stacks]="$reading $select $names --top --id --kernel --user --follow"
		[futex]="$reading $select $waits"
		[offcpu]="$reading $select $waits --state --min"
		[files]="$reading $select --verify --sysroot"
		[maps]="-p --pid --json -h --help"
		[symbolize]="$reading $debug -o --output --force -q --quiet"
		[export]="-o --output --force -q --quiet -h --help"
		[import]="-o --output --force --kallsyms --trace -q --quiet -h --help"
		[list]="-v --verbose --presets --json -h --help"
		[doctor]="--json -h --help"
		[version]="--json -h --help"
	)

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		return
	fi
	# A word with colons comes in pieces: put it together again.
	if [[ $prev == : || $cur == : ]]; then
		cur=${line##*[[:space:]]}
		for ((i = COMP_CWORD; i > 1; i--)); do
			[[ ${COMP_WORDS[i]} == -* ]] && break
		done
		prev=${COMP_WORDS[i]}
	fi
	if [[ " "${with_value//[$'\t\n']/ }" " == *" $prev "* ]]; then
		_stackonce_value "$command" "$prev" "$cur"
		return
	fi
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "${options[$command]}" -- "$cur"))
		return
	fi
	case $command in
	help)
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		;;
	export | import)
		((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "fsmb" -- "$cur"))
		((COMP_CWORD > 2)) && COMPREPLY=($(compgen -f -- "$cur"))
		;;
	list)
		prev=-e
		_stackonce_value record -e "$cur"
		;;
	record | info | script | report | stacks | latency | lifecycle | futex | offcpu | files | symbolize)
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	esac
}
complete -o filenames -F _stackonce stackonce
