/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <sys/socket.h>
#include "base/die.h"
#include "session/gpuprobe_read.h"

/* How much is read of one peer before others have their turn. */
enum { TURN = 16 << 20 };

/* What room for a frame grows by at least: its size is only what a peer says. */
enum { STEP = 64 << 10 };

/* Of all peers' frames that are not whole yet. */
static const size_t HELD_MAX = 4 * (size_t)GPUPROBE_FRAME_MAX;

/* Makes room for more of the frame than has come: twice as much, but not more than the whole. */
static const char *grow(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	size_t have = peer->got - sizeof(peer->head), room = 2 * peer->room + STEP;

	if (have < peer->room)
		return NULL;
	if (room > peer->head.size)
		room = peer->head.size;
	if (p->held + room - peer->room > HELD_MAX)
		return "too many large frames at once";
	peer->data = xrealloc(peer->data, room, 1);
	p->held += room - peer->room;
	peer->room = room;
	return NULL;
}

static const char *check_head(const struct gpuprobe_peer *peer)
{
	if (peer->head.size > GPUPROBE_FRAME_MAX)
		return "it sent a frame that is too large";
	if (!peer->greeted && peer->head.kind != GPUPROBE_HELLO)
		return "it sent something else than a greeting";
	if (peer->bye)
		return "it sent more after its end";
	return NULL;
}

static const char *whole(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	const char *wrong = p->frame(p->ctx, peer, peer->head.kind, peer->data, peer->head.size);

	peer->greeted = p->greeted = true;
	peer->bye = peer->head.kind == GPUPROBE_BYE;
	if (peer->bye)		/* it may wait until all was read */
		shutdown(peer->fd, SHUT_WR);
	peer->got = 0;
	p->held -= peer->room;
	free(peer->data);
	peer->data = NULL;
	peer->room = 0;
	return wrong;
}

/* Reads up to the end of the head, or of the frame.  Returns as recv(2). */
static ssize_t receive(struct gpuprobe_peer *peer)
{
	size_t at = peer->got, head = sizeof(peer->head);
	ssize_t n;

	if (at < head)
		n = recv(peer->fd, (char *)&peer->head + at, head - at, 0);
	else
		n = recv(peer->fd, peer->data + at - head, peer->room - (at - head), 0);
	if (n > 0)
		peer->got += n;
	return n;
}

/* Takes the next step once bytes have come. */
static const char *step(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	const char *wrong;

	if (peer->got < sizeof(peer->head))
		return NULL;
	if (peer->got == sizeof(peer->head)) {
		wrong = check_head(peer);
		if (wrong)
			return wrong;
	}
	if (peer->got == sizeof(peer->head) + peer->head.size)
		return whole(p, peer);
	return grow(p, peer);
}

enum gpuprobe_read gpuprobe_read(struct gpuprobe_peers *p, struct gpuprobe_peer *peer, const char **wrong)
{
	ssize_t n;

	for (size_t turn = 0; turn < TURN; turn += n) {
		n = receive(peer);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return GPU_READ_MORE;
		if (n <= 0)	/* a part of a frame, if there is one, is of a process that was killed */
			return GPU_READ_END;
		*wrong = step(p, peer);
		if (*wrong)
			return GPU_READ_WRONG;
	}
	return GPU_READ_MORE;
}

