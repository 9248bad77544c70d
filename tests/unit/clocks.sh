#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# clocks.sh ROOT: no wait in src/ has a limit by the wall clock, which may be set meanwhile: the
# wait would end at once or take hours.
set -u
cd "$1" || exit 1
waits='pthread_(cond_timedwait|timedjoin_np|mutex_timedlock|rwlock_timed(rd|wr)lock)'
waits="$waits|sem_timedwait|mq_timed(send|receive)"
waits="$waits|(timer(fd)?_create|clock_nanosleep)\(CLOCK_REALTIME"
! grep -rnE "\b($waits)\b|(wait|join|lock)\([^;]*CLOCK_REALTIME" src || {
	echo "wait by CLOCK_MONOTONIC: pthread_cond_clockwait(), pthread_clockjoin_np(), ..."
	exit 1
}
