# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shared by the init processes of the test machines.  Files in /out are sent back to the host.

guest_start()
{
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t devtmpfs dev /dev 2>/dev/null
	mkdir -p /dev/pts /dev/shm /out
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /tmp
	mount -t tmpfs -o size=64m tmpfs /out
	mount -t tracefs nodev /sys/kernel/tracing
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
	mount -t bpf bpf /sys/fs/bpf 2>/dev/null
	ip link set lo up
	hostname "stackonce-vm"
	echo 0 >/proc/sys/kernel/kptr_restrict
	base=$(sed -n 's/^\([0-9a-f]*\) T _stext$/\1/p' /proc/kallsyms)
	echo "vm: Linux $(uname -r), $(nproc) CPUs, kernel text at $base"
}

# word NAME: the value of stackonce.NAME= on the kernel's command line.
word()
{
	sed -n "s/.*stackonce\\.$1=\\([^ ]*\\).*/\\1/p" /proc/cmdline
}

guest_shell()
{
	echo "vm: the tests are in $1; 'exit' stops the machine"
	setsid cttyhack sh
	poweroff -f
}

# Sends /out through the second serial line as a base64 tar archive, and stops the machine.
guest_end()
{
	stty -F /dev/ttyS1 raw 2>/dev/null
	(cd /out && tar -czf - . | base64) >/dev/ttyS1
	echo "vm: end"
	poweroff -f
}
