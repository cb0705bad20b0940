/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One instrumented module of a process: the parts of gpuprobe_modules_frame() that are about it. */
#ifndef GPUPROBE_MODULE_H
#define GPUPROBE_MODULE_H
#include "model/gpuprobe_model.h"

/* Each takes a frame; returns NULL, or what is wrong with it. */
const char *gpuprobe_module_add(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size);
const char *gpuprobe_module_slots(struct gpuprobe_process *p, const void *data, size_t size);
const char *gpuprobe_module_records(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size);

/* Returns NULL if there is none of this number, or it was refused. */
struct gpuprobe_module *gpuprobe_module_find(const struct gpuprobe_process *p, uint32_t number);

void gpuprobe_module_free(struct gpuprobe_module *module);

#endif
