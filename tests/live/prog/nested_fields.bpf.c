// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes records of one event as the recorder does for nested events, and compares them with those
 * that the kernel formats.
 */
#include "bpf/nested_fields.bpf.h"

#include "nested_fields.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct event_desc);
} descs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kept);
} made SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kept);
} formatted SEC(".maps");

/* A program may interrupt itself, once per context. */
struct room {
	u32 busy, pad;
	struct one one;
	struct fill_run run;
	struct difference d;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, struct room);
} rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} differences SEC(".maps");

u64 compared = 0, not_made = 0, no_room = 0, not_told = 0;

static __always_inline struct room *room_get(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		u32 key = i;
		struct room *r = bpf_map_lookup_elem(&rooms, &key);

		if (r && !__sync_val_compare_and_swap(&r->busy, 0, 1))
			return r;
	}
	__sync_fetch_and_add(&no_room, 1);
	return NULL;
}

static __always_inline void room_put(struct room *r)
{
	barrier();
	*(volatile u32 *)&r->busy = 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} tails SEC(".maps");

/*
 * A tail call, as attaching `make` is refused where an event has fewer arguments than it may read.
 */
SEC("raw_tp")
int enter(void *ctx)
{
	bpf_tail_call(ctx, &tails, 0);
	return 0;
}

/* Compares the fields after the common ones, which are not recorded. */
static __always_inline bool equal(const struct one *a, const struct one *b)
{
	const u64 *x = (const u64 *)a->rec, *y = (const u64 *)b->rec;
	u64 differ = a->size ^ b->size;
	u32 i;

	for (i = 1; i < RECORD_BYTES / 8; i++)
		differ |= x[i] ^ y[i];
	return !differ;
}

/* The order of the two sides is unknown: the later one looks for the record of the other. */
__noinline int match(struct one *one, struct kept *others)
{
	u32 i;

	if (!one || !others)
		return 0;
	for (i = 0; i < KEPT; i++) {
		if (others->v[i].matched || !equal(&others->v[i], one))
			continue;
		others->v[i].matched = 1;
		one->matched = 1;
		__sync_fetch_and_add(&compared, 1);
		return 1;
	}
	return 0;
}

SEC("raw_tp")
int make(struct bpf_raw_tracepoint_args *ctx)
{
	u32 zero = 0;
	struct event_desc *d = bpf_map_lookup_elem(&descs, &zero);
	struct kept *to = bpf_map_lookup_elem(&made, &zero);
	struct kept *others = bpf_map_lookup_elem(&formatted, &zero);
	struct room *r = room_get();

	if (!r)
		return 0;
	if (d && to && others && fill_record(ctx, d, &r->run)) {
		r->one.size = r->run.size;
		r->one.matched = 0;
		__builtin_memcpy(r->one.rec, r->run.rec, RECORD_BYTES);
		match(&r->one, others);
		to->v[__sync_fetch_and_add(&to->next, 1) % KEPT] = r->one;
	} else {
		__sync_fetch_and_add(&not_made, 1);
	}
	room_put(r);
	return 0;
}

static __always_inline u32 size_of(const u8 *rec, const struct event_desc *d)
{
	u32 size = d->fixed_size, i;

	for (i = 0; i < 2; i++) {
		u32 loc;

		if (i >= d->nr_dyn)
			break;
		loc = *(const u32 *)(rec + (d->dyn_off[i] & (WIRE_MAX_FILLED - 4)));
		loc = (loc & 0xffff) + (loc >> 16);
		size = loc > size ? loc : size;
	}
	return size;
}

/* Reports a record that has waited long enough. */
static __always_inline void report(struct difference *d, const struct one *one,
				   const struct kept *m)
{
	d->one = *one;
	bpf_probe_read_kernel(&d->made, sizeof(d->made), m);
	if (bpf_ringbuf_output(&differences, d, sizeof(*d), 0))
		__sync_fetch_and_add(&not_told, 1);
}

/* Older verifiers lose a bound that the compiler checked on a copy; all of them accept a mask. */
static __always_inline void copy(struct room *r, u32 size, void *ctx)
{
	asm volatile("" : "+r"(size));
	size &= 255; /* the room has more bytes after the record */
	bpf_probe_read_kernel(r->one.rec, size, ctx);
}

SEC("tracepoint")
int check(void *ctx)
{
	u32 zero = 0;
	struct event_desc *d = bpf_map_lookup_elem(&descs, &zero);
	struct kept *to = bpf_map_lookup_elem(&formatted, &zero);
	struct kept *others = bpf_map_lookup_elem(&made, &zero);
	struct room *r = room_get();
	struct one *slot;

	if (!r)
		return 1;
	if (!d || !to || !others) {
		room_put(r);
		return 1;
	}
	__builtin_memset(r->one.rec, 0, RECORD_BYTES);
	copy(r, d->fixed_size, ctx);
	r->one.size = size_of(r->one.rec, d);
	copy(r, r->one.size, ctx);
	r->one.matched = 0;
	match(&r->one, others);
	slot = &to->v[__sync_fetch_and_add(&to->next, 1) % WAIT];
	if (slot->size && !slot->matched)
		report(&r->d, slot, others);
	*slot = r->one;
	room_put(r);
	return 1;
}
