// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "process.h"
#include "symbols/usyms.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#include "unwind/walk.h"

#define STACK_BYTES 16384 /* read at once */
#define RED_ZONE 128
#define NOT_PERMITTED 77

struct walk {
	struct unw_walk w; /* first, because step.h passes a pointer to it */
	const struct process *p;
	u64 stack; /* its address */
	size_t len;
	u8 bytes[STACK_BYTES];
};

static int copied(struct unw_walk *w, u64 addr, void *ret, size_t len)
{
	struct walk *k = (struct walk *)w;
	u64 at = addr - k->stack;

	if (at < k->len && k->len - at >= len)
		memcpy(ret, k->bytes + at, len);
	else if (process__read(k->p, addr, ret, len) != len)
		return -EFAULT;
	return 0;
}

static int unw_read(struct unw_walk *w, u64 addr, u64 *ret)
{
	return copied(w, addr, ret, sizeof(*ret));
}

static int unw_read_regs(struct unw_walk *w, u64 addr)
{
	return copied(w, addr, w->tmp, sizeof(w->tmp));
}

#include "unwind/step.h"

void process__start(struct process *p, char *const *argv)
{
	pid_t pid = fork();
	int null, status;

	*p = (struct process){ .pid = pid };
	assert_true(pid >= 0);
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(NOT_PERMITTED);
		execv(argv[0], argv);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED) {
		print_message("ptrace(2) is not permitted here\n");
		skip();
	}
	assert_true(WIFSTOPPED(status));
}

void process__kill(struct process *p)
{
	int status;

	if (p->pid > 0 && !kill(p->pid, SIGKILL)) {
		while (waitpid(-1, &status, __WALL) > 0) /* each thread is traced separately */
			;
	}
	p->pid = 0;
	process__drop_mappings(p);
}

size_t process__read(const struct process *p, u64 addr, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)addr, len };
	ssize_t n = process_vm_readv(p->pid, &to, 1, &from, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static struct unwind_table *load_table(const struct process *p, const struct proc_mapping *m)
{
	struct unwind_table *t = NULL;
	_cleanup_free_ void *image = NULL;
	_cleanup_close_ int fd = -1;
	size_t len = m->end - m->start;

	if (!strcmp(m->path, "[vdso]")) {
		image = malloc(len);
		assert_non_null(image);
		assert_int_equal(process__read(p, m->start, image, len), len);
		assert_int_equal(unwind__from_image(image, len, true, &t), 0);
	} else if (*m->path == '/') {
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		unwind__from_fd(fd, &t);
	}
	return t;
}

void process__drop_mappings(struct process *p)
{
	while (p->nr_mappings) {
		struct mapping *m = &p->mappings[--p->nr_mappings];

		unwind__free(m->table);
		free(m->path);
	}
}

void process__read_mappings(struct process *p)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	struct proc_mapping m;
	char name[64];
	size_t size = 0;
	ssize_t n;

	process__drop_mappings(p);
	snprintf(name, sizeof(name), "/proc/%d/maps", p->pid);
	f = fopen(name, "re");
	assert_non_null(f);
	while ((n = getline(&line, &size, f)) > 0) {
		line[n - 1] = 0;
		assert_int_equal(proc_mapping__parse(line, &m), 0);
		if (m.perms[2] != 'x' || p->nr_mappings == PROCESS_MAX_MAPPINGS)
			continue;
		p->mappings[p->nr_mappings++] = (struct mapping){
			m.start, m.end, m.offset, strdup(m.path), load_table(p, &m),
		};
	}
}

const struct mapping *process__mapping(const struct process *p, u64 addr)
{
	for (unsigned int i = 0; i < p->nr_mappings; i++) {
		if (addr >= p->mappings[i].start && addr < p->mappings[i].end)
			return &p->mappings[i];
	}
	return NULL;
}

static int step_frame(struct walk *k)
{
	const struct mapping *m = process__mapping(k->p, k->w.ip);
	u32 rule = UNW_ESCAPE | UNW_NONE;
	u64 wide;

	if (m && m->table)
		rule = unwind__find(m->table,
				    k->w.ip - m->start + m->offset - !(k->w.flags & UNW_EXACT));
	if (!(rule & UNW_ESCAPE))
		return unw_simple(&k->w, rule);
	rule &= ~UNW_ESCAPE;
	if (rule == UNW_END)
		return UNW_COMPLETE;
	if (rule == UNW_SIGNAL)
		return unw_signal(&k->w);
	if (rule < UNW_ESCAPE_RULES)
		return UNW_DEPTH; /* here: no rule */
	memcpy(&wide, m->table->words + m->table->rules + 2 * (rule - UNW_ESCAPE_RULES),
	       sizeof(wide));
	return unw_wide(&k->w, wide);
}

enum process_end process__unwind(const struct process *p, const struct user_regs_struct *regs,
				 u64 *ret_ips, unsigned int max, unsigned int *ret_nr)
{
	static struct walk k; /* static, so that its bytes need not be cleared each time */
	unsigned int nr = 0;
	int stop = UNW_GO;

	memset(&k.w, 0, sizeof(k.w));
	k.p = p;
	k.w.ip = regs->rip;
	k.w.sp = k.w.regs[UNW_REG_SP] = regs->rsp;
	k.w.fp = k.w.regs[UNW_REG_FP] = regs->rbp;
	k.w.bx = k.w.regs[UNW_REG_BX] = regs->rbx;
	k.w.regs[UNW_REG_RESULT] = regs->rax;
	k.w.regs[5] = regs->rdi;
	k.w.regs[10] = regs->r10;
	k.w.regs[11] = regs->r11;
	k.w.flags = UNW_EXACT;
	k.stack = k.w.sp - RED_ZONE;
	k.len = process__read(p, k.stack, k.bytes, sizeof(k.bytes));
	while (stop == UNW_GO && nr < max) {
		ret_ips[nr++] = k.w.ip;
		stop = step_frame(&k);
	}
	*ret_nr = nr;
	if (stop == UNW_GO)
		return PROCESS_DEPTH;
	if (stop == UNW_COMPLETE)
		return PROCESS_COMPLETE;
	return stop == UNW_DEPTH ? PROCESS_NOTHING_KNOWN : PROCESS_BROKEN;
}
