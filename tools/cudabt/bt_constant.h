/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The enumerators of CUDA's enums. */
#ifndef BT_CONSTANT_H
#define BT_CONSTANT_H
#include <stdio.h>
#include "cudabt/bt_lex.h"

/* Return true if the word looks like an enumerator: cudaMemcpyHostToDevice, CU_..., CUDA_... */
bool bt_is_constant(const struct bt_token *t);

/* Writes its number.  Returns false and suggests the nearest names if there is no such name. */
bool bt_constant(FILE *out, const struct bt_token *t, struct bt_error *e);

#endif
