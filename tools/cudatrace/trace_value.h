/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A value of a CUDA type, as text or as JSON. */
#ifndef TRACE_VALUE_H
#define TRACE_VALUE_H
#include <stdbool.h>
#include <stdio.h>
#include "api/cuda_protos.h"

/* Prints the v->size bytes at at: an enum by name, a pointer or handle as 0x…, a dim3 as {x, y, z};
 * in JSON these are "0x…" and [x,y,z].  A string is printed as a pointer.  A struct is {width=4,
 * ...}, in JSON an object; if its members are unknown or it has fewer bytes than they take, its
 * words in hexadecimal, in JSON an array of strings. */
void trace_value(FILE *f, bool json, const struct cuda_value *v, const void *at);

/* Prints the string that was read, quoted and escaped, followed by ... if it fills room: the most
 * bytes that are read, including its terminating NUL. */
void trace_string(FILE *f, bool json, const char *text, unsigned room);

#endif
