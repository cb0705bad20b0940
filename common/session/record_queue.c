/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/record.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "cli/out.h"
#include "proc/process_table.h"
#include "proc/signals.h"
#include "session/record_queue.h"
#include "shmmap/shmmap.h"
#include "sym/syms.h"

/* Bytes.  A ring buffer's record has at most 2^29 (BPF_RINGBUF_HDR_SZ), the tools' those of a
 * copied stack, 64 KiB and a little. */
enum { BLOCK = 1 << 20, LARGEST = 128 << 10 };

/* How long records are handled before the loop does anything else. */
static const unsigned long long SLICE_NS = 100 * 1000000ull;

/* Records, each with its size before it, and a 0 after it, which ends text that its writer did not end. */
struct record_block {
	struct record_block *next;
	size_t used;
	char bytes[BLOCK];
};

static size_t padded(size_t size)
{
	return (size + 1 + 2 * sizeof(size) - 1) & ~(sizeof(size) - 1);
}

void record_queue_put(struct record_queue *q, const void *data, size_t size)
{
	struct record_block *b = q->last;
	char *at;

	if (q->head == q->tail)
		q->head = q->tail = 0;
	if (!b || b->used + padded(size) > sizeof(b->bytes)) {
		b = xcalloc(1, sizeof(*b));
		if (q->last)
			q->last->next = b;
		else
			q->first = b;
		q->last = b;
	}
	at = b->bytes + b->used;
	memcpy(at, &size, sizeof(size));
	memcpy(at + sizeof(size), data, size);
	at[sizeof(size) + size] = 0;
	b->used += padded(size);
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

/* Records that a program wrote itself are untrusted. */
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

/* Frees the blocks whose records have been handled, except for the last one, which is used again. */
static void free_handled(struct record_queue *q)
{
	while (q->first && q->at == q->first->used && q->first->next) {
		struct record_block *b = q->first;

		q->first = b->next;
		q->at = 0;
		free(b);
	}
	if (q->head != q->tail)
		return;
	q->head = q->tail = q->at = 0;
	if (q->first)
		q->first->used = 0;
}

/* It is valid until the next call. */
static void *next_record(struct record_queue *q, size_t *size)
{
	char *at;

	free_handled(q);
	if (q->head == q->tail)
		return NULL;
	at = q->first->bytes + q->at;
	memcpy(size, at, sizeof(*size));
	q->at += padded(*size);
	q->head += padded(*size);
	return at + sizeof(*size);
}

static bool is_end(const struct record *r, size_t size)
{
	return size >= sizeof(struct process_event) && (r->kind == RECORD_EXIT || r->kind == RECORD_EXEC);
}

static void handle(struct record_queue *q, void *data, size_t size)
{
	int err = 0;

	if (size >= sizeof(struct record) && record_is_for_stacks(data))
		syms_record(q->syms, data, size);
	else if (size >= sizeof(struct record) && is_end(data, size))
		process_ended(q->processes, data);
	else
		err = q->handle(q->ctx, data, size);
	if (err < 0)
		die(err, "cannot handle records");
}

bool record_queue_handle(struct record_queue *q, long *left)
{
	size_t size;
	void *data = next_record(q, &size);

	if (!data) {
		record_queue_fill(q, RECORD_QUEUE_FEW);
		data = next_record(q, &size);
	}
	if (!data)
		return false;
	*left -= size;
	handle(q, data, size);
	return *left > 0;
}

void record_queue_handle_some(struct record_queue *q)
{
	unsigned long long end = clock_ns() + SLICE_NS;
	long left = LONG_MAX;

	for (int n = 0; n % RECORD_QUEUE_CLOCK || clock_ns() < end; n++)
		if (signal_caught() || out_is_held_up() || !record_queue_handle(q, &left))
			break;
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
	const char *at;		/* its size, and the record */
	size_t order;
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
	return p->order < q->order ? -1 : 1;
}

static struct queued *list_records(const struct record_queue *q, struct sender **senders, size_t *n)
{
	struct queued *list = NULL;
	size_t room = 0, at = q->at, size;

	*n = 0;
	for (const struct record_block *b = q->first; b; b = b->next, at = 0)
		for (; at < b->used; at += padded(size)) {
			struct sender *s = sender_of(senders, b->bytes + at + sizeof(size));

			ALLOC_GROW(list, *n, room);
			list[*n] = (struct queued){ s, b->bytes + at, *n };
			(*n)++;
			s->n++;
			memcpy(&size, b->bytes + at, sizeof(size));
		}
	return list;
}

static void free_blocks(struct record_block *b)
{
	for (struct record_block *next; b; b = next) {
		next = b->next;
		free(b);
	}
}

void record_queue_favor_few(struct record_queue *q)
{
	struct sender *senders = NULL;
	struct record_block *before = q->first;
	size_t n, size;
	struct queued *list = list_records(q, &senders, &n);

	if (n)
		qsort(list, n, sizeof(*list), fewest_first);
	q->first = q->last = NULL;
	q->head = q->tail = q->at = 0;
	for (size_t i = 0; i < n; i++) {
		memcpy(&size, list[i].at, sizeof(size));
		record_queue_put(q, list[i].at + sizeof(size), size);
	}
	free_blocks(before);
	free(list);
	HASH_FREE(senders);
}

static int most_first(const struct sender *a, const struct sender *b)
{
	return (a->n < b->n) - (a->n > b->n);
}

unsigned long record_queue_drop(struct record_queue *q,
				void (*fn)(void *ctx, unsigned pid, unsigned long n), void *ctx)
{
	struct sender *senders = NULL, *s, *next;
	const char *record;
	unsigned long n = 0;
	size_t size;

	while ((record = next_record(q, &size))) {
		sender_of(&senders, record)->n++;
		n++;
	}
	HASH_SORT(senders, most_first);
	HASH_ITER(hh, senders, s, next) {
		fn(ctx, s->pid, s->n);
		HASH_DEL(senders, s);
		free(s);
	}
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
	free_blocks(q->first);
	*q = (struct record_queue){ 0 };
}
