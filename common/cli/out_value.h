/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One value of a row, as text and as JSON. */
#ifndef OUT_VALUE_H
#define OUT_VALUE_H
#include <stdio.h>
#include "cli/out.h"

/* In the field's column, as wide as that at least.  at: where the row has the value. */
void out_value_text(FILE *file, const struct field *field, const void *at);

/* To standard output. */
void out_value_json(const struct field *field, const void *at);

#endif
