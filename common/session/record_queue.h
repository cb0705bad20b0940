/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of the ring buffer, which begin with a struct record, that wait to be handled.  They are taken
 * out of the ring buffer whatever else the tool waits for, so that it does not overflow. */
#ifndef RECORD_QUEUE_H
#define RECORD_QUEUE_H
#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct ring_buffer;
struct shmmap_map;
struct shmmap_reader;

/* Starts zeroed. */
struct record_queue {
	struct ring_buffer *ring;
	struct shmmap_reader *reader;	/* instead of ring: the maps are shared with the programs */
	bool (*is_dead)(void *ctx, unsigned self);	/* for reader */
	void *dead_ctx;
	char *bytes;
	size_t head, tail, room;
	size_t enough;		/* bytes, for record_queue_fill() */
	char *current;		/* the record being handled: bytes may be moved meanwhile */
};

/* Opens the ring buffer; dies if that fails.  Without one (NULL) the queue stays empty. */
void record_queue_open(struct record_queue *q, const struct bpf_map *ring);

/* The same for a ring in memory that is shared with the programs.  is_dead: as in struct shmmap_reader. */
void record_queue_share(struct record_queue *q, const struct shmmap_map *ring, bool (*is_dead)(void *ctx, unsigned self),
			void *ctx);

/* Adds a record of the tool's own, behind all that are in the queue. */
void record_queue_put(struct record_queue *q, const void *record, size_t size);

/* Takes records out of the ring buffer until it is empty or the queue has this many bytes.  Never
 * handles one, so it may be called while one is being handled.  In the ring buffer no user has more
 * than a share of the room (see bpf/lib/records.bpf.h), in the queue he may: a few bytes are best
 * unless the tool has to wait. */
void record_queue_fill(struct record_queue *q, size_t bytes);
enum { RECORD_QUEUE_FEW = 256 << 10, RECORD_QUEUE_MAX = 8 << 20 };

/* Returns the next record and sets *size; NULL if there is none.  It is valid until the next
 * call. */
void *record_queue_next(struct record_queue *q, size_t *size);

/* Returns the size of the records in the queue. */
size_t record_queue_bytes(const struct record_queue *q);

/* Moves the records of processes that have few in the queue before those of processes that have many;
 * each process's own stay in order.  Call it when there may be no time for all of them. */
void record_queue_favor_few(struct record_queue *q);

/* Returns how many records are left in the queue, and drops them. */
unsigned long record_queue_drop(struct record_queue *q);

/* Returns a descriptor that becomes readable when a program wakes the reader; -1 without a ring. */
int record_queue_fd(const struct record_queue *q);

void record_queue_free(struct record_queue *q);

#endif
