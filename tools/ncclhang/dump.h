/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Writes what each rank of a job called in the form of PyTorch's flight recorder, which torchfrtrace reads
 * (torch/distributed/flight_recorder, torch/csrc/distributed/c10d/FlightRecorder.hpp of PyTorch 2.15): a Python pickle for
 * each process. */
#ifndef NCCLHANG_DUMP_H
#define NCCLHANG_DUMP_H

#include <stdbool.h>

struct completion;
struct event_loop;
struct hangs;
struct helper_pool;

/* The files of all users. */
struct dump_files {
	const char *prefix;
	bool apart;		/* no user is selected */
	unsigned user;		/* else this one's files have no user id in their names */
	const struct completion *completion;
	struct helper_pool *helpers;
	const struct event_loop *events;
};

/* Writes the communicators of one user: no other user decides what his files have, or their
 * names.  The file of each process is PREFIXn, n being its rank in the job, or PREFIXuid_n.
 * Messages from one rank to another are left out, and communicators with ranks elsewhere whose
 * numbers in the job are not known: with a warning.  Files are opened as by out_file_open().
 * Returns false if one could not be written, with a warning: the part written is removed. */
bool dump_write(const struct dump_files *to, const struct hangs *h, unsigned user);

#endif
