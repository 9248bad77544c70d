// SPDX-License-Identifier: GPL-2.0-only
/* stackonce record: the options that select CPUs, cgroups and users. */
#include "record.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "record/kernel/percpu.h"
#include "slurp.h"
#include "ui/ui.h"

int record_select__cgroup(void *into, const struct opt *opt, const char *path)
{
	struct record_options *o = into;

	if (!*path)
		return -EINVAL;
	if (o->nr_cgroups == RECORD_MAX_CGROUPS)
		return ui__usage_error("record", "more than %d cgroups are given",
				       RECORD_MAX_CGROUPS);
	o->cgroups[o->nr_cgroups++] = path;
	return 0;
}

/* A user by name or number. */
static int find_user(const char *user, uint32_t *ret_uid)
{
	struct passwd *pw;
	uint64_t uid;
	int err;

	err = parse__u64(user, 0, UINT32_MAX - 1, &uid);
	if (!err)
		*ret_uid = uid;
	if (err != -EINVAL)
		return err;
	errno = 0;
	pw = *user ? getpwnam(user) : NULL;
	if (!pw)
		return ui__usage_error("record", "there is no user '%s' (--uid)", user);
	*ret_uid = pw->pw_uid;
	return 0;
}

int record_select__uids(void *into, const struct opt *opt, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	struct record_options *o = into;
	char *one, *rest = copy;
	int err;

	if (!copy)
		return -ENOMEM;
	while ((one = strsep(&rest, ","))) {
		if (o->rec.nr_uids == RECORD_MAX_UIDS)
			return ui__usage_error("record", "more than %d users are given",
					       RECORD_MAX_UIDS);
		err = find_user(one, &o->uids[o->rec.nr_uids]);
		if (err)
			return err;
		o->rec.nr_uids++;
	}
	o->rec.uids = o->uids;
	return 0;
}

static bool is_offline(unsigned int cpu)
{
	unsigned int online;
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return !slurp__number(path, &online) && !online;
}

static int take_cpus(struct record_options *o)
{
	int nr = percpu__nr_cpus();
	unsigned int cpu, i;

	if (nr < 0)
		return CMD_FAILURE;
	for (i = 0; i < o->cpus.nr; i++) {
		const struct num_range *r = &o->cpus.ranges[i];

		if (r->last >= (uint64_t)nr) {
			log_err(0, "select CPU %llu: this machine has CPUs 0-%d (--cpu)",
				(unsigned long long)r->last, nr - 1);
			return CMD_FAILURE;
		}
		for (cpu = r->first; cpu <= r->last; cpu++) {
			o->cpu_bits[cpu / 64] |= 1ull << cpu % 64;
			if (is_offline(cpu))
				log_warn("CPU %u is offline: it has no events until it is online",
					 cpu);
		}
	}
	o->rec.cpus = o->cpus.nr ? o->cpu_bits : NULL;
	return CMD_OK;
}

int record_select__open(struct record_options *o)
{
	unsigned int i;
	int code = take_cpus(o);

	for (i = 0; i < o->nr_cgroups && !code; i++) {
		if (cgroup_dir__open(o->cgroups[i], &o->cgroup_dirs[i]))
			code = CMD_FAILURE;
		else
			o->rec.nr_cgroups++;
	}
	o->rec.cgroups = o->cgroup_dirs;
	return code;
}

void record_select__close(struct record_options *o)
{
	for (unsigned int i = 0; i < o->rec.nr_cgroups; i++)
		cgroup_dir__close(&o->cgroup_dirs[i]);
	num_set__free(&o->cpus);
}
