/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A value of a CUDA type, as text or as JSON. */
#ifndef TRACE_VALUE_H
#define TRACE_VALUE_H
#include <stdbool.h>
#include <stdio.h>
#include "api/cuda_protos.h"

/* Prints the value whose bytes are at at, v->size of them: an enum by name, a pointer or handle
 * as 0x…, a dim3 as {x, y, z}; in JSON these are "0x…" and [x,y,z].  A string is a pointer.  A
 * struct is {width=4, ...}, in JSON an object; or, if its members are not known or it has fewer
 * bytes than they take, its words in hexadecimal, in JSON an array of strings. */
void trace_value(FILE *f, bool json, const struct cuda_value *v, const void *at);

/* Prints the string that was read, in quotes, escaped; with ... behind them if it fills room,
 * the bytes that were read at most, its end among them. */
void trace_string(FILE *f, bool json, const char *text, unsigned room);

#endif
