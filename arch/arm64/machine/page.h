/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The sizes of pages that kernels for arm64 have: 4, 16 or 64 KiB. */
#ifndef MACHINE_PAGE_H
#define MACHINE_PAGE_H

enum { SMALLEST_PAGE = 4096, LARGEST_PAGE = 65536 };

#endif
