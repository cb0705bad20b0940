/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Has the dynamic linker load libcudagpuprobe.so into the command, and Triton call cudagpuprobe-ptxas there; tells them where
 * the tool listens. */
#ifndef GPUPROBE_PRELOAD_H
#define GPUPROBE_PRELOAD_H

struct gpuprobe_preload {
	char *library;		/* its file */
	char *preload;		/* LD_PRELOAD as the tool was called; NULL: unset */
	char *ptxas[2];		/* TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH, as well */
};

/* Finds the library beside the tool, or in ../lib/cuda-bpf-tools.  Exits 1 with the reason if there is none, or if
 * the dynamic linker cannot be told of it. */
void gpuprobe_preload_find(struct gpuprobe_preload *p);

/* Changes the environment for the command, socket being the name of the tool's; and back. */
void gpuprobe_preload_set(struct gpuprobe_preload *p, const char *socket);
void gpuprobe_preload_unset(struct gpuprobe_preload *p);

void gpuprobe_preload_free(struct gpuprobe_preload *p);

#endif
