/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_PTXAS_REAL_H
#define GPUPROBE_PTXAS_REAL_H

/* Returns the file that Triton would call if it did not call this program as `name`: what the user has set, else the
 * one of the Triton that the caller has loaded, else the one of
 * CUDA_HOME or PATH; malloc'd.  NULL: there is none. */
char *ptxas_real(const char *name);

#endif
