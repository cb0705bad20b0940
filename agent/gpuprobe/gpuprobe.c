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
#include "agent/gpuprobe/gpuprobe.h"
#include "agent/gpuprobe/ranges.h"

/* Holds the program's thread-local variables, too; the default may be less, or much more. */
enum { THREAD_STACK = 2 << 20 };

/* Contexts made before the first image is loaded, as a library is loaded into each of them; further ones are unknown. */
enum { PENDING_CONTEXTS = 64 };

/* One per process: wrappers get no argument of the library's. */
static struct {
	char name[108];		/* of the tool's socket; the program may change its environment later */
	pthread_mutex_t lock;
	bool tried;
	struct { CUcontext ctx; CUdevice device; bool primary; } pending[PENDING_CONTEXTS];
	unsigned num_pending;
	struct gpuprobe *state;	/* NULL: none, or no more */
} once = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

/* In a child of fork the library does nothing: it has no thread there, and a driver that was used before the fork does
 * not work.  Mutexes are made anew, because the threads that may have held them are gone. */
static void forget(void)
{
	struct gpuprobe *state = LOAD(once.state);

	STORE(once.state, NULL);
	pthread_mutex_init(&once.lock, NULL);
	ranges_forget();
	if (state)
		link_close(&state->link);
}

static void pending_remove(CUcontext ctx)
{
	for (unsigned i = 0; i < once.num_pending; i++)
		if (once.pending[i].ctx == ctx) {
			once.pending[i] = once.pending[--once.num_pending];
			return;
		}
}

static void pending_add(CUcontext ctx, CUdevice device, bool primary)
{
	pending_remove(ctx);
	if (once.num_pending == PENDING_CONTEXTS)
		return;
	once.pending[once.num_pending].ctx = ctx;
	once.pending[once.num_pending].device = device;
	once.pending[once.num_pending++].primary = primary;
}

static void pending_take(struct modules *modules)
{
	for (unsigned i = 0; i < once.num_pending; i++) {
		struct context *c = modules_context(modules, once.pending[i].ctx, once.pending[i].device);

		if (c)
			c->primary = once.pending[i].primary;
	}
}

static void __attribute__((constructor)) remember_name(void)
{
	const char *name = secure_getenv(GPUPROBE_SOCKET);

	if (!name || strlen(name) >= sizeof(once.name))
		return;
	strcpy(once.name, name);
	pthread_atfork(NULL, NULL, forget);
}

/* Sent immediately, so that the tool also counts a program that is killed soon. */
static bool hello(struct gpuprobe *state)
{
	struct gpuprobe_hello hello = { GPUPROBE_VERSION, state->pid, getppid(), "" };

	prctl(PR_GET_NAME, hello.comm);
	return link_send(&state->link, GPUPROBE_HELLO, &hello, sizeof(hello), NULL, 0);
}

/* Blocks all signals: their handlers must run in the program's threads. */
static bool start_thread(struct gpuprobe *state)
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
	err = pthread_create(&thread, &attr, gpuprobe_thread, state);
	if (err == EINVAL && !pthread_attr_setstacksize(&attr, 16 * THREAD_STACK))	/* too many thread-local variables */
		err = pthread_create(&thread, &attr, gpuprobe_thread, state);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return !err;
}

static bool configure(struct gpuprobe *state)
{
	const struct gpuprobe_config *config = &state->config;
	const char *why = gpu_probe_read(&state->probe, state->payload + config->kernels_size, config->probe_size);
	pthread_condattr_t attr;

	if (why) {
		link_lost(&state->link, 0, 0, why);
		return false;
	}
	state->select = (struct select){ state->payload, config->kernels_size };
	pending_take(&state->modules);
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->wake, &attr);
	pthread_cond_init(&state->done, &attr);
	pthread_condattr_destroy(&attr);
	return true;
}

static struct gpuprobe *start(void)
{
	const struct driver *driver = real_driver();
	struct gpuprobe *state = driver && *once.name ? calloc(1, sizeof(*state)) : NULL;

	if (!state)
		return NULL;
	state->driver = driver;
	state->pid = getpid();
	if (!link_open(&state->link, once.name, &state->config, &state->payload)) {
		free(state);
		return NULL;
	}
	if (configure(state) && hello(state) && start_thread(state)) {
		atexit(gpuprobe_end);
		at_quick_exit(gpuprobe_end);
		return state;
	}
	link_close(&state->link);
	free(state->payload);
	free(state);
	return NULL;
}

struct gpuprobe *gpuprobe_state(void)
{
	struct gpuprobe *state = LOAD(once.state);

	return state && !LOAD(state->over) ? state : NULL;
}

struct gpuprobe *gpuprobe_begin(void)
{
	if (!LOAD(once.tried)) {
		int err = errno, cancel;

		/* a cancelled thread would keep the lock */
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
	struct gpuprobe *state = gpuprobe_state();
	struct context *c;

	if (state) {
		pthread_mutex_lock(&state->lock);
		c = modules_context(&state->modules, ctx, device);
		if (c)
			c->primary = primary;
		pthread_mutex_unlock(&state->lock);
	} else if (!LOAD(once.tried)) {
		pthread_mutex_lock(&once.lock);
		pending_add(ctx, device, primary);
		pthread_mutex_unlock(&once.lock);
	}
}

void gpuprobe_context_gone(CUcontext ctx)
{
	if (LOAD(once.tried))
		return;
	pthread_mutex_lock(&once.lock);
	pending_remove(ctx);
	pthread_mutex_unlock(&once.lock);
}

static struct timespec deadline(const struct gpuprobe *state, clockid_t clock)
{
	const long ns = (state->late ? GPUPROBE_BRIEF_MS : GPUPROBE_WAIT_MS) * 1000000l;
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Returns false after the deadline.  Cancellation is off, because a cancelled thread would keep the lock. */
static bool wait_done(struct gpuprobe *state, const struct timespec *until)
{
	int cancel, err;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = pthread_cond_timedwait(&state->done, &state->lock, until);
	pthread_setcancelstate(cancel, NULL);
	return !err;
}

void gpuprobe_wait(struct gpuprobe *state, const unsigned long *served, unsigned long wanted)
{
	struct timespec until = deadline(state, CLOCK_MONOTONIC);

	pthread_cond_signal(&state->wake);
	while (*served < wanted && !state->over && wait_done(state, &until))
		;
	state->late = *served < wanted;
}

void gpuprobe_wait_idle(struct gpuprobe *state, const bool *busy)
{
	struct timespec until = deadline(state, CLOCK_MONOTONIC);

	while (*busy && !state->over && wait_done(state, &until))
		;
	state->late |= *busy;
}

void gpuprobe_end(void)
{
	struct gpuprobe *state = gpuprobe_state();
	struct timespec until;
	int err = errno;

	/* a child of vfork has the parent's memory */
	if (!state || getpid() != state->pid)
		return;
	STORE(once.state, NULL);
	until = deadline(state, CLOCK_REALTIME);
	/* a signal handler may exit inside a wrapper that holds the mutex */
	if (!pthread_mutex_timedlock(&state->lock, &until)) {
		state->ending = true;
		gpuprobe_wait(state, &state->served, ++state->wanted);
		pthread_mutex_unlock(&state->lock);
	}
	errno = err;
}

struct context *gpuprobe_context_close(struct gpuprobe *state, CUcontext ctx, CUdevice device)
{
	struct context *c;

	pthread_mutex_lock(&state->lock);
	for (c = state->modules.contexts; c; c = c->next)
		if (!c->closed && (ctx ? c->ctx == ctx : c->primary && c->device == device))
			break;
	if (c) {
		gpuprobe_wait(state, &state->served, ++state->wanted);
		c->closed = true;
		gpuprobe_wait_idle(state, &c->busy);
	}
	pthread_mutex_unlock(&state->lock);
	return c;
}

void gpuprobe_context_closed(struct gpuprobe *state, struct context *context, bool gone)
{
	pthread_mutex_lock(&state->lock);
	context->gone = gone;
	context->closed = gone;
	pthread_mutex_unlock(&state->lock);
}

void gpuprobe_update_ranges(void)
{
	struct gpuprobe *state = gpuprobe_state();
	int err = errno;

	if (!state || !(state->config.flags & GPUPROBE_RANGES))
		return;
	pthread_mutex_lock(&state->lock);
	gpuprobe_wait(state, &state->ranges_served, ++state->ranges_wanted);
	pthread_mutex_unlock(&state->lock);
	errno = err;
}
