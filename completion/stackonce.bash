# SPDX-License-Identifier: GPL-2.0-only
# bash completion for stackonce(1).  The build inserts the options of all commands.

# Lines of `stackonce help --options`: command, letter, long name, value, words, help; "-" is empty.
_stackonce_options()
{
	cat <<'END'
@OPTIONS@
END
}

_stackonce_events()
{
	local cur=$1 dir

	for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[[ -r $dir/available_events ]] && break
	done
	[[ -r $dir/available_events ]] || return
	COMPREPLY=($(compgen -W "$(<"$dir/available_events")" -- "$cur"))
	# Event names contain colons, where readline breaks a word.
	local prefix=${cur%"${cur##*:}"}
	[[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}

# Completes a value, VALUE in --help: one or several of WORDS, a file and so on.
_stackonce_value()
{
	local value=$1 words=$2 cur=$3

	if [[ $words != - && ($value == LIST || $value == *,...) ]]; then
		COMPREPLY=($(compgen -W "${words//,/ }" -- "${cur##*,}"))
		[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
		return
	elif [[ $words != - ]]; then
		COMPREPLY=($(compgen -W "${words//,/ }" -- "$cur"))
		return
	fi
	case $value in
	*FILE* | *.svg | INPUT | OUTPUT | '[COMMAND]')
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	DIR)
		COMPREPLY=($(compgen -d -- "$cur"))
		;;
	EVENT* | '[GLOB'*)
		_stackonce_events "$cur"
		;;
	PID* | TID*)
		COMPREPLY=($(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur"))
		;;
	esac
}

_stackonce()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local line=${COMP_LINE:0:COMP_POINT} i commands=" " options="" operands=()
	local command letter long value words

	COMPREPLY=()
	# Join the pieces of a word with colons.
	if [[ $prev == : || $cur == : ]]; then
		cur=${line##*[[:space:]]}
		for ((i = COMP_CWORD; i > 1; i--)); do
			[[ ${COMP_WORDS[i]} == -* ]] && break
		done
		prev=${COMP_WORDS[i]}
	fi
	while IFS=$'\t' read -r command letter long value words _; do
		[[ $commands == *" $command "* ]] || commands+="$command "
		[[ $command == "${COMP_WORDS[1]}" ]] || continue
		if [[ $long == - ]]; then
			operands+=("$value"$'\t'"$words")
			continue
		fi
		if [[ $value != - && $value != '['* && $prev == -?* &&
			($prev == "$long" || $prev == "$letter") ]]; then
			_stackonce_value "$value" "$words" "$cur"
			return
		fi
		options+=" $long"
		[[ $letter == - ]] || options+=" $letter"
	done < <(_stackonce_options)
	if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help && $cur != -* ]]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif ((${#operands[@]})); then
		((i = COMP_CWORD == 2 ? 0 : ${#operands[@]} - 1))
		IFS=$'\t' read -r value words <<<"${operands[i]}"
		_stackonce_value "$value" "$words" "$cur"
	fi
}
complete -o filenames -F _stackonce stackonce
