/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef SECCOMP_H
#define SECCOMP_H
#include <stdbool.h>

/* Return true if a thread of the process has a seccomp filter, or if it has too many threads to say. */
bool proc_has_filter(int pid);

#endif
