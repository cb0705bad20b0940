/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which operations of NCCL are complete, by the waits, questions and events that bpf/nccl.bpf.c follows. */
#ifndef NCCLHANG_COMPLETED_H
#define NCCLHANG_COMPLETED_H

struct bpf_map;
struct comm_op;
struct communicator;
struct nccl_shares;

/* The probes' maps, and what users hold of them. */
struct completion {
	const struct bpf_map *streams, *marks;
	struct nccl_shares *shares;
};

/* Of a tool's skeleton that is loaded. */
#define COMPLETION_OF(skel) {								\
	.streams = (skel)->maps.nccl_streams, .marks = (skel)->maps.nccl_marks,	\
	.shares = &(skel)->data_nccl->nccl_shares }

enum completeness {
	COMPLETE_UNKNOWN,	/* the program has not asked in the last seconds */
	COMPLETE_NOT,		/* when it asked */
	COMPLETE,
};

/* Returns it for an operation of a communicator, at a time (ns).  *noticed is when the last one of its stream was found to be complete,
 * ns; 0: none. */
enum completeness completion_of(const struct completion *c, const struct communicator *m, const struct comm_op *op,
				unsigned long long now, unsigned long long *noticed);

/* Returns when what is complete in the stream of an operation had been called, as far as the program has asked; ns. */
unsigned long long completion_until(const struct completion *c, const struct communicator *m, const struct comm_op *op);

/* Drops what a program has in the maps.  Call when it has ended. */
void completion_program_ended(const struct completion *c, unsigned long long program);

#endif
