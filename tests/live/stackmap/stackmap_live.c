// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "log.h"
#include "stackmap_live.h"

unsigned int live_errors;

void live__wrong(const char *format, ...)
{
	va_list args;

	if (live_errors++ >= 10)
		return;
	va_start(args, format);
	fputs("WRONG: ", stdout);
	vprintf(format, args);
	fputc('\n', stdout);
	va_end(args);
}

void live__skip(const char *format, ...)
{
	const char *file = getenv("LIVE_REASON");
	char reason[256];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	printf("skipped: %s\n", reason);
	f = file ? fopen(file, "w") : NULL;
	if (f) {
		fprintf(f, "%s\n", reason);
		fclose(f);
	}
	exit(77);
}

static void log_line(void *ctx, enum stk_log_level level, const char *msg)
{
	fprintf(stderr, "%s\n", msg);
}

void live__need(int cpus)
{
	int fd;

	log_set_sink(log_line, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid())
		live__skip("needs root");
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, 8, 1, NULL);
	if (fd < 0)
		live__skip("bpf() is refused: %s", strerror(errno));
	close(fd);
	if (sysconf(_SC_NPROCESSORS_ONLN) < cpus)
		live__skip("needs %d CPUs", cpus);
}

void live__pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		live__skip("cannot run on CPU %d: %s", cpu, strerror(errno));
}

uint64_t live__mix(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

uint64_t live__return_address(uint32_t stack, unsigned int i)
{
	return 0x400000 + (live__mix((uint64_t)stack << 8 | i) & 0x3fffffff);
}

struct chain *live__chain(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t size = sysconf(_SC_PAGESIZE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "chain", 4, size, 1, &opts);
	void *page = MAP_FAILED;

	if (fd >= 0)
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		live__wrong("memory for a chain: %s", strerror(errno));
		exit(1);
	}
	close(fd);
	return page;
}

void live__craft(struct chain *chain, uint32_t stack, unsigned int depth)
{
	unsigned int i;

	for (i = 0; i < depth; i++) {
		chain->frame[i][0] = i + 1 < depth ? (uint64_t)&chain->frame[i + 1] : 0;
		chain->frame[i][1] = live__return_address(stack, i);
	}
}

__attribute__((noinline)) void live__call(struct chain *chain, uint32_t stack, uint64_t *ret_ip)
{
	long number = SYS_getppid;

	/* ret_ip is set before the call, because its event may be read at once */
	__asm__ volatile("lea 1f(%%rip), %%rcx\n\t"
			 "mov %%rcx, %1\n\t"
			 "push %%rbp\n\t"
			 "mov %2, %%rbp\n\t"
			 "syscall\n"
			 "1:\tpop %%rbp"
			 : "+a"(number), "=m"(*ret_ip)
			 : "r"(chain), "D"((uint64_t)stack)
			 : "rcx", "r11", "memory");
}

int live__compare(const struct stackmap_stack *s, uint64_t ip, uint32_t stack, unsigned int depth)
{
	unsigned int i;

	if (s->n != depth + 1 || s->words[0] != ip)
		return -1;
	for (i = 0; i < depth; i++) {
		if (s->words[1 + i] != live__return_address(stack, i))
			return -1;
	}
	return 0;
}

void live__check_pool(const struct stackmap *map, unsigned int percent)
{
	struct stackmap_stats st;
	struct stackmap_stack s;
	uint64_t cursor = 0, live = 0, stacks = 0;
	int err;

	while ((err = stackmap__next(map, &cursor, &s)) == 1) {
		live += (s.n + 4) & ~3u;
		stacks++;
	}
	LIVE_CHECK(!err, "iteration: %s", strerror(-err));
	stackmap__stats(map, &st);
	LIVE_CHECK(stacks == st.stacks, "%lu stacks, %lu counted", stacks, st.stacks);
	LIVE_CHECK(st.pool_used == live + st.pool_spare + st.pool_wasted,
		   "pool: used %lu, live %lu, spare %lu, wasted %lu", st.pool_used, live,
		   st.pool_spare, st.pool_wasted);
	LIVE_CHECK((st.pool_spare + st.pool_wasted) * 100 <= st.pool_used * percent,
		   "more than %u %% of the pool's words are unused", percent);
	printf("pool: %lu stacks, %lu races, words used %lu, spare %lu, wasted %lu: %.2f %%\n",
	       stacks, st.races, st.pool_used, st.pool_spare, st.pool_wasted,
	       st.pool_used ? 100.0 * (st.pool_spare + st.pool_wasted) / st.pool_used : 0);
}
