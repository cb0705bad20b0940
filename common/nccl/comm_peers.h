/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many messages a rank of a communicator has sent to and received from each other rank. */
#ifndef NCCL_COMM_PEERS_H
#define NCCL_COMM_PEERS_H
#include <stdbool.h>

struct quota;

struct comm_peer {
	int rank;
	unsigned long long sent, received;	/* calls */
};

/* Zeroed to begin with. */
struct comm_peers {
	struct comm_peer *all;
	unsigned n, room;
	unsigned last;		/* private: all_to_all goes from one to the next */
	bool incomplete;	/* some were not counted: numbers cannot be compared */
};

/* Counts a message.  A program that has too many peers for its user's quota has incomplete ones from then on. */
void comm_peers_count(struct comm_peers *p, int rank, bool sends, struct quota *q, unsigned user, int pid);

/* Returns zeros if there was no message. */
struct comm_peer comm_peers_of(const struct comm_peers *p, int rank);

/* Frees the list, and what it took from the quota. */
void comm_peers_free(struct comm_peers *p, struct quota *q, unsigned user);

#endif
