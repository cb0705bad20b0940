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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "agent/gputime/gputime.h"
#include "base/clock.h"

/* How often CUPTI is asked for what it has; how long a command's program waits at its end for the tool that has not come
 * yet. */
enum { PERIOD_MS = 100, LAST_MS = 500 };

/* The tool of a command finds the program in this time. */
static const uint64_t FIRST_NS = 10000000000;

static struct gputime gputime = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* Sleeps until a tool rings, or for so long; 0: for ever. */
static void wait_bell(struct gputime_control *c, unsigned heard, int ms)
{
	const struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	syscall(SYS_futex, &c->bell, FUTEX_WAIT, heard, ms ? &limit : NULL, NULL, 0);
}

static bool is_shared(const struct gputime *g)
{
	struct stat st;

	return !fstat(g->fd, &st) && st.st_ino == g->made.st_ino && st.st_dev == g->made.st_dev;
}

static bool has_tool(const struct gputime *g, int i)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

	/* an open file description lock, which takes a descriptor to write */
	return !fcntl(g->fd, F_OFD_GETLK, &lock) && lock.l_type == F_WRLCK && lock.l_pid == -1;
}

/* Return true if the tool whose command this is may still come. */
static bool is_awaited(const struct gputime *g)
{
	return g->begun && clock_ns() < g->begun + FIRST_NS && is_shared(g) && !has_tool(g, 0) &&
	       (!kill(g->tool, 0) || errno == EPERM);
}

static bool is_there(const struct gputime *g, int i)
{
	return (is_shared(g) && has_tool(g, i)) || (!i && is_awaited(g));
}

/* Request of a tool; nothing if it has ended.  What it wanted stays in the memory: another tool may write there now. */
static struct gputime_ring wanted(struct gputime *g, int i, uint64_t now)
{
	struct gputime_tool *t = &g->control->tools[i];
	struct gputime_ring ring = { .generation = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE) };

	ring.want = __atomic_load_n(&t->want, __ATOMIC_ACQUIRE);
	ring.run_ns = t->run_ns;
	ring.of_ns = t->run_ns < t->of_ns ? t->of_ns : 0;
	ring.since = ring.generation == g->rings[i].generation ? g->rings[i].since : now;
	if (ring.want && !is_there(g, i))
		ring.want = 0;
	return ring;
}

/* Returns what is wanted in this part of the period that the tool has chosen, and sets *until to when that changes if it is
 * sooner, ns. */
static unsigned now_wanted(const struct gputime_ring *ring, uint64_t now, uint64_t *until)
{
	uint64_t part, change;

	if (!ring->want || !ring->of_ns)
		return ring->want;
	part = now % ring->of_ns;
	change = now - part + (part < ring->run_ns ? ring->run_ns : ring->of_ns);
	*until = *until < change ? *until : change;
	return part < ring->run_ns ? ring->want : 0;
}

/* The tool sees that it is served when all else is set. */
static void serve(struct gputime *g, int i, const struct gputime_ring *ring)
{
	struct gputime_tool *t = &g->control->tools[i];
	const bool another = ring->generation != g->rings[i].generation;

	activity_serve(g, i, ring, another);
	t->serves = ring->want;
	__atomic_store_n(&t->serving, ring->generation, __ATOMIC_RELEASE);
}

/* The memory of a ring that nobody reads any more. */
static void give_back(struct gputime *g, int i)
{
	struct gputime_ring *ring = &g->rings[i];

	if (!ring->used || ring->want || (is_shared(g) && has_tool(g, i)))
		return;
	ring->used = false;
	madvise(g->slots + (size_t)i * GPUTIME_SLOTS, GPUTIME_RING, MADV_REMOVE);
}

/* Does what the tools want now.  Returns for how long nothing changes, unless one rings, ms; 0: for ever. */
static int change(struct gputime *g)
{
	const uint64_t now = clock_ns();
	struct gputime_ring rings[GPUTIME_TOOLS];
	uint64_t until = now + PERIOD_MS * 1000000ull;
	unsigned want = 0;
	bool any = false;

	for (int i = 0; i < GPUTIME_TOOLS; i++) {
		rings[i] = wanted(g, i, now);
		rings[i].used = g->rings[i].used || rings[i].want;
		want |= now_wanted(&rings[i], now, &until);
		any |= rings[i].used;
		if (rings[i].want)	/* before the first record is put */
			serve(g, i, &rings[i]);
	}
	if (g->want)
		activity_flush(g, false);
	if (want != g->want || (g->retry && now >= g->retry))
		activity_want(g, want);
	for (int i = 0; i < GPUTIME_TOOLS; i++) {
		if (!rings[i].want)	/* behind the last one */
			serve(g, i, &rings[i]);
		give_back(g, i);
	}
	if (!g->want && !is_shared(g))
		g->control->state = GPUTIME_CLOSED;
	return any ? (int)((until - now) / 1000000 + 1) : 0;
}

static void *run(void *ctx)
{
	struct gputime *g = ctx;

	prctl(PR_SET_NAME, "cuda-gputime");
	for (;;) {
		unsigned heard = __atomic_load_n(&g->control->bell, __ATOMIC_ACQUIRE);
		bool finished;
		int ms = 0;

		pthread_mutex_lock(&g->lock);
		finished = g->finished;
		if (!finished)
			ms = change(g);
		pthread_mutex_unlock(&g->lock);
		if (finished)
			return NULL;
		wait_bell(g->control, heard, ms);
	}
}

/* Flushes CUPTI now: after the program's other exit handlers there may be no
 * CUPTI.  A tool that has the memory can read it when the program is gone.  A child that was not
 * made by fork(3) has a copy of what CUPTI has. */
static void finish(void)
{
	struct gputime *g = &gputime;

	if (!g->control || g->pid != getpid())
		return;
	pthread_mutex_lock(&g->lock);
	activity_flush(g, true);
	g->finished = true;
	pthread_mutex_unlock(&g->lock);
	for (int ms = 0; ms < LAST_MS && is_awaited(g); ms++)
		usleep(1000);
}

/* The child has no thread of ours, no CUDA, and has not inherited the memory. */
static void forked(void)
{
	struct gputime *g = &gputime;

	if (!g->control)
		return;
	if (is_shared(g))
		close(g->fd);
	g->control = NULL;
}

/* Returns a descriptor, which is none of the standard ones: a program that has closed these
 * opens its own there. */
static int above_standard(int fd)
{
	int higher;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return higher;
}

/* Beyond RLIMIT_FSIZE ftruncate(2) would send SIGXFSZ. */
static int make_file(struct gputime *g)
{
	struct rlimit limit;
	int fd = -1;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= GPUTIME_BYTES)
		fd = memfd_create(GPUTIME_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (!ftruncate(fd, GPUTIME_BYTES) && !fchmod(fd, S_IRUSR | S_IWUSR) &&
	    !fstat(fd, &g->made) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

/* The descriptor that stays open can only read: a child has it, too, and may have given up
 * privileges. */
static bool keep(struct gputime *g, int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	g->fd = above_standard(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (g->fd < 0 || is_shared(g))
		return g->fd >= 0;
	close(g->fd);
	g->fd = -1;
	return false;
}

/* No child inherits the mapping, however it is made. */
static struct gputime_control *map(int fd)
{
	void *c = mmap(NULL, GPUTIME_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (c == MAP_FAILED)
		return NULL;
	if (madvise(c, GPUTIME_BYTES, MADV_DONTFORK)) {
		munmap(c, GPUTIME_BYTES);
		return NULL;
	}
	madvise(c, GPUTIME_BYTES, MADV_DONTDUMP);
	munlock(c, GPUTIME_BYTES);	/* mlockall(2) has filled it, and it could not be given back */
	madvise(c, GPUTIME_BYTES, MADV_REMOVE);
	return c;
}

static struct gputime_control *share(struct gputime *g)
{
	const struct gputime_control first = {
		.magic = GPUTIME_MAGIC, .bytes = sizeof(first), .slots = GPUTIME_SLOTS,
		.pid = getpid(),
	};
	int fd = make_file(g);
	struct gputime_control *c = fd >= 0 && keep(g, fd) ? map(fd) : NULL;

	if (fd >= 0)
		close(fd);
	if (c)
		*c = first;
	else if (g->fd >= 0)
		close(g->fd);
	g->pid = getpid();
	return c;
}

static bool begin_thread(struct gputime *g)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool ok;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ok = !pthread_create(&thread, &attr, run, g);
	pthread_attr_destroy(&attr);
	return ok;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Calls the library that the variable named before, as the driver would have done. */
static void call_next(void)
{
	const char *file = secure_getenv(GPUTIME_NEXT);
	void *next = file && *file ? dlopen(file, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (next)
		*(void **)&initialize = dlsym(next, "InitializeInjection");
	if (initialize && initialize != InitializeInjection)
		initialize();
}

/* Measures for the tool whose command this is before it has come. */
static void begin_at_once(struct gputime *g)
{
	struct gputime_tool *t = &g->control->tools[0];
	const char *on = getenv(GPUTIME_ON);

	if (!on || sscanf(on, "%u:%d", &t->want, &g->tool) != 2 || g->tool <= 0) {
		t->want = 0;
		return;
	}
	t->generation = 1;
	g->begun = clock_ns();
	g->whole = is_awaited(g);	/* else the variable is that of a tool that has ended */
	change(g);	/* before the first kernel */
}

/* Threads of CUPTI and ours get no signal of the program's. */
static void begin(struct gputime *g)
{
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	begin_at_once(g);
	pthread_atfork(NULL, NULL, forked);
	atexit(finish);
	if (!begin_thread(g)) {
		if (g->want)
			activity_want(g, 0);
		g->control->state = GPUTIME_NO_THREAD;
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

/* Called by the driver.  The result says that it has worked (as in the samples of CUPTI). */
int InitializeInjection(void)
{
	struct gputime *g = &gputime;
	static bool called;

	if (called)
		return 1;
	called = true;
	activity_note();
	call_next();
	g->control = share(g);
	if (!g->control)
		return 1;
	g->slots = (void *)((char *)g->control + GPUTIME_FIRST);
	begin(g);
	return 1;
}
