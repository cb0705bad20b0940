/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The operations of NCCL that one launch of a CUDA graph begins, summed up once: a program can
 * launch a graph of thousands at no more cost than one of a single operation. */
#ifndef NCCL_GRAPH_OPERATIONS_H
#define NCCL_GRAPH_OPERATIONS_H
#include <stdbool.h>
#include <stddef.h>

struct graph_content;
struct graph_work;

/* Of one kind: how many have a size. */
struct graph_size {
	unsigned row;			/* see base/log2_hist.h; in bytes */
	unsigned long long n;
};

/* Operations of a communicator that are the same function with the same type and operator. */
struct graph_kind {
	unsigned long long n, bytes;	/* bytes: of the values of all; NO_VALUE: they have none */
	unsigned long long large, large_bytes;	/* of those on so many bytes as was asked for */
	const struct graph_work *last;	/* of them, in the order of their capture */
	bool same_count, same_other;	/* all have the count of the last one; its root or peer */
	bool message;			/* from one rank to another, or a signal */
	const struct graph_size *sizes;
	unsigned nsizes;
};

/* So many of its last collectives does a communicator have, see nccl/communicators.h. */
enum { GRAPH_TAIL = 256 };

/* The operations of a communicator. */
struct graph_part {
	const struct graph_kind *kinds;
	unsigned nkinds;
	unsigned long long collectives, messages;
	const struct graph_work *last, *last_message;	/* last_message: or NULL */
	const struct graph_work *const *tail;	/* the last collectives, in order of capture */
	unsigned ntail;
};

struct graph_operations {
	struct graph_part *parts;
	size_t nparts, nkinds;
	/* private */
	struct graph_kind *kinds;
	struct graph_size *sizes;
	const struct graph_work **tails;
};

/* So many kinds, and sizes of all kinds, may a graph have to be summed up. */
enum { GRAPH_KINDS_MAX = 512, GRAPH_SIZES_MAX = 4096 };

/* Returns the size of an operation's values in bytes; NO_VALUE if it has none. */
unsigned long long graph_operation_bytes(const struct graph_work *operation);

/* Returns those of a content, which live as long as it does; NULL if they are of too many kinds, or
 * the user has too much.  least: of struct graph_kind's large, bytes: the same in each call. */
const struct graph_operations *graph_operations_of(struct graph_content *c,
						   unsigned long long least);

#endif
