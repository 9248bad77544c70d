/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Starts threads that leave signals to the others. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>

/* Returns 0 or a negative errno; with an error there is no thread. */
static inline int thread__start(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

#endif /* THREAD_H */
