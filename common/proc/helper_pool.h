/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads other users' processes: their mappings, files and memory.  A helper process does each
 * (see helper.h), in limited time.  All calls of a tool share one budget, by user, so that no user's
 * programs keep it from seeing the others'. */
#ifndef PROC_HELPER_POOL_H
#define PROC_HELPER_POOL_H
#include <stdbool.h>
#include "base/quota.h"
#include "proc/helper.h"
#include "proc/inode.h"

struct progress;

enum { STALLED_MAX = 16 };

/* Request to a helper. */
struct helper_request {
	int pid;		/* on behalf of this process, or of ourselves (0) */
	const char *what;	/* what is looked at, for a warning: "mappings" */
	helper_fn *fn;
	const void *in;		/* its argument */
	size_t size;
	int fd;			/* a file for it, or -1 */
	unsigned user;		/* the process's, whose time it takes; set by helper_call() */
};

struct stalled_helper {
	struct helper helper;
	struct helper_request request;	/* with copies of what and in */
	unsigned long long since;	/* ns */
	bool said;		/* that it takes long */
	int left;		/* pid of a helper that was killed and has not ended; then the rest is void */
};

/* Starts with the quota set and the rest zeroed. */
struct stalled_helpers {
	struct quota quota;	/* each helper at work or parked takes 1 */
	struct stalled_helper all[STALLED_MAX];
};

/* How long a helper call may take, in ms: when other processes may start meanwhile; when the tool starts, or
 * traces a few given processes; when the process is stopped meanwhile, and the others are its children. */
enum { HELPER_QUICK = 100, HELPER_START = 2000, HELPER_STOPPED = 5000 };

/* Initialize with HELPER_POOL_INIT; helper.idle, ctx and progress may be set before the first call. */
struct helper_pool {
	struct helper helper;
	struct budget budget;
	long limit;		/* one of the above */
	bool asked_for;		/* by the tool's user: no budget applies */
	unsigned long long end;	/* of helper_pool_end(): clock_ns() when the last call may end, or 0 */
	bool by_name;		/* files that may not be opened by their mappings: as in proc_open_mapping() */
	bool no_fork;		/* the tool would wait: see link_pool_stuck() */
	unsigned long refused;	/* calls not done for lack of time */
	struct progress *progress;	/* where it says what it reads, or NULL; its owner prints it */
	struct stalled_helpers stalled;
	struct inode_reader inodes;	/* for functions in the helper */
};

#define HELPER_POOL_INIT {									\
	.helper.memory = 220 << 20, .limit = HELPER_QUICK,				\
	.stalled.quota = {								\
		.limit = STALLED_MAX, .what = "reads that hang",			\
		.loss = "further files and memory of its processes are not read",	\
	} }

/* Calls a function in the helper.  Returns 0 and an answer, which the caller gives to helper_drop(); or -errno:
 * -ETIME: there is no answer yet; a call with equal arguments (fd does not count: in must identify the
 * file) gets it later;
 * -ESRCH: the process is gone, and there is no fd to look at;
 * -EBUSY: the user's time is used up for now, or too many of the user's calls have not ended;
 * -ECANCELED: the tool is to end; -EPIPE: the helper died of what it saw. */
int helper_call(struct helper_pool *l, const struct helper_request *asked, struct helper_answer *a);

/* Starts the helper, if it is not running: before no_fork may be set. */
void helper_pool_prepare(struct helper_pool *l);

/* Return true if this error may pass, so that it is worth looking again in a while: also when the
 * file has a lease (fcntl(2), F_SETLEASE), which the kernel breaks after 45 seconds. */
bool err_is_transient(int err);

/* Returns why a helper call or the opening of a file failed; static storage. */
const char *helper_error(int err);

/* Return false if the tool is to end.  l may be NULL. */
bool helper_pool_poll(const struct helper_pool *l);

/* For loops that handle a large answer: charges the time since *since, clock_ns(), to the process's
 * user, and sets *since to now.  l may be NULL.  Return false if there is no time left, or if the tool is to end. */
bool helper_pool_charge(struct helper_pool *l, int pid, unsigned long long *since);

/* Call regularly: says what takes long. */
void helper_pool_tick(struct helper_pool *l);

/* Leaves ns for all further calls. */
void helper_pool_end(struct helper_pool *l, unsigned long long ns);

/* Ends the helpers.  Does not wait for those that are stuck. */
void helper_pool_free(struct helper_pool *l);

#endif
