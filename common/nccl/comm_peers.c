/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "base/quota.h"
#include "nccl/comm_peers.h"

enum { MOST = 4096, FIRST = 4 };

/* Returns its place; n if there is none. */
static unsigned place_of(const struct comm_peers *p, int rank)
{
	unsigned i = 0;

	if (p->last < p->n && p->all[p->last].rank == rank)
		return p->last;
	if (p->last + 1 < p->n && p->all[p->last + 1].rank == rank)
		return p->last + 1;
	while (i < p->n && p->all[i].rank != rank)
		i++;
	return i;
}

static bool grow(struct comm_peers *p, struct quota *q, unsigned user, int pid)
{
	unsigned room = p->room ? 2 * p->room : FIRST;

	if (p->n < p->room)
		return true;
	if (room > MOST || !quota_take(q, user, pid, (room - p->room) * sizeof(*p->all)))
		return false;
	p->all = xrealloc(p->all, room, sizeof(*p->all));
	p->room = room;
	return true;
}

void comm_peers_count(struct comm_peers *p, int rank, bool sends, struct quota *q, unsigned user, int pid)
{
	unsigned at = place_of(p, rank);

	if (p->incomplete)
		return;
	if (at == p->n) {
		if (!grow(p, q, user, pid)) {
			p->incomplete = true;
			return;
		}
		p->all[p->n++] = (struct comm_peer){ .rank = rank };
	}
	p->last = at;
	p->all[at].sent += sends;
	p->all[at].received += !sends;
}

struct comm_peer comm_peers_of(const struct comm_peers *p, int rank)
{
	unsigned at = place_of(p, rank);

	return at < p->n ? p->all[at] : (struct comm_peer){ .rank = rank };
}

void comm_peers_free(struct comm_peers *p, struct quota *q, unsigned user)
{
	quota_give(q, user, p->room * sizeof(*p->all));
	free(p->all);
	*p = (struct comm_peers){ 0 };
}
