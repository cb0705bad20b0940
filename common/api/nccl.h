/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Short names of the values of NCCL's enums: nccl.h of 2.32. */
#ifndef API_NCCL_H
#define API_NCCL_H

/* Return "f32", "bf16", ...; "sum", "max", ..., "custom" for an operator of
 * ncclRedOpCreatePreMulSum(): static.  NULL if unknown. */
const char *nccl_type_name(unsigned type);
const char *nccl_operator_name(unsigned op);

/* Returns the bytes of one value of a type; 0 if unknown. */
unsigned nccl_type_size(unsigned type);

#endif
