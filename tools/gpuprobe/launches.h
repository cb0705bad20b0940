/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_LAUNCHES_H
#define GPUPROBE_LAUNCHES_H
#include "gpuprobe/gpuprobe.h"

/* Tells the tool of a call that launched a kernel, with the stack above `caller`, the wrapper's return address. */
void launches_note(struct inject *inject, CUfunction f, const void *caller);

#endif
