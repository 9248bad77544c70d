// SPDX-License-Identifier: GPL-2.0-only
/* Loads the running kernel's symbols, through a BPF program if kallsyms hides addresses. */
#include "kernel_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/symbols.skel.h"
#include "kernel_id.h"
#include "log.h"
#include "record/cache/cache_dir.h"
#include "symbols/ksyms.h"
#include "wire.h"

/* Which kernel runs. */
struct kernel_key {
	uint64_t first; /* address of its first function */
	uint8_t build_id[64];
};

struct kernel_names {
	struct ksyms *syms;
	struct ksyms_keeper keeper;
	struct cache_dir *cache;
	struct symbols_bpf *skel; /* loaded when first needed */
	bool failed; /* skel cannot be loaded or run */
};

/* Warns once; the recording continues with the symbols of kallsyms. */
static int give_up(struct kernel_names *n)
{
	if (!n->failed)
		log_warn("BPF cannot look up kernel symbols: %s", strerror(errno));
	n->failed = true;
	return -EOPNOTSUPP;
}

static int load(struct kernel_names *n)
{
	if (n->failed)
		return -EOPNOTSUPP;
	if (n->skel)
		return 0;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	n->skel = symbols_bpf__open_and_load();
	if (n->skel)
		return 0;
	return give_up(n);
}

/* A ksyms_resolve_fn. */
static int resolve(void *ctx, const uint64_t *addrs, unsigned int nr, char *texts, size_t text_len)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct kernel_names *n = ctx;
	unsigned int i;
	int err;

	if (nr > WIRE_SYMBOL_BATCH)
		return -E2BIG;
	err = load(n);
	if (err)
		return err;
	memset(n->skel->bss->symbol_addrs, 0, sizeof(n->skel->bss->symbol_addrs));
	memcpy(n->skel->bss->symbol_addrs, addrs, nr * sizeof(*addrs));
	if (bpf_prog_test_run_opts(bpf_program__fd(n->skel->progs.name_symbols), &run))
		return give_up(n);
	for (i = 0; i < nr; i++) {
		strncpy(texts + i * text_len, n->skel->bss->symbol_texts[i], text_len - 1);
		texts[i * text_len + text_len - 1] = '\0';
	}
	return 0;
}

/* kallsyms hides addresses: walks all kernel text from an address found on a stack. */
static int walk(void *ctx)
{
	struct kernel_names *n = ctx;
	LIBBPF_OPTS(bpf_test_run_opts, run);
	unsigned int i = WIRE_ANCHORS;
	int err;

	err = load(n);
	if (err)
		return 0; /* addresses have no symbols; load() has warned */
	if (bpf_prog_test_run_opts(bpf_program__fd(n->skel->progs.find_anchors), &run))
		return -errno;
	while (i && !n->skel->bss->anchors[i - 1])
		i--;
	return i ? ksyms__walk(n->syms, n->skel->bss->anchors[i - 1]) : -ENOENT;
}

static struct cache_item item_of(const struct kernel_key *key)
{
	return (struct cache_item){
		.name = CACHE_KERNEL "functions",
		.key = key,
		.key_len = sizeof(*key),
	};
}

static bool key_of(uint64_t first, struct kernel_key *ret_key)
{
	*ret_key = (struct kernel_key){ .first = first };
	return !kernel_id__read(ret_key->build_id);
}

static bool get_kept(void *ctx, uint64_t first, void **ret_image, size_t *ret_len)
{
	const struct kernel_names *n = ctx;
	struct kernel_key key;
	struct cache_item item = item_of(&key);

	if (!key_of(first, &key) || !cache_dir__get(n->cache, &item))
		return false;
	*ret_image = item.rest;
	*ret_len = item.rest_len;
	return true;
}

static void keep(void *ctx, uint64_t first, const void *image, size_t len)
{
	const struct kernel_names *n = ctx;
	struct kernel_key key;
	struct cache_item item = item_of(&key);

	item.rest = (void *)image;
	item.rest_len = len;
	if (key_of(first, &key))
		cache_dir__put(n->cache, &item);
}

int kernel_names__new(struct cache_dir *cache, struct kernel_names **ret_names)
{
	struct kernel_names *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	n->cache = cache;
	n->keeper = (struct ksyms_keeper){ .ctx = n, .get = get_kept, .put = keep };
	err = ksyms__load_beside(cache ? &n->keeper : NULL, walk, n, &n->syms);
	if (err) {
		kernel_names__free(n);
		return log_err(err, "load the kernel's symbols");
	}
	ksyms__set_resolver(n->syms, resolve, n);
	*ret_names = n;
	return 0;
}

void kernel_names__free(struct kernel_names *n)
{
	if (!n)
		return;
	ksyms__free(n->syms);
	symbols_bpf__destroy(n->skel);
	free(n);
}

struct ksyms *kernel_names__syms(struct kernel_names *n)
{
	return n->syms;
}
