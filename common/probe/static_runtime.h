/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtimes that are linked into programs and libraries: the dynamic linker does not know their functions. */
#ifndef STATIC_RUNTIME_H
#define STATIC_RUNTIME_H

struct probes;

/* Returns a file of the process with a CUDA runtime linked in, of which functions are wanted that only the kernel's probes
 * could see; each file once.  NULL if there is none.  The path lives as long as the file's struct dso. */
const char *static_runtime(struct probes *p, int pid);

#endif
