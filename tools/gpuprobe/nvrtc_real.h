/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_NVRTC_REAL_H
#define GPUPROBE_NVRTC_REAL_H

/* Returns the wrapper of an nvrtcGetCUBIN, or the function itself if the wrapper serves another NVRTC already. */
void *nvrtc_real_wrapped(void *function);

#endif
