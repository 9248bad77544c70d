# SPDX-License-Identifier: GPL-2.0-only
# awk -v src=DIR -f layers.awk TABLE FILE...: checks the includes of these files under DIR.
# Prints "PLACE: what is wrong", then how much was checked; exits with 1 if anything was wrong.

function wrong(place, what)
{
	print place ": " what
	nr_wrong++
}

# exists(PATH): whether PATH, relative to src, is one of the files.
function exists(path) { return path in file_of }

# folder_of(PATH)
function folder_of(path)
{
	return path ~ /\// ? substr(path, 1, length(path) - length(base_of(path)) - 1) : ""
}
function base_of(path) { sub(/.*\//, "", path); return path }

# The rows of the table.
function read_table(   line, part, n, word, i)
{
	line = $0
	if (line ~ /^[ \t]*(#|$)/)
		return
	if (line ~ / = /) {
		split(line, part, " = ")
		made_at_build[part[1]] = part[2]
		return
	}
	if (line ~ /^[a-z_]+: /) {
		split(line, part, ": ")
		twice[part[1]] = part[2]
		return
	}
	n = split(line, part, / *\| */)
	if (n != 4) {
		wrong("layers", "a row of " n " columns: " line)
		return
	}
	if (part[1] in allowed)
		wrong("layers", "two rows for " part[1])
	allowed[part[1]] = " " part[2] " " part[3] " "
	if (part[1] ~ /\.[ch]$/)
		return
	n = split(part[2], word, " ")
	for (i = 1; i <= n; i++)
		if (!(word[i] in allowed))
			wrong("layers", part[1] " names " word[i] ", which is not above it")
}

# The library that a system header belongs to; nothing for the C library and the kernel.
function library_of(name)
{
	if (name ~ /^bpf\//)
		return "+bpf"
	if (name ~ /^(libelf|gelf|dwarf|lzma)\.h$|^(elfutils|libiberty)\//)
		return "+elf"
	if (name == "sha2.h")
		return "+md"
	if (name ~ /^zstd|^zlib\.h$/)
		return name ~ /zlib/ ? "" : "+zstd"
	if (name ~ /^(event-parse|tracefs|json|curl|traceevent)/)
		return "+" name
	return ""
}

# may(FILE, WHAT): a folder or library
function may(file, what)
{
	return what == folder_of(file) || index(allowed[folder_of(file)], " " what " ") ||
	       (file in allowed && index(allowed[file], " " what " "))
}

function check_include(file, name,   at, i, to)
{
	at = ""
	for (i = 1; i <= nr_dirs && at == ""; i++) {
		to = dirs[i] name
		if (i == 1)
			to = folder_of(file) "/" name
		else if (i == 2) # an example is compiled as others' programs are
			to = file ~ /\/example\// ? folder_of(folder_of(file)) "/" name : ""
		while (sub(/[^\/.]+\/\.\.\//, "", to))
			;
		if (exists(to))
			at = to
	}
	if (at == "") {
		if (!(base_of(name) in made_at_build)) {
			wrong(file, "no header " name)
			return
		}
		at = made_at_build[base_of(name)] "/" base_of(name)
	}
	included[file] = included[file] " " at
	if (!may(file, folder_of(at)))
		wrong(file, "may not include " name " of " folder_of(at))
	else if (at ~ /_priv\.h$/ && folder_of(at) != folder_of(file))
		wrong(file, name " is private to " folder_of(at))
}

# What libstackonce is made of, header by header.
function check_library(file,   part, n, i)
{
	if (file in in_library)
		return
	in_library[file] = 1
	if (licence[file] !~ /LGPL-2.1-only OR BSD-2-Clause/)
		wrong(file, "is part of libstackonce, but its licence is " licence[file])
	if (prints[file])
		wrong(file, "is part of libstackonce, but prints")
	n = split(included[file], part, " ")
	for (i = 1; i <= n; i++) {
		if (part[i] == "base/log.h")
			wrong(file, "is part of libstackonce, but logs")
		check_library(part[i])
	}
}

function check_unit(file,   unit, folder)
{
	unit = base_of(file)
	folder = folder_of(file)
	if (folder ~ /^cmd/)
		return
	sub(/\.[ch]$/, "", unit)
	if (!(unit in place)) {
		place[unit] = folder
	} else if (place[unit] != folder &&
		   !(unit in twice && index(" " twice[unit] " ", " " folder " ") &&
		     index(" " twice[unit] " ", " " place[unit] " "))) {
		wrong(file, place[unit] " has a unit " unit ", too")
	}
}

BEGIN {
	for (i = 2; i < ARGC; i++)
		file_of[substr(ARGV[i], length(src) + 2)] = ARGV[i]
	nr_dirs = split(" include/ base/ arch/amd64/ ", dirs, " ")
	for (i = nr_dirs; i > 0; i--)
		dirs[i + 2] = dirs[i]
	nr_dirs += 3
	dirs[nr_dirs] = ""
}

FILENAME == ARGV[1] { read_table(); next }

FNR == 1 {
	file = substr(FILENAME, length(src) + 2)
	licence[file] = $0
	gsub(/.*SPDX-License-Identifier: | *\*\/$/, "", licence[file])
	if (!(folder_of(file) in allowed))
		wrong(file, "the table has no folder " folder_of(file))
	check_unit(file)
}

FNR == 2 && file ~ /\.c$/ && !/^\/[*\/]/ {
	wrong(file, "has no comment below its licence that says what it is for")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	nr_includes++
	check_include(file, part[2])
	next
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, part, /[<>]/)
	nr_includes++
	library = library_of(part[2])
	if (library != "" && !may(file, library))
		wrong(file, "may not include " part[2] " of " library)
	next
}

/(^|[^a-z_])(v?f?printf|f?puts|putchar|perror|v?syslog|exit|abort)\(/ { prints[file] = 1 }

END {
	for (file in file_of)
		if (file ~ /^trace\/(read\/)?[a-z_]+\.c$/ && file != "trace/layout.c")
			check_library(file)
	if (!nr_includes)
		wrong(src, "no includes found")
	print nr_includes " includes checked, " nr_wrong + 0 " against the layers"
	exit nr_wrong > 0
}
