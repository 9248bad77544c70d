// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small ELF files that are crafted to take long.  Each is read by a process with a limit of ten
 * seconds of CPU time and 1 GiB of memory; without bounds some take minutes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf_names.h"
#include "symbols/usyms.h"

#define MIB ((size_t)1 << 20)
#define CODE_ADDR 0x10000000ULL
#define CODE_SIZE (4 * MIB)
#define MAX_SECONDS 10

enum { SECTION_NAMES = 1, SECTION_STRINGS, SECTION_SYMBOLS, SECTION_VERSIONS, NR_SECTIONS };

/* Program headers, section headers, section names, strings, symbols, versions, code. */
struct image {
	uint8_t *data;
	size_t len;
	Elf64_Phdr *phdrs; /* the last one is for the code */
	Elf64_Shdr *shdrs;
	char *strings;
	Elf64_Sym *syms;
	uint16_t *versions;
};

static void section(struct image *im, int nr, int type, void *data, size_t size)
{
	im->shdrs[nr].sh_type = type;
	im->shdrs[nr].sh_offset = (uint8_t *)data - im->data;
	im->shdrs[nr].sh_size = size;
	im->shdrs[nr].sh_link = SECTION_STRINGS;
}

static struct image new_image(size_t nr_phdrs, size_t nr_shdrs, size_t strings, size_t nr_syms,
			      int symbols_type)
{
	static const char names[32] = "\0.plt";
	size_t phdrs = sizeof(Elf64_Ehdr), shdrs = phdrs + nr_phdrs * sizeof(Elf64_Phdr);
	size_t syms = shdrs + nr_shdrs * sizeof(Elf64_Shdr);
	size_t versions = syms + nr_syms * sizeof(Elf64_Sym);
	size_t at = versions + nr_syms * sizeof(uint16_t), code = at + sizeof(names) + strings;
	struct image im = { .len = code + CODE_SIZE };
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = phdrs,
		.e_shoff = shdrs,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = nr_phdrs,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = nr_shdrs,
		.e_shstrndx = SECTION_NAMES,
	};

	im.data = calloc(1, im.len);
	assert_non_null(im.data);
	memcpy(im.data, &ehdr, sizeof(ehdr));
	memcpy(im.data + at, names, sizeof(names));
	im.phdrs = (Elf64_Phdr *)(im.data + phdrs);
	im.shdrs = (Elf64_Shdr *)(im.data + shdrs);
	im.strings = (char *)im.data + at + sizeof(names);
	im.syms = (Elf64_Sym *)(im.data + syms);
	im.versions = (uint16_t *)(im.data + versions);
	section(&im, SECTION_NAMES, SHT_STRTAB, im.data + at, sizeof(names));
	section(&im, SECTION_STRINGS, SHT_STRTAB, im.strings, strings);
	section(&im, SECTION_SYMBOLS, symbols_type, im.syms, nr_syms * sizeof(Elf64_Sym));
	section(&im, SECTION_VERSIONS, SHT_GNU_versym, im.versions, nr_syms * sizeof(uint16_t));
	for (size_t i = 0; i < nr_phdrs; i++)
		im.phdrs[i] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = code, .p_filesz = 1
		};
	im.phdrs[nr_phdrs - 1].p_vaddr = CODE_ADDR;
	im.phdrs[nr_phdrs - 1].p_filesz = CODE_SIZE;
	return im;
}

static void function(Elf64_Sym *sym, uint32_t name, uint64_t offset)
{
	*sym = (Elf64_Sym){ .st_name = name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = SECTION_NAMES,
			    .st_value = CODE_ADDR + offset,
			    .st_size = 4 };
}

static void read_symbols(const struct image *im)
{
	struct elf_symbols *s;

	if (!elf_symbols__from_image(im->data, im->len, &s))
		elf_symbols__free(s);
}

static void read_names(const struct image *im)
{
	int fd = memfd_create("bomb", MFD_CLOEXEC);
	struct elf_names *n;

	if (write(fd, im->data, im->len) != (ssize_t)im->len)
		_exit(2);
	if (!elf_names__from_fd(fd, -1, &n))
		elf_names__free(n);
}

static void expect_quick(struct image im, void (*read_image)(const struct image *im))
{
	struct rlimit seconds = { MAX_SECONDS, MAX_SECONDS };
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct rlimit memory = { MIB << 10, MIB << 10 };

		/* sanitizers exceed any limit on memory */
		if (setrlimit(RLIMIT_CPU, &seconds) ||
		    (!getenv("ASAN_OPTIONS") && setrlimit(RLIMIT_AS, &memory)))
			_exit(1);
		read_image(&im);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(im.data);
	assert_int_equal(status, 0);
}

/* Each of 60,000 sections of stubs has 4 MiB, all of them the same. */
static void test_stubs(void **state)
{
	const int nr = 60000;
	struct image im = new_image(1, nr, 16, 16, SHT_DYNSYM);

	for (int i = NR_SECTIONS; i < nr; i++) {
		section(&im, i, SHT_PROGBITS, im.data + im.phdrs[0].p_offset, CODE_SIZE);
		im.shdrs[i].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
		im.shdrs[i].sh_addr = CODE_ADDR;
		im.shdrs[i].sh_name = 1;
	}
	expect_quick(im, read_symbols);
}

/* Every symbol is searched in 60,000 segments. */
static void test_segments(void **state)
{
	const int nr = 1 << 20;
	struct image im = new_image(60000, NR_SECTIONS, 16, nr, SHT_SYMTAB);

	strcpy(im.strings + 1, "name");
	for (int i = 0; i < nr; i++)
		function(&im.syms[i], 1, 4 * i);
	expect_quick(im, read_symbols);
}

/* Aliases with a common prefix of kilobytes. */
static void test_aliases(void **state)
{
	const int nr = 1 << 20, len = 64 << 10;
	struct image im = new_image(1, NR_SECTIONS, len + 2, nr, SHT_SYMTAB);

	memset(im.strings + 1, 'a', len);
	for (int i = 0; i < nr; i++)
		function(&im.syms[i], 1 + (i * 7919U) % (len / 2), 0);
	expect_quick(im, read_symbols);
}

/* Many versions of one name. */
static void test_versions(void **state)
{
	const int nr = 1 << 18;
	struct image im = new_image(1, NR_SECTIONS, 16, nr, SHT_DYNSYM);

	strcpy(im.strings + 1, "name");
	for (int i = 0; i < nr; i++) {
		function(&im.syms[i], 1, 4 * i);
		im.versions[i] = 0x8001;
	}
	expect_quick(im, read_names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
