// SPDX-License-Identifier: GPL-2.0-only
/* What formats share: events with losses, names of functions, without named_frames.h, messages. */
#include "source.h"

#include <errno.h>

#include "cleanup.h"
#include "log.h"
#include "names/user_names.h"

int export__failed(const struct stk_reader *r, const char *path, int err)
{
	const char *recording = stk_reader__path(r);

	if (err != -ENOBUFS)
		return log_err(err, "write '%s'", path);
	return recording ? log_err(err, "export '%s'", recording) :
			   log_err(err, "export the recordings");
}

static int take_losses(const struct export_source *src, const struct export_taker *taker,
		       uint64_t until)
{
	struct stk_loss loss;
	int n = 0, err = 0;

	while (!err && (n = export_source__next_loss(src, until, &loss)) == 1)
		err = taker->loss(taker->ctx, &loss);
	return err ?: n == -ENOMEM ? log_err(n, "read the losses") : MIN(n, 0);
}

int export_source__each(const struct export_source *src, const struct export_taker *taker,
			int *ret_damage)
{
	const struct stk_event *e;
	int n = 0, err = 0;

	while (!err && (n = export_source__next(src, &e)) > 0)
		err = take_losses(src, taker, stk_event__ts(e)) ?: taker->event(taker->ctx, e);
	if (!err && n == -ECANCELED)
		return n;
	/* once the budget is exhausted, nothing more is read */
	if (!err && n != -ENOBUFS)
		err = take_losses(src, taker, UINT64_MAX);
	*ret_damage = err == -ENOBUFS ? export__failed(src->reader, "", err) : n;
	return err == -ENOBUFS ? 0 : err;
}

const char *export_source__function(const struct export_source *src, const struct stk_frame *f)
{
	return user_names__of_frame(src->names, f);
}
