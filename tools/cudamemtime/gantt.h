/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of accesses as a timeline (view/chrome.h): an SM is a process, its warp slots are the threads. */
#ifndef GANTT_H
#define GANTT_H
#include "cudamemtime/kernels.h"
#include "cudamemtime/accesses.h"
#include "view/chrome.h"

/* Draws all that have times; the first begins at 0. */
void gantt_draw(struct chrome *c, const struct gpu_access *accesses, size_t n, struct kernels *kernels);

#endif
