// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timer samples on CPUs that go offline and come back, with a made-up perf_event_open(2): no
 * machine takes a CPU offline at the moment that a test needs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <bpf/libbpf.h>

#include "log.h"
#include "record/bpf/samples.h"

#define NR_CPUS 3
#define HZ 100
#define PERIOD 10000000ull

static struct fake {
	bool offline;
	int refusal; /* errno of perf_event_open(2); 0: none */
	int fd; /* of the last event; -1: none */
	bool exists, enabled; /* the event, in the kernel */
	uint64_t value, enabled_ns;
	unsigned int opened;
} fakes[NR_CPUS];
static const bool all_online[NR_CPUS] = { true, true, true };
static unsigned int warnings;
static char warning[200];

long __wrap_syscall(long nr, ...);
ssize_t __wrap_read(int fd, void *buf, size_t len);
int __wrap_ioctl(int fd, unsigned long request, ...);
struct bpf_link *__wrap_bpf_program__attach_perf_event(const struct bpf_program *prog, int fd);
int __wrap_bpf_link__destroy(struct bpf_link *link);

long __wrap_syscall(long nr, ...)
{
	struct fake *f;
	va_list ap;
	int cpu;

	assert_int_equal(nr, SYS_perf_event_open);
	va_start(ap, nr);
	assert_non_null(va_arg(ap, struct perf_event_attr *));
	assert_int_equal(va_arg(ap, int), -1);
	cpu = va_arg(ap, int);
	va_end(ap);
	assert_in_range(cpu, 0, NR_CPUS - 1);
	f = &fakes[cpu];
	if (f->offline || f->refusal) {
		errno = f->refusal ? f->refusal : ENODEV;
		return -1;
	}
	f->fd = memfd_create("event", 0);
	assert_int_equal(ftruncate(f->fd, 2 * sysconf(_SC_PAGESIZE)), 0);
	f->exists = true;
	f->enabled = false;
	f->value = f->enabled_ns = 0;
	f->opened++;
	return f->fd;
}

static struct fake *fake_of(int fd)
{
	struct fake *f;

	for (f = fakes; f < fakes + NR_CPUS; f++)
		if (f->fd == fd)
			return f;
	fail_msg("descriptor %d is not that of an open event", fd);
	return NULL;
}

ssize_t __wrap_read(int fd, void *buf, size_t len)
{
	const struct fake *f = fake_of(fd);
	uint64_t v[3] = { f->value, f->enabled_ns, f->enabled_ns };

	assert_int_equal(len, sizeof(v));
	memcpy(buf, v, sizeof(v));
	return sizeof(v);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	fake_of(fd)->enabled = request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

/* As libbpf does, it also enables the event. */
struct bpf_link *__wrap_bpf_program__attach_perf_event(const struct bpf_program *prog, int fd)
{
	fake_of(fd)->enabled = true;
	return (struct bpf_link *)fake_of(fd);
}

int __wrap_bpf_link__destroy(struct bpf_link *link)
{
	return 0;
}

static void on_message(void *ctx, enum stk_log_level level, const char *text)
{
	warnings += level == STK_LOG_WARN;
	snprintf(warning, sizeof(warning), "%s", text);
}

static void pass(uint64_t ns)
{
	struct fake *f;

	for (f = fakes; f < fakes + NR_CPUS; f++) {
		if (!f->exists || !f->enabled || f->offline)
			continue;
		f->value += ns;
		f->enabled_ns += ns;
	}
}

/* The kernel keeps the descriptor of the event, which never counts again. */
static void take_offline(unsigned int cpu)
{
	fakes[cpu].offline = true;
	fakes[cpu].exists = false;
}

static void bring_back(unsigned int cpu)
{
	fakes[cpu].offline = false;
}

static uint64_t selected; /* CPUs; 0: all */

static struct samples *begin(void)
{
	const struct samples_opts o = { .nr_cpus = NR_CPUS,
					.hz = HZ,
					.cpus = selected ? &selected : NULL };
	struct samples *s;
	unsigned int i;

	memset(fakes, 0, sizeof(fakes));
	for (i = 0; i < NR_CPUS; i++)
		fakes[i].fd = -1;
	warnings = 0;
	log_set_sink(on_message, NULL);
	assert_int_equal(samples__new(&o, &s), 0);
	return s;
}

static struct samples *started(void)
{
	struct samples *s = begin();

	assert_int_equal(samples__refresh(s, all_online), 0);
	samples__stop(s);
	samples__start(s);
	return s;
}

static void want(struct samples *s, unsigned int cpu, uint64_t enabled, unsigned int ended)
{
	struct samples_count n;

	samples__count(s, cpu, &n);
	assert_int_equal(n.reading.enabled, enabled);
	assert_int_equal(n.ended, ended);
}

static void stays_online(void **state)
{
	struct samples *s = begin();
	unsigned int i;

	assert_int_equal(samples__refresh(s, all_online), 0);
	pass(3 * PERIOD); /* before the start: does not count */
	samples__stop(s);
	samples__start(s);
	for (i = 0; i < 10; i++) {
		pass(20 * PERIOD);
		assert_int_equal(samples__refresh(s, all_online), 0);
	}
	samples__stop(s);
	pass(PERIOD);
	want(s, 0, 200 * PERIOD, 0);
	assert_int_equal(fakes[0].opened, 1);
	assert_int_equal(warnings, 0);
	samples__free(s);
}

/* The CPU was in the list of online ones, and is gone when its event is opened. */
static void gone_at_the_start(void **state)
{
	struct samples *s = begin();

	take_offline(1);
	assert_int_equal(samples__refresh(s, all_online), 0);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warning, "CPU 1"));
	samples__stop(s);
	samples__start(s);
	pass(20 * PERIOD);
	assert_int_equal(samples__refresh(s, all_online), 0);
	assert_int_equal(warnings, 1); /* said once */
	want(s, 0, 20 * PERIOD, 0);
	want(s, 1, 0, 0);
	bring_back(1);
	assert_int_equal(samples__refresh(s, all_online), 0);
	pass(5 * PERIOD);
	want(s, 1, 5 * PERIOD, 0);
	samples__free(s);
}

/* Off and on again between two looks: the list of online CPUs does not show it. */
static void back_unnoticed(void **state)
{
	struct samples *s = started();
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		pass(20 * PERIOD + PERIOD / 2);
		assert_int_equal(samples__refresh(s, all_online), 0);
		take_offline(2);
		bring_back(2);
		pass(PERIOD);
		assert_int_equal(samples__refresh(s, all_online), 0);
		assert_int_equal(fakes[2].opened, i + 1);
		want(s, 2, i * 20 * PERIOD, i);
	}
	pass(10 * PERIOD);
	want(s, 2, 70 * PERIOD, 3);
	assert_int_equal(fakes[1].opened, 1);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warning, "CPU 2"));
	samples__free(s);
}

/* While it is offline, what it counted before stays known. */
static void offline_for_long(void **state)
{
	bool online[NR_CPUS] = { true, false, true };
	struct samples *s = started();

	pass(4 * PERIOD);
	take_offline(1);
	pass(50 * PERIOD);
	assert_int_equal(samples__refresh(s, online), 0);
	want(s, 1, 4 * PERIOD, 0);
	pass(50 * PERIOD);
	assert_int_equal(samples__refresh(s, online), 0);
	want(s, 1, 4 * PERIOD, 1);
	assert_int_equal(fakes[1].opened, 1);
	assert_int_equal(warnings, 0); /* it is not tried while it is known to be offline */
	bring_back(1);
	online[1] = true;
	pass(PERIOD);
	assert_int_equal(samples__refresh(s, online), 0);
	pass(6 * PERIOD);
	want(s, 1, 10 * PERIOD, 1);
	want(s, 0, 111 * PERIOD, 0);
	samples__stop(s);
	pass(6 * PERIOD);
	want(s, 1, 10 * PERIOD, 1);
	samples__free(s);
}

/* Off and on between the opening of the events and the start of the recording. */
static void back_before_the_start(void **state)
{
	struct samples *s = begin();

	assert_int_equal(samples__refresh(s, all_online), 0);
	take_offline(0);
	bring_back(0);
	samples__stop(s);
	samples__start(s);
	pass(20 * PERIOD);
	want(s, 0, 0, 0);
	assert_int_equal(samples__refresh(s, all_online), 0);
	pass(20 * PERIOD);
	want(s, 0, 20 * PERIOD, 1);
	samples__free(s);
}

/* The other CPUs have no event, even if they come back. */
static void selected_cpus(void **state)
{
	struct samples *s;
	int fds[2 * NR_CPUS];

	selected = 1 << 1;
	s = started();
	selected = 0;
	pass(10 * PERIOD);
	assert_int_equal(samples__refresh(s, all_online), 0);
	assert_int_equal(fakes[0].opened, 0);
	assert_int_equal(fakes[1].opened, 1);
	assert_int_equal(fakes[2].opened, 0);
	want(s, 0, 0, 0);
	want(s, 1, 10 * PERIOD, 0);
	assert_in_range(samples__fds(s, fds), 1, 2);
	samples__free(s);
}

/* Only a CPU that is offline is passed over. */
static void refused(void **state)
{
	struct samples *s = begin();

	fakes[1].refusal = EMFILE;
	assert_int_equal(samples__refresh(s, all_online), -EMFILE);
	assert_non_null(strstr(warning, "CPU 1: Too many open files"));
	samples__free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_online),	    cmocka_unit_test(gone_at_the_start),
		cmocka_unit_test(selected_cpus),    cmocka_unit_test(back_unnoticed),
		cmocka_unit_test(offline_for_long), cmocka_unit_test(back_before_the_start),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
