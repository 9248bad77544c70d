// SPDX-License-Identifier: GPL-2.0-only
#include "built.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

/*
 * alpha has aliases, a label and a name with more underscores; beta and the last function have no
 * size; the end of gamma is not the label free; inner lies in outer.
 */
static const char functions_s[] =
	".macro mark nr\n .quad 0x5ca1ab1e00c0de00 + \\nr\n.endm\n"
	".macro func name, bind\n .\\bind \\name\n .type \\name, @function\n\\name:\n nop\n.endm\n"
	".macro done name\n .size \\name, . - \\name\n.endm\n"
	".text\n"
	".globl _start\n.type _start, @function\n_start: hlt\n.size _start, . - _start\n"
	".globl _alpha\n.weak aalpha\n.local alpha_local\n"
	".type _alpha, @function\n.type aalpha, @function\n.type alpha_local, @function\n"
	"_alpha: aalpha: alpha_local:\n"
	"func alpha, globl\n mark 1\nin_alpha: mark 2\n done alpha\n"
	".size _alpha, . - _alpha\n.size aalpha, . - aalpha\n.size alpha_local, . - alpha_local\n"
	"func beta, globl\n mark 3\n mark 4\n"
	"func gamma, globl\n mark 5\n done gamma\n"
	" mark 6\n"
	"free: mark 7\n"
	"func outer, globl\n mark 8\nfunc inner, local\n mark 9\n done inner\n mark 10\n done outer\n"
	".type table, @object\ntable: mark 11\n.size table, 8\n"
	".weak weak_one\n.type weak_one, @function\n.local local_one\n.type local_one, @function\n"
	"weak_one: local_one: mark 12\n.size weak_one, 8\n.size local_one, 8\n"
	".globl chosen\n.type chosen, @gnu_indirect_function\nchosen: mark 13\n.size chosen, 8\n"
	"func last, globl\n mark 14\n"
	".section .second, \"ax\"\n.p2align 6\n"
	"func second, globl\n mark 15\n done second\n"
	".data\n.type data_one, @object\n.size data_one, 8\ndata_one: mark 16\n"
	".section .note.GNU-stack, \"\", @progbits\n";

/* usyms.c depends on the line numbers. */
static const char inlined_c[] =
	"#define MARK(nr) __asm__ volatile(\"movabs $0x5ca1ab1e00c0de00 + \" #nr \", %%rax\" ::: \"rax\")\n"
	"static inline __attribute__((always_inline)) int leaf(int x)\n"
	"{\n"
	"	MARK(1);\n"
	"	return x * 3;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{\n"
	"	return leaf(x) + 1;\n"
	"}\n"
	"__attribute__((noinline)) int function(int x)\n"
	"{\n"
	"	int y = middle(x);\n"
	"	MARK(2);\n"
	"	return y;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	return function(argc);\n"
	"}\n";

static void path_of(const char *name, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s%s%s", *name == '/' ? "" : dir, *name == '/' ? "" : "/", name);
}

void built__write(const char *name, const void *data, size_t len)
{
	char path[300];
	FILE *f;

	path_of(name, path, sizeof(path));
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void write_sources(void)
{
	built__write("functions.S", functions_s, strlen(functions_s));
	built__write("inlined.c", inlined_c, strlen(inlined_c));
}

int built__setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/stackonce-test.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("CC", "cc", 0);
	write_sources();
	return 0;
}

int built__teardown(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

const char *built__dir(void)
{
	return dir;
}

const char *built__path(const char *name)
{
	static char paths[16][300];
	static unsigned int next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

void built__run(const char *fmt, ...)
{
	char command[2000], whole[2200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "cd %s && { %s; }", dir, command);
	if (system(whole))
		fail_msg("%s", command);
}

int built__open(const char *name)
{
	char path[300];
	int fd;

	path_of(name, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

char *built__read(const char *name, size_t *ret_len)
{
	int fd = built__open(name);
	struct stat st;
	char *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc(st.st_size + 1);
	assert_non_null(data);
	assert_int_equal(read(fd, data, st.st_size), st.st_size);
	data[st.st_size] = '\0';
	close(fd);
	*ret_len = st.st_size;
	return data;
}

uint64_t built__mark(const char *name, unsigned int nr)
{
	uint64_t mark = MARK(nr), offset;
	size_t len;
	char *data = built__read(name, &len), *found;

	found = memmem(data, len, &mark, sizeof(mark));
	assert_non_null(found);
	offset = found - data;
	assert_null(memmem(found + 1, len - offset - 1, &mark, sizeof(mark)));
	free(data);
	return offset;
}
