/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tables of bpf/lib/graph.bpf.h: what is left in them of captures and programs that have ended. */
#ifndef MODEL_CAPTURES_H
#define MODEL_CAPTURES_H
#include <stdbool.h>

struct bpf_map;
struct capture_shares;
struct record;

/* The probes' maps, and what users hold of them; all zeroed: none. */
struct captures {
	const struct bpf_map *captures, *streams, *events;
	struct capture_shares *shares;
	bool begun;	/* captures_record() has seen one begin */
	unsigned long long next;	/* not before: what ended captures left is looked for, ns */
};

/* Of a tool's skeleton that is loaded. */
#define CAPTURES_OF(skel) {									\
	.captures = (skel)->maps.captures, .streams = (skel)->maps.capture_streams,		\
	.events = (skel)->maps.capture_events,							\
	.shares = &(skel)->data_capture_shares->capture_shares }

/* Drops what a program has in the tables.  Call when it has ended, if it ever captured. */
void captures_drop_program(const struct captures *c, unsigned long long program);

/* Drops what belongs to captures that have ended, if there is much in the tables.  Call where one has. */
void captures_drop_ended(struct captures *c);

/* For a tool that follows no graphs: does what is to be done about a record, and about the end of a program. */
void captures_record(struct captures *c, const struct record *record);
void captures_program_ended(const struct captures *c, unsigned long long program);

#endif
