/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Counts of bpf/lib/export_counts.bpf.h: reads its maps, and gives back the room of programs that have ended. */
#ifndef MODEL_EXPORT_MAPS_H
#define MODEL_EXPORT_MAPS_H
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "abi/shares.h"

struct bpf_map;

/* Set first; the caller owns them. */
struct export_maps {
	const struct bpf_map *slots, *rest, *errors;
	const struct bpf_map *exemplars;	/* NULL: none are kept */
	struct shares *rest_shares, *error_shares, *exemplar_shares;
	/* private */
	struct export_slot *elements;
	unsigned nelements;
};

/* For a tool's skeleton; exemplars is set apart. */
#define EXPORT_MAPS_OF(skel) {									\
	.slots = (skel)->maps.export_slots, .rest = (skel)->maps.export_counts,			\
	.rest_shares = &(skel)->data_export_shares->export_shares,				\
	.errors = (skel)->maps.export_errors,							\
	.error_shares = &(skel)->data_export_error_shares->export_error_shares }

/* Called for each count so far; the functions may be NULL.  Those that return true have the count deleted: its program has ended,
 * and counts no more. */
struct export_reader {
	void *ctx;
	bool (*values)(void *ctx, const struct export_key *key, const struct export_values *values);
	bool (*error)(void *ctx, const struct export_error *error, unsigned long long n);
	bool (*exemplar)(void *ctx, const struct export_key *key, const struct export_exemplar *exemplar);
};

/* Call when the maps are loaded.  Dies if the kernel does not let it map them. */
void export_maps_open(struct export_maps *m);

/* Return true if it is a call that failed: not one that asked whether work is done, nor a sticky error. */
bool export_is_failure(const struct export_error *error);

/* A key may have several counts: they are parts of one. */
void export_maps_read(struct export_maps *m, const struct export_reader *reader);

#endif
