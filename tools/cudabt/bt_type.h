/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* CUDA's types in bpftrace's language. */
#ifndef BT_TYPE_H
#define BT_TYPE_H
#include "api/cuda_protos.h"
#include "cudabt/bt_lex.h"

enum { BT_TYPE_SIZE = 16 };

/* Writes the name of an integer's type, at most BT_TYPE_SIZE bytes; returns name. */
const char *bt_type(const struct cuda_value *v, char *name, size_t size);

/* Return true for structs and for a dim3. */
bool bt_is_struct(const struct cuda_value *v);

/* What the parameter points to, as far as known: of structs, those of cuda_structs.h. */
struct cuda_value bt_type_target(const struct cuda_param *param);

/* Replaces the struct *v by its member of that name and adds the member's offset to *offset.
 * Returns false with *e set if there is none. */
bool bt_type_member(struct cuda_value *v, unsigned *offset, const struct bt_token *name,
		    struct bt_error *e);

/* Return true if bpftrace can hold such a value; else sets *e, for the program's text at at. */
bool bt_type_has_value(const struct cuda_value *v, const char *at, struct bt_error *e);

#endif
