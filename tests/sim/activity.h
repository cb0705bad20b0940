/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the simulated driver tells the simulated libcupti. */
#ifndef TESTS_SIM_ACTIVITY_H
#define TESTS_SIM_ACTIVITY_H
#include <stdint.h>

enum sim_activity_kind { SIM_KERNEL, SIM_COPY, SIM_PEER_COPY, SIM_SET, SIM_GRAPH_BEGIN, SIM_GRAPH_END };
enum sim_memory { SIM_PAGEABLE, SIM_PINNED, SIM_DEVICE, SIM_ARRAY, SIM_MANAGED };

/* What a call, or a node of a graph, does. */
struct sim_activity {
	uint8_t kind;
	uint8_t from, to;		/* enum sim_memory */
	uint8_t async;
	uint32_t node;			/* of a graph, or 0 */
	union {
		const char *name;	/* of a kernel; inside the driver: */
		const void *function;
		uint64_t bytes;
	};
	union {
		struct {
			uint32_t grid[3], block[3];
			uint32_t shared;
		};
		uint32_t devices[2];	/* from, to */
		uint32_t value;
	};
};

struct sim_place {
	uint32_t device, context, stream;
	uint32_t graph;			/* that is launched, or 0 */
};

/* Called after each activity; the nodes of a graph's launch come between its begin and end.  NULL: no longer. */
typedef void sim_activity_hook(const struct sim_activity *activity, const struct sim_place *place);
void sim_activity_set(sim_activity_hook *hook);

#endif
