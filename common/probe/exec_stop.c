/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "probe/exec_stop.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"

/* Less than HELPER_QUICK: nobody lets go a process that is stopped for a tool that waits no more. */
static const unsigned long long LIMIT_NS = 80 * 1000000ull;

struct stop_request { int pid, tid; unsigned long long end; };

struct files { unsigned long long dev[2], ino[2]; int n; };

static bool count_file(void *ctx, const struct mapping *m)
{
	struct files *f = ctx;

	for (int i = 0; i < f->n; i++)
		if (f->dev[i] == m->dev && f->ino[i] == m->ino)
			return true;
	if (f->n < 2) {
		f->dev[f->n] = m->dev;
		f->ino[f->n] = m->ino;
	}
	return ++f->n <= 2;
}

/* Return true if only the program and its dynamic linker are mapped: its own code has not run. */
static bool has_no_library(int pid)
{
	struct files f = { .n = 0 };

	return !proc_mappings(pid, count_file, &f) && f.n == 2;
}

/* Waits for it to stop, and passes on signals.  Returns EXEC_STOP_NONE if it has ended. */
static enum exec_stop await_stop(int pid, unsigned long long end)
{
	const struct timespec pause = { 0, 50000 };
	int status;

	while (clock_ns() < end) {
		if (waitpid(pid, &status, __WALL | WNOHANG) != pid) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (!WIFSTOPPED(status))
			return EXEC_STOP_NONE;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return EXEC_STOP_FIRST;
		if (status >> 16)
			return has_no_library(pid) ? EXEC_STOP_FIRST : EXEC_STOP_LATE;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	}
	_exit(0);		/* a process that runs is let go only so */
}

/* In the helper.  During exec PTRACE_SEIZE waits until the thread has the process's id. */
static void stop(struct helper_job *job)
{
	const struct stop_request *r = job->in;
	enum exec_stop how = EXEC_STOP_NONE;

	if (!ptrace(PTRACE_SEIZE, r->tid, 0, PTRACE_O_TRACEEXEC) ||
	    !ptrace(PTRACE_SEIZE, r->pid, 0, PTRACE_O_TRACEEXEC)) {
		ptrace(PTRACE_INTERRUPT, r->pid, 0, 0);
		how = await_stop(r->pid, r->end);
	}
	helper_put(job, &how, sizeof(how));
}

static void go_on(struct helper_job *job)
{
	const struct stop_request *r = job->in;

	if (ptrace(PTRACE_DETACH, r->pid, 0, 0))
		waitpid(r->pid, NULL, __WALL | WNOHANG);	/* it was killed */
}

enum exec_stop exec_stop(struct helper_pool *l, int pid, int tid)
{
	const struct stop_request r = { pid, tid, clock_ns() + LIMIT_NS };
	enum exec_stop how = EXEC_STOP_NONE;
	struct helper_answer a;

	if (helper_call(l, &(struct helper_request){
			pid, "its next program", stop, &r, sizeof(r), .fd = -1 }, &a))
		return how;
	if (a.size == sizeof(how))
		how = *(enum exec_stop *)a.bytes;
	helper_drop(&a);
	return how;
}

void exec_continue(struct helper_pool *l, int pid)
{
	const struct stop_request r = { pid, pid, 0 };
	struct helper_answer a;

	if (!helper_call(l, &(struct helper_request){
			pid, "its next program", go_on, &r, sizeof(r), .fd = -1 }, &a))
		helper_drop(&a);
	else
		helper_leave(&l->helper);	/* that lets it go on */
}
