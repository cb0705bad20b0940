/* SPDX-License-Identifier: GPL-2.0 */
/* Launches through several files that all are the driver: a layer that shares the GPU, or a loader (WSL), calls the real one.  For
 * programs that see entries only: a call is made by one of another file if it is the first in its file since then, and not higher in
 * the same stack.  Files are told apart by the cookies of their probes. */
#ifndef LIB_LAYERS_BPF_H
#define LIB_LAYERS_BPF_H
#include "lib/call.bpf.h"

enum { LAYERS_STACK = 64 * 1024 };

/* Of a thread: the driver's call entered last, with those that it was made by. */
struct layers {
	__u64 sp;		/* the deepest */
	__u32 files;		/* a bit for each file */
};

/* Call at the entry of a function of the driver, with the probe's cookie.  Returns true if another file's made this call. */
static __always_inline bool layers_inside(struct layers *l, __u64 sp, __u64 cookie)
{
	__u32 file = 1u << ((cookie & COOKIE_DRIVER) >> COOKIE_DRIVER_SHIFT);
	bool inside = l->sp - sp < LAYERS_STACK && !(l->files & file);

	l->files = inside ? l->files | file : file;
	l->sp = sp;
	return inside;
}

#endif
