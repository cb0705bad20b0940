/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The labels that say which process a series is of: --labels and --by. */
#ifndef LABELS_H
#define LABELS_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/identity.h"

/* In the order that they are printed in. */
enum label { LABEL_PID, LABEL_COMM, LABEL_EXE, LABEL_UID, LABEL_CONTAINER, LABEL_POD, LABEL_JOB, LABEL_MAX };

#define LABEL_WORDS "pid,comm,exe,uid,container_id,pod_uid,slurm_job"
#define LABEL_BY_WORDS "pod|container|comm|uid|job"

struct labels {
	unsigned mask;		/* 1 << LABEL_...; never 0 */
	bool sums;		/* the pid is none of them: a series is the sum of all processes with equal labels */
};

/* Sets l from the arguments of --labels and --by, of which each may be NULL; pid,comm if both are.  Exits 2
 * on words that are no labels, on empty or repeated ones, and if both are given. */
void labels_parse(struct labels *l, const char *list, const char *by);

/* Returns the labels of a process, pid="12",comm="train", escaped; the caller frees it.  An unknown uid is "". */
char *labels_text(const struct labels *l, int pid, const struct identity *id);

/* Returns the labels of the processes over a limit, pid="other",comm="other"; the caller frees it. */
char *labels_other(const struct labels *l);

/* Writes a label's value, without the quotes: backslash, quote and newline get a backslash, bytes that are not UTF-8
 * and control characters become \xNN, with its backslash escaped too. */
void label_value(FILE *f, const char *value);

#endif
