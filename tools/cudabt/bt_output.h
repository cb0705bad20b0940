/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What bpftrace prints, on its way to standard output: it holds strings of the traced programs as
 * they are, which a terminal would act upon. */
#ifndef BT_OUTPUT_H
#define BT_OUTPUT_H
#include <stdbool.h>

/* A pipe's end for bpftrace to print to; to be closed when it has been handed over. */
int bt_output_open(bool json);

/* Passes on what there is, by whole lines; to be called every few milliseconds.  If nobody takes
 * more, it stays in the pipe. */
void bt_output_copy(void);

/* The same when bpftrace has ended: all that is left.  If nobody takes it, says so. */
void bt_output_finish(void);

#endif
