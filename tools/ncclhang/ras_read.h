/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads what RAS answers: for the helper process of ras.c, which has no privileges. */
#ifndef NCCLHANG_RAS_READ_H
#define NCCLHANG_RAS_READ_H
#include <stddef.h>
#include "ncclhang/ras_answer.h"

/* At most so many communicators, processes, and ranks of all communicators, are read. */
enum { RAS_COMMS_MAX = 1 << 16, RAS_PROCESSES_MAX = 1 << 16, RAS_RANKS_MAX = 1 << 18 };

/* Where an answer is put: r->ranks has room for more, and r->comms[].ranks are not set. */
struct ras_reader {
	struct ras *r;
	int nranks, ranks_room, comms_room, processes_room;
};

/* Read an answer of size bytes, which ends in '\0', into *r, which starts zeroed; the text is changed.  Return false if it is
 * not in a known form: then *r has the version if that could be found. */
bool ras_read_json(char *text, size_t size, struct ras *r);
bool ras_read_text(char *text, size_t size, struct ras *r);

/* The rest is for those. */

/* Append one, and return it; NULL if there are too many.  A rank starts with nothing known, and is of the last
 * communicator. */
struct ras_comm *ras_add_comm(struct ras_reader *to);
struct ras_rank *ras_add_rank(struct ras_reader *to);
struct ras_process *ras_add_process(struct ras_reader *to);

/* Copies the version, or the host, from text, where it ends before any other character than it may have.  Returns what
 * follows, or NULL if it is empty or too long. */
const char *ras_take_version(char version[RAS_VERSION_SIZE], const char *text);
const char *ras_take_host(char host[RAS_HOST_SIZE], const char *text);

/* Sets the communicators' ranks, once all of them are there. */
void ras_place_ranks(struct ras *r);

#endif
