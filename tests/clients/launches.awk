# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Of a trace of the simulated CUDA: "LAUNCHES NAME" for each kernel, by the names that it was asked for.
# Handles are made use of again only by others of the same process.
$2 == "cuLibraryGetKernel" && !$NF { name[$(NF - 1)] = $4 }
$2 == "cuModuleGetFunction" && !$NF { name[$(NF - 1)] = $4 }
$2 == "cuKernelGetFunction" && !$NF { name[$(NF - 1)] = name[$3] }
$2 ~ /^cuLaunchKernel/ { launches[name[$3]]++ }
END { for (n in launches) print launches[n], n }
