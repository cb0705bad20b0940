/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of the ring buffer, which begin with a struct record, that wait to be handled.  They are taken
 * out of the ring buffer also while the tool waits for something else, so that it does not overflow. */
#ifndef SESSION_RECORD_QUEUE_H
#define SESSION_RECORD_QUEUE_H
#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct process_table;
struct record_block;
struct ring_buffer;
struct shmmap_map;
struct shmmap_reader;
struct syms;

/* Starts zeroed. */
struct record_queue {
	/* Records of call stacks go to syms, the ends of processes to processes, all others to handle(), which returns -errno if the
	 * tool cannot go on. */
	int (*handle)(void *ctx, void *data, size_t size);
	void *ctx;
	struct syms *syms;
	struct process_table *processes;
	/* private */
	struct ring_buffer *ring;
	struct shmmap_reader *reader;	/* instead of ring: the maps are shared with the programs */
	bool (*is_dead)(void *ctx, unsigned self);	/* for reader */
	void *dead_ctx;
	/* A record is copied once, out of the ring buffer, whose room others need, and handled where it is then: it doesn't
	 * move while more are added after it.  One in shared memory is copied twice, as it changes until all of it was
	 * checked. */
	struct record_block *first, *last;
	size_t at;		/* of the next record in first */
	size_t head, tail;	/* bytes taken and put since the queue was empty */
	size_t enough;		/* for record_queue_fill() */
};

/* Opens the ring buffer; dies if that fails.  Without one (NULL) the queue stays empty. */
void record_queue_open(struct record_queue *q, const struct bpf_map *ring);

/* The same for a ring in memory that is shared with the programs.  is_dead: as in struct shmmap_reader. */
void record_queue_share(struct record_queue *q, const struct shmmap_map *ring, bool (*is_dead)(void *ctx, unsigned self),
			void *ctx);

/* Adds a record of the tool's own, after all that are in the queue. */
void record_queue_put(struct record_queue *q, const void *record, size_t size);

/* Takes records out of the ring buffer until it is empty or the queue has this many bytes.  Never
 * handles one, so it may be called while one is being handled.  In the ring buffer each user has at
 * most a share of the room (bpf/lib/records.bpf.h), which the queue does not limit: fill a few bytes unless the tool has
 * to wait. */
void record_queue_fill(struct record_queue *q, size_t bytes);
enum { RECORD_QUEUE_FEW = 256 << 10, RECORD_QUEUE_MAX = 8 << 20 };

/* Records between two looks at the clock, each of which takes a tenth as long as a record. */
enum { RECORD_QUEUE_CLOCK = 8 };

/* Handles the next record, which it takes out of the ring buffer if the queue is empty.  Subtracts its size from *left;
 * return true if there was one and *left is positive. */
bool record_queue_handle(struct record_queue *q, long *left);

/* Handles those that are there, for a tenth of a second at most, until a signal comes or the output is held up: stacks are
 * looked up in the mappings that they were taken in, so call it before mappings are read again. */
void record_queue_handle_some(struct record_queue *q);

/* Returns the size of the records in the queue. */
size_t record_queue_bytes(const struct record_queue *q);

/* Moves the records of processes that have few in the queue before those of processes that have many;
 * each process's own stay in order.  Call it when there may be no time for all of them. */
void record_queue_favor_few(struct record_queue *q);

/* Returns how many records are left in the queue, and drops them.  Calls fn for each process that
 * has some, the process with most of them first. */
unsigned long record_queue_drop(struct record_queue *q,
				void (*fn)(void *ctx, unsigned pid, unsigned long n), void *ctx);

/* Returns a descriptor that becomes readable when a program wakes the reader; -1 without a ring. */
int record_queue_fd(const struct record_queue *q);

void record_queue_free(struct record_queue *q);

#endif
