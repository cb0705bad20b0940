/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The places of a USDT probe's arguments as notes have them: "-8@%rbp -1@%al 8@56(%rsp) 4@$1". */
#ifndef USDT_ARGS_H
#define USDT_ARGS_H
#include <stdbool.h>
#include "abi/usdt.h"

/* Returns false if there is a place that is not understood, such as a variable's; arguments after the
 * USDT_ARGS first ones are left out. */
bool usdt_args_parse(const char *text, struct usdt_args *args);

#endif
