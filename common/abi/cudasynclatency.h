/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The groups of cudasynclatency: aggregate_key.key is an enum cuda_id, .series one of these. */
#ifndef ABI_CUDASYNCLATENCY_H
#define ABI_CUDASYNCLATENCY_H

enum { WAIT_WHOLE, WAIT_OFF_CPU };

#endif
