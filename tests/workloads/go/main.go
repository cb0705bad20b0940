// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause

// gocalls WORD...: allocates from Go, through cgo, the words from left to right:
//
//	main N       N times in main
//	goroutine N  in a goroutine
//	deep N       in a goroutine, N functions further down
//	back N       in a function of Go that C calls, which Go calls
//	thread N     in a thread that C made, without Go
package main

// int allocate(void);
// void call_back(int n);
// void in_thread(int n);
import "C"

import (
	"os"
	"strconv"
)

//go:noinline
func leak(n int) {
	for i := 0; i < n; i++ {
		C.allocate()
	}
}

//go:noinline
func deeper(left int) int {
	if left == 0 {
		leak(1)
		return 0
	}
	return deeper(left-1) + 1
}

//export goBack
func goBack(n C.int) {
	leak(int(n))
}

func inGoroutine(fn func()) {
	done := make(chan bool)
	go func() {
		fn()
		done <- true
	}()
	<-done
}

func main() {
	for i := 1; i+1 < len(os.Args); i += 2 {
		n, _ := strconv.Atoi(os.Args[i+1])
		switch os.Args[i] {
		case "main":
			leak(n)
		case "goroutine":
			inGoroutine(func() { leak(n) })
		case "deep":
			inGoroutine(func() { deeper(n) })
		case "back":
			inGoroutine(func() { C.call_back(C.int(n)) })
		case "thread":
			C.in_thread(C.int(n))
		}
	}
}
