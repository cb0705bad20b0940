/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What probes inside kernels have counted and recorded: processes, their instrumented modules, and in these, sites.
 * It is made from the frames that processes send (abi/gpuprobe.h), which may be anything: what does not fit is
 * refused.  All starts zeroed. */
#ifndef GPUPROBE_MODULES_H
#define GPUPROBE_MODULES_H
#include "model/gpuprobe_model.h"

/* Takes a frame of the process with this connection; pid as the kernel says, 0: it does not.  data is aligned.  Returns
 * NULL, or what is wrong with the frame.  Frames of later versions are ignored. */
const char *gpuprobe_modules_frame(struct gpuprobe_modules *m, unsigned id, int pid, uint32_t kind, const void *data,
			      size_t size);

/* Returns the module of this number, NULL if there is none or it was refused. */
struct gpuprobe_module *gpuprobe_modules_find(const struct gpuprobe_modules *m, unsigned id, uint32_t number);

/* Drops the module's records, for who has taken them. */
void gpuprobe_modules_forget(struct gpuprobe_modules *m, struct gpuprobe_module *module);

/* What is known of all modules. */
struct gpuprobe_losses {
	unsigned long long lost, dropped, failed;
};
struct gpuprobe_losses gpuprobe_modules_losses(const struct gpuprobe_modules *m);

void gpuprobe_modules_free(struct gpuprobe_modules *m);

#endif
