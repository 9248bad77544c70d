// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates the rings of events and of file events of each CPU.  The kernel waits for a grace period
 * after an update of a map of maps, so the rings of all CPUs are one update.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "event_ring.h"
#include "programs_priv.h"
#include "record/kernel/map_in_map.h"

static int *ring_fds(const struct programs *p, unsigned int cpu)
{
	return p->ring_fds + (size_t)cpu * p->rings.nr_parts;
}

static int add_part(const struct programs *p)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "stk_ring", sizeof(uint32_t),
			      event_ring__part_bytes(&p->rings), 1, &opts);
}

static int add_file_ring(const struct programs *p)
{
	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "stk_file_ring", 0, 0, FILE_RING_BYTES, NULL);
}

/*
 * Creates the missing ones among nr maps of each online CPU, and puts them into an array of maps at
 * the same places as their descriptors into fds.
 */
static int add_rings(const struct programs *p, const struct bpf_map *outer, unsigned int nr_each,
		     int (*create)(const struct programs *p), int *fds)
{
	size_t max = (size_t)p->nr_cpus * nr_each;
	_cleanup_free_ uint32_t *keys = malloc(max * sizeof(*keys));
	_cleanup_free_ int *added = malloc(max * sizeof(*added));
	uint32_t i, nr = 0;
	int err = 0;

	if (!keys || !added)
		return -ENOMEM;
	for (i = 0; i < max && !err; i++) {
		if (!p->online[i / nr_each] || fds[i] >= 0)
			continue;
		added[nr] = create(p);
		err = added[nr] < 0 ? -errno : 0;
		keys[nr] = i;
		nr += !err;
	}
	err = err ?: map_in_map__set(bpf_map__fd(outer), keys, added, nr);
	while (nr--) {
		if (err)
			close(added[nr]);
		else
			fds[keys[nr]] = added[nr];
	}
	return err;
}

int programs__add_rings(struct programs *p)
{
	const struct record_bpf *s = p->skel;
	int err = add_rings(p, s->maps.ring_parts, p->rings.nr_parts, add_part, p->ring_fds);

	if (err || !p->user_stacks)
		return err;
	return add_rings(p, s->maps.file_rings, 1, add_file_ring, p->file_ring_fds);
}

static int on_wakeup(void *ctx, void *data, size_t len)
{
	return 0;
}

static int take_wakeups(void *ctx)
{
	return ring_buffer__consume(ctx);
}

struct event_wakeups programs__wakeups(const struct programs *p)
{
	return (struct event_wakeups){ ring_buffer__epoll_fd(p->wakeups), take_wakeups,
				       p->wakeups };
}

int programs__create_rings(struct programs *p)
{
	size_t nr = (size_t)p->nr_cpus * p->rings.nr_parts;

	p->wakeups = ring_buffer__new(bpf_map__fd(p->skel->maps.wakeups), on_wakeup, NULL, NULL);
	if (!p->wakeups)
		return -errno;

	p->ring_fds = malloc(nr * sizeof(*p->ring_fds));
	p->file_ring_fds = malloc(p->nr_cpus * sizeof(*p->file_ring_fds));
	if (!p->ring_fds || !p->file_ring_fds)
		return -ENOMEM;
	memset(p->ring_fds, -1, nr * sizeof(*p->ring_fds));
	memset(p->file_ring_fds, -1, p->nr_cpus * sizeof(*p->file_ring_fds));
	return programs__add_rings(p);
}

void programs__free_rings(struct programs *p)
{
	unsigned int i;

	for (i = 0; p->ring_fds && i < p->nr_cpus * p->rings.nr_parts; i++)
		closep(&p->ring_fds[i]);
	for (i = 0; p->file_ring_fds && i < p->nr_cpus; i++)
		closep(&p->file_ring_fds[i]);
	free(p->ring_fds);
	free(p->file_ring_fds);
	p->ring_fds = p->file_ring_fds = NULL;
	ring_buffer__free(p->wakeups);
	p->wakeups = NULL;
}

const struct wire_rings *programs__rings(const struct programs *p)
{
	return &p->rings;
}

struct wire_ring_pos *programs__ring_pos(const struct programs *p, unsigned int cpu)
{
	struct wire_cpu *c = (void *)(p->cpus + cpu * (p->cpus_len / p->nr_cpus));

	return &c->ring;
}

const int *programs__ring_fds(const struct programs *p, unsigned int cpu)
{
	const int *fds = ring_fds(p, cpu);

	return fds[0] >= 0 ? fds : NULL;
}
