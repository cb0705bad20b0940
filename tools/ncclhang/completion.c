/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/nccl_event.h"
#include "bpf/map_backend.h"
#include "model/communicators.h"
#include "ncclhang/completion.h"

/* PyTorch asks ten times a second. */
static const unsigned long long ASKED_NS = 2000000000;

static struct nccl_stream stream_of_key(const struct completion *c, const struct communicator *m, const struct comm_op *op,
					unsigned long long stream)
{
	const struct nccl_stream_key key = { .program = m->program, .stream = stream, .device = op->device };
	struct nccl_stream s;

	return bmap_lookup(c->streams, &key, &s) ? (struct nccl_stream){ 0 } : s;
}

enum completeness completion_of(const struct completion *c, const struct communicator *m, const struct comm_op *op,
				unsigned long long now, unsigned long long *noticed)
{
	struct nccl_stream one = stream_of_key(c, m, op, op->stream), all = stream_of_key(c, m, op, NCCL_ALL_STREAMS);
	unsigned long long asked;

	*noticed = one.noticed > all.noticed ? one.noticed : all.noticed;
	if (one.done >= op->time || all.done >= op->time)
		return COMPLETE;
	asked = one.pending > all.pending ? one.pending : all.pending;
	return asked >= op->time && asked + ASKED_NS > now ? COMPLETE_NOT : COMPLETE_UNKNOWN;
}

void completion_program_ended(const struct completion *c, unsigned long long program)
{
	struct nccl_stream_key key, next_key;
	struct nccl_mark_key mark, next_mark;
	bool more = !bmap_next(c->streams, NULL, &next_key);
	struct nccl_stream s;
	struct nccl_mark m;

	while (more) {
		key = next_key;
		more = !bmap_next(c->streams, &key, &next_key);
		if (key.program == program && !bmap_lookup(c->streams, &key, &s) && !bmap_delete(c->streams, &key))
			shares_give_back(&c->shares->streams, s.share);
	}
	more = !bmap_next(c->marks, NULL, &next_mark);
	while (more) {
		mark = next_mark;
		more = !bmap_next(c->marks, &mark, &next_mark);
		if (mark.program == program && !bmap_lookup(c->marks, &mark, &m) && !bmap_delete(c->marks, &mark))
			shares_give_back(&c->shares->marks, m.share);
	}
}
