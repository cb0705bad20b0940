/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Has the dynamic linker load libcudainject.so into the command, and Triton call cudainject-ptxas there; tells them where
 * the tool listens. */
#ifndef GPU_PRELOAD_H
#define GPU_PRELOAD_H

struct gpu_preload {
	char *library;		/* its file */
	char *preload;		/* LD_PRELOAD as the tool was called; NULL: unset */
	char *ptxas[2];		/* TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH, as well */
};

/* Finds the library beside the tool, or in ../lib/cuda-bpf-tools.  Exits 1 with the reason if there is none, or if
 * the dynamic linker cannot be told of it. */
void gpu_preload_find(struct gpu_preload *p);

/* Changes the environment for the command, socket being the name of the tool's; and back. */
void gpu_preload_set(struct gpu_preload *p, const char *socket);
void gpu_preload_unset(struct gpu_preload *p);

void gpu_preload_free(struct gpu_preload *p);

#endif
