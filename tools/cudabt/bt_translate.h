/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Translates a program with CUDA probes, cuda:FUNC and cudaret:FUNC, to plain bpftrace.  Nothing
 * here accesses files or processes: what is known about them is passed in. */
#ifndef BT_TRANSLATE_H
#define BT_TRANSLATE_H
#include <stdbool.h>
#include "cudabt/bt_script.h"

/* Checks the program and finds the functions to look for in files; false with error set. */
bool bt_check(struct bt_script *s);

/* Call after bt_check(): writes the script for the functions that the files have.  Returns false
 * with error set. */
bool bt_translate(struct bt_script *s);

#endif
