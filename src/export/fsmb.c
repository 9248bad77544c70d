// SPDX-License-Identifier: GPL-2.0-only
/* Writes the stacks of a recording as an FSMB map. */
#include "fsmb.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "formats.h"
#include "fsmb_format.h"
#include "log.h"
#include "query/metadata.h"
#include "text.h"

/* The form of the map: that of the map that was imported, or else ours. */
struct form {
	bool imported, swapped, has_trailer;
	uint32_t version;
	bool by_events; /* only stacks with events, and their number as references */
	uint32_t nr_stacks; /* of an import; the stacks beyond came from its trace text */
};

struct refs {
	uint64_t *v; /* by stack number */
	uint32_t nr;
};

static void refs__clear(struct refs *refs)
{
	free(refs->v);
}

static int count_event(struct refs *refs, uint32_t number)
{
	if (array__reach(&refs->v, number, &refs->nr))
		return -ENOMEM;
	refs->v[number]++;
	return 0;
}

/* To the end of the recording: all stacks are known then, and every event is counted. */
static int count_events(const struct export_source *src, struct refs *refs)
{
	const struct stk_reader *r = src->reader;
	const struct stk_event *e;
	int err;

	while ((err = export_source__next(src, &e)) > 0) {
		uint32_t number = stk_event__kstack(e);

		err = number <= stk_reader__nr_stacks(r) ? count_event(refs, number) : 0;
		if (err)
			return err;
	}
	return err;
}

/* An alias's events count for the first stack with its frames. */
static int merge_aliases(struct stk_reader *r, struct refs *refs)
{
	uint32_t i, nr = stk_reader__nr_stacks(r);
	struct stk_stack s;
	int err;

	for (i = 1; i <= nr && i < refs->nr; i++) {
		err = stk_reader__stack(r, i, &s);
		if (err)
			return err;
		if (s.alias_of == i || !refs->v[i])
			continue;
		if (s.alias_of < refs->nr)
			refs->v[s.alias_of] += refs->v[i];
		refs->v[i] = 0;
	}
	return 0;
}

static uint64_t meta_u64(struct stk_reader *r, const char *key)
{
	uint64_t value = 0;

	metadata__u64(r, key, &value);
	return value;
}

static bool has_meta(struct stk_reader *r, const char *key, const char *value)
{
	const char *text = stk_reader__meta(r, key);

	return text && !strcmp(text, value);
}

static struct form form_of(struct stk_reader *r, uint32_t version)
{
	struct form form = { .imported = has_meta(r, "source", "fsmb"),
			     .version = version ?: FSMB_VERSION,
			     .nr_stacks = UINT32_MAX };

	if (!form.imported)
		return form;
	form.swapped = has_meta(r, "import.byte_order", "swapped");
	if (!version && has_meta(r, "import.version", "1"))
		form.version = FSMB_VERSION_V1;
	if (stk_reader__meta(r, "import.map_stacks"))
		form.nr_stacks = (uint32_t)meta_u64(r, "import.map_stacks");
	return form;
}

static uint32_t order32(const struct form *form, uint32_t v)
{
	return form->swapped ? bswap_32(v) : v;
}

static uint64_t order64(const struct form *form, uint64_t v)
{
	return form->swapped ? bswap_64(v) : v;
}

/* What the recording knows of its kernel; false: not where that was, so there is no trailer. */
static bool make_trailer(struct stk_reader *r, const struct form *form,
			 struct fsmb_trailer *ret_trailer)
{
	const char *build_id = stk_reader__meta(r, "kernel.build_id");
	const char *release = stk_reader__meta(r, "kernel.release");
	const char *boot_id = stk_reader__meta(r, "boot_id");
	struct fsmb_trailer t = {
		.magic = order32(form, FSMB_TRAILER_MAGIC),
		.size = order32(form, sizeof(t)),
		.text_base = order64(form, meta_u64(r, "kernel.text")),
		.page_shift = order32(form, (uint32_t)meta_u64(r, "import.page_shift")),
		.boot_time = order64(form, meta_u64(r, "import.boot_time")),
	};

	if (!t.text_base)
		return false;
	if (build_id)
		t.build_id_size =
			order32(form, text__hex_bytes(build_id, t.build_id, sizeof(t.build_id)));
	if (boot_id)
		memcpy(t.boot_id, boot_id, strnlen(boot_id, sizeof(t.boot_id) - 1));
	if (release)
		memcpy(t.release, release, strnlen(release, sizeof(t.release) - 1));
	*ret_trailer = t;
	return true;
}

static uint32_t flags_of(const struct stk_stack *s)
{
	return s->end == STK_END_TRUNCATED || s->end == STK_END_AT_LIMIT ? FSMB_STACK_TRUNCATED : 0;
}

static int write_stack(FILE *f, const struct form *form, const struct stk_stack *s, uint64_t refs,
		       const struct stk_frame *frames, unsigned int depth)
{
	struct fsmb_stack head = {
		.stack_id = order32(form, s->id),
		.nr = order32(form, depth),
		.ref_count = order32(form, (uint32_t)MIN(refs, (uint64_t)UINT32_MAX)),
		.flags = order32(form, form->has_trailer ? flags_of(s) : 0),
	};
	uint64_t ips[STK_MAX_DEPTH];
	unsigned int i;

	for (i = 0; i < depth; i++)
		ips[i] = order64(form, frames[i].ip);
	if (fwrite(&head, sizeof(head), 1, f) != 1 || fwrite(ips, sizeof(*ips), depth, f) != depth)
		return errno ? -errno : -EIO;
	return 0;
}

/*
 * Every stack that belongs into the map, in the order of the numbers; with f NULL they are only
 * counted, for the header.  Only a map with a trailer has flags.
 */
static int walk_stacks(struct stk_reader *r, const struct form *form, const struct refs *refs,
		       FILE *f, struct export_fsmb_result *ret_result)
{
	uint32_t i, all = stk_reader__nr_stacks(r), nr = MIN(all, form->nr_stacks);
	struct export_fsmb_result result = { .of_text = all - nr };
	struct stk_frame frames[STK_MAX_DEPTH];
	int depth, j, err;

	for (i = 1; i <= nr; i++) {
		uint64_t count = i < refs->nr ? refs->v[i] : 0;
		struct stk_stack s;

		err = stk_reader__stack(r, i, &s);
		if (err)
			return err;
		if ((!form->imported && s.alias_of != i) || (form->by_events && !count))
			continue;
		depth = stk_reader__frames(r, i, frames, STK_MAX_DEPTH);
		if (depth < 0)
			return depth;
		/* What an import holds came from such a map, also where it is no address. */
		for (j = 0; j < depth && (form->imported || frames[j].kind == STK_FRAME_KERNEL);
		     j++)
			;
		if (j < depth) {
			result.skipped++;
			continue;
		}
		if (form->imported && !form->by_events)
			count = s.refs;
		result.refs_cut += count > UINT32_MAX;
		result.stacks++;
		err = f ? write_stack(f, form, &s, count, frames, (unsigned int)depth) : 0;
		if (err)
			return err;
	}
	*ret_result = result;
	return 0;
}

static int write_map(const struct export_source *src, uint32_t version, const struct refs *refs,
		     FILE *f, struct export_fsmb_result *ret_result)
{
	struct stk_reader *r = src->reader;
	struct form form = form_of(r, version);
	bool is_v1 = form.version == FSMB_VERSION_V1;
	struct fsmb_header header = {
		.magic = order32(&form, is_v1 ? FSMB_MAGIC_V1 : FSMB_MAGIC),
		.version = order32(&form, form.version),
	};
	struct fsmb_trailer trailer;
	int err;

	form.by_events = src->is_selection;
	/* Of version 1, only an imported map can have one. */
	form.has_trailer = (!is_v1 || (!version && stk_reader__meta(r, "import.page_shift"))) &&
			   make_trailer(r, &form, &trailer);
	err = walk_stacks(r, &form, refs, NULL, ret_result);
	if (err)
		return err;
	header.nr_stacks = order32(&form, ret_result->stacks);
	if (form.has_trailer)
		header.generation = order32(&form, (uint32_t)meta_u64(r, "stack_map.generation"));
	errno = 0;
	if (fwrite(&header, sizeof(header), 1, f) != 1)
		return errno ? -errno : -EIO;
	err = walk_stacks(r, &form, refs, f, ret_result);
	if (!err && form.has_trailer && fwrite(&trailer, sizeof(trailer), 1, f) != 1)
		err = errno ? -errno : -EIO;
	if (!err && fflush(f))
		err = -errno;
	return err;
}

int export_fsmb(const struct export_source *src, uint32_t version, const struct output_opts *opts,
		struct export_fsmb_result *ret_result)
{
	_cleanup_(output__freep) struct output *output = NULL;
	_cleanup_(refs__clear) struct refs refs = { 0 };
	_cleanup_fclose_ FILE *f = NULL;
	struct export_fsmb_result result;
	int damage, err;

	err = output__open(opts, &output);
	if (err)
		return err;
	damage = count_events(src, &refs);
	if (damage == -ECANCELED)
		return damage;
	err = merge_aliases(src->reader, &refs);
	if (err)
		return err;
	f = fdopen(fcntl(output__fd(output), F_DUPFD_CLOEXEC, 3), "w");
	if (!f)
		return log_err(-errno, "write '%s'", opts->path);
	err = write_map(src, version, &refs, f, &result);
	if (err)
		return log_err(err, "write '%s'", opts->path);
	err = output__commit(output);
	if (err)
		return err;
	*ret_result = result;
	return damage;
}

int export_fsmb_summed(const struct export_source *src, uint32_t version,
		       const struct output_opts *output, struct strbuf *summary)
{
	struct export_fsmb_result result;
	int err = export_fsmb(src, version, output, &result);

	if (err)
		return err;
	if (result.skipped)
		log_warn("skipped %s with frames that are not kernel addresses",
			 text__count(result.skipped, "stack").s);
	if (result.refs_cut)
		log_warn("the references of %s are cut to 32 bits",
			 text__count(result.refs_cut, "stack").s);
	strbuf__printf(summary, "%s", text__count(result.stacks, "stack").s);
	if (result.of_text)
		strbuf__printf(summary, "; without %s of the imported text alone",
			       text__count(result.of_text, "stack").s);
	return 0;
}

int export__fsmb(const struct export_source *src, const struct output_opts *output,
		 struct strbuf *summary)
{
	return export_fsmb_summed(src, 0, output, summary);
}
