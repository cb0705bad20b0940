/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/nccl_event.h"
#include "bpf/map_backend.h"
#include "model/entries.h"
#include "nccl/communicators.h"
#include "ncclhang/completed.h"

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

unsigned long long completion_until(const struct completion *c, const struct communicator *m, const struct comm_op *op)
{
	const struct nccl_stream one = stream_of_key(c, m, op, op->stream), all = stream_of_key(c, m, op, NCCL_ALL_STREAMS);

	return one.done > all.done ? one.done : all.done;
}

void completion_program_ended(const struct completion *c, unsigned long long program)
{
	entries_drop_program(c->streams, &c->shares->streams, offsetof(struct nccl_stream, share), program);
	entries_drop_program(c->marks, &c->shares->marks, offsetof(struct nccl_mark, share), program);
}
