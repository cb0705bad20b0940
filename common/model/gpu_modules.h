/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What probes inside kernels have counted and recorded: processes, their instrumented modules, and in these, sites.
 * It is made from the frames that processes send (abi/inject.h), which may be anything: what does not fit is
 * refused.  All starts zeroed. */
#ifndef GPU_MODULES_H
#define GPU_MODULES_H
#include "model/gpu_model.h"

/* Takes a frame of the process with this connection; pid as the kernel says, 0: it does not.  data is aligned.  Returns
 * NULL, or what is wrong with the frame.  Frames of later versions are ignored. */
const char *gpu_modules_frame(struct gpu_modules *m, unsigned id, int pid, uint32_t kind, const void *data,
			      size_t size);

/* Returns the module of this number, NULL if there is none or it was refused. */
struct gpu_module *gpu_modules_find(const struct gpu_modules *m, unsigned id, uint32_t number);

/* Drops the module's records, for who has taken them. */
void gpu_modules_forget(struct gpu_modules *m, struct gpu_module *module);

/* What is known of all modules. */
struct gpu_losses {
	unsigned long long lost, dropped, failed;
};
struct gpu_losses gpu_modules_losses(const struct gpu_modules *m);

void gpu_modules_free(struct gpu_modules *m);

#endif
