/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include "abi/launch.h"
#include "base/clock.h"
#include "bpf/map_backend.h"
#include "model/captures.h"
#include "model/entries.h"

/* Streams and events: up to so many, others of the same user have room enough. */
enum { FEW = 1024 };

/* That is looked for in a tenth of the time, as a program may capture all the time. */
enum { PAUSE = 9 };

/* Of a member: its capture has ended. */
static bool has_ended(const void *ctx, const void *key, const void *value)
{
	const struct captures *c = ctx;
	const struct capture_member *m = value;
	struct capture capture;

	(void)key;
	return bmap_lookup(c->captures, &m->capture, &capture);
}

static bool captures_is_of(const void *ctx, const void *key, const void *value)
{
	const unsigned long long *program = ctx;
	const struct capture *c = value;

	(void)key;
	return c->program == *program;
}

void captures_drop_program(const struct captures *c, unsigned long long program)
{
	const size_t share = offsetof(struct capture_member, share);

	if (!c->captures)
		return;
	entries_drop(c->captures, &c->shares->captures, offsetof(struct capture, share), captures_is_of, &program);
	entries_drop_program(c->streams, &c->shares->streams, share, program);
	entries_drop_program(c->events, &c->shares->events, share, program);
}

void captures_drop_ended(struct captures *c)
{
	const size_t share = offsetof(struct capture_member, share);
	unsigned long long now;

	if (!c->captures || (c->shares->streams.used <= FEW && c->shares->events.used <= FEW))
		return;
	now = clock_ns();
	if (now < c->next)
		return;
	if (c->shares->streams.used > FEW)
		entries_drop(c->streams, &c->shares->streams, share, has_ended, c);
	if (c->shares->events.used > FEW)
		entries_drop(c->events, &c->shares->events, share, has_ended, c);
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
