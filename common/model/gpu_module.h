/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One instrumented module of a process: the parts of gpu_modules_frame() that are about it. */
#ifndef GPU_MODULE_H
#define GPU_MODULE_H
#include "model/gpu_model.h"

/* Each takes a frame; returns NULL, or what is wrong with it. */
const char *gpu_module_add(struct gpu_modules *m, struct gpu_process *p, const void *data, size_t size);
const char *gpu_module_slots(struct gpu_process *p, const void *data, size_t size);
const char *gpu_module_records(struct gpu_modules *m, struct gpu_process *p, const void *data, size_t size);

/* Returns NULL if there is none of this number, or it was refused. */
struct gpu_module *gpu_module_find(const struct gpu_process *p, uint32_t number);

void gpu_module_free(struct gpu_module *module);

#endif
