/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reading what probes have left in devices' memory; by the library's own thread alone. */
#ifndef GPUPROBE_READOUT_H
#define GPUPROBE_READOUT_H
#include "gpuprobe/gpuprobe.h"

struct reader {
	struct inject *inject;
	struct context *context;	/* the current one */
	char *buffer;
	size_t room;
	bool telling;		/* what memory there is, and reads nothing */
};

/* Makes the buffer as large as that; false if out of memory. */
bool reader_room(struct reader *reader, size_t size);

/* Copies from the device, and waits for it. */
CUresult reader_copy(struct reader *reader, void *to, CUdeviceptr from, size_t size);

/* Copies to the device, and waits for it. */
CUresult reader_write(struct reader *reader, CUdeviceptr to, const void *from, size_t size);

/* Finds a variable of a module and its size. */
CUresult reader_variable(struct reader *reader, const struct module *module, const char *what, uint32_t hash,
			 CUdeviceptr *at, size_t *size);

/* Returns a new instance of a module in the current context, which has been told to the tool; its number is 0 if it is
 * not there.  NULL and *error: the context is of no use, or CUDA_SUCCESS if out of memory. */
struct instance *instance_new(struct reader *reader, const struct module *module, uint32_t hash, CUresult *error);

/* Read and send what is new.  last: nothing comes any more, so that what is incomplete is lost. */
CUresult slots_read(struct reader *reader, struct instance *instance);
CUresult records_read(struct reader *reader, struct instance *instance, bool last);

/* Tells an instance that wants to know what memory there is (ranges.h), if that has changed. */
CUresult ranges_write(struct reader *reader, struct instance *instance);

#endif
