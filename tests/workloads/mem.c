/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* mem WORD...: makes CUDA calls, exactly those asked for, so that tests know the
 * counts. Words run from left to right; N counts calls, sizes take k, m, g. A call
 * that fails is not fatal. Nothing is printed except by wait and print. Frees take
 * the last of their kind first, and stop when none is left.
 *
 * Runtime:
 *   malloc N SIZE, managed N SIZE, pitch N W H, malloc3d N W H D; free N
 *   freenull N, badfree N (of a pointer that never was), fail N (more than there is)
 *   host N SIZE, hostalloc N SIZE; hostfree N      register N SIZE; unregister N
 *   array N W H, array3d N W H D; arrayfree N      mip N W H D LEVELS; mipfree N
 *   async N SIZE; asyncfree N                      ipc N SIZE (opens one memory N times); ipcclose N
 *   pool N SIZE (creates the pool when there is none); poolfree N; pooldestroy
 *   format N KIND X Y Z W W H D FLAGS LEVELS (an array of KIND with so many bits of each
 *     channel, mipmapped unless LEVELS is 0); arrayfree N, mipfree N
 *   extmip N SIZE (mipmapped arrays in one external memory); mipfree N; extfree N
 *   copy N SIZE DIR, copyasync N SIZE DIR, copy2d N W H DIR (h2d d2h d2d h2h default)
 *   copyof KIND N SIZE DIR (asynchronous, h2d or d2h, from or to byte 1000 of the first of host, register or managed)
 *   peer N SIZE, memset N SIZE, symbol N (of 64 bytes)
 *     The first of these in a thread, and each that is bigger than all before, also
 *     calls cudaMalloc twice for the device's buffers, and does not free them.
 *   launch N, launchex N, coop N, graph N, badlaunch N
 *   sync N, streamsync N, eventsync N, query N     setdevice D, reset
 *   meminfo N
 *   limit LIMIT SIZE (LIMIT: 0 stack, 1 printf, 2 heap)
 *   peerof N SIZE FROM TO (devices)                streams N; streamfree N
 *   use I (from now on async, asyncfree, copyasync, launch, launchex, streamsync of this thread
 *     are in a default stream: 0, cudaStreamLegacy 1, cudaStreamPerThread 2, or else in the
 *     stream that was made as number I - 2)
 *   otherfree N (a new thread frees the last N of malloc and is waited for)
 *   freeall (all of malloc, managed, pitch, malloc3d)
 *   load (mem-dlopen only: dlopen the runtime; runtime words work after it)
 * Driver:
 *   drvmalloc N SIZE, drvmanaged N SIZE, drvpitch N W H; drvfree N
 *   drvhost N SIZE; drvhostfree N                  drvarray N W H; drvarrayfree N
 *   drvasync N SIZE; drvasyncfree N
 *   drvcopy N SIZE DIR, drvmemset N SIZE (each also makes and frees two buffers, one)
 *   vmm N (reserve, create, map, allow access: 2 MiB each); vmmfree N
 *   drvprefetch N D (the first page of the last of drvmanaged to device D)
 *   retain N (handles of the last vmm), multicast N (objects); release N
 *   drvformat N FORMAT CHANNELS W H D FLAGS LEVELS; drvarrayfree N, drvmipfree N
 *   drvlaunch N, drvsync N                         ctxcreate, ctxdestroy, drvreset D
 *   drvpeer N SIZE FROM TO (devices)               ctxon D (creates a context on D)
 *   drvdevice D, ctxpush D (of the primary context) ctxpop, ctxnone (sets none)
 * Everything else:
 *   wait (prints "ready", reads a line), sleep MS, spin MS, print (calls and results)
 *   loop N ( WORD... )      thread ( WORD... ) goes on beside; join waits for all
 *   fork ( WORD... )        a child does them; join waits for it too
 *   forkexec ( WORD... )    the same in a new execution    exec ( WORD... ) in place
 *   rename NAME (of this thread)   exit STATUS (at once)   segv (dies by the signal)
 *   leave (this thread ends)       alone (waits until the first thread has ended)
 * At the end it joins. Exit status 0; 2 for a mistake in the words.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stack {
	uintptr_t *values;
	size_t used, room;
} stacks[KINDS];

__thread cudaStream_t stream_now;
static unsigned long calls, failed;
static int last_result;
static const char *program;

static void run(char **word, char **end);

static void mistake(const char *what, const char *word)
{
	fprintf(stderr, "mem: %s: %s\n", what, word);
	exit(2);
}

int did(int result)
{
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (result)
		__atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&last_result, result, __ATOMIC_RELAXED);
	return result;
}

unsigned long long number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 0);

	if (end == text)
		mistake("expected a number", text);
	switch (*end) {
	case 'k': n <<= 10; end++; break;
	case 'm': n <<= 20; end++; break;
	case 'g': n <<= 30; end++; break;
	}
	if (*end)
		mistake("expected a number", text);
	return n;
}

void keep(enum kind kind, uintptr_t value)
{
	struct stack *s = &stacks[kind];

	pthread_mutex_lock(&lock);
	if (s->used == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->values = realloc(s->values, s->room * sizeof(*s->values));
		if (!s->values)
			abort();
	}
	s->values[s->used++] = value;
	pthread_mutex_unlock(&lock);
}

uintptr_t kept(enum kind kind, size_t i)
{
	const struct stack *s = &stacks[kind];

	return i < s->used ? s->values[i] : 0;
}

uintptr_t last(enum kind kind)
{
	struct stack *s = &stacks[kind];
	uintptr_t value = 0;

	pthread_mutex_lock(&lock);
	if (s->used)
		value = s->values[--s->used];
	pthread_mutex_unlock(&lock);
	return value;
}

/* Without a driver its functions fail as the runtime's do. */
static int absent(void)
{
	return 35;
}

void *driver_symbol(const char *name)
{
	static void *lib;
	void *p = NULL;

	if (!lib)
		lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (lib)
		p = dlsym(lib, name);
	return p ? p : (void *)absent;
}

static void doze(unsigned long ms)
{
	struct timespec ts = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };

	while (nanosleep(&ts, &ts))
		;
}

static void spin(unsigned long ms)
{
	struct timespec t;
	unsigned long now, end = 0;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
		if (!end)
			end = now + ms;
	} while (now < end);
}

/* Brackets: from the word before "(" to its ")". */
static char **closing(char **word, char **end)
{
	char **p = word + 1;
	int depth = 0;

	if (p >= end || strcmp(*p, "("))
		mistake("expected ( after", *word);
	for (; p < end; p++) {
		depth += !strcmp(*p, "(");
		depth -= !strcmp(*p, ")");
		if (!depth)
			return p;
	}
	mistake("no ) after", *word);
	return NULL;
}

struct part {
	char **begin, **end;
};

static pthread_t threads[256];
static pid_t children[256];
static unsigned num_threads, num_children;

static void *thread_main(void *arg)
{
	struct part part = *(struct part *)arg;

	free(arg);
	run(part.begin, part.end);
	return NULL;
}

static void start_thread(char **begin, char **end)
{
	struct part *part = malloc(sizeof(*part));

	if (!part || num_threads == 256)
		mistake("too many", "threads");
	*part = (struct part) { begin, end };
	if (pthread_create(&threads[num_threads++], NULL, thread_main, part))
		mistake("cannot start a", "thread");
}

static void join(void)
{
	while (num_threads)
		pthread_join(threads[--num_threads], NULL);
	while (num_children)
		waitpid(children[--num_children], NULL, 0);
}

static void execute(char **begin, char **end)
{
	size_t n = (size_t)(end - begin);
	char **argv = calloc(n + 2, sizeof(*argv));

	if (!argv)
		abort();
	argv[0] = (char *)program;
	memcpy(argv + 1, begin, n * sizeof(*argv));
	execv("/proc/self/exe", argv);
	mistake("cannot execute", program);
}

static void child(char **begin, char **end, int again)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0 || num_children == 256)
		mistake("cannot", "fork");
	if (pid) {
		children[num_children++] = pid;
		return;
	}
	num_threads = num_children = 0;
	if (again)
		execute(begin, end);
	run(begin, end);
	join();
	exit(0);
}

static void wait_for_line(void)
{
	char line[256];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return;
}

static const struct word *find(const struct word *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static char **bracketed(char **word, char **end)
{
	char **begin = word + 2, **close;
	unsigned long long n;

	if (!strcmp(*word, "loop")) {
		if (end - word < 2)
			mistake("too few arguments", *word);
		n = number(word[1]);
		close = closing(word + 1, end);
		while (n--)
			run(word + 3, close);
		return close + 1;
	}
	if (strcmp(*word, "thread") && strcmp(*word, "fork") && strcmp(*word, "forkexec") &&
	    strcmp(*word, "exec"))
		return NULL;
	close = closing(word, end);
	if (!strcmp(*word, "thread"))
		start_thread(begin, close);
	else if (!strcmp(*word, "exec"))
		execute(begin, close);
	else
		child(begin, close, !strcmp(*word, "forkexec"));
	return close + 1;
}

static void do_print(char **arg)
{
	(void)arg;
	printf("calls %lu failed %lu last %d\n", calls, failed, last_result);
	fflush(stdout);
}

static void do_segv(char **arg)
{
	(void)arg;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void do_leave(char **arg)
{
	(void)arg;
	pthread_exit(NULL);
}

static void do_alone(char **arg)
{
	char state = 0;
	FILE *f;

	(void)arg;
	while (state != 'Z') {
		f = fopen("/proc/self/stat", "r");
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			abort();
		fclose(f);
		doze(1);
	}
}

static void do_wait(char **arg) { (void)arg; wait_for_line(); }
static void do_join(char **arg) { (void)arg; join(); }
static void do_sleep(char **arg) { doze(number(arg[0])); }
static void do_spin(char **arg) { spin(number(arg[0])); }
static void do_rename(char **arg) { prctl(PR_SET_NAME, arg[0]); }
static void do_exit(char **arg) { _exit((int)number(arg[0])); }

static const struct word words[] = {
	{ "wait", 0, do_wait }, { "print", 0, do_print }, { "join", 0, do_join },
	{ "sleep", 1, do_sleep }, { "spin", 1, do_spin }, { "rename", 1, do_rename },
	{ "exit", 1, do_exit }, { "segv", 0, do_segv }, { "leave", 0, do_leave },
	{ "alone", 0, do_alone }, { NULL, 0, NULL },
};

static void run(char **word, char **end)
{
	const struct word *w;
	char **next;

	while (word < end) {
		next = bracketed(word, end);
		if (!next) {
			w = find(words, *word);
			if (!w)
				w = find(runtime_words, *word);
			if (!w)
				w = find(copy_words, *word);
			if (!w)
				w = find(driver_words, *word);
			if (!w)
				mistake("unknown word", *word);
			if (end - word - 1 < w->args)
				mistake("too few arguments", *word);
			w->run(word + 1);
			next = word + 1 + w->args;
		}
		word = next;
	}
}

int main(int argc, char **argv)
{
	program = argv[0];
	run(argv + 1, argv + argc);
	join();
	return 0;
}
