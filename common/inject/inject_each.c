/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/agent_inject.h"
#include "base/die.h"
#include "inject/inject_each.h"
#include "proc/confine.h"
#include "shmmap/create.h"

/* The first answer also takes what the helper needs to load the library: on a busy or emulated machine, a second. */
enum { LIMIT_MS = 1000, FIRST_LIMIT_MS = 5000, MEMORY = 96 << 20 };

/* As in agent/inject/programs.h. */
struct each { char *at; __u64 size, used; };

/* The pointers are the same in the helper, which is forked when there is a library. */
struct request {
	struct inject_each *e;
	const char *program;
	unsigned pid, tid;
	size_t size;
};

/* The helper reads and answers requests, maps the memory, and allocates some for answers. */
static const int allowed[] = {
	SYS_recvmsg, SYS_recvfrom, SYS_sendmsg, SYS_sendto, SYS_close, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex,
	SYS_clock_gettime, SYS_exit_group,
#ifdef __SANITIZE_ADDRESS__
	SYS_sched_yield, SYS_mprotect,
#endif
};

static unsigned inject_each_threads_of(const struct shmmap *s)
{
	unsigned n = __atomic_load_n(&s->head->threads_used, __ATOMIC_RELAXED);

	return n < INJECT_THREADS ? n : INJECT_THREADS;
}

/* In the helper, before it reads the memory: only dlopen() needs files. */
static run_fn *begin(const struct inject_each *e)
{
	void *library = dlopen(e->library, RTLD_NOW | RTLD_LOCAL);
	run_fn *fn = library ? (run_fn *)dlsym(library, "inject_run") : NULL;

	if (confine_rights() || prctl(PR_SET_PDEATHSIG, SIGKILL) || !confine_calls(allowed, sizeof(allowed) / sizeof(*allowed)))
		_exit(EXIT_FAILURE);
	return fn;
}

/* In the helper, in which e is a copy. */
static void run_in_helper(struct helper_job *job)
{
	const struct request *r = job->in;
	struct inject_each *e = r->e;
	const struct shmmap_memory *m = e->memory;
	size_t size = r->size * inject_each_threads_of(&m->shm);
	struct each each = { .at = xcalloc(1, size + 1), .size = size };

	if (!e->confined)
		e->run = begin(e);
	e->confined = true;
	if (e->run)
		e->run(&(struct inject_run){
			.memory = m->fd, .fixed = m->fixed, .bytes = m->shm.bytes,
			.program = r->program, .pid = r->pid, .tid = r->tid,
		}, &each);
	helper_put(job, each.at, each.used);
	free(each.at);
}

void inject_each_init(struct inject_each *e, const char *library, const struct shmmap_memory *memory)
{
	e->library = library;
	e->memory = memory;
	e->keep[0] = memory->fd;
	e->keep[1] = e->keep[2] = -1;
	e->helper.keep = e->keep;
	e->helper.memory = MEMORY;
}

/* One that has crashed, or waits, is replaced. */
static void leave(struct inject_each *e)
{
	int pid = helper_leave(&e->helper);

	if (pid > 0 && !kill(pid, SIGKILL))
		waitpid(pid, NULL, 0);
}

void *inject_each_run(struct inject_each *e, const char *program, unsigned pid, unsigned tid, size_t size, size_t *n)
{
	const struct request r = { e, program, pid, tid, size };
	long limit_ms = e->helper.pid ? LIMIT_MS : FIRST_LIMIT_MS;
	struct helper_answer a;
	int err;

	*n = 0;
	err = helper_send(&e->helper, run_in_helper, &r, sizeof(r), -1) ? helper_receive(&e->helper, limit_ms, &a) : -errno;
	if (!err) {
		if (a.fd >= 0)
			close(a.fd);	/* by none but a helper that was taken over */
		*n = a.size;
		return a.bytes;
	}
	if (!e->failed)
		warning(0, "cannot read what the command's threads are doing: %s; calls in flight may be missing",
			err == -ETIME ? "no answer in time" : err == -EPIPE ? "the helper process has ended" : strerror(-err));
	e->failed = true;
	leave(e);
	return NULL;
}

void inject_each_free(struct inject_each *e)
{
	leave(e);
}
