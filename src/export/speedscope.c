// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export: a file for speedscope, https://www.speedscope.app/file-format-schema.json.  Each group is
 * a sampled profile, whose samples are its distinct stacks.
 */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "formats.h"
#include "json.h"
#include "log.h"
#include "named_frames.h"
#include "stacks.h"
#include "string_table.h"
#include "text.h"

#define SECOND_NS 1000000000ull
#define PIECE 65536 /* bytes written at once */
#define FRAMES_OF_STACK (4 * STACK_PAIR_FRAMES) /* with those inlined; the rest is left out */

struct speedscope {
	const struct export_stacks *stacks;
	const struct output *output;
	struct strbuf text;
	struct json json;
	struct export_frames *frames;
	/* Frames as speedscope has them: the name, a NUL, and the file.  Equal ones are merged. */
	struct string_table shown;
	uint64_t charged; /* bytes of shown */
	const char *unit;
	uint64_t hz; /* of timer samples, if the weights are times; 0: they are not */
	uint64_t events, no_stack; /* written, and left out */
};

static int drain(struct speedscope *s, size_t piece)
{
	int err = 0;

	if (strbuf__failed(&s->text))
		return -ENOMEM;
	if (s->text.len >= piece && s->text.len) {
		err = output__write(s->output, s->text.s, s->text.len);
		strbuf__reset(&s->text);
	}
	return err;
}

/* Times if all events are timer samples, else the weights or the numbers of events. */
static void choose_unit(struct speedscope *s)
{
	const struct export_stacks *stacks = s->stacks;
	unsigned int i, sampled = 0;

	s->unit = stacks->weight ? export_stacks__unit(stacks) : NULL;
	for (i = 0; i < stacks->nr_groups; i++)
		sampled += stack_group__is_sampled(&stacks->groups[i]);
	if (!stacks->weight && sampled && sampled == stacks->nr_groups)
		s->hz = export_stacks__sample_hz(stacks);
	if (s->hz)
		s->unit = "nanoseconds";
	s->unit = s->unit ?: "none";
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The source file; without it the module, or the file of the code. */
static void put_file(const struct speedscope *s, const struct export_frame *f, struct strbuf *b)
{
	struct stk_file file;

	if (f->source)
		strbuf__puts(b, f->source);
	else if (f->frame.kind == STK_FRAME_USER && f->frame.file &&
		 !stk_reader__file(s->stacks->reader, f->frame.file, &file))
		strbuf__puts(b, file.path);
	else if (f->frame.mod)
		strbuf__puts(b, f->frame.mod);
	else if (f->frame.kind == STK_FRAME_KERNEL && !stack_fold__is_made(&f->frame))
		strbuf__puts(b, "[kernel]");
}

static int number_shown(struct speedscope *s, const struct strbuf *b, uint32_t *ret_number)
{
	uint64_t memory;
	int err;

	err = strbuf__failed(b) ?
		      -ENOMEM :
		      string_table__number(&s->shown, b->s, b->len, INDEX_NONE - 1, ret_number);
	if (err <= 0)
		return err;
	memory = string_table__memory(&s->shown);
	err = stk_reader__charge(s->stacks->reader, (int64_t)(memory - s->charged), 1);
	if (!err)
		s->charged = memory;
	return err;
}

/* Appends the functions of a frame, innermost first, to the nr in ret. */
static int add_frame(struct speedscope *s, const struct stk_frame *frame, struct strbuf *b,
		     uint32_t *ret, unsigned int *nr)
{
	const struct export_frame *f;
	uint32_t number = 0;
	unsigned int i;
	int err = export_frames__number(s->frames, frame, &number);

	f = err ? NULL : export_frames__get(s->frames, number);
	for (i = 0; !err && i < f->nr_inlined && *nr < FRAMES_OF_STACK; i++) {
		strbuf__reset(b);
		strbuf__puts(b, f->inlined[i].function ?: "?");
		strbuf__putc(b, '\0');
		strbuf__puts(b, f->inlined[i].source ?: "");
		err = number_shown(s, b, &ret[(*nr)++]);
	}
	if (err || *nr == FRAMES_OF_STACK)
		return err;
	strbuf__reset(b);
	export_frame__put_name(f, b);
	strbuf__putc(b, '\0');
	put_file(s, f, b);
	return number_shown(s, b, &ret[(*nr)++]);
}

static int put_frames(struct speedscope *s)
{
	struct json *j = &s->json;
	uint32_t i;
	int err = 0;

	json__object(j, "shared");
	json__array(j, "frames");
	for (i = 0; i < s->shown.nr && !err; i++) {
		const struct string_entry *e = &s->shown.v[i];
		size_t len = strlen(e->s);

		json__object(j, NULL);
		json__bytes(j, "name", e->s, len);
		if (e->len > len + 1)
			json__bytes(j, "file", e->s + len + 1, e->len - len - 1);
		json__end(j);
		err = drain(s, PIECE);
	}
	json__end(j);
	json__end(j);
	return err;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static unsigned int frames_of(const struct speedscope *s, const struct stack_count *c,
			      struct stk_frame *ret_frames)
{
	return stack_fold__frames(s->stacks->fold, (struct stack_pair){ c->kstack, c->ustack },
				  ret_frames);
}

/* A stack, outermost function first. */
static int put_sample(struct speedscope *s, const struct stack_count *c)
{
	struct stk_frame frames[STACK_PAIR_FRAMES];
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	uint32_t shown[FRAMES_OF_STACK];
	unsigned int i, nr_frames = frames_of(s, c, frames), nr = 0;
	int err;

	if (!nr_frames) {
		s->no_stack += c->count;
		return 0;
	}
	err = stk_reader__charge(s->stacks->reader, 0, nr_frames);
	for (i = 0; i < nr_frames && !err; i++)
		err = add_frame(s, &frames[i], &b, shown, &nr);
	if (err)
		return err;
	json__array(&s->json, NULL);
	while (nr)
		json__u64(&s->json, NULL, shown[--nr]);
	json__end(&s->json);
	s->events += c->count;
	return drain(s, PIECE);
}

/* -EOVERFLOW: the sum of the profile exceeds 64 bits, or may do so: weights end at their limit. */
static int put_weights(struct speedscope *s, const struct stack_group *g, uint64_t *ret_sum)
{
	struct stk_frame frames[STACK_PAIR_FRAMES];
	unsigned __int128 sum = 0, weight;
	unsigned int i;
	int err = 0;

	json__array(&s->json, "weights");
	for (i = 0; i < g->nr_stacks && !err; i++) {
		if (!frames_of(s, &g->stacks[i], frames))
			continue;
		weight = g->stacks[i].amount;
		if (s->hz)
			weight = weight * SECOND_NS / s->hz;
		sum += weight;
		if (sum >= UINT64_MAX)
			return -EOVERFLOW;
		json__u64(&s->json, NULL, weight);
		err = drain(s, PIECE);
	}
	json__end(&s->json);
	*ret_sum = sum;
	return err;
}

static int put_profile(struct speedscope *s, const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf label = { 0 };
	struct json *j = &s->json;
	uint64_t sum = 0;
	unsigned int i;
	int err;

	export_stacks__label(s->stacks, g, &label);
	json__object(j, NULL);
	json__string(j, "type", "sampled");
	json__bytes(j, "name", label.s ?: "", label.len);
	json__string(j, "unit", s->unit);
	json__u64(j, "startValue", 0);
	json__array(j, "samples");
	err = strbuf__failed(&label) ? -ENOMEM : 0;
	for (i = 0; i < g->nr_stacks && !err; i++)
		err = put_sample(s, &g->stacks[i]);
	json__end(j);
	err = err ?: put_weights(s, g, &sum);
	json__u64(j, "endValue", sum);
	json__end(j);
	return err;
}

/* The frames come last: they are known then. */
static int write_all(struct speedscope *s)
{
	struct json *j = &s->json;
	unsigned int i;
	int err = 0;

	json__object(j, NULL);
	json__string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json__string(j, "exporter", "stackonce");
	json__string(j, "name", s->stacks->weight ?: "events");
	json__array(j, "profiles");
	for (i = 0; i < s->stacks->nr_groups && !err; i++)
		err = put_profile(s, &s->stacks->groups[i]);
	json__end(j);
	err = err ?: put_frames(s);
	json__end(j);
	return err ?: drain(s, 0);
}

static int write_file(struct speedscope *s, const struct output_opts *opts)
{
	int err = export_frames__new(s->stacks->reader, s->stacks->names, &s->frames);

	s->json.out = &s->text;
	choose_unit(s);
	err = err ?: write_all(s);
	if (err == -EOVERFLOW)
		log_err(0, "'%s': a sum exceeds 2^64: select fewer events",
			s->stacks->weight ?: "time");
	else if (err)
		export__failed(s->stacks->reader, opts->path, err);
	return err;
}

static void speedscope__free(struct speedscope *s)
{
	if (s->stacks)
		stk_reader__charge(s->stacks->reader, -(int64_t)s->charged, 0);
	export_frames__free(s->frames);
	string_table__clear(&s->shown);
	strbuf__free(&s->text);
}

int export__speedscope(const struct export_source *src, const struct output_opts *opts,
		       struct strbuf *summary)
{
	_cleanup_(speedscope__free) struct speedscope s = { 0 };
	_cleanup_(output__freep) struct output *output = NULL;
	struct export_stacks stacks;
	int err;

	err = output__open(opts, &output) ?: export_source__count(src, &stacks);
	if (err)
		return err;
	s.stacks = &stacks;
	s.output = output;
	err = write_file(&s, opts) ?: output__commit(output);
	if (err)
		return err;
	strbuf__printf(summary, "%s in %s", text__count(s.events, "event").s,
		       text__count(stacks.nr_groups, "profile").s);
	export_stacks__put_left_out(&stacks, s.no_stack, summary);
	return 0;
}
