# SPDX-License-Identifier: GPL-2.0-only
# awk -v command=NAME -f options.awk OPTIONS PAGE: prints the page of a command, with the heads and
# the order of its options from `stackonce help --options`.  In PAGE, an item has only the names of
# its options, ".It Fl -time , -event"; letters and values come from OPTIONS, and so does the last
# sentence of an option whose value has limits.  With -v check=1, it fails if an option is not
# described, or if an item has an unknown option.
BEGIN {
	FS = "\t"
}

NR == FNR {
	if ($1 != command || $3 == "-")
		next
	row[$3] = ++nr_rows
	head[$3] = ($2 == "-" ? "" : substr($2, 2) " , ") substr($3, 2)
	value = tolower($4)
	if (sub(/^\[=/, "", value))
		head[$3] = head[$3] " Ns Op = Ns Ar " substr(value, 1, length(value) - 1)
	else if (value != "-")
		head[$3] = head[$3] " Ar " value
	range[$3] = $7
	next
}

function complain(text)
{
	if (!check)
		return
	print FILENAME ": " text >"/dev/stderr"
	failed = 1
}

# Returns the complete line of an item and sets at to the row of its first option.
function item(line,    words, nr, i, name, result)
{
	at = 0
	nr = split(line, words, " ")
	for (i = 3; i <= nr; i++) {
		if (words[i] == ",")
			continue
		name = "-" words[i]
		if (!(name in row)) {
			complain("unknown option " name)
			return line
		}
		documented[name] = 1
		at = at ? at : row[name]
		result = result (result ? " , Fl " : ".It Fl ") head[name]
	}
	return result
}

# The limits of the item at which item() was.
function sentence(    name, ends)
{
	for (name in row)
		if (row[name] == at && split(range[name], ends, "-") == 2 && ends[1] != "")
			return "The value is from " ends[1] " to " ends[2] ".\n"
	return ""
}

/^\.Bl/ && ++depth == 1 {
	nr_items = 0
	print
	next
}

/^\.El/ && --depth == 0 {
	for (n = 0; n <= nr_rows; n++)
		for (i = 1; i <= nr_items; i++)
			if (place[i] == n)
				printf "%s%s", text[i], limits[i]
	print
	next
}

depth == 1 && /^\.It/ {
	at = 0
	line = /^\.It Fl -/ ? item($0) : $0
	place[++nr_items] = at
	text[nr_items] = line "\n"
	limits[nr_items] = line == $0 ? "" : sentence()
	next
}

depth {
	text[nr_items] = text[nr_items] $0 "\n"
	next
}

{
	print
}

END {
	for (name in row)
		if (!(name in documented))
			complain("option " name " is not described")
	exit failed
}
