/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "api/cuda_fn.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/hang.h"
#include "ncclhang/messages.h"

static bool is_message(int func)
{
	return func == CUDA_ID_ncclSend || func == CUDA_ID_ncclRecv;
}

/* A message that a rank has not completed; func -1: there is none. */
struct message { int func, peer; bool counted; };

static struct message messages_message_of(const struct hang_rank *r)
{
	int call = r->call ? cuda_fn_find(r->call->func) : -1;
	const struct comm_op *op = r->report && r->last && r->last->message && r->complete != COMPLETE ? r->last : r->message;

	if (is_message(call) && (r->call->nccl.is_nccl || r->report))
		return (struct message){ call, r->report ? (r->last ? r->last->other : -1) : r->call->nccl.other, false };
	if (op && is_message(op->func))
		return (struct message){ op->func, op->other, true };
	return (struct message){ -1, -1, false };
}

static bool is_counted(const struct hang_rank *r)
{
	return r->m && r->m->whole && !r->report && !r->m->peers.incomplete;
}

static void each_counted(const struct hang *h, const struct hang_rank *r, void (*fn)(void *ctx, const struct unmatched *u), void *ctx)
{
	for (unsigned i = 0; i < r->m->peers.n; i++) {
		const struct comm_peer *mine = &r->m->peers.all[i];
		const struct hang_rank *peer = hang_rank_of(h, mine->rank);
		struct comm_peer theirs;

		if (!peer || peer == r || !is_counted(peer))
			continue;
		theirs = comm_peers_of(&peer->m->peers, r->rank);
		if (mine->sent > theirs.received)
			fn(ctx, &(struct unmatched){ r, peer, true, mine->sent, theirs.received });
		if (mine->received > theirs.sent)
			fn(ctx, &(struct unmatched){ r, peer, false, mine->received, theirs.sent });
	}
}

/* Return true if the peer is in the other half of a message to or from this rank. */
static bool is_answered(const struct hang_rank *r, struct message m, const struct hang_rank *peer)
{
	const struct message theirs = messages_message_of(peer);

	return theirs.func >= 0 && theirs.func != m.func && theirs.peer == r->rank;
}

void messages_each(const struct hang *h, const struct hang_rank *r, void (*fn)(void *ctx, const struct unmatched *u), void *ctx)
{
	const struct message m = messages_message_of(r);
	const struct hang_rank *peer = hang_rank_of(h, m.peer);
	struct comm_peer mine, theirs;
	bool sends = m.func == CUDA_ID_ncclSend;

	if (m.func < 0 || !hang_waits(r))
		return;
	if (is_counted(r) && m.counted)
		each_counted(h, r, fn, ctx);
	if (!peer || peer == r)
		return;
	if (!is_counted(r) || !is_counted(peer)) {
		if (!is_answered(r, m, peer))
			fn(ctx, &(struct unmatched){ .rank = r, .peer = peer, .sends = sends });
		return;
	}
	if (m.counted)
		return;
	/* a call that has not returned is not counted yet */
	mine = comm_peers_of(&r->m->peers, m.peer);
	theirs = comm_peers_of(&peer->m->peers, r->rank);
	if ((sends ? mine.sent : mine.received) >= (sends ? theirs.received : theirs.sent) && !is_answered(r, m, peer))
		fn(ctx, &(struct unmatched){ r, peer, sends, 1 + (sends ? mine.sent : mine.received), sends ? theirs.received : theirs.sent });
}

/* ---- The verdict */

static void mark(void *ctx, const struct unmatched *u)
{
	struct hang *h = ctx;

	h->ranks[u->peer - h->ranks].culprit = true;
	h->verdict = HANG_MESSAGE;
	h->op = h->op ?: u->rank->message;
}

bool messages_judge(struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		messages_each(h, &h->ranks[i], mark, h);
	return h->verdict == HANG_MESSAGE;
}

struct find { const struct hang_rank *to; struct unmatched first; size_t n; };

static void take_first(void *ctx, const struct unmatched *u)
{
	struct find *f = ctx;

	if ((!f->to || u->peer == f->to) && !f->n++)
		f->first = *u;
}

struct unmatched messages_find(const struct hang *h, const struct hang_rank *from, const struct hang_rank *to)
{
	struct find f = { .to = to };

	for (size_t i = 0; i < h->n && !f.n; i++)
		if (!from || from == &h->ranks[i])
			messages_each(h, &h->ranks[i], take_first, &f);
	return f.first;
}

void messages_print(const struct hang *h)
{
	const struct unmatched u = messages_find(h, NULL, NULL), back = u.rank ? messages_find(h, u.peer, u.rank) : u;

	if (!u.rank)
		return;
	if (back.rank && back.sends == u.sends)
		printf("ranks %d and %d both %s each other, and neither %s", u.rank->rank, u.peer->rank,
		       u.sends ? "send to" : "receive from", u.sends ? "receives" : "sends");
	else
		printf("rank %d %s rank %d, which does not %s", u.rank->rank, u.sends ? "sends to" : "receives from", u.peer->rank,
		       u.sends ? "receive" : "send");
	if (u.number)
		printf(" (%s number %llu, after %llu of %s)", u.sends ? "ncclSend" : "ncclRecv", u.number, u.peers,
		       u.sends ? "ncclRecv" : "ncclSend");
}
