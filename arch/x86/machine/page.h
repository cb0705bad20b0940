/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The sizes of pages that kernels for x86-64 have. */
#ifndef MACHINE_PAGE_H
#define MACHINE_PAGE_H

enum { SMALLEST_PAGE = 4096, LARGEST_PAGE = 4096 };

#endif
