/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads the variables of probes from device memory.  Only the library's own thread calls this. */
#ifndef AGENT_GPUPROBE_VARIABLES_H
#define AGENT_GPUPROBE_VARIABLES_H
#include "agent/gpuprobe/gpuprobe.h"

struct reader {
	struct gpuprobe *state;
	struct context *context;	/* the current one */
	char *buffer;
	size_t room;
	bool ranges_only;		/* write ranges.h's list and read nothing */
};

/* Returns a new instance of a module in the current context, and reports it to the tool; its number is 0 if it is
 * absent there.  NULL: *error says that the context is unusable, or CUDA_SUCCESS if out of memory. */
struct instance *instance_new(struct reader *reader, const struct module *module, uint32_t hash, CUresult *error);

/* Writes the list of ranges.h if it has changed and the probe has one; then reads and sends new counts and records.
 * last: incomplete records count as lost. */
CUresult instance_read(struct reader *reader, struct instance *instance, bool last);

/* After a fault in the instance's context, with its sorted table of lasts: sends those since the last reading. */
void instance_send_lasts(struct reader *reader, struct instance *instance);

#endif
