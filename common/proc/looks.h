/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Looks into other users' processes: their mappings, files and memory.  A helper process does each
 * (see helper.h), in limited time.  All looks of a tool share one budget, by user, so that nobody's
 * programs keep it from seeing the others'. */
#ifndef LOOKS_H
#define LOOKS_H
#include <stdbool.h>
#include "base/budget.h"
#include "base/quota.h"
#include "proc/helper.h"
#include "proc/inode.h"

enum { LOOKS_MAX_STUCK = 16 };

/* A helper that was left behind in the middle of a look. */
struct stuck_helper {
	int pid;		/* 0: none */
	unsigned user;
};

/* Initialize with LOOKS_INIT; idle and ctx may be set before the first look. */
struct looks {
	struct helper helper;
	struct budget budget;
	bool asked_for;		/* looks now are what the tool's user wants: no budget applies */
	unsigned long long end;	/* clock_ns() when the last look may end; 0 = no end */
	unsigned long refused;	/* looks not done for lack of time */
	struct quota stuck;	/* helpers */
	struct stuck_helper left[LOOKS_MAX_STUCK];
	struct inode_reader inodes;	/* for functions in the helper */
};

#define LOOKS_INIT { .helper.memory = 220 << 20, .stuck = {					\
	.limit = LOOKS_MAX_STUCK, .what = "reads that never end",				\
	.loss = "files and memory of its processes are not read" } }

/* Calls fn in the helper on behalf of process pid, or of ourselves (0); what describes what is
 * looked at, for a warning: "mappings of process 12".  Returns 0 and an answer, which the caller
 * gives to helper_drop(); or -errno:
 * -ETIME: it took longer than a second; the next one may be faster, as its files are cached by then;
 * -EBUSY: the user's time is used up for now, or too many of the user's looks have not ended;
 * -ECANCELED: the tool is to end; -EPIPE: the helper died of what it saw. */
int look(struct looks *l, int pid, const char *what, helper_fn *fn, const void *in, size_t size,
	 int fd, struct helper_answer *a);

/* Return true if this error may pass, so that it is worth looking again in a second: also when the
 * file has a lease (fcntl(2), F_SETLEASE), which the kernel breaks after 45 seconds. */
bool look_again(int err);

/* Says why a look or the opening of a file failed; static storage. */
const char *look_reason(int err);

/* Return false if the tool is to end.  l may be NULL. */
bool looks_idle(const struct looks *l);

/* For loops that handle a large answer: charges the time since *since, clock_ns(), to the process's
 * user, and sets *since to now.  Return false if there is no time left, or if the tool is to end. */
bool looks_spend(struct looks *l, int pid, unsigned long long *since);

/* Ends the helper.  Does not wait for those that are stuck. */
void looks_free(struct looks *l);

#endif
