/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <stddef.h>
#include "abi/launch.h"
#include "bpf/map_backend.h"
#include "model/captures.h"

/* Streams and events: up to so many, others of the same user have room enough. */
enum { FEW = 1024 };

static bool is_live(const struct captures *c, unsigned long long id)
{
	struct capture capture;

	return !bmap_lookup(c->captures, &id, &capture);
}

/* Return true if a member of a capture is to go: program is 0, and its capture has ended, or it is that program's. */
static bool is_over(const struct captures *c, const struct capture_member *m, unsigned long long owner,
		    unsigned long long program)
{
	return program ? owner == program : !is_live(c, m->capture);
}

static void drop_streams(const struct captures *c, unsigned long long program)
{
	struct capture_stream key, next;
	bool more = !bmap_next(c->streams, NULL, &next);
	struct capture_member m;

	while (more) {
		key = next;
		more = !bmap_next(c->streams, &key, &next);
		if (!bmap_lookup(c->streams, &key, &m) && is_over(c, &m, key.program, program) && !bmap_delete(c->streams, &key))
			shares_give_back(&c->shares->streams, m.share);
	}
}

static void drop_events(const struct captures *c, unsigned long long program)
{
	struct capture_event key, next;
	bool more = !bmap_next(c->events, NULL, &next);
	struct capture_member m;

	while (more) {
		key = next;
		more = !bmap_next(c->events, &key, &next);
		if (!bmap_lookup(c->events, &key, &m) && is_over(c, &m, key.program, program) && !bmap_delete(c->events, &key))
			shares_give_back(&c->shares->events, m.share);
	}
}

void captures_drop_program(const struct captures *c, unsigned long long program)
{
	unsigned long long id, next;
	bool more = c->captures && !bmap_next(c->captures, NULL, &next);
	struct capture capture;

	if (!c->captures)
		return;
	while (more) {
		id = next;
		more = !bmap_next(c->captures, &id, &next);
		if (!bmap_lookup(c->captures, &id, &capture) && capture.program == program && !bmap_delete(c->captures, &id))
			shares_give_back(&c->shares->captures, capture.share);
	}
	drop_streams(c, program);
	drop_events(c, program);
}

void captures_drop_ended(const struct captures *c)
{
	if (!c->captures)
		return;
	if (c->shares->streams.used > FEW)
		drop_streams(c, 0);
	if (c->shares->events.used > FEW)
		drop_events(c, 0);
}
