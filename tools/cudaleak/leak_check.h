/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which of cudaleak's options go together. */
#ifndef LEAK_CHECK_H
#define LEAK_CHECK_H
#include "cudaleak/leak_row.h"

/* Sets the defaults of options.sort (-1: not given) and top (0); exits 2 if options cannot be combined.
 * stacks: an option of call stacks was given. */
void leak_check(struct leak_view *view, bool stacks, bool json);

#endif
