/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* storm WORD ARG...  many processes or threads, which call cudaMalloc CALLS times each:
 *
 *   calls CALLS             this process
 *   forks N AT_ONCE CALLS   N children that do not exec, so many at a time
 *   alive FIRST N CALLS     this process, FIRST children that do not exec and, once they have called, N more; all live
 *                           until the last has called: "stopped S", so many of the N were; "ready", reads a line
 *   execs N AT_ONCE CALLS   N children that exec this program
 *   mixed N AT_ONCE CALLS   the one and the other by turns
 *   vforks N AT_ONCE CALLS  N children by vfork, which exec this program
 *   replaced N CALLS        this process, which execs itself in place: N programs
 *   killed N CALLS          N children, killed inside one more call
 *   reused N CALLS          N children, one after another, which all have the first one's pid
 *   heir PID CALLS          a child with this pid, once it is free
 *   dying N CALLS           N threads, which end inside one more call
 *   usurped N CALLS         this process, which execs itself while N threads are inside one more call
 *   threads N CALLS         N threads, which stay: "ready", reads a line, CALLS each again
 *   loads N CALLS FILE      N times: loads this libcudart, calls, unloads it
 *   maps N CALLS            this process with N executable mappings of its own file: "ready",
 *                           reads a line, CALLS again
 *
 * Prints "calls C harmed H": the calls that returned, of replaced and usurped the last program's
 * alone; and the children that did not end as they should.  The calls to die in are of
 * cudaMallocManaged: SIM_LATENCY_US=cuMemAllocManaged=US makes them long.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_api.h"

enum how { FORK, EXEC, VFORK, KILLED };

/* also of children that do not exec */
static struct shared { atomic_ulong calls, inside; } *shared;
static unsigned long harmed;
/* so that what it executes has the name that the tests gave it */
static char self[4096];

static unsigned long number(const char *text)
{
	return strtoul(text, NULL, 0);
}

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void call(unsigned long n)
{
	void *p;

	while (n--)
		if (cudaMalloc(&p, 64) == cudaSuccess)
			shared->calls++;
}

static void call_to_die_in(void)
{
	void *p;

	shared->inside++;
	if (cudaMallocManaged(&p, 64, 1) == cudaSuccess)
		shared->calls++;
}

static bool asleep(int pid, int tid)
{
	char name[64], state = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(name, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/* Until the Nth thread that is to die, tid once it is there, sleeps in the call. */
static void await_inside(unsigned long n, int pid, const atomic_int *tid)
{
	const struct timespec pause = { 0, 1000000 };

	while (shared->inside < n || !asleep(pid, *tid))
		nanosleep(&pause, NULL);
}

static void wait_for_line(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return;
}

static pid_t start(enum how how, const char *calls)
{
	pid_t pid = how == VFORK ? vfork() : fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	if (how == EXEC || how == VFORK) {
		execl(self, self, "calls", calls, (char *)NULL);
		_exit(3);
	}
	call(number(calls));
	if (how == KILLED)
		call_to_die_in();
	_exit(0);
}

static void reap(int sig)
{
	int status;

	if (wait(&status) < 0)
		fail("wait");
	harmed += status != sig;
}

static void children(enum how first, enum how second, char **arg)
{
	unsigned long n = number(arg[0]), most = number(arg[1]), alive = 0;

	for (unsigned long i = 0; i < n; i++, alive++) {
		if (alive == most) {
			reap(0);
			alive--;
		}
		start(i % 2 ? second : first, arg[2]);
	}
	while (alive--)
		reap(0);
	/* a program of its own counts for itself */
	shared->calls += number(arg[2]) * ((first != FORK) * (n - n / 2) + (second != FORK) * (n / 2));
}

/* Children that live until the pipe is closed; returns when all have called. */
static void start_alive(unsigned long n, unsigned long calls, const int ends[2])
{
	const struct timespec pause = { 0, 1000000 };
	unsigned long all = shared->inside + n;
	char c;

	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid)
			continue;
		close(ends[1]);
		call(calls);
		shared->inside++;
		_exit(read(ends[0], &c, 1) != 0);
	}
	while (shared->inside < all)
		nanosleep(&pause, NULL);
}

/* A child that was stopped is still known to have been continued. */
static unsigned long count_stopped(void)
{
	unsigned long n = 0;
	int status;

	while (waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED) > 0)
		n++;
	return n;
}

static void do_alive(char **arg)
{
	unsigned long n = number(arg[0]) + number(arg[1]);
	int ends[2];

	if (pipe(ends))
		fail("pipe");
	call(number(arg[2]));	/* the runtime loads the driver, and a process is stopped for that */
	start_alive(number(arg[0]), number(arg[2]), ends);
	count_stopped();
	start_alive(number(arg[1]), number(arg[2]), ends);
	printf("stopped %lu\n", count_stopped());
	wait_for_line();
	close(ends[1]);
	while (n--)
		reap(0);
}

static void do_calls(char **arg) { call(number(arg[0])); }
static void do_forks(char **arg) { children(FORK, FORK, arg); }
static void do_execs(char **arg) { children(EXEC, EXEC, arg); }
static void do_mixed(char **arg) { children(FORK, EXEC, arg); }
static void do_vforks(char **arg) { children(VFORK, VFORK, arg); }

static void do_replaced(char **arg)
{
	unsigned long n = number(arg[0]);
	char left[24];

	call(number(arg[1]));
	if (n < 2)
		return;
	snprintf(left, sizeof(left), "%lu", n - 1);
	execl(self, self, "replaced", left, arg[1], (char *)NULL);
	fail("exec");
}

static void do_killed(char **arg)
{
	unsigned long n = number(arg[0]);

	for (unsigned long i = 1; i <= n; i++) {
		atomic_int pid = start(KILLED, arg[1]);

		await_inside(i, pid, &pid);
		kill(pid, SIGKILL);
		reap(SIGKILL);
	}
}

/* fork() with the pid of a process that is gone; it needs CAP_CHECKPOINT_RESTORE. */
static pid_t fork_as(pid_t *pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = *pid ? (uintptr_t)pid : 0, .set_tid_size = *pid != 0,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void do_reused(char **arg)
{
	pid_t pid = 0, child;

	for (unsigned long n = number(arg[0]); n; n--) {
		child = fork_as(&pid);
		if (child < 0)
			fail("clone3");
		if (!child) {
			call(number(arg[1]));
			_exit(0);
		}
		pid = child;
		reap(0);
	}
}

static void do_heir(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]), child;

	while ((child = fork_as(&pid)) < 0 && errno == EEXIST)
		usleep(100);
	if (child < 0)
		fail("clone3");
	if (!child) {
		call(number(arg[1]));
		_exit(0);
	}
	reap(0);
}

/* Nothing is unwound: the call is just not there any more. */
static void end_thread(int sig)
{
	syscall(SYS_exit, sig);
}

static atomic_int dying;

static void *die_inside(void *calls)
{
	dying = (int)syscall(SYS_gettid);
	call(number(calls));
	call_to_die_in();
	return NULL;
}

static void do_dying(char **arg)
{
	unsigned long n = number(arg[0]);
	pthread_t thread;

	signal(SIGUSR1, end_thread);
	for (unsigned long i = 1; i <= n; i++) {
		if (pthread_create(&thread, NULL, die_inside, arg[1]))
			fail("pthread_create");
		await_inside(i, getpid(), &dying);
		pthread_kill(thread, SIGUSR1);
		pthread_join(thread, NULL);
	}
}

static void do_usurped(char **arg)
{
	unsigned long n = number(arg[0]);
	pthread_t thread;

	for (unsigned long i = 1; i <= n; i++) {
		if (pthread_create(&thread, NULL, die_inside, arg[1]))
			fail("pthread_create");
		await_inside(i, getpid(), &dying);
	}
	execl(self, self, "replaced", "1", arg[1], (char *)NULL);
	fail("exec");
}

static pthread_barrier_t barrier;

static void *call_twice(void *calls)
{
	call(number(calls));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	call(number(calls));
	return NULL;
}

static void do_threads(char **arg)
{
	unsigned long n = number(arg[0]);
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_barrier_init(&barrier, NULL, n + 1);
	for (unsigned long i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, call_twice, arg[1]))
			fail("pthread_create");
	pthread_barrier_wait(&barrier);
	wait_for_line();
	pthread_barrier_wait(&barrier);
	for (unsigned long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void do_loads(char **arg)
{
	for (unsigned long i = number(arg[0]); i; i--) {
		void *lib = dlopen(arg[2], RTLD_NOW | RTLD_LOCAL), *p;
		cudaError_t (*allocate)(void **, size_t) = lib ? dlsym(lib, "cudaMalloc") : NULL;

		if (!allocate) {
			fprintf(stderr, "storm: %s\n", dlerror());
			exit(2);
		}
		for (unsigned long n = number(arg[1]); n; n--)
			shared->calls += allocate(&p, 64) == cudaSuccess;
		dlclose(lib);
	}
}

/* Neighbours of one kind would become one mapping. */
static void do_maps(char **arg)
{
	unsigned long n = number(arg[0]), page = 4096;
	int fd = open("/proc/self/exe", O_RDONLY);
	char *at = mmap(NULL, n * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	for (unsigned long i = 0; i < n; i++)
		if (mmap(at + i * page, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			fail("mmap");
	call(number(arg[1]));
	wait_for_line();
	call(number(arg[1]));
}

int main(int argc, char **argv)
{
	static const struct { const char *word; int args; void (*run)(char **arg); } words[] = {
		{ "calls", 1, do_calls }, { "forks", 3, do_forks }, { "execs", 3, do_execs },
		{ "mixed", 3, do_mixed }, { "vforks", 3, do_vforks }, { "replaced", 2, do_replaced },
		{ "killed", 2, do_killed }, { "dying", 2, do_dying }, { "threads", 2, do_threads },
		{ "maps", 2, do_maps }, { "loads", 3, do_loads }, { "usurped", 2, do_usurped },
		{ "reused", 2, do_reused }, { "alive", 3, do_alive }, { "heir", 2, do_heir },
	};
	const char *word = argc > 1 ? argv[1] : "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fail("/proc/self/exe");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(word, words[i].word) || argc - 2 != words[i].args)
			continue;
		words[i].run(argv + 2);
		if (i)		/* not each child */
			printf("calls %lu harmed %lu\n", shared->calls, harmed);
		return harmed != 0;
	}
	fprintf(stderr, "storm: words are said at the head of storm.c\n");
	return 2;
}
