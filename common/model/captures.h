/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tables of bpf/lib/graph.bpf.h: what is left in them of captures and programs that have ended. */
#ifndef MODEL_CAPTURES_H
#define MODEL_CAPTURES_H

struct bpf_map;
struct capture_shares;

/* The probes' maps, and what users hold of them; all zeroed: none. */
struct captures {
	const struct bpf_map *captures, *streams, *events;
	struct capture_shares *shares;
};

/* Drops what a program has in the tables.  Call when it has ended, if it ever captured. */
void captures_drop_program(const struct captures *c, unsigned long long program);

/* Drops what belongs to captures that have ended, if there is much in the tables.  Call where one has. */
void captures_drop_ended(const struct captures *c);

#endif
