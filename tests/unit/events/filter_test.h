/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of event filters: one format with fields of all kinds, and its records. */
#ifndef FILTER_TEST_H
#define FILTER_TEST_H

#include "events/filter.h"
#include "format_test.h"

static const char filter_format[] = FORMAT(
	"filter_test",
	FIELD("unsigned short common_type", 0, 2,
	      0) FIELD("unsigned char common_flags", 2, 1,
		       0) FIELD("unsigned char common_preempt_count", 3, 1,
				0) FIELD("int common_pid", 4, 4, 1) "\n" FIELD("u8 u8", 8, 1, 0)
		FIELD("s8 s8", 9, 1, 1) FIELD("u16 u16", 10, 2, 0) FIELD("s16 s16", 12, 2, 1) FIELD(
			"u16 pad", 14, 2, 0) FIELD("u32 u32", 16, 4, 0) FIELD("s32 s32", 20, 4, 1)
			FIELD("u64 u64", 24, 8, 0) FIELD("s64 s64", 32, 8, 1) FIELD(
				"char name[16]", 40, 16, 0) FIELD("__data_loc char[] str", 56, 4, 0)
				FIELD("__rel_loc char[] rel", 60, 4,
				      0) FIELD("__data_loc cpumask_t mask", 64, 4,
					       0) FIELD("unsigned char six[6]", 68, 6,
							0) FIELD("u8 odd[3]", 74, 3, 0)
					FIELD("__data_loc u8[] blob", 77, 4,
					      0) FIELD("u8 last", 81, 1,
						       0) FIELD("const char * kptr", 82, 8, 0)
						FIELD("char * cptr", 90, 8, 0)
							FIELD("unsigned char * uptr", 98, 8, 0)
								FIELD("int cpu_of", 106, 4, 1),
	"\"\"");

/* filter_format, parsed for the whole group of tests. */
static struct ev_format *fmt;

static inline int filter_format__parse(void **state)
{
	fmt = parse(filter_format);
	return 0;
}

static inline int filter_format__free(void **state)
{
	ev_format__free(fmt);
	return 0;
}

struct filter_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint16_t pad;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	char name[16];
	uint32_t str, rel, mask;
	uint8_t six[6], odd[3];
	uint32_t blob;
	uint8_t last;
	uint64_t kptr, cptr, uptr;
	int32_t cpu_of;
	uint8_t pad2[2];
	char str_data[64];
	char rel_data[32];
	uint64_t mask_data[4];
} __attribute__((packed));

_Static_assert(offsetof(struct filter_record, cpu_of) == 106, "the format says so");

static inline int fake_function(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
				uint64_t *ret_end)
{
	if (name ? strcmp(name, "schedule") : addr < 0x1000 || addr >= 0x1100)
		return -2;
	*ret_start = 0x1000;
	*ret_end = 0x1100;
	return 0;
}

static const struct filter_features all_features = {
	.function = true,
	.cpus = true,
	.common_cpu = true,
	.stacktrace = true,
	.nr_cpus = 200,
	.function_range = fake_function,
};

static inline struct filter_record filter_record(void)
{
	struct filter_record r = { .type = 7, .flags = 1, .preempt_count = 2, .pid = 4711 };

	r.str = 6u << 16 | offsetof(struct filter_record, str_data);
	strcpy(r.str_data, "hello");
	r.rel = 6u << 16 | (offsetof(struct filter_record, rel_data) -
			    offsetof(struct filter_record, rel) - 4);
	strcpy(r.rel_data, "world");
	r.mask = 32u << 16 | offsetof(struct filter_record, mask_data);
	strcpy(r.name, "swapper/0");
	return r;
}

static inline void filter_set_string(struct filter_record *r, const char *s)
{
	r->str = (uint32_t)(strlen(s) + 1) << 16 | offsetof(struct filter_record, str_data);
	strcpy(r->str_data, s);
}

#endif /* FILTER_TEST_H */
