/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that libcudagputime.so in a process shares with us (abi/agent_gputime.h): finds it, asks the library to measure, and reads
 * its records.  The process may have written anything there. */
#ifndef GPUTIME_GPU_MEMORY_H
#define GPUTIME_GPU_MEMORY_H
#include <stdbool.h>
#include "abi/agent_gputime.h"

/* Starts zeroed. */
struct gpu_memory {
	struct gputime_control *control;	/* NULL: there is none */
	/* state */
	const struct gputime_record *ring;
	int fd;				/* with the lock */
	int place;			/* of enum GPUTIME_TOOLS */
	unsigned generation;
	bool is_first;			/* tool of the process's command, for which the library may have begun already */
	bool serves;			/* the library has begun for us */
	unsigned long long read;	/* records so far */
	unsigned long long malformed;	/* times that the numbers of records cannot be right */
	unsigned long long dropped[2], unknown, untimed;	/* as last read: by CUPTI and for lack of room; … */
};

struct gpu_losses {
	unsigned long long dropped, unknown, untimed;
};

/* Request of a tool. */
struct gpu_wish {
	unsigned want;			/* enum gputime_want */
	unsigned long long run_ns, of_ns;	/* for run_ns of each of_ns; 0: always */
	bool is_command;		/* of the process: the library may have begun already */
};

enum gpu_memory_found {
	GPU_MEMORY_NONE,		/* the process has none yet */
	GPU_MEMORY_IN_USE,		/* other tools have all places */
	GPU_MEMORY_OTHER,		/* of another version */
	GPU_MEMORY_READY,		/* *m is set, and the library is asked */
};

/* Looks for the memory of a process; mount is process_memfd_mount(). */
enum gpu_memory_found gpu_memory_find(struct gpu_memory *m, int pid, long long mount, const struct gpu_wish *wish);

/* Returns how many records there are to be read now. */
unsigned long long gpu_memory_records(struct gpu_memory *m);

/* Copies the next one, if there is one. */
void gpu_memory_next(struct gpu_memory *m, struct gputime_record *r);

/* The library may write as many more. */
void gpu_memory_release(struct gpu_memory *m);

/* Adds what was lost since the last call. */
void gpu_memory_losses(struct gpu_memory *m, struct gpu_losses *to);

/* Asks the library to stop; and whether it still has records for us. */
void gpu_memory_stop(struct gpu_memory *m);
bool gpu_memory_stops(const struct gpu_memory *m);

/* Gives the place back. */
void gpu_memory_close(struct gpu_memory *m);

#endif
