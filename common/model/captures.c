/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include "abi/launch.h"
#include "base/clock.h"
#include "bpf/map_backend.h"
#include "model/captures.h"

/* Streams and events: up to so many, others of the same user have room enough. */
enum { FEW = 1024 };

/* That is looked for in a tenth of the time, as a program may capture all the time. */
enum { PAUSE = 9 };

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

/* Both kinds of members have their program first in the key. */
static void drop_members(const struct captures *c, const struct bpf_map *map, struct shares *shares, unsigned long long program)
{
	union { unsigned long long program; struct capture_stream stream; struct capture_event event; } key, next;
	bool more = !bmap_next(map, NULL, &next);
	struct capture_member m;

	while (more) {
		key = next;
		more = !bmap_next(map, &key, &next);
		if (!bmap_lookup(map, &key, &m) && is_over(c, &m, key.program, program) && !bmap_delete(map, &key))
			shares_give_back(shares, m.share);
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
	drop_members(c, c->streams, &c->shares->streams, program);
	drop_members(c, c->events, &c->shares->events, program);
}

void captures_drop_ended(struct captures *c)
{
	unsigned long long now;

	if (!c->captures || (c->shares->streams.used <= FEW && c->shares->events.used <= FEW))
		return;
	now = clock_ns();
	if (now < c->next)
		return;
	if (c->shares->streams.used > FEW)
		drop_members(c, c->streams, &c->shares->streams, 0);
	if (c->shares->events.used > FEW)
		drop_members(c, c->events, &c->shares->events, 0);
	c->next = clock_ns() + PAUSE * (clock_ns() - now);
}

void captures_record(struct captures *c, const struct record *record)
{
	c->begun |= record->kind == LAUNCH_CAPTURE_BEGAN;
	if (record->kind == LAUNCH_CAPTURE_ENDED)
		captures_drop_ended(c);
}

void captures_program_ended(const struct captures *c, unsigned long long program)
{
	if (c->begun)
		captures_drop_program(c, program);
}
