/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The frames of a goroutine that called C, read from outside, as bpf/lib/unwind.bpf.h reads them in the thread. */
#ifndef SYM_GOROUTINE_H
#define SYM_GOROUTINE_H

struct elf_go;
struct helper_pool;

/* Reads them for a thread of a program of Go, whose thread pointer this is, into frames[STACK_NATIVE + 1], the last one
 * perhaps a note; returns how many, 0 if the thread has no goroutine. */
int goroutine_frames(struct helper_pool *l, int pid, const struct elf_go *go, unsigned long long self,
		     unsigned long long *frames);

#endif
