// SPDX-License-Identifier: GPL-2.0-only
// A Go program whose goroutines sleep in known places, for the test "chains".
package main

import (
	"syscall"
	"unsafe"
)

var sum int

//go:noinline
func leaf(n int) {
	t := syscall.Timespec{Sec: int64(n)}
	syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
	sum++
}

//go:noinline
func frame(n int, b *[256]byte) int {
	var a [512]byte
	copy(a[:], b[:])
	leaf(n)
	return int(a[n%512]) + int(a[0])
}

//go:noinline
func recurse(depth, n int) int {
	var b [256]byte
	b[depth] = byte(n)
	if depth == 0 {
		return frame(n, &b)
	}
	return recurse(depth-1, n) + int(b[depth])
}

func main() {
	go func() { sum += recurse(3, 1000) }()
	defer func() { sum += recurse(1, 1000) }()
	func() { sum += recurse(2, 1000) }()
}
