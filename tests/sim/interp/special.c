/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "special.h"
#include "machine.h"
#include <stdio.h>
#include <string.h>

enum special {
	TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z,
	CLUSTERID_X, CLUSTERID_Y, CLUSTERID_Z, NCLUSTERID_X, NCLUSTERID_Y, NCLUSTERID_Z,
	CLUSTER_CTAID_X, CLUSTER_CTAID_Y, CLUSTER_CTAID_Z, CLUSTER_NCTAID_X, CLUSTER_NCTAID_Y, CLUSTER_NCTAID_Z,
	CLUSTER_CTARANK, CLUSTER_NCTARANK, IS_EXPLICIT_CLUSTER,
	LANEID, WARPID, NWARPID, SMID, NSMID, GRIDID, CLOCK, CLOCK_HI, CLOCK64, TIMER, TIMER_LO, TIMER_HI,
	MASK_EQ, MASK_LE, MASK_LT, MASK_GE, MASK_GT, DYNAMIC_SIZE, TOTAL_SIZE, AGGR_SIZE, RESERVED_BEGIN, ENVREG,
	SPECIALS = ENVREG + 32,
};

static const char *const names[ENVREG] = {
	"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
	"%nctaid.x", "%nctaid.y", "%nctaid.z", "%clusterid.x", "%clusterid.y", "%clusterid.z",
	"%nclusterid.x", "%nclusterid.y", "%nclusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
	"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank",
	"%is_explicit_cluster", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi",
	"%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
	"%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
	"%reserved_smem_offset_begin",
};

bool special_parse(struct ptx_str name, unsigned *n)
{
	char text[16];

	for (*n = 0; *n < ENVREG; ++*n)
		if (ptx_str_is(name, names[*n]))
			return true;
	for (unsigned i = 0; i < 32; i++, ++*n) {
		snprintf(text, sizeof text, "%%envreg%u", i);
		if (ptx_str_is(name, text))
			return true;
	}
	return false;
}

/* The clock of each SM has run for another time. */
static uint64_t clock_of(const struct warp *w)
{
	return w->run->clock + w->time + 1000003ull * w->block->sm;
}

static uint64_t timer_of(const struct warp *w)
{
	return w->run->grid->start_ns + cycles_ns(w->time);
}

static uint64_t same(const struct warp *w, unsigned n)
{
	const struct block *b = w->block;
	const struct interp_grid *g = w->run->grid;

	switch (n) {
	case NTID_X: case NTID_Y: case NTID_Z: return g->block[n - NTID_X];
	case CTAID_X: case CTAID_Y: case CTAID_Z: return b->id[n - CTAID_X];
	case CLUSTERID_X: case CLUSTERID_Y: case CLUSTERID_Z:	/* clusters of one block */
		return b->id[n - CLUSTERID_X];
	case NCTAID_X: case NCTAID_Y: case NCTAID_Z: return g->grid[n - NCTAID_X];
	case NCLUSTERID_X: case NCLUSTERID_Y: case NCLUSTERID_Z: return g->grid[n - NCLUSTERID_X];
	case CLUSTER_NCTAID_X: case CLUSTER_NCTAID_Y: case CLUSTER_NCTAID_Z: case CLUSTER_NCTARANK: return 1;
	case WARPID: return b->first_warp + w->index;
	case NWARPID: return MAX_THREADS / 32;
	case SMID: return b->sm;
	case NSMID: return w->run->num_sms;
	case GRIDID: return g->id;
	case CLOCK: return (uint32_t)clock_of(w);
	case CLOCK_HI: return clock_of(w) >> 32;
	case CLOCK64: return clock_of(w);
	case TIMER: return timer_of(w);
	case TIMER_LO: return (uint32_t)timer_of(w);
	case TIMER_HI: return timer_of(w) >> 32;
	case DYNAMIC_SIZE: return g->shared;
	case TOTAL_SIZE: case AGGR_SIZE: return w->run->shared_size;
	case ENVREG + 1: return w->run->workspace >> 32;
	case ENVREG + 2: return (uint32_t)w->run->workspace;
	default: return 0;
	}
}

void special_read(const struct warp *w, unsigned n, uint64_t *value)
{
	const unsigned *size = w->run->grid->block;
	uint64_t all = 0;

	if (n > TID_Z && n != LANEID && (n < MASK_EQ || n > MASK_GT))
		all = same(w, n);
	for (unsigned l = 0; l < 32; l++) {
		unsigned thread = w->index * 32 + l;
		uint64_t bit = 1ull << l;

		switch (n) {
		case TID_X: value[l] = thread % size[0]; break;
		case TID_Y: value[l] = thread / size[0] % size[1]; break;
		case TID_Z: value[l] = thread / size[0] / size[1]; break;
		case LANEID: value[l] = l; break;
		case MASK_EQ: value[l] = bit; break;
		case MASK_LE: value[l] = bit | (bit - 1); break;
		case MASK_LT: value[l] = bit - 1; break;
		case MASK_GE: value[l] = (uint32_t)~(bit - 1); break;
		case MASK_GT: value[l] = (uint32_t)~(bit | (bit - 1)); break;
		default: value[l] = all;
		}
	}
}
