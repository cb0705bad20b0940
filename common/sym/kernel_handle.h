/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Kernels by the variables in which nvcc's stubs keep their handles. */
#ifndef KERNEL_HANDLE_H
#define KERNEL_HANDLE_H

struct demangler;

/* Returns the kernel's symbol, which the caller frees; NULL if the variable is none of a stub's.  An extended
 * lambda has no name that can be demangled there, as it is nvcc's own: then the kernel is written out, with the
 * stub's parameters, in which the lambda is a type. */
char *kernel_of_handle(struct demangler *d, const char *variable);

#endif
