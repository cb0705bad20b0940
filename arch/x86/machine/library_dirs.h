/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's own directories of libraries: those of distributions, and of CUDA's packages for several machines. */
#ifndef MACHINE_LIBRARY_DIRS_H
#define MACHINE_LIBRARY_DIRS_H

#define MACHINE_LIBRARY_DIRS "/usr/lib/x86_64-linux-gnu"
#define MACHINE_CUDA_DIRS "/usr/local/cuda/targets/x86_64-linux/lib"

#endif
