#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The cost of a kernel stack by its depth: from bpf_get_stack(), walked, and remembered.  Prints a
# table and draws the picture in docs/kernel-walk.md.
#   BENCH_PLOT  the file of the picture ($BUILD/kernel-walk-cost.svg)
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

plot=${BENCH_PLOT:-$BUILD/kernel-walk-cost.svg}

# bench_depth EVENT COMMAND...: prints a row and adds it to the data of the plot.
bench_depth()
{
	"$BUILD/src/kwalk/example/walkcost" "$@" >"$work/cost" || exit 1
	awk -v event="$1" '
		/^(bpf_get_stack|walk |remembered)/ { ns = ns sprintf(" %11d", $NF) }
		/frames, mean of/ { printf "%-26s %6.1f%s\n", event, $1, ns }' "$work/cost" |
		tee -a "$work/data"
}

tracefs_mount
echo "ns that a kernel stack adds to a BPF program at a tracepoint, compared with none."
printf '\n%-26s %6s %11s %11s %11s\n' event frames kernel walked remembered
bench_depth raw_syscalls:sys_enter "$prog/getppid" 30000 0
bench_depth sched:sched_switch "$prog/pingpong" 10000 0
for e in tcp:tcp_rcv_space_adjust net:net_dev_queue net:netif_rx net:netif_receive_skb \
	tcp:tcp_probe; do
	bench_depth "$e" "$prog/pingpong" 5000 0 tcp
done

# Grey and the colours are legible on white and on black; the background is that of the page.
gnuplot <<TEXT || exit 1
set terminal svg size 760,440 font 'sans-serif,13' noenhanced
set output '$plot'
grey = '#7d8590'
set border 3 lc rgb grey
set grid y lc rgb grey lw 0.3
set tics nomirror out tc rgb grey
set logscale y
set xrange [0:28]
set yrange [2:10000]
set xlabel 'frames' tc rgb grey
set ylabel 'ns for the kernel stack of an event' tc rgb grey
set key above tc rgb grey
name(event) = event[strstrt(event, ':') + 1:*]
colour(i) = word('#d1495b #2f81d8 #2e9d5b', i)
plot for [i = 1:3] '$work/data' using 2:i + 2 with linespoints pt 7 ps 0.5 lw 2 lc rgb colour(i) \
	title word('bpf_get_stack() walked remembered', i), \
	for [i = 1:3] '' using 2:i + 2:i + 2 with labels offset 0,i < 3 ? 0.8 : -0.8 font ',11' \
		tc rgb colour(i) notitle, \
	'' using 2:(2.3):(name(strcol(1))) with labels left rotate font ',10' tc rgb grey notitle
TEXT
printf '\nThe picture: %s\n' "$plot"
