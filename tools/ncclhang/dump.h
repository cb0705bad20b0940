/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Writes what each rank of a job called in the form of PyTorch's flight recorder, which torchfrtrace reads
 * (torch/distributed/flight_recorder, torch/csrc/distributed/c10d/FlightRecorder.hpp of PyTorch 2.15): a Python pickle for
 * each process. */
#ifndef DUMP_H
#define DUMP_H

struct completion;
struct hangs;
struct helper_pool;

/* Writes PREFIXn for each process, n being its rank in the job.  Messages from one rank to another are left out, and
 * communicators with ranks elsewhere whose numbers in the job are not known: with a warning.  Files are opened as by
 * out_file_open(). */
void dump_write(const char *prefix, const struct hangs *h, const struct completion *completion, struct helper_pool *helpers);

#endif
