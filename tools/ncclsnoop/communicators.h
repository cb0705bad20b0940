/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The communicators of NCCL by program: their hash, rank and size, as in NCCL's own messages. */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H
#include <stdbool.h>
#include "base/hash.h"
#include "base/quota.h"

struct nccl_event;
struct nccl_program;
struct probes;
struct process_event;

struct communicator {
	unsigned long long handle;	/* the ncclComm_t */
	unsigned long long hash;	/* 0: not known */
	int rank, nranks;		/* nranks 0: neither is known */
	unsigned long long operations;	/* since it was made or, if that was not seen, since tracing began */
	bool whole;			/* it was seen being made */
	unsigned long long looked;	/* when it was last looked for in the program, ns */
	UT_hash_handle hh;
};

/* Starts with probes set, and the quota's whole if need be; the rest zeroed. */
struct communicators {
	struct probes *probes;		/* to find libnccl in a process, and to read its memory */
	struct quota quota;		/* of bytes */
	struct nccl_program *programs;
};

void communicators_init(struct communicators *c, struct probes *probes, bool whole);

/* Handles a record; returns the communicator that it is about, as it is after the call, or was before a call that ended it.
 * With handle 0 if there is none.  May read the process's memory. */
struct communicator communicators_call(struct communicators *c, const struct nccl_event *e);

/* Call when a program has ended. */
void communicators_ended(struct communicators *c, const struct process_event *e);

/* Return true if the call has failed; one that goes on has not. */
bool nccl_event_failed(const struct nccl_event *e);

void communicators_free(struct communicators *c);

#endif
