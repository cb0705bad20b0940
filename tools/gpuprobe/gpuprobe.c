/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "gpuprobe/pending_contexts.h"
#include "gpuprobe/gpuprobe.h"
#include "gpuprobe/ranges.h"

/* Holds the program's thread-local variables, too; the default may be less, or much more. */
enum { THREAD_STACK = 2 << 20 };

/* What there is once in a process: wrappers are passed nothing of ours. */
static struct {
	char name[108];		/* of the tool's socket; the program may change its environment later */
	pthread_mutex_t lock;
	bool tried;
	struct pending_contexts_contexts early;
	struct inject *state;	/* NULL: none, or no more */
} once = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

/* A child of fork has no thread, and the driver does not work in it once it has been used: nothing is to be done there.
 * Nobody there will ever release a mutex that another thread held. */
static void forget(void)
{
	struct inject *inject = LOAD(once.state);

	STORE(once.state, NULL);
	pthread_mutex_init(&once.lock, NULL);
	ranges_forget();
	if (inject)
		link_close(&inject->link);
}

static void __attribute__((constructor)) remember_name(void)
{
	const char *name = secure_getenv(GPUPROBE_SOCKET);

	if (!name || strlen(name) >= sizeof(once.name))
		return;
	strcpy(once.name, name);
	pthread_atfork(NULL, NULL, forget);
}

/* At once: a program that is killed soon is one that was measured. */
static bool hello(struct inject *inject)
{
	struct gpuprobe_hello hello = { GPUPROBE_VERSION, inject->pid, getppid(), "" };

	prctl(PR_GET_NAME, hello.comm);
	return link_send(&inject->link, GPUPROBE_HELLO, &hello, sizeof(hello), NULL, 0);
}

/* The program's signals are not for this thread. */
static bool start_thread(struct inject *inject)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int err;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, gpuprobe_thread, inject);
	if (err == EINVAL && !pthread_attr_setstacksize(&attr, 16 * THREAD_STACK))	/* too many variables */
		err = pthread_create(&thread, &attr, gpuprobe_thread, inject);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return !err;
}

static bool configure(struct inject *inject)
{
	const struct gpuprobe_config *config = &inject->config;
	const char *why = gpu_probe_read(&inject->probe, inject->payload + config->kernels_size, config->probe_size);
	pthread_condattr_t attr;

	if (why) {
		link_lost(&inject->link, 0, 0, why);
		return false;
	}
	inject->select = (struct select){ inject->payload, config->kernels_size };
	pending_contexts_take(&once.early, &inject->modules);
	pthread_mutex_init(&inject->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&inject->wake, &attr);
	pthread_cond_init(&inject->done, &attr);
	pthread_condattr_destroy(&attr);
	return true;
}

static struct inject *start(void)
{
	const struct driver *driver = real_driver();
	struct inject *inject = driver && *once.name ? calloc(1, sizeof(*inject)) : NULL;

	if (!inject)
		return NULL;
	inject->driver = driver;
	inject->pid = getpid();
	if (!link_open(&inject->link, once.name, &inject->config, &inject->payload)) {
		free(inject);
		return NULL;
	}
	if (configure(inject) && hello(inject) && start_thread(inject)) {
		atexit(gpuprobe_end);
		at_quick_exit(gpuprobe_end);
		return inject;
	}
	link_close(&inject->link);
	free(inject->payload);
	free(inject);
	return NULL;
}

struct inject *gpuprobe_state(void)
{
	struct inject *inject = LOAD(once.state);

	return inject && !LOAD(inject->over) ? inject : NULL;
}

struct inject *gpuprobe_begin(void)
{
	if (!LOAD(once.tried)) {
		int err = errno, cancel;

		/* a thread that is cancelled would keep the lock */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		pthread_mutex_lock(&once.lock);
		if (!once.tried) {
			STORE(once.state, start());
			STORE(once.tried, true);
		}
		pthread_mutex_unlock(&once.lock);
		pthread_setcancelstate(cancel, NULL);
		errno = err;
	}
	return gpuprobe_state();
}

void gpuprobe_context_made(CUcontext ctx, CUdevice device, bool primary)
{
	struct inject *inject = gpuprobe_state();
	struct context *c;

	if (inject) {
		pthread_mutex_lock(&inject->lock);
		c = modules_context(&inject->modules, ctx, device);
		if (c)
			c->primary = primary;
		pthread_mutex_unlock(&inject->lock);
	} else if (!LOAD(once.tried)) {
		pthread_mutex_lock(&once.lock);
		pending_contexts_add(&once.early, ctx, device, primary);
		pthread_mutex_unlock(&once.lock);
	}
}

void gpuprobe_context_gone(CUcontext ctx)
{
	if (LOAD(once.tried))
		return;
	pthread_mutex_lock(&once.lock);
	pending_contexts_remove(&once.early, ctx);
	pthread_mutex_unlock(&once.lock);
}

static struct timespec deadline(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += GPUPROBE_WAIT_MS / 1000;
	return t;
}

/* Returns false if it is too late.  A thread that is cancelled here would keep the lock. */
static bool wait_done(struct inject *inject, const struct timespec *until)
{
	int cancel, err;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = pthread_cond_timedwait(&inject->done, &inject->lock, until);
	pthread_setcancelstate(cancel, NULL);
	return !err;
}

void gpuprobe_wait(struct inject *inject, const unsigned long *served, unsigned long wanted)
{
	struct timespec until = deadline();

	pthread_cond_signal(&inject->wake);
	while (*served < wanted && !inject->over && wait_done(inject, &until))
		;
}

void gpuprobe_wait_idle(struct inject *inject, const bool *busy)
{
	struct timespec until = deadline();

	while (*busy && !inject->over && wait_done(inject, &until))
		;
}

void gpuprobe_end(void)
{
	struct inject *inject = gpuprobe_state();
	struct timespec until;
	int err = errno;

	/* a child of vfork has the parent's memory */
	if (!inject || getpid() != inject->pid)
		return;
	STORE(once.state, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GPUPROBE_WAIT_MS / 1000;
	/* a handler of signals may end the process in the middle of a wrapper, which has the mutex */
	if (!pthread_mutex_timedlock(&inject->lock, &until)) {
		inject->ending = true;
		gpuprobe_wait(inject, &inject->served, ++inject->wanted);
		pthread_mutex_unlock(&inject->lock);
	}
	errno = err;
}
