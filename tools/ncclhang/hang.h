/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the ranks of each communicator do at one moment, and which of them the others wait for. */
#ifndef NCCLHANG_HANG_H
#define NCCLHANG_HANG_H
#include <stdbool.h>
#include <stddef.h>
#include "ncclhang/completion.h"

struct communicators;
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
	int tid;			/* of the call, the wait, or that has called last */
	unsigned long long number;	/* collectives that it has come to */
	const struct comm_op *last;	/* that it has begun; NULL: none is known */
	enum completeness complete;	/* last is */
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
	struct hang_place *places;	/* private: those with a hash, until hangs_judge() */
};

/* A rank whose process has ended with the communicator. */
struct hang_ended {
	unsigned long long hash, time, number;	/* time: ns */
	unsigned user;
	int nranks, rank, pid;
};

/* Looks at all communicators.  Those where something moved in the last stall_ns are HANG_MOVING.  What the result points to
 * is valid until records are handled or inflight_clear(). */
struct hangs hangs_look(const struct communicators *communicators, const struct completion *completion, const struct inflight *inflight,
			const struct hang_ended *ended, size_t nended, unsigned long long now, unsigned long long stall_ns);

/* Adds a process of the job in which no communicator was seen: the others may wait for it.  rank: in the communicator, -1: not
 * known. */
void hang_add_missing(struct hang *h, int pid, int rank, const struct inflight *inflight);

/* Sets the verdict of a communicator that was not seen being made. */
void hang_judge_unseen(struct hang *h);

/* Return the communicator with these, added if there is none; and a new rank of it: valid until the next one is added. */
struct hang *hangs_add(struct hangs *h, unsigned long long hash, int nranks, unsigned user);
struct hang_rank *hang_add(struct hang *h);

/* Return true if all ranks must call this function: enum cuda_id. */
bool hang_is_collective(int func);

/* Sets the verdicts, and the order. */
void hangs_judge(struct hangs *h, unsigned long long now, unsigned long long stall_ns);

void hangs_free(struct hangs *h);

#endif
