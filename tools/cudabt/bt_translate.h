/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program with CUDA's probes, cuda:FUNC and cudaret:FUNC, made one that bpftrace knows.  Nothing
 * here looks at files or processes: what is known of them is passed. */
#ifndef BT_TRANSLATE_H
#define BT_TRANSLATE_H
#include <stdbool.h>
#include "cudabt/bt_script.h"

/* Looks for mistakes, and for which functions files are to be searched; false with error set. */
bool bt_check(struct bt_script *s);

/* After that: writes the script for the functions that the files have; false with error set. */
bool bt_translate(struct bt_script *s);

#endif
