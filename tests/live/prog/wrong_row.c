// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command stackonce, whose native recordings fill one event wrongly:
 *
 *	WRONG_ROW='EVENT MS' wrong_row record ...
 *
 * Such many ms after the recording was armed, the first field of EVENT, which must have eight
 * bytes, or be the first eight of a name, becomes greater by 1.  With 0 it is so from the start.
 * The program creates the file "taken" once the event has taken the old way.  The first window in
 * which records are compared comes after WRONG_WINDOW ms, if that is set.  If WRONG_UNSEEN is set,
 * no thread reads the results of the comparisons before the recording ends.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cleanup.h"
#include "record/bpf/field_checks.h"
#include "record/bpf/old_way.h"
#include "record/bpf/programs_priv.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_rows.h"
#include "thread.h"

int __real_programs__arm(struct programs *p);
int __wrap_programs__arm(struct programs *p);
int __real_native_code__fill_hole(struct bpf_insn *insns, size_t nr,
				  const struct native_code *code);
int __wrap_native_code__fill_hole(struct bpf_insn *insns, size_t nr,
				  const struct native_code *code);
int __real_field_checks__start(struct field_checks *c, uint64_t first_window_ns);
int __wrap_field_checks__start(struct field_checks *c, uint64_t first_window_ns);
int __real_old_way__take(struct programs *p, unsigned int event);
int __wrap_old_way__take(struct programs *p, unsigned int event);

static int map = -1; /* has one number, which is added */
static unsigned long ms;

static bool is_meant(const char *event)
{
	const char *wrong = getenv("WRONG_ROW");
	size_t len = strlen(event);

	if (!wrong || strncmp(wrong, event, len) || wrong[len] != ' ')
		return false;
	ms = strtoul(wrong + len, NULL, 10);
	return true;
}

static void set(uint64_t number)
{
	uint32_t zero = 0;

	if (bpf_map_update_elem(map, &zero, &number, 0))
		err(1, "change the row");
}

/* The code has filled the record, whose address is in r8, when it comes to the rest of the hole. */
static void spoil(struct bpf_insn *insns, size_t nr)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = map },
		{ 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_1 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_8,
		  .off = 8 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_8,
		  .src_reg = BPF_REG_2,
		  .off = 8 },
	};
	size_t i, run = 0;

	for (i = 0; i < nr && run < ARRAY_SIZE(code); i++)
		run = insns[i].code == (BPF_JMP | BPF_JA) && !insns[i].off ? run + 1 : 0;
	if (run < ARRAY_SIZE(code))
		errx(1, "the hole has no room");
	memcpy(&insns[i - run], code, sizeof(code));
}

int __wrap_native_code__fill_hole(struct bpf_insn *insns, size_t nr, const struct native_code *code)
{
	int error = __real_native_code__fill_hole(insns, nr, code);

	if (error || !is_meant(code->event->event))
		return error;
	if (map < 0)
		map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wrong_row", 4, 8, 1, NULL);
	if (map < 0)
		err(1, "create a map");
	if (!ms)
		set(1);
	spoil(insns, nr);
	return 0;
}

static void *wait_and_set(void *arg)
{
	usleep((useconds_t)ms * 1000);
	set(1);
	return arg;
}

int __wrap_programs__arm(struct programs *p)
{
	pthread_t thread;

	if (map >= 0 && ms && thread__start(&thread, wait_and_set, NULL))
		errx(1, "no thread");
	return __real_programs__arm(p);
}

int __wrap_field_checks__start(struct field_checks *c, uint64_t first_window_ns)
{
	const char *window = getenv("WRONG_WINDOW");

	if (window)
		first_window_ns = strtoul(window, NULL, 10) * 1000000;
	return getenv("WRONG_UNSEEN") ? 0 : __real_field_checks__start(c, first_window_ns);
}

int __wrap_old_way__take(struct programs *p, unsigned int event)
{
	int error = __real_old_way__take(p, event);
	int fd = error ? -1 : open("taken", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (!error && fd < 0)
		err(1, "create taken");
	if (fd >= 0)
		close(fd);
	return error;
}
