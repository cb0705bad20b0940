/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_LIBC_H
#define GPUPROBE_LIBC_H

/* Returns a function of libc.so.6 or libdl.so.2 without asking the dynamic linker for it by name, or NULL. */
void *libc_function(const char *name);

#endif
