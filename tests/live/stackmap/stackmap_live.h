/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the live tests of the stack map and their BPF programs. */
#ifndef STACKMAP_LIVE_H
#define STACKMAP_LIVE_H

#define LIVE_RING (16 << 20)
#define LIVE_HALF 40 /* words of each half of a stack that sleeps */
#define LIVE_NO_STACK 100 /* as a negative id: there was no stack to look up */

#define LIVE_CPUS 256 /* a power of two */
#define LIVE_TICK 0xffffffffu /* stack number of an interrupt's event: unknown */

struct live_event {
	unsigned int tid;
	unsigned int stack; /* number of the crafted stack */
	long long id;
	unsigned int cpu;
	unsigned int pad;
};

#ifndef __bpf__
#include <stdint.h>

#include "stackmap.h"

#define LIVE_DEPTH 126 /* return addresses of the deepest crafted stack, not counting the ip */

/* A synthetic chain of frame pointers in memory, which the kernel's user unwinder follows. */
struct chain {
	uint64_t frame[LIVE_DEPTH][2]; /* next frame, return address */
};

struct live_event_sink {
	int (*event)(void *ctx, const struct live_event *event);
	void *ctx;
};

uint64_t live__mix(uint64_t x);
/* The i-th return address of stack number `stack`. */
uint64_t live__return_address(uint32_t stack, unsigned int i);
/*
 * Memory for a chain that the kernel can always read: other pages are absent while they move, which
 * they do when memory is short, and a stack would end there.
 */
struct chain *live__chain(void);
void live__craft(struct chain *chain, uint32_t stack, unsigned int depth);
/* getppid(stack) with rbp on the chain; sets *ret_ip, the ip that the kernel sees, beforehand. */
void live__call(struct chain *chain, uint32_t stack, uint64_t *ret_ip);
/* 0 if s is the crafted stack, ip first. */
int live__compare(const struct stackmap_stack *s, uint64_t ip, uint32_t stack, unsigned int depth);

/* Each check counts errors and prints the first ten. */
extern unsigned int live_errors;
void live__wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define LIVE_CHECK(cond, ...)                     \
	do {                                      \
		if (!(cond))                      \
			live__wrong(__VA_ARGS__); \
	} while (0)

/* Exits with 77 and the reason unless this machine can run these BPF programs. */
void live__need(int cpus);
void live__skip(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void live__pin(int cpu);
/* Checks that the pool's words add up and at most `percent` of those used are wasted or spare. */
void live__check_pool(const struct stackmap *map, unsigned int percent);
#endif

#endif /* STACKMAP_LIVE_H */
