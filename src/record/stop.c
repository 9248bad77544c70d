// SPDX-License-Identifier: GPL-2.0-only
/* Counts the signals that end a recording. */
#include "stop.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"

static struct {
	int sig;
	bool ignore; /* write(2) fails instead, which is handled */
	bool changed;
	struct sigaction before;
} caught[] = {
	{ .sig = SIGINT },
	{ .sig = SIGTERM },
	{ .sig = SIGHUP },
	{ .sig = SIGPIPE, .ignore = true },
	{ .sig = SIGXFSZ, .ignore = true },
};

static volatile sig_atomic_t count, last, forward, ignores_terminal;

static void on_stop(int sig, siginfo_t *info, void *ctx)
{
	bool terminal = info->si_code == SI_KERNEL;

	if (terminal && sig == SIGINT && ignores_terminal)
		return;
	if (!terminal)
		forward = sig;
	last = sig;
	count++;
}

void stop__catch(void)
{
	struct sigaction stop = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caught); i++) {
		int sig = caught[i].sig;
		bool ignored;

		if (caught[i].changed || sigaction(sig, NULL, &caught[i].before))
			continue;
		ignored = !(caught[i].before.sa_flags & SA_SIGINFO) &&
			  caught[i].before.sa_handler == SIG_IGN;
		if (ignored && sig != SIGINT)
			continue;
		if (ignored)
			ignores_terminal = 1;
		caught[i].changed = !sigaction(sig, caught[i].ignore ? &ignore : &stop, NULL);
	}
}

void stop__restore(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caught); i++)
		if (caught[i].changed)
			sigaction(caught[i].sig, &caught[i].before, NULL);
}

unsigned int stop__count(void)
{
	return count;
}

int stop__signal(void)
{
	return last;
}

int stop__take_forward(void)
{
	return __atomic_exchange_n(&forward, 0, __ATOMIC_SEQ_CST);
}
