/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* NCCL's RAS: since 2.24 each process of a job listens for questions about the whole job, on all its hosts
 * (NCCL's user guide, Troubleshooting, RAS; the answers are printed by NCCL's src/ras/client_support.cc).
 * The answer of NCCL 2.28.7 and later has every rank of every communicator; that of 2.24 to 2.28.6 is text, which
 * names only communicators with a problem, and of their ranks mostly those that differ from the others.  No version
 * reports since when a job runs.
 *
 * The operations are those that ranks have enqueued, not those that GPUs have completed. */
#ifndef NCCLHANG_RAS_ANSWER_H
#define NCCLHANG_RAS_ANSWER_H
#include <stdbool.h>
#include <stddef.h>

/* NCCL's functions, in its order.  RAS counts no others: sends and receives are missing. */
enum { RAS_BROADCAST, RAS_REDUCE, RAS_ALLGATHER, RAS_REDUCESCATTER, RAS_ALLREDUCE, RAS_FUNCTIONS };

enum { RAS_VERSION_SIZE = 32, RAS_HOST_SIZE = 64 };

/* Of a rank, as NCCL's text names them. */
enum ras_state {
	RAS_STATE_UNKNOWN,
	RAS_INIT,		/* being initialized, or that failed: see init_result */
	RAS_RUNNING,
	RAS_FINALIZE,		/* ncclCommFinalize or ncclCommDestroy was called */
	RAS_ABORT,		/* ncclCommAbort was called */
	RAS_NOCOMM,		/* its process answers, but has no such communicator: not yet, or no more */
	RAS_UNRESPONSIVE,	/* its process did not answer in time */
	RAS_DEAD,		/* its process could not be reached for a minute */
	RAS_MISSING,		/* one of the last three: text of NCCL 2.24 and 2.25 has no more */
	RAS_STATES
};

struct ras_rank {
	int rank;
	int pid;		/* in its own PID namespace, and on its host; -1 if unknown */
	int device, nvml_device;	/* -1 if unknown */
	char host[RAS_HOST_SIZE];	/* an IP address; "" if unknown */
	enum ras_state state;
	int init_result, async_error;	/* ncclResult_t; -1 if unknown */
	unsigned long long counts[RAS_FUNCTIONS];	/* operations enqueued; NO_VALUE if unknown */
	unsigned long long total;	/* of all five; NO_VALUE if unknown */
};

struct ras_comm {
	unsigned long long hash;	/* as NCCL_DEBUG prints it */
	int size;		/* how many ranks it has */
	int nranks;		/* how many are in ranks: at most size */
	struct ras_rank *ranks;	/* in no order that may be relied on; no rank is there twice */
};

/* A process that RAS misses.  Only text has them: in JSON all that is known is with the ranks. */
struct ras_process {
	int pid;		/* in its own PID namespace */
	char host[RAS_HOST_SIZE];
	bool dead;		/* else unresponsive */
};

enum ras_result {
	RAS_OK,
	RAS_REFUSED,		/* nothing listens: no NCCL, one before 2.24, NCCL_RAS_ENABLE=0, or another address */
	RAS_TIMED_OUT,		/* connected, but the answer did not come in time, or did not end */
	RAS_UNKNOWN_FORM,	/* something answers that is not in a known form: see version */
	RAS_TOO_LARGE,		/* the answer has more than 16 MiB */
	RAS_BAD_ADDRESS,	/* neither localhost nor a numeric address of this host, with a port */
	RAS_GONE,		/* the process has ended */
	RAS_NO_NAMESPACE,	/* its network namespace cannot be entered: see err */
	RAS_CANCELED,		/* by idle() */
	RAS_FAILED,		/* no helper process could be started, or it died of what it read */
	RAS_RESULTS
};

struct ras {
	enum ras_result result;
	int err;		/* errno, or 0 */
	char version[RAS_VERSION_SIZE];	/* of NCCL, "2.30.7": only letters, digits, '.', '+', '-'; "" if unknown */
	/* The answer was text, which names only communicators with a problem: of NCCL before 2.28.7, or of a job that has more
	 * than 16 MiB of JSON (about 30,000 ranks in all communicators). */
	bool text;
	/* The process is among the ranks.  If it is not, and the answer is no text, this may be another job of the same user:
	 * their processes share the port (SO_REUSEPORT), and the kernel chooses who answers. */
	bool has_process;
	/* Text of NCCL 2.26 to 2.28 that may lack communicators with a problem, and have some that do not exist: those
	 * versions print others' memory after a communicator that has missing ranks. */
	bool garbled;
	int timeouts;		/* that RAS had while it collected the answer */
	int unnamed;		/* communicators without a problem, which text does not name; 0 if it is garbled */
	int ncomms, nprocesses;
	struct ras_comm *comms;
	struct ras_process *processes;
	struct ras_rank *ranks;	/* of all communicators; private */
};

/* Frees what r has, and zeroes it. */
void ras_free(struct ras *r);

/* Returns the communicator with this hash, or NULL. */
const struct ras_comm *ras_find(const struct ras *r, unsigned long long hash);

/* Returns what went wrong, "RAS answers, but not in a known form"; NULL with RAS_OK.  Static storage. */
const char *ras_problem(const struct ras *r);

/* Returns the state as NCCL prints it, "FINALIZE"; the name of a function, "AllReduce"; static storage. */
const char *ras_state_name(enum ras_state state);
const char *ras_function_name(int function);

/* Returns the index of the function with this name, of which only size bytes count, or -1. */
int ras_function_find(const char *name, size_t size);

#endif
