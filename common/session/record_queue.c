/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "session/record_queue.h"

/* Bytes.  A ring buffer's record has at most 2^29 (BPF_RINGBUF_HDR_SZ), ours a few thousand. */
enum { FIRST_ROOM = 1 << 20, LARGEST = 64 << 10 };

static size_t padded(size_t size)
{
	return (size + 2 * sizeof(size) - 1) & ~(sizeof(size) - 1);
}

static void make_room(struct record_queue *q, size_t size)
{
	if (q->head == q->tail)
		q->head = q->tail = 0;
	while (q->tail + size > q->room) {
		q->room = q->room ? 2 * q->room : FIRST_ROOM;
		q->bytes = xrealloc(q->bytes, q->room, 1);
	}
}

static int keep(void *ctx, void *data, size_t size)
{
	struct record_queue *q = ctx;

	if (size > LARGEST)	/* none of ours */
		return 0;
	make_room(q, padded(size));
	memcpy(q->bytes + q->tail, &size, sizeof(size));
	memcpy(q->bytes + q->tail + sizeof(size), data, size);
	q->tail += padded(size);
	return q->tail >= q->enough ? -ENOBUFS : 0;
}

void record_queue_open(struct record_queue *q, const struct bpf_map *ring)
{
	if (!ring)
		return;
	q->ring = ring_buffer__new(bpf_map__fd(ring), keep, q, NULL);
	if (!q->ring)
		die(errno, "cannot read records");
}

void record_queue_fill(struct record_queue *q, size_t bytes)
{
	int err = 0;

	q->enough = bytes;
	if (q->ring && (q->tail < bytes || q->head == q->tail))
		err = ring_buffer__consume(q->ring);
	if (err < 0 && err != -ENOBUFS && err != -EINTR)
		die(err, "cannot read records");
}

void *record_queue_next(struct record_queue *q, size_t *size)
{
	char *at = q->bytes + q->head;

	if (q->head == q->tail)
		return NULL;
	memcpy(size, at, sizeof(*size));
	if (!q->current)
		q->current = xcalloc(1, LARGEST);
	memcpy(q->current, at + sizeof(*size), *size);
	q->head += padded(*size);
	return q->current;
}

bool record_queue_is_empty(const struct record_queue *q)
{
	return q->head == q->tail;
}

unsigned long record_queue_drop(struct record_queue *q)
{
	unsigned long n = 0;
	size_t size;

	while (record_queue_next(q, &size))
		n++;
	return n;
}

int record_queue_fd(const struct record_queue *q)
{
	return q->ring ? ring_buffer__epoll_fd(q->ring) : -1;
}

void record_queue_free(struct record_queue *q)
{
	ring_buffer__free(q->ring);
	free(q->bytes);
	free(q->current);
	*q = (struct record_queue){ 0 };
}
