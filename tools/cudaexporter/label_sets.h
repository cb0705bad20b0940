/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The labels by which processes are distinguished (--labels, --by), and the sets of processes with equal labels: how
 * many sets there may be, and how long they stay when their processes have ended. */
#ifndef CUDAEXPORTER_LABEL_SETS_H
#define CUDAEXPORTER_LABEL_SETS_H
#include <stdbool.h>
#include <stdio.h>
#include "base/quota.h"
#include "cudaexporter/series.h"
#include "proc/cgroup.h"

/* In the order in which they are printed. */
enum label { LABEL_PID, LABEL_COMM, LABEL_EXE, LABEL_UID, LABEL_CONTAINER, LABEL_POD, LABEL_JOB, LABEL_MAX };

#define LABEL_WORDS "pid,comm,exe,uid,container_id,pod_uid,slurm_job"
#define LABEL_BY_WORDS "pod|container|comm|uid|job"

struct labels {
	unsigned mask;		/* 1 << LABEL_...; never 0 */
	bool sums;		/* without the pid: a series is the sum of all processes with equal labels */
};

enum { IDENTITY_COMM = 16, IDENTITY_EXE = 256 };

/* A process as /proc describes it. */
struct identity {
	char comm[IDENTITY_COMM];
	char exe[IDENTITY_EXE];		/* the executable's path in the process's view; the last bytes of a longer one */
	unsigned uid;			/* the real one; or USER_UNKNOWN (proc/user.h) */
	struct cgroup_names in;
};

struct label_sets {
	struct labels labels;
	struct series_table *table;
	struct label_set *all, *other;	/* other: of all processes over the limit */
	struct quota quota;
	unsigned long long dropped;	/* processes over the limit */
};

/* Sets l from the arguments of --labels and --by, of which each may be NULL; pid,comm if both are.  Exits 2 on unknown,
 * empty or repeated words, and if both are given. */
void labels_parse(struct labels *l, const char *list, const char *by);

/* Returns the labels of a process, pid="12",comm="train", escaped; the caller frees it.  An unknown uid is "".  id NULL:
 * of the processes over the limit, pid="other",comm="other". */
char *labels_text(const struct labels *l, int pid, const struct identity *id);

/* Returns NAME="VALUE", escaped; the caller frees it. */
char *label_text(const char *name, const char *value);

/* Writes a label's value, without the quotes: backslash, quote and newline get a backslash; bytes that are not UTF-8
 * and control characters become \xNN, with its backslash escaped too. */
void label_value(FILE *f, const char *value);

/* Reads /proc/PID/comm, exe (the link), status and cgroup, and opens no file of the process, so it does not block.
 * Fields that cannot be read, as of an ended process, stay "" and USER_UNKNOWN. */
void identity_read(int pid, struct identity *id);

/* Call when labels is set.  most: --max-processes of one user; all users may have twice as many. */
void label_sets_init(struct label_sets *l, struct series_table *table, long most);

/* Frees the sets, with their series. */
void label_sets_free(struct label_sets *l);

/* Adds a process to the set of its labels, which it returns.  Call label_sets_end() when the process has ended, and then
 * label_sets_leave() when its last counts have been read. */
struct label_set *label_sets_join(struct label_sets *l, int pid, unsigned user, const struct identity *id);
void label_sets_end(struct label_set *set);
void label_sets_leave(struct label_set *set);

/* Call in place of both for a process that has counted nothing and turns out to belong to another set. */
void label_sets_take_back(struct label_sets *l, struct label_set *set);

/* Call when a page was made for a scraper (SCRAPERS: for none).  Removes the sets that ended and that every active
 * scraper (a mask) has seen since, or that ended five minutes ago. */
void label_sets_paged(struct label_sets *l, unsigned scraper, unsigned active);

/* Return true if counters of what ended then (ns; 0: it has not) are to be removed, by the same rule.  pages: that each
 * scraper got since then. */
bool label_sets_stayed(unsigned long long ended, const unsigned char pages[SCRAPERS], unsigned active);

#endif
