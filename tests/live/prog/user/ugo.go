// SPDX-License-Identifier: GPL-2.0-only

// ugo CALLS: futex calls from Go, from nested functions, closures, interfaces and goroutines.  The
// address names the depth of the recursion: GO_BASE + 4 * depth; the value names one of three ways
// to get there, with functions of its own outside of the recursion.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"syscall"
)

const base = 0x500000000000

//go:noinline
func call(depth, way uintptr) uintptr {
	_, _, e := syscall.Syscall6(syscall.SYS_FUTEX, base+4*depth, 129, way, 0, 0, 0)
	return uintptr(e)
}

//go:noinline
func deep(left, depth, way uintptr) uintptr {
	var room [37]byte
	room[left%37] = byte(depth)
	if left > 0 {
		return deep(left-1, depth, way) + uintptr(room[depth%37])
	}
	return call(depth, way) + uintptr(room[depth%37])
}

type worker interface {
	work(depth uintptr) uintptr
}

type plain struct{ a, b uintptr }

//go:noinline
func (p plain) work(depth uintptr) uintptr {
	return deep(depth, depth, 1) + p.a + p.b
}

//go:noinline
func direct(depth uintptr) uintptr {
	return deep(depth, depth, 0) + 1
}

//go:noinline
func byInterface(w worker, depth uintptr) uintptr {
	return w.work(depth) + 1
}

//go:noinline
func byClosure(depth uintptr) uintptr {
	v := []int{2, 1}
	var sum uintptr
	done := false
	sort.Slice(v, func(i, j int) bool {
		if !done {
			done = true
			sum += deep(depth, depth, 2)
		}
		return v[i] < v[j]
	})
	return sum
}

func main() {
	calls, _ := strconv.Atoi(os.Args[1])
	var sum uintptr
	done := make(chan uintptr)
	for i := 0; i < calls; i++ {
		sum += direct(uintptr(i % 40))
		sum += byInterface(plain{1, 2}, uintptr(i%40))
		sum += byClosure(uintptr(i % 40))
		go func(depth uintptr) { done <- direct(depth) }(uintptr(i % 40))
		sum += <-done
	}
	if sum == 1 {
		fmt.Println(sum)
	}
}
