# SPDX-License-Identifier: GPL-2.0-only
# bash completion for stackonce(1).  The build inserts the options of all commands.

# Lines of `stackonce help --options`: command, letter, long name, value, words, help, range;
# "-" is empty.
_stackonce_options()
{
	cat <<'END'
@OPTIONS@
END
}

# Sets `lines` to them.  Bash reads a pipe byte by byte with `read` and mapfile, but not here.
_stackonce_lines()
{
	local - IFS=$'\n'

	set -f
	lines=($(_stackonce_options))
}

# The last event of a list: "system:name", "system", or the name alone.
_stackonce_events()
{
	local cur=$1 last=${1##*,} dir events=()

	for dir in "$STACKONCE_TRACEFS" /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[[ -r $dir/available_events ]] && break
	done
	[[ -r $dir/available_events ]] || return
	mapfile -t events <"$dir/available_events"
	[[ $last == *:* ]] || events+=("${events[@]##*:}")
	COMPREPLY=($(compgen -W "${events[*]}" -- "$last" | sort -u))
	((${#COMPREPLY[@]})) || return
	[[ $cur == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/"${cur%,*},"}")
	# Event names contain colons, where readline breaks a word.
	local prefix=${cur%"${cur##*:}"}
	[[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}

# Completes COMMAND of `stackonce record`, or its arguments as COMMAND's own completion does.
# VALUED: the options that have a value, with blanks around each.
_stackonce_command()
{
	local valued=$1 cur=$2 i

	# Find COMMAND; readline breaks values at colons and equals signs.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && ((i++)) && break
		[[ ${COMP_WORDS[i]} == -?* ]] || break
		if [[ ${COMP_WORDS[i + 1]} == = ]]; then
			((i += 2))
		elif [[ $valued == *" ${COMP_WORDS[i]} "* ]]; then
			((i++))
		else
			continue
		fi
		while [[ ${COMP_WORDS[i + 1]} == : ]]; do ((i += 2)); done
	done
	if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	elif ((i < COMP_CWORD)) || [[ $cur == */* ]]; then
		COMPREPLY=($(compgen -f -- "$cur"))
	else
		COMPREPLY=($(compgen -c -- "$cur" | sort -u))
	fi
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
	*FILE* | *.svg | *.sqlite | INPUT | OUTPUT | A | B)
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	DIR | PATH)
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
	local lines entry command letter long value words valued=" "

	COMPREPLY=()
	# Join the pieces of a word with colons.
	if [[ $prev == : || $cur == : ]]; then
		cur=${line##*[[:space:]]}
		for ((i = COMP_CWORD; i > 1; i--)); do
			[[ ${COMP_WORDS[i]} == -* ]] && break
		done
		prev=${COMP_WORDS[i]}
	fi
	_stackonce_lines
	for entry in "${lines[@]}"; do
		command=${entry%%$'\t'*}
		[[ $commands == *" $command "* ]] || commands+="$command "
		[[ $command == "${COMP_WORDS[1]}" ]] || continue
		IFS=$'\t' read -r _ letter long value words _ <<<"$entry"
		if [[ $long == - ]]; then
			operands+=("$value"$'\t'"$words")
			continue
		fi
		if [[ $value != - && $value != '['* && $prev == -?* &&
			($prev == "$long" || $prev == "$letter") ]]; then
			_stackonce_value "$value" "$words" "$cur"
			return
		fi
		[[ $value == - || $value == '['* ]] || valued+="$long $letter "
		options+=" $long"
		[[ $letter == - ]] || options+=" $letter"
	done
	if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help && $cur != -* ]]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif ((${#operands[@]})); then
		((i = COMP_CWORD == 2 ? 0 : ${#operands[@]} - 1))
		IFS=$'\t' read -r value words <<<"${operands[i]}"
		if [[ $value == '[COMMAND]' && ${COMP_WORDS[1]} == record ]]; then
			_stackonce_command "$valued" "$cur"
		else
			_stackonce_value "$value" "$words" "$cur"
		fi
	fi
}
complete -o filenames -F _stackonce stackonce
