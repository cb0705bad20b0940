/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* State of the ranks of each communicator at one moment, and which of them the others wait for. */
#ifndef NCCLHANG_HANG_H
#define NCCLHANG_HANG_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cuda_fn.h"
#include "ncclhang/completed.h"
#include "nccl/rank_name.h"

struct hang_report;
struct inflight;
struct inflight_row;
struct stack;

enum verdict {
	HANG_IDLE,	/* nothing is pending */
	HANG_MOVING,	/* something was called or completed a short time ago */
	HANG_INIT,	/* a communicator is being made, and not all ranks have come */
	HANG_CALL,	/* a call of NCCL other than an operation does not return */
	HANG_MISMATCH,	/* the same collective is another one in some ranks */
	HANG_BEHIND,	/* some ranks have not come to a collective */
	HANG_MESSAGE,	/* some ranks send what others do not receive, or receive what they do not send */
	HANG_PENDING,	/* all ranks have come, and it does not complete */
	HANG_SUSPECT,	/* the communicator is from before tracing began: some ranks wait, some do not */
	HANG_VERDICTS
};

/* The word for it in JSON and in text. */
extern const char *const hang_words[HANG_VERDICTS];

/* A rank on this machine. */
struct hang_rank {
	const struct communicator *m;	/* NULL: it is being made */
	int rank, pid;			/* rank -1: not known */
	struct rank_name name;		/* set by the tool, for hangs */
	int tid;			/* of the call, the wait, or that has called last */
	unsigned long long number;	/* collectives that it has come to */
	const struct comm_op *last;	/* that it has begun; NULL: none is known */
	enum completeness complete;	/* last is */
	/* Not known to be complete, or NULL: the first collective, and the last message from one rank to another. */
	const struct comm_op *first, *message;
	const struct comm_op *op;	/* last, or of HANG_MISMATCH the one that is not as in other ranks */
	const struct inflight_row *call;	/* of NCCL that does not return, of this communicator; or NULL */
	const struct inflight_row *wait;	/* for the GPU, or of a NCCL call from before tracing; or NULL */
	unsigned long long moved;	/* when it last called, or an operation was found to be complete, ns */
	bool culprit;			/* the others wait for it, or it differs from most */
	bool is_missing;		/* its communicator was not seen */
	bool is_unread;			/* there was no time to look at all of its threads: it may wait */
	bool has_ended;			/* its process has, with the communicator */
	/* Of thread tid, and of the process's first thread if that is another one; NULL: not read, or unreadable. */
	const struct stack *stack, *main_stack;
	const struct hang_report *report;	/* of another output; NULL: it was seen here */
};

/* A communicator. */
struct hang {
	unsigned long long hash;	/* 0: not known */
	unsigned user;			/* see proc_user() */
	int nranks;			/* 0: not known */
	bool unknown;			/* graphs were launched that are not known: they may have operations of it */
	bool whole;			/* all ranks here were seen being made */
	bool unseen;			/* it is none: processes of a job that have NCCL, in which no communicator was seen */
	struct hang_rank *ranks;	/* by rank */
	bool by_rank;			/* private: each has the place of its number */
	size_t n, room;
	enum verdict verdict;
	unsigned long long number;	/* of the collective that the verdict is about; 0: of none */
	int func;			/* that it is about: enum cuda_id; -1: none */
	const struct comm_op *op;	/* that it is about, where known; or NULL */
	unsigned long long moved;	/* ns */
};

struct hangs {
	struct hang *all;		/* by hash */
	size_t n, room;
	struct hang_place *places;	/* private: those with a hash, until hangs_sort() */
};

/* Return the communicator with these, added if there is none; and a new rank of it: valid until the next one is added. */
struct hang *hangs_add(struct hangs *h, unsigned long long hash, int nranks, unsigned user);
struct hang_rank *hang_add(struct hang *h);

/* Returns the communicator with these; NULL if there is none, its hash is not known, or they are sorted. */
struct hang *hangs_find(const struct hangs *h, unsigned long long hash, int nranks, unsigned user);

/* Sort the ranks by their numbers, and the communicators by their hashes. */
void hang_sort(struct hang *h);
void hangs_sort(struct hangs *h);

/* Returns the function of a call: enum cuda_id; -1 for NULL. */
int hang_func_of(const struct inflight_row *row);

/* Return true if a function is of a class; -1 is of none. */
bool hang_is_of(int func, enum cuda_class class);

/* Return true if it waits in NCCL or for the GPU, perhaps for other ranks. */
bool hang_waits(const struct hang_rank *r);

/* Return true if the verdict is one of a hang. */
bool hang_is_hung(const struct hang *h);

/* Return true if no operation of it was called, and it does not hang. */
bool hang_is_unused(const struct hang *h);

/* Returns the rank of that number in the communicator; NULL: it is not on this machine. */
struct hang_rank *hang_rank_of(const struct hang *h, int rank);

/* Return true if all ranks must call this function: enum cuda_id. */
bool hang_is_collective(int func);

void hangs_free(struct hangs *h);

#endif
