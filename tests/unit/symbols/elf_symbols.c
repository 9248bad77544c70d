// SPDX-License-Identifier: GPL-2.0-only
/* Functions by their offset in files of all kinds, found by marks in the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <unistd.h>

#include "built.h"
#include "symbols/elf_file.h"
#include "symbols/usyms.h"

static struct elf_symbols *open_symbols(const char *name, const char *debug)
{
	int fd = built__open(name), debug_fd = debug ? built__open(debug) : -1;
	struct elf_symbols *s = NULL;

	assert_int_equal(elf_symbols__from_fd(fd, debug_fd, &s), 0);
	close(fd);
	if (debug_fd >= 0)
		close(debug_fd);
	return s;
}

/* At mark nr there must be the function @name, or none if NULL. */
static void expect(const struct elf_symbols *s, const char *file, unsigned int nr, const char *name)
{
	uint64_t offset = built__mark(file, nr);
	struct elf_symbol found;
	int err = elf_symbols__find(s, offset, &found);

	if (!name) {
		assert_int_equal(err, -ENOENT);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(found.name, name);
	assert_true(found.start <= offset && offset < found.start + found.size);
}

static struct elf_symbol at_mark(const struct elf_symbols *s, const char *file, unsigned int nr)
{
	struct elf_symbol found;

	assert_int_equal(elf_symbols__find(s, built__mark(file, nr), &found), 0);
	return found;
}

static void expect_all(const char *file, const char *debug)
{
	struct elf_symbols *s = open_symbols(file, debug);
	struct elf_symbol found;

	expect(s, file, 1, "alpha");
	expect(s, file, 2, "alpha");
	expect(s, file, 3, "beta");
	expect(s, file, 4, "beta");
	expect(s, file, 5, "gamma");
	expect(s, file, 6, NULL);
	expect(s, file, 7, "free");
	expect(s, file, 8, "outer");
	expect(s, file, 9, "inner");
	expect(s, file, 10, "outer");
	expect(s, file, 11, NULL);
	expect(s, file, 12, "weak_one");
	expect(s, file, 13, "chosen");
	expect(s, file, 14, "last");
	expect(s, file, 15, "second");
	expect(s, file, 16, NULL);
	/* alpha: a nop and two marks; beta up to gamma; last up to its section's end. */
	found = at_mark(s, file, 1);
	assert_int_equal(found.start, built__mark(file, 1) - 1);
	assert_int_equal(found.size, 17);
	assert_int_equal(elf_symbols__find(s, found.start - 1, &found), 0);
	assert_string_equal(found.name, "_start");
	found = at_mark(s, file, 4);
	assert_int_equal(found.start + found.size, built__mark(file, 5) - 1);
	found = at_mark(s, file, 14);
	assert_int_equal(found.start + found.size, built__mark(file, 14) + 8);
	assert_int_equal(elf_symbols__find(s, 0, &found), -ENOENT);
	assert_int_equal(elf_symbols__find(s, UINT64_MAX, &found), -ENOENT);
	elf_symbols__free(s);
}

/* The functions in the dynamic symbols. */
static void expect_exported(const struct elf_symbols *s, const char *file)
{
	expect(s, file, 1, "alpha");
	expect(s, file, 5, "gamma");
	expect(s, file, 8, "outer");
	expect(s, file, 9, "outer");
	expect(s, file, 12, "weak_one");
	expect(s, file, 15, "second");
}

static const char *const kinds[] = {
	"-static",
	"-no-pie",
	"-pie",
	"-shared",
	"-static-pie",
	"-shared -Wl,-z,noseparate-code",
	"-no-pie -Wl,-Ttext-segment=0x7000000 -Wl,--section-start=.second=0x9000040",
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void test_kinds(void **state)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		built__run("$CC -nostdlib %s -o kind functions.S", kinds[i]);
		expect_all("kind", NULL);
	}
}

static void test_debug_file(void **state)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		built__run("$CC -nostdlib %s -o whole functions.S && "
			   "objcopy --only-keep-debug whole whole.debug && strip -o bare whole",
			   kinds[i]);
		expect_all("bare", "whole.debug");
	}
}

static void test_stripped(void **state)
{
	struct elf_symbols *s;
	int fd;

	built__run("$CC -nostdlib -shared -o whole functions.S && strip -o bare whole");
	s = open_symbols("bare", NULL);
	expect_exported(s, "bare");
	elf_symbols__free(s);
	built__run("$CC -nostdlib -static -o whole functions.S && strip -o bare whole");
	fd = built__open("bare");
	assert_int_equal(elf_symbols__from_fd(fd, -1, &s), -ENOENT);
	close(fd);
	/* An invalid debug file is ignored. */
	built__run("$CC -nostdlib -shared -o whole functions.S");
	s = open_symbols("whole", "functions.S");
	expect(s, "whole", 9, "inner");
	elf_symbols__free(s);
}

/* A small .symtab beside a large .dynsym. */
static void test_partly_stripped(void **state)
{
	struct elf_symbols *s;

	built__run("$CC -nostdlib -shared -o whole functions.S && "
		   "strip --keep-symbol=inner --strip-all -o bare whole");
	s = open_symbols("bare", NULL);
	expect(s, "bare", 9, "inner");
	expect(s, "bare", 10, "outer");
	expect(s, "bare", 1, "alpha");
	elf_symbols__free(s);
}

static void test_no_section_headers(void **state)
{
	static const char *const hashes[] = { "gnu", "sysv", "both" };

	for (size_t i = 0; i < 3; i++) {
		struct elf_symbols *s;
		Elf64_Ehdr *ehdr;
		size_t len;
		char *image;

		built__run("$CC -nostdlib -shared -Wl,--hash-style=%s -o whole functions.S",
			   hashes[i]);
		image = built__read("whole", &len);
		ehdr = (Elf64_Ehdr *)image;
		ehdr->e_shoff = ehdr->e_shnum = ehdr->e_shstrndx = 0;
		assert_int_equal(elf_symbols__from_image(image, len, &s), 0);
		expect_exported(s, "whole");
		elf_symbols__free(s);
		free(image);
	}
}

static void test_32_bit(void **state)
{
	struct elf_symbols *s;

	built__run("$CC -m32 -nostdlib -no-pie -o whole functions.S");
	expect_all("whole", NULL);
	built__run("$CC -m32 -nostdlib -shared -o whole functions.S && strip whole");
	s = open_symbols("whole", NULL);
	expect_exported(s, "whole");
	elf_symbols__free(s);
}

/* As distributions make it: what .dynsym has not.  Here that is more than .dynsym has. */
static void make_debugdata(void)
{
	char source[4096] = ".text\n";
	size_t len = strlen(source);

	for (int i = 0; i < 40; i++)
		len += snprintf(source + len, sizeof(source) - len,
				".type l%d, @function\nl%d: nop\n.size l%d, 1\n", i, i, i);
	built__write("locals.S", source, len);
	built__run(
		"$CC -nostdlib -shared -o whole functions.S locals.S && strip -o bare whole && "
		"nm -D -P --defined-only whole | cut -d ' ' -f 1 | sort >exported && "
		"nm -P --defined-only whole | cut -d ' ' -f 1 | sort >all && "
		"comm -13 exported all >local && objcopy --only-keep-debug whole debug && "
		"objcopy -S --keep-symbols=local debug mini && xz -c --check=crc32 mini >mini.xz && "
		"objcopy --add-section .gnu_debugdata=mini.xz bare with");
}

static void test_debugdata(void **state)
{
	size_t len, cap, packed_len = 0;
	struct elf_symbols *s;
	uint8_t *packed;
	char *mini;

	built__run("$CC -nostdlib -shared -o whole functions.S && "
		   "objcopy --only-keep-debug whole mini && strip -o bare whole");
	mini = built__read("mini", &len);
	cap = lzma_stream_buffer_bound(len);
	packed = malloc(cap);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, (uint8_t *)mini, len,
						 packed, &packed_len, cap),
			 LZMA_OK);
	built__write("mini.xz", packed, packed_len);
	built__run("objcopy --add-section .gnu_debugdata=mini.xz bare with");
	expect_all("with", NULL);
	/* Truncated data is ignored. */
	built__write("mini.xz", packed, packed_len - 20);
	built__run("objcopy --add-section .gnu_debugdata=mini.xz bare with");
	s = open_symbols("with", NULL);
	expect_exported(s, "with");
	elf_symbols__free(s);
	free(packed);
	free(mini);

	make_debugdata();
	expect_all("with", NULL);
}

static void test_aliases(void **state)
{
	static const char source[] =
		".text\n.macro name n, bind, size, type=function\n .\\bind \\n\n"
		" .type \\n, @\\type\n .size \\n, \\size\n .set \\n, .\n.endm\n"
		/* global before weak before local */
		"name a_local, local, 8\n name b_weak, weak, 8\n name z_global, globl, 8\n"
		" .quad 0x5ca1ab1e00c0de01\n"
		"name a_local2, local, 8\n name z_weak2, weak, 8\n .quad 0x5ca1ab1e00c0de02\n"
		/* then fewer underscores, then a size, then the name */
		"name __a, globl, 8\n name _b, globl, 8\n name c, globl, 8\n"
		" .quad 0x5ca1ab1e00c0de03\n"
		"name d_no_size, globl, 0\n name e_size, globl, 8\n .quad 0x5ca1ab1e00c0de04\n"
		"name g, globl, 8\n name f, globl, 8\n .quad 0x5ca1ab1e00c0de05\n"
		/* one without a size does not count as shorter than one with a size */
		"name h_no_size, globl, 0\n name i_size, local, 8\n .quad 0x5ca1ab1e00c0de06\n"
		" .quad 0x5ca1ab1e00c0de07\n"
		/* a label is the last choice */
		"name j_label, globl, 8, notype\n name k_function, local, 8\n"
		" .quad 0x5ca1ab1e00c0de08\n"
		/* symbols of different size are two functions */
		"name short, globl, 8\n name long, globl, 16\n .quad 0x5ca1ab1e00c0de09\n"
		" .quad 0x5ca1ab1e00c0de0a\n"
		/* one without a size ends with the function around it */
		"name around, globl, 16\n .quad 0x5ca1ab1e00c0de0b\nname entry, globl, 0\n"
		" .quad 0x5ca1ab1e00c0de0c\n .quad 0x5ca1ab1e00c0de0d\n.section .note.GNU-stack, \"\", @progbits\n";
	static const char *const right[] = { "z_global",  "z_weak2", "c",	   "e_size", "f",
					     "h_no_size", NULL,	     "k_function", "short",  "long",
					     "around",	  "entry",   NULL };
	struct elf_symbols *s;

	built__write("aliases.S", source, strlen(source));
	built__run("$CC -nostdlib -no-pie -Wl,-e,0 -o aliases aliases.S");
	s = open_symbols("aliases", NULL);
	for (unsigned int i = 0; i < sizeof(right) / sizeof(*right); i++)
		expect(s, "aliases", i + 1, right[i]);
	assert_int_equal(at_mark(s, "aliases", 6).size, 8);
	elf_symbols__free(s);
}

static void test_versions(void **state)
{
	static const char source[] =
		".text\n.globl new, old\n.type new, @function\n.type old, @function\n"
		".symver new, name@@V2\n.symver old, name@V1\n"
		"old: .quad 0x5ca1ab1e00c0de01\n.size old, 8\n"
		"new: .quad 0x5ca1ab1e00c0de02\n.size new, 8\n"
		".section .note.GNU-stack, \"\", @progbits\n";
	static const char script[] = "V1 { global: name; local: *; };\nV2 { global: name; } V1;\n";
	struct elf_symbols *s;

	built__write("versions.S", source, strlen(source));
	built__write("versions.map", script, strlen(script));
	built__run(
		"$CC -nostdlib -shared -Wl,--version-script=versions.map -o versions versions.S");
	s = open_symbols("versions", NULL);
	expect(s, "versions", 1, "name");
	expect(s, "versions", 2, "name");
	elf_symbols__free(s);
	built__run("$CC -nostdlib -static -o plain functions.S && "
		   "objcopy --redefine-sym alpha=alpha@V1 --redefine-sym gamma=gamma@@V2 plain");
	expect_all("plain", NULL);
}

/* Expects the symbols that the file "stubs" has, in lines "OFFSET NAME"; returns their number. */
static unsigned int expect_stubs(void)
{
	struct elf_symbols *s = open_symbols("plt", NULL);
	unsigned int nr = 0;
	size_t len;
	char *lines = built__read("stubs", &len);

	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
		struct elf_symbol found;
		char *name;
		uint64_t offset = strtoull(line, &name, 16);

		assert_int_equal(elf_symbols__find(s, offset + 3, &found), 0);
		assert_string_equal(found.name, name + 1);
		assert_int_equal(found.start, offset);
		nr++;
	}
	free(lines);
	elf_symbols__free(s);
	return nr;
}

/* Stubs of all layouts: each is named after the function it calls, a header after its section. */
static void test_plt(void **state)
{
	static const char *const options[] = { "", "-Wl,-z,ibtplt -Wl,-z,lazy", "-Wl,-z,now",
					       "-no-pie -fno-pie",
					       "-Wl,-z,ibt -Wl,-z,now -fno-plt" };
	static const char source[] = "#include <stdio.h>\n#include <stdlib.h>\n"
				     "int (*volatile f)(const char *) = puts;\n"
				     "int main(int argc, char **argv)\n"
				     "{\n\tf(getenv(\"A\") ? \"a\" : \"b\");\n"
				     "\treturn atoi(argv[0]) + puts(argv[0]);\n}\n";

	built__write("plt.c", source, strlen(source));
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		/* as the disassembler names them */
		built__run("$CC -O1 %s -o plt plt.c && objdump -dF -j .plt -j .plt.sec -j .plt.got "
			   "plt 2>/dev/null | sed -n 's/<.*@plt-0x[0-9a-f]*>/<.plt>/; "
			   "s/^[0-9a-f]* <\\(.*@plt\\|.plt\\)> "
			   "(File Offset: 0x\\([0-9a-f]*\\)).*/\\2 \\1/p' "
			   ">stubs; grep -q ' .plt$' stubs",
			   options[i]);
		assert_true(expect_stubs() >= 3 || strstr(options[i], "no-plt"));
	}
	/* no symbol says what the stubs of a static program call */
	built__run("$CC -O1 -static -o plt plt.c && readelf -SW plt | sed -n "
		   "'s/.* .plt *PROGBITS *[0-9a-f]* \\([0-9a-f]*\\) .*/\\1 .plt/p' >stubs");
	assert_int_equal(expect_stubs(), 1);
}

/* A .gopclntab as Go's linker writes it, in the layouts of Go 1.16, 1.18 and 1.20. */
static void test_go(void **state)
{
	static const char source[] =
		".text\n.globl _start\n_start:\n"
		"one: nop\n .quad 0x5ca1ab1e00c0de01\ntwo: .quad 0x5ca1ab1e00c0de02\nend: nop\n"
		".section .gopclntab, \"a\"\n"
		"t: .long MAGIC\n .byte 0, 0, 1, 8\n .quad 2, 0\n"
		"#if MAGIC != 0xfffffffa\n .quad TEXT\n#define CODE(x) .long x - _start\n"
		"#define REF(x) .long x - functions\n#else\n#define CODE(x) .quad x\n"
		"#define REF(x) .quad x - functions\n#endif\n"
		" .quad names - t, names_end - t, 0, 0, functions - t\n"
		"names: .byte 0\nname1: .asciz \"main.one\"\nname2: .asciz \"main.(*T).two\"\nnames_end:\n"
		"functions: CODE(one)\n REF(f1)\n CODE(two)\n REF(f2)\n CODE(end)\n"
		"f1: CODE(one)\n .long name1 - names\nf2: CODE(two)\n .long name2 - names\n"
		"#ifdef MODULE\n.section .go.module, \"aw\"\n .skip 22 * 8\n .quad MODULE\n#endif\n"
		".section .note.GNU-stack, \"\", @progbits\n";
	static const char *const kinds_of_go[] = {
		"-static -DMAGIC=0xfffffffa",
		"-static -DMAGIC=0xfffffff0 -DTEXT=_start",
		"-static -DMAGIC=0xfffffff1 -DTEXT=_start",
		/* of Go 1.26, and as a PIE, where relocations have the addresses */
		"-static -DMAGIC=0xfffffff1 -DTEXT=0 -DMODULE=_start",
		"-pie -DMAGIC=0xfffffff1 -DTEXT=0 -DMODULE=_start",
		"-pie -DMAGIC=0xfffffff1 -DTEXT=_start",
	};
	struct elf_symbols *s;
	int fd;

	built__write("go.S", source, strlen(source));
	for (size_t i = 0; i < sizeof(kinds_of_go) / sizeof(kinds_of_go[0]); i++) {
		built__run("$CC -nostdlib %s -o go go.S && strip go", kinds_of_go[i]);
		s = open_symbols("go", NULL);
		assert_int_equal(elf_symbols__nr(s), 2);
		expect(s, "go", 1, "main.one");
		expect(s, "go", 2, "main.(*T).two");
		elf_symbols__free(s);
	}
	/* no names rather than wrong ones */
	built__run("$CC -nostdlib -static -DMAGIC=0xfffffff1 -DTEXT=0 -o go go.S && strip go");
	fd = built__open("go");
	assert_int_equal(elf_symbols__from_fd(fd, -1, &s), -ENOENT);
	close(fd);
}

static void test_not_elf(void **state)
{
	struct elf_symbols *s = NULL;
	int fd = built__open("functions.S"), dir_fd = built__open(built__dir());
	unsigned int len;
	uint8_t id[64];

	assert_int_equal(elf_symbols__from_fd(fd, -1, &s), -ENOEXEC);
	assert_int_equal(elf_symbols__from_fd(dir_fd, -1, &s), -ENOEXEC);
	assert_int_equal(elf_symbols__from_fd(-1, -1, &s), -EBADF);
	assert_int_equal(elf_build_id__from_fd(fd, id, &len), -ENOEXEC);
	assert_int_equal(elf_symbols__from_image("\177ELF", 4, &s), -ENOEXEC);
	assert_int_equal(elf_symbols__from_image("", 0, &s), -ENOEXEC);
	assert_null(s);
	close(fd);
	close(dir_fd);
}

/* With the file cut at any byte and with any byte changed, there must be some answer. */
static void test_broken(void **state)
{
	struct elf_symbols *s;
	uint8_t *image, *copy;
	unsigned int len_id;
	uint8_t id[64];
	size_t len;

	built__run(
		"$CC -nostdlib -shared -Wl,--build-id=sha1,-z,noseparate-code -o small functions.S");
	image = (uint8_t *)built__read("small", &len);
	for (size_t cut = 0; cut < len; cut++) {
		copy = malloc(cut + 1);
		memcpy(copy, image, cut);
		if (!elf_symbols__from_image(copy, cut, &s))
			elf_symbols__free(s);
		elf_build_id__from_image(copy, cut, id, &len_id);
		free(copy);
	}
	for (size_t at = 0; at < len; at++) {
		uint8_t was = image[at];

		image[at] ^= 0xff;
		if (!elf_symbols__from_image(image, len, &s))
			elf_symbols__free(s);
		elf_build_id__from_image(image, len, id, &len_id);
		image[at] = was;
	}
	free(image);
}

/* No byte past the end is read. */
static void test_bounds(void **state)
{
	static const uint64_t offs[] = { 0, 1, 63, 64, 65, 1ULL << 63, UINT64_MAX };
	Elf64_Ehdr ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					 EV_CURRENT } };
	struct elf_file f;
	char buf[100], *data;

	assert_int_equal(elf_file__from_image(&ehdr, sizeof(ehdr), &f), 0);
	for (size_t i = 0; i < sizeof(offs) / sizeof(*offs); i++) {
		for (size_t len = 0; len < sizeof(buf); len++) {
			bool there = offs[i] <= sizeof(ehdr) && len <= sizeof(ehdr) - offs[i];

			assert_int_equal(elf_file__read(&f, offs[i], buf, len), there ? 0 : -EIO);
			assert_int_equal(elf_file__load(&f, offs[i], len, &data), there ? 0 : -EIO);
			if (there)
				free(data);
		}
	}
	assert_int_equal(elf_file__load(&f, 0, UINT64_MAX, &data), -EIO);
	elf_file__done(&f);
}

/* ---- build ids ------------------------------------------------------------------------------- */

static void expect_id(const char *file, const char *hex)
{
	int fd = built__open(file);
	char text[129] = "";
	unsigned int len;
	uint8_t id[64];

	assert_int_equal(elf_build_id__from_fd(fd, id, &len), 0);
	for (unsigned int i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	assert_string_equal(text, hex);
	close(fd);
}

static void test_build_id(void **state)
{
	const char *hex = "0123456789abcdef0123456789abcdef01234567";
	unsigned int len;
	uint8_t id[64];
	int fd;

	built__run("$CC -nostdlib -shared -Wl,--build-id=0x%s -o id functions.S", hex);
	expect_id("id", hex);
	built__run("strip -o id.bare id && objcopy --only-keep-debug id id.debug");
	expect_id("id.bare", hex);
	expect_id("id.debug", hex);
	built__run("$CC -nostdlib -shared -Wl,--build-id=0xabcd -o id functions.S");
	expect_id("id", "abcd");
	built__run("$CC -nostdlib -shared -Wl,--build-id=none -o id functions.S");
	fd = built__open("id");
	assert_int_equal(elf_build_id__from_fd(fd, id, &len), -ENOENT);
	close(fd);
}

/* Writes a note; returns the position of the next one. */
static size_t put_note(uint8_t *notes, size_t at, size_t align, uint32_t type, const char *name,
		       uint32_t descsz, uint8_t fill)
{
	Elf64_Nhdr note = { strlen(name) + 1, descsz, type };
	size_t desc = (at + sizeof(note) + note.n_namesz + align - 1) & -align;

	memcpy(notes + at, &note, sizeof(note));
	strcpy((char *)notes + at + sizeof(note), name);
	memset(notes + desc, fill, descsz);
	return (desc + descsz + align - 1) & -align;
}

/* Segments of notes with their nominal and their actual alignment. */
static void test_notes(void **state)
{
	static const struct {
		size_t says, is;
	} cases[] = { { 4, 4 }, { 8, 8 }, { 8, 4 }, { 1, 4 }, { 0, 4 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct {
			Elf64_Ehdr ehdr;
			Elf64_Phdr phdrs[2];
			uint8_t notes[512];
		} image = { .ehdr.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					      EV_CURRENT } };
		size_t at = 0, align = cases[i].is;
		unsigned int len = 0;
		uint8_t id[64];

		at = put_note(image.notes, at, align, 5, "GNU", 12, 1); /* properties, odd length */
		at = put_note(image.notes, at, align, NT_GNU_BUILD_ID, "Other", 20, 2);
		at = put_note(image.notes, at, align, NT_GNU_BUILD_ID, "GnU", 20, 2);
		at = put_note(image.notes, at, align, NT_GNU_BUILD_ID, "GNU", 0, 0);
		at = put_note(image.notes, at, align, NT_GNU_BUILD_ID, "GNU", 65, 3);
		at = put_note(image.notes, at, align, NT_GNU_BUILD_ID, "GNU", 13, 4);
		image.ehdr.e_phoff = sizeof(image.ehdr);
		image.ehdr.e_phentsize = sizeof(Elf64_Phdr);
		image.ehdr.e_phnum = 2;
		image.phdrs[0].p_type = PT_NOTE; /* empty */
		image.phdrs[1].p_type = PT_NOTE;
		image.phdrs[1].p_align = cases[i].says;
		image.phdrs[1].p_offset = image.notes - (uint8_t *)&image;
		image.phdrs[1].p_filesz = at;
		assert_int_equal(elf_build_id__from_image(&image, sizeof(image), id, &len), 0);
		assert_int_equal(len, 13);
		assert_int_equal(id[0], 4);
		image.phdrs[1].p_filesz = at - 8; /* cut in the last one */
		assert_int_equal(elf_build_id__from_image(&image, sizeof(image), id, &len),
				 -ENOENT);
	}
}

static void test_content_hash(void **state)
{
	/* of "abc", as in FIPS 180-2 */
	static const uint8_t abc[20] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41,
		0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3
	};
	uint8_t id[20];
	char *large;
	int fd;

	built__write("abc", "abc", 3);
	fd = built__open("abc");
	assert_int_equal(content_hash__from_fd(fd, 3, id), 0);
	assert_memory_equal(id, abc, sizeof(abc));
	assert_int_equal(content_hash__from_fd(fd, 2, id), -EFBIG);
	close(fd);
	large = calloc(1, 200000);
	built__write("large", large, 200000);
	free(large);
	fd = built__open("large");
	assert_int_equal(content_hash__from_fd(fd, 200000, id), 0);
	assert_int_equal(content_hash__from_fd(fd, 199999, id), -EFBIG);
	close(fd);
	assert_int_equal(content_hash__from_fd(-1, 2, id), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_debug_file),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_partly_stripped),
		cmocka_unit_test(test_no_section_headers),
		cmocka_unit_test(test_32_bit),
		cmocka_unit_test(test_debugdata),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_content_hash),
	};

	return cmocka_run_group_tests(tests, built__setup, built__teardown);
}
