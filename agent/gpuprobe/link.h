/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The connection to the tool.  Any thread queues frames; the library's own thread sends them. */
#ifndef AGENT_GPUPROBE_LINK_H
#define AGENT_GPUPROBE_LINK_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "abi/agent_gpuprobe.h"

enum { LINK_QUEUE_MAX = 64 << 20 };	/* bytes; frames beyond are dropped */

struct link_frame {
	struct link_frame *next;
	struct gpuprobe_frame head;
	char body[];
};

struct link {
	int fd;			/* -1: none, or gone */
	dev_t dev;		/* the socket's: a program may close all descriptors and reuse the number */
	ino_t ino;
	pthread_mutex_t lock;	/* of the queue */
	struct link_frame *first, **last;
	size_t queued;
	unsigned long long dropped;
};

/* Connects to the tool at an abstract name, and receives its configuration; *payload is malloc'd.  Returns false if
 * there is no tool, or it is another version. */
bool link_open(struct link *link, const char *name, struct gpuprobe_config *config, char **payload);

/* Queues a frame: a struct and the data after it. */
void link_queue(struct link *link, enum gpuprobe_kind kind, const void *p, size_t n, const void *more, size_t num_more);

/* link_flush() sends queued frames, the others a frame.  Return false if the tool is gone. */
bool link_flush(struct link *link);
bool link_send(struct link *link, enum gpuprobe_kind kind, const void *p, size_t n, const void *more, size_t num_more);
bool link_lost(struct link *link, uint32_t module, unsigned long long count, const char *why);

/* Waits until the tool has shut down its side, for a second at most. */
void link_await(struct link *link);

/* Closes it if it is still the tool's. */
void link_close(struct link *link);

#endif
