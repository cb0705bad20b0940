/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reports of the watcher: a process mapped something, forked or ended.  The kinds are its own
 * WATCH_MAPPED and those of struct process_event, of which only the head is used. */
#ifndef ABI_WATCH_EVENT_H
#define ABI_WATCH_EVENT_H
#include <stdbool.h>
#include "abi/record.h"

enum {
	WATCH_MAPPED,		/* the dynamic linker loaded something */
	WATCH_LEADER_ENDS,	/* its first thread ends, others go on */
	WATCH_LEADER_NEW,	/* another thread than the first has executed a program */
	WATCH_LEADER_SOON,	/* one begins to do so */
};

struct watch_event {
	struct record head;	/* pid 0: some processes, unknown which */
	unsigned int stopped;	/* the process waits for SIGCONT */
	unsigned int tid;	/* WATCH_LEADER_SOON: the thread */
};

/* WATCH_NAME: bytes of a file's name that tell. */
enum { WATCH_NAME = 24 };

static inline __attribute__((always_inline)) bool watch_begins(const char *name, const char *with, int n)
{
#pragma GCC unroll 16	/* for the verifier */
	for (int i = 0; i < n; i++)
		if (name[i] != with[i])
			return false;
	return true;
}

/* Return true if a file of this name is CUDA's, or a library that programs may load long after it.  (The simulated libraries of cubins are in memory.) */
static inline __attribute__((always_inline)) bool watch_is_cuda(const char *name)
{
	if (watch_begins(name, "memfd:", 6))
		name += 6;
	return watch_begins(name, "libcuda.so", 10) || watch_begins(name, "libcudart", 9) || watch_begins(name, "libcublas", 9) ||
	       watch_begins(name, "libcudnn", 8) || watch_begins(name, "libcuso", 7) || watch_begins(name, "libcusp", 7);
}

/* How a process of the command of -c is probed (the map watched); neither: it has not been scanned. */
enum {
	WATCH_OWN = 1,		/* by links of its own; shared links skip it */
	WATCH_SHARED = 2,	/* all that it has mapped has shared links: so its children are probed from their start */
};

/* In the cookie of each probe of a shared link: see probe/share.h.  No id of a function has this bit. */
enum { COOKIE_SHARED = 1 << 30 };

/* … and of a process's own link for launches, where others are in all processes: see budget/split.h. */
enum { COOKIE_OWN = 1 << 29 };

/* … and of each probe in a file with functions of the driver, in these bits: the file's number, from 1.  With more such files,
 * numbers come again. */
enum { COOKIE_DRIVER_SHIFT = 24, COOKIE_DRIVERS = 15, COOKIE_DRIVER = COOKIE_DRIVERS << COOKIE_DRIVER_SHIFT };

/* Returns the number of the file that is the n-th, from 0, in these bits. */
static inline int cookie_of_driver(unsigned int n)
{
	return (int)(1 + n % COOKIE_DRIVERS) << COOKIE_DRIVER_SHIFT;
}

/* The bits from here on, above those of a set of USDT arguments (abi/usdt.h), are the generation
 * of a link of one process; 0: none.  One generation counts at a time: see probe/bindings.h. */
enum { COOKIE_GENERATION_SHIFT = 42, GENERATION_FIRST = 1, GENERATION_LAST = (1 << 22) - 1 };
enum { GENERATION_PROCESSES = 4096 };

#endif
