/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The groups of cudasynclatency: aggregate_key.key is an enum cuda_id, .series one of these.  In the first,
 * ns is the time off the CPU; in the second, that part of it in which the thread was runnable, and so is aggregate_record.more. */
#ifndef ABI_CUDASYNCLATENCY_H
#define ABI_CUDASYNCLATENCY_H

enum { WAIT_WHOLE, WAIT_OFF_CPU };

#endif
