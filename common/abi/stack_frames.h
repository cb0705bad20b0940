/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Call stacks in records: addresses of 8 bytes each, from the caller outwards. */
#ifndef STACK_FRAMES_H
#define STACK_FRAMES_H

enum { STACK_FRAMES = 127 /* the kernel's default limit, kernel.perf_event_max_stack */ };

#endif
