/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's own directories of libraries: those of distributions (Jetson's are NVIDIA's, called tegra before 2022), and of
 * CUDA's packages for several machines (Jetson's is aarch64-linux). */
#ifndef MACHINE_LIBRARY_DIRS_H
#define MACHINE_LIBRARY_DIRS_H

#define MACHINE_LIBRARY_DIRS "/usr/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu/nvidia", "/usr/lib/aarch64-linux-gnu/tegra"
#define MACHINE_CUDA_DIRS "/usr/local/cuda/targets/sbsa-linux/lib", "/usr/local/cuda/targets/aarch64-linux/lib"

#endif
