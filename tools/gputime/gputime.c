/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libcudagputime.so: measures GPU time in a program while a tool asks for it.  The driver loads it in cuInit(), if
 * CUDA_INJECTION64_PATH names it.  Until a tool asks, one thread sleeps, and one page is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "gputime/gputime.h"

/* How often CUPTI is asked for what it has; how long a command's program waits at its end for the tool that has not come
 * yet. */
enum { PERIOD_MS = 100, LAST_MS = 500 };

/* The tool of a command finds the program in this time. */
static const uint64_t FIRST_NS = 10000000000;

static struct gputime gputime;
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;
static uint64_t begun;		/* by GPUTIME_ON, ns; 0: not */
static int tool;		/* pid of the tool that has set it */
static int shared = -1;		/* descriptor … */
static struct stat made;	/* … and what it is of, unless the program has closed it */

uint64_t gputime_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Sleeps until what is wanted is not want any more, or for so long; 0: for ever. */
static void wait_change(unsigned want, int ms)
{
	const struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	syscall(SYS_futex, &gputime.control->want, FUTEX_WAIT, want, ms ? &limit : NULL, NULL, 0);
}

static bool is_shared(void)
{
	struct stat st;

	return !fstat(shared, &st) && st.st_ino == made.st_ino && st.st_dev == made.st_dev;
}

/* Return true if the tool whose command this is may still come. */
static bool is_awaited(void)
{
	return begun && !__atomic_load_n(&gputime.control->tools, __ATOMIC_ACQUIRE) && (!kill(tool, 0) || errno == EPERM);
}

static bool has_tool(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(shared, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* What a tool wants; 0: nothing. */
static unsigned wanted(uint64_t now)
{
	struct gputime_control *c = gputime.control;
	unsigned want = __atomic_load_n(&c->want, __ATOMIC_ACQUIRE);

	if (!want)
		return 0;
	if (is_shared() && (has_tool() || (is_awaited() && now < begun + FIRST_NS)))
		return want;
	__atomic_compare_exchange_n(&c->want, &want, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return 0;
}

/* Return true if it is off in this part of the period that the tool has chosen.  *until is when that changes, ns. */
static bool pauses(uint64_t now, uint64_t *until)
{
	uint64_t run = gputime.control->run_ns, of = gputime.control->of_ns, part;

	*until = UINT64_MAX;
	if (!of || run >= of)
		return false;
	part = now % of;
	*until = now - part + (part < run ? run : of);
	return part >= run;
}

/* Returns for how long nothing changes, if the tool wants nothing else, ms. */
static int quiet_ms(uint64_t now)
{
	uint64_t until;

	pauses(now, &until);
	return until - now < PERIOD_MS * 1000000ull ? (int)((until - now) / 1000000 + 1) : PERIOD_MS;
}

static void change(void)
{
	uint64_t now = gputime_now();
	unsigned want = wanted(now), tools = __atomic_load_n(&gputime.control->tools, __ATOMIC_ACQUIRE);
	bool another = gputime.tools && tools != gputime.tools;
	uint64_t until;

	if (want && pauses(now, &until))
		want = 0;
	if (gputime.want && (want != gputime.want || another))
		activity_stop(&gputime);
	if (another)
		activity_forget_names(&gputime);
	gputime.tools = tools;
	if (want && (!gputime.want || (gputime.retry && now >= gputime.retry)))
		activity_start(&gputime, want);
	if (gputime.want)
		activity_flush(&gputime, false);
	else if (!is_shared())
		gputime.control->state = GPUTIME_CLOSED;
}

static void *serve(void *unused)
{
	struct gputime_control *c = gputime.control;

	prctl(PR_SET_NAME, "cuda-gputime");
	for (;;) {
		unsigned want = __atomic_load_n(&c->want, __ATOMIC_ACQUIRE);

		pthread_mutex_lock(&switching);
		change();
		pthread_mutex_unlock(&switching);
		wait_change(want, want ? quiet_ms(gputime_now()) : 0);
	}
	return unused;
}

/* What CUPTI has yet is delivered.  A tool that has the memory can read it when the program is gone. */
static void finish(void)
{
	if (!gputime.control)
		return;
	pthread_mutex_lock(&switching);
	if (gputime.want)
		activity_flush(&gputime, true);
	pthread_mutex_unlock(&switching);
	for (int ms = 0; ms < LAST_MS && is_awaited(); ms++)
		usleep(1000);
}

/* The child has no thread of ours and no CUDA. */
static void forked(void)
{
	if (!gputime.control)
		return;
	if (is_shared())
		close(shared);
	munmap(gputime.control, GPUTIME_BYTES);
	gputime.control = NULL;
}

static struct gputime_control *share(void)
{
	const struct gputime_control first = {
		.magic = GPUTIME_MAGIC, .bytes = sizeof(first), .slots = GPUTIME_SLOTS, .pid = getpid(),
	};
	struct gputime_control *c;
	int fd = memfd_create(GPUTIME_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return NULL;
	c = ftruncate(fd, GPUTIME_BYTES) || fstat(fd, &made) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ? MAP_FAILED :
	    mmap(NULL, GPUTIME_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	madvise(c, GPUTIME_BYTES, MADV_DONTDUMP);
	*c = first;
	shared = fd;
	return c;
}

static bool begin_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool ok;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ok = !pthread_create(&thread, &attr, serve, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* What the variable named before is called as the driver would have done. */
static void call_next(void)
{
	const char *file = getenv(GPUTIME_NEXT);
	void *next = file && *file ? dlopen(file, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (next)
		*(void **)&initialize = dlsym(next, "InitializeInjection");
	if (initialize && initialize != InitializeInjection)
		initialize();
}

/* What CUPTI and we start here gets no signal of the program's. */
static void begin(void)
{
	const char *on = getenv(GPUTIME_ON);
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (on && sscanf(on, "%u:%d", &gputime.control->want, &tool) == 2 && tool > 0) {
		begun = gputime_now();
		gputime.whole = true;
		change();	/* before the first kernel */
	}
	pthread_atfork(NULL, NULL, forked);
	atexit(finish);
	if (!begin_thread()) {
		if (gputime.want)
			activity_stop(&gputime);
		gputime.control->state = GPUTIME_NO_THREAD;
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

/* Called by the driver.  The result says that it has worked (as in the samples of CUPTI). */
int InitializeInjection(void)
{
	static bool called;

	if (called)
		return 1;
	called = true;
	call_next();
	gputime.control = share();
	if (!gputime.control)
		return 1;
	gputime.slots = (void *)((char *)gputime.control + GPUTIME_FIRST);
	begin();
	return 1;
}
