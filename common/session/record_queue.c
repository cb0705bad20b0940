/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/record.h"
#include "base/hash.h"
#include "session/record_queue.h"
#include "shmmap/shmmap.h"

/* Bytes.  A ring buffer's record has at most 2^29 (BPF_RINGBUF_HDR_SZ), ours those of a
 * copied stack, 64 KiB and a little. */
enum { FIRST_ROOM = 1 << 20, LARGEST = 128 << 10 };

static size_t padded(size_t size)
{
	return (size + 2 * sizeof(size) - 1) & ~(sizeof(size) - 1);
}

static void make_room(struct record_queue *q, size_t size)
{
	if (q->head == q->tail)
		q->head = q->tail = 0;
	while (q->tail + size > q->room) {
		q->room = q->room > FIRST_ROOM ? 2 * q->room : 2 * FIRST_ROOM;
		q->bytes = xrealloc(q->bytes, q->room, 1);
	}
}

void record_queue_put(struct record_queue *q, const void *data, size_t size)
{
	make_room(q, padded(size));
	memcpy(q->bytes + q->tail, &size, sizeof(size));
	memcpy(q->bytes + q->tail + sizeof(size), data, size);
	q->tail += padded(size);
}

static int keep(void *ctx, void *data, size_t size)
{
	struct record_queue *q = ctx;

	if (size > LARGEST)	/* none of ours */
		return 0;
	record_queue_put(q, data, size);
	return q->tail >= q->enough ? -ENOBUFS : 0;
}

/* What a program wrote itself may be anything. */
static int keep_shared(void *ctx, void *record, __u64 size)
{
	return size < sizeof(struct record) ? 0 : keep(ctx, record, size);
}

static bool ask_dead(void *ctx, unsigned self)
{
	const struct record_queue *q = ctx;

	return q->is_dead(q->dead_ctx, self);
}

void record_queue_open(struct record_queue *q, const struct bpf_map *ring)
{
	if (!ring)
		return;
	q->ring = ring_buffer__new(bpf_map__fd(ring), keep, q, NULL);
	if (!q->ring)
		die(errno, "cannot read records");
}

void record_queue_share(struct record_queue *q, const struct shmmap_map *ring, bool (*is_dead)(void *ctx, unsigned self),
			void *ctx)
{
	if (!ring)
		return;
	q->reader = xcalloc(1, sizeof(*q->reader));
	*q->reader = (struct shmmap_reader){
		.map = ring, .copy = xcalloc(1, LARGEST), .most = LARGEST, .fn = keep_shared, .ctx = q,
		.is_dead = is_dead ? ask_dead : NULL,
	};
	q->is_dead = is_dead;
	q->dead_ctx = ctx;
}

void record_queue_fill(struct record_queue *q, size_t bytes)
{
	int err = 0;

	q->enough = bytes;
	if (q->ring && (q->tail < bytes || q->head == q->tail))
		err = ring_buffer__consume(q->ring);
	if (q->reader && (q->tail < bytes || q->head == q->tail))
		err = shmmap_ring_read(q->reader);
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
		q->current = xcalloc(1, LARGEST + 1);	/* text that its writer left without an end ends there */
	memcpy(q->current, at + sizeof(*size), *size);
	q->head += padded(*size);
	return q->current;
}

size_t record_queue_bytes(const struct record_queue *q)
{
	return q->tail - q->head;
}

/* Of one process. */
struct sender {
	unsigned int pid;
	size_t n;
	UT_hash_handle hh;
};

struct queued {
	const struct sender *sender;
	size_t at;		/* in bytes */
};

static struct sender *sender_of(struct sender **all, const char *record)
{
	unsigned int pid = ((const struct record *)record)->pid;
	struct sender *s;

	HASH_FIND(hh, *all, &pid, sizeof(pid), s);
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		s->pid = pid;
		HASH_ADD(hh, *all, pid, sizeof(pid), s);
	}
	return s;
}

static int fewest_first(const void *a, const void *b)
{
	const struct queued *p = a, *q = b;

	if (p->sender->n != q->sender->n)
		return p->sender->n < q->sender->n ? -1 : 1;
	return p->at < q->at ? -1 : 1;
}

static size_t size_at(const struct record_queue *q, size_t at)
{
	size_t size;

	memcpy(&size, q->bytes + at, sizeof(size));
	return padded(size);
}

static struct queued *list_records(const struct record_queue *q, struct sender **senders, size_t *n)
{
	struct queued *list = NULL;
	size_t room = 0;

	*n = 0;
	for (size_t at = q->head; at < q->tail; at += size_at(q, at)) {
		struct sender *s = sender_of(senders, q->bytes + at + sizeof(at));

		if (*n == room) {
			room = room ? 2 * room : 1024;
			list = xrealloc(list, room, sizeof(*list));
		}
		list[(*n)++] = (struct queued){ s, at };
		s->n++;
	}
	return list;
}

void record_queue_favor_few(struct record_queue *q)
{
	struct sender *senders = NULL, *s, *next;
	char *bytes = xcalloc(1, q->tail - q->head + 1), *end = bytes;
	size_t n;
	struct queued *list = list_records(q, &senders, &n);

	if (n)
		qsort(list, n, sizeof(*list), fewest_first);
	for (size_t i = 0; i < n; i++) {
		memcpy(end, q->bytes + list[i].at, size_at(q, list[i].at));
		end += size_at(q, list[i].at);
	}
	free(q->bytes);
	q->bytes = bytes;
	q->head = 0;
	q->room = q->tail = end - bytes;
	free(list);
	HASH_ITER(hh, senders, s, next) {
		HASH_DEL(senders, s);
		free(s);
	}
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
	if (q->reader)
		free(q->reader->copy);
	free(q->reader);
	free(q->bytes);
	free(q->current);
	*q = (struct record_queue){ 0 };
}
