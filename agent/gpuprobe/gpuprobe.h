/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library's state in a program.  It connects to the tool when the program loads its first image, then keeps the
 * tool's request, the loaded modules, and a thread that reads them.
 *
 * One mutex guards the lists; it is never held in a call of the driver.  Only the library's own thread sends, reads
 * device memory, and frees modules. */
#ifndef AGENT_GPUPROBE_GPUPROBE_H
#define AGENT_GPUPROBE_GPUPROBE_H
#include <pthread.h>
#include <stdbool.h>
#include "abi/agent_gpuprobe.h"
#include "agent/gpuprobe/cuda.h"
#include "agent/gpuprobe/link.h"
#include "agent/gpuprobe/modules.h"
#include "agent/gpuprobe/nvrtc.h"
#include "agent/gpuprobe/real.h"
#include "agent/gpuprobe/select.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

struct gpuprobe {
	const struct driver *driver;
	pid_t pid;
	struct gpuprobe_config config;
	char *payload;			/* after the configuration: globs, probe */
	struct gpu_probe probe;
	struct select select;
	struct link link;
	pthread_mutex_t lock;		/* of the following members */
	pthread_cond_t wake, done;	/* the thread has something to do; it has done it */
	struct modules modules;
	struct nvrtc nvrtc;
	unsigned long wanted, served;	/* readings of all modules */
	unsigned long ranges_wanted, ranges_served;	/* updates of ranges.h */
	bool late;			/* a wait has taken GPUPROBE_WAIT_MS */
	bool ending;			/* the wanted reading is the last */
	bool over;			/* the tool or the thread is gone */
};

/* How long a program waits for the library's thread and the tool, in all, until the thread keeps
 * up again; then only BRIEF_MS each time. */
enum { GPUPROBE_WAIT_MS = 1000, GPUPROBE_BRIEF_MS = 5 };

/* Returns the state, and connects at the first call; NULL: the library does nothing in this process.  For wrappers of
 * loading functions. */
struct gpuprobe *gpuprobe_begin(void);

/* Returns the state, or NULL; never connects.  For all other wrappers. */
struct gpuprobe *gpuprobe_state(void);

/* Waits with the lock held until the thread has served `wanted`, at most GPUPROBE_WAIT_MS. */
void gpuprobe_wait(struct gpuprobe *state, const unsigned long *served, unsigned long wanted);

/* Waits likewise until the thread clears *busy. */
void gpuprobe_wait_idle(struct gpuprobe *state, const bool *busy);

/* A context was created or destroyed; also called when there is no state yet. */
void gpuprobe_context_made(CUcontext ctx, CUdevice device, bool primary);
void gpuprobe_context_gone(CUcontext ctx);

/* The process ends: reads all modules for the last time and sends GPUPROBE_BYE. */
void gpuprobe_end(void);

/* The thread: readout.c. */
void *gpuprobe_thread(void *state);

/* Before a context is destroyed: waits until it is read and the thread has left it.  ctx NULL: the primary context of
 * the device.  Returns NULL if the context is unknown; gpuprobe_context_closed() afterwards. */
struct context *gpuprobe_context_close(struct gpuprobe *state, CUcontext ctx, CUdevice device);
void gpuprobe_context_closed(struct gpuprobe *state, struct context *context, bool gone);

/* Passes the list of ranges.h to all instrumented modules, if the tool asked for it, and waits for that. */
void gpuprobe_update_ranges(void);

#endif
