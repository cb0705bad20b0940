/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which operations of NCCL the waits in flight are behind. */
#ifndef CUDASYNCLATENCY_NCCL_WAITS_H
#define CUDASYNCLATENCY_NCCL_WAITS_H
#include <stdbool.h>
#include <stddef.h>
#include "model/captures.h"
#include "nccl/communicators.h"

struct bpf_map;
struct inflight;
struct nccl_shares;
struct session;

/* The functions that are probed, and of these those that are only where NCCL is called: programs without it call them, too.
 * CUDA_ASK: for the model, see communicators.c. */
#define NCCL_WAIT_CLASSES (1u << CUDA_OPERATION | 1u << CUDA_COMM | 1u << CUDA_ASK | CUDA_CAPTURES)
#define NCCL_WAIT_LATE_CLASSES CUDA_CAPTURES

/* Starts zeroed: nothing is followed. */
struct nccl_waits {
	struct session *session;
	/* of the skeleton: bpf/lib/nccl_last.bpf.h */
	const struct bpf_map *lasts, *marks;
	struct nccl_shares *shares;
	struct captures captures;
	const unsigned long long *missed;	/* calls without a record … */
	const unsigned long long *lost;		/* … and what else was lost, by enum lost */
	/* private */
	struct communicators communicators;
	unsigned long long losses;	/* so far */
	unsigned long long lost_at;	/* when there were more, ns: what was enqueued before may not be the last */
};

/* Of the tool's skeleton that is loaded, and its session. */
#define NCCL_WAITS_OF(skel, target) {								\
	.session = (target), .lasts = (skel)->maps.nccl_lasts, .marks = (skel)->maps.nccl_marks,	\
	.shares = &(skel)->data_nccl->nccl_shares, .captures = CAPTURES_OF(skel),		\
	.missed = &(skel)->data_nccl_lost->nccl_lost, .lost = (skel)->data_lost->lost }

/* Call when the programs are loaded, and *w is set. */
void nccl_waits_begin(struct nccl_waits *w);

/* Handles a record; returns false if it is another one. */
bool nccl_waits_record(struct nccl_waits *w, const void *data, size_t size);

/* Sets op of the rows.  May read memory of the processes. */
void nccl_waits_set(struct nccl_waits *w, struct inflight *r);

void nccl_waits_free(struct nccl_waits *w);

#endif
