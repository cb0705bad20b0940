/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the library is in a program: nothing, until the program loads its first image; then a connection to the tool,
 * what it has asked for, the modules that are loaded, and a thread that reads them.
 *
 * One mutex guards the lists; nobody holds it in a call of the driver.  Only the library's own thread sends, reads
 * devices' memory and removes what it reads. */
#ifndef GPUPROBE_STATE_H
#define GPUPROBE_STATE_H
#include <pthread.h>
#include <stdbool.h>
#include "abi/gpuprobe.h"
#include "gpuprobe/cuda.h"
#include "gpuprobe/link.h"
#include "gpuprobe/modules.h"
#include "gpuprobe/nvrtc.h"
#include "gpuprobe/real.h"
#include "gpuprobe/select.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

struct inject {
	const struct driver *driver;
	pid_t pid;
	struct gpuprobe_config config;
	char *payload;			/* behind the configuration: globs, probe */
	struct gpu_probe probe;
	struct select select;
	struct link link;
	pthread_mutex_t lock;		/* of all that follows */
	pthread_cond_t wake, done;	/* something is wanted of the thread; it has been done */
	struct modules modules;
	struct nvrtc nvrtc;
	unsigned long wanted, served;	/* readings of everything */
	unsigned long ranges_wanted, ranges_served;	/* tellings of ranges.h */
	bool ending;			/* the reading that is wanted is the last */
	bool over;			/* the tool or the thread is gone */
};

enum { GPUPROBE_WAIT_MS = 2000 };		/* the longest that a program waits for the library */

/* Returns the state, connecting at the first call; NULL if there is nothing to do in this process.  For wrappers that
 * load something. */
struct inject *gpuprobe_begin(void);

/* Returns the state if there is one: the other wrappers.  Never connects. */
struct inject *gpuprobe_state(void);

/* Waits until the thread has read what *wanted counts, at most GPUPROBE_WAIT_MS.  With the lock held. */
void gpuprobe_wait(struct inject *inject, const unsigned long *served, unsigned long wanted);

/* Waits until the thread is out of what is marked busy, as long. */
void gpuprobe_wait_idle(struct inject *inject, const bool *busy);

/* A context was made, or has gone, whether there is a state or not. */
void gpuprobe_context_made(CUcontext ctx, CUdevice device, bool primary);
void gpuprobe_context_gone(CUcontext ctx);

/* Reads all for the last time and says good-bye: the process ends. */
void gpuprobe_end(void);

/* The thread: readout.c. */
void *gpuprobe_thread(void *inject);

#endif
