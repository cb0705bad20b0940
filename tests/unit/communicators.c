/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* communicators groups N: of a program with N communicators that calls one in each of its groups:
 * prints the CPU time of a group, ns, when the operations of a group of three communicators begin,
 * and what is charged after the program.
 * communicators launches N: of a program that launches a CUDA graph of N operations of all kinds
 * and sizes in 7 communicators, and of one that calls the same: prints "same" for each rank of a
 * communicator whose sums and last operations agree, and the CPU time of a launch, ns.
 * communicators slow N: of a program that launches a graph of N operations, which takes 2 ms to
 * hand over, 2003 times, and then of another user's: prints how many launches were handed over
 * apart, how many together, and how many were not followed.
 * There is no process: its memory is unreadable (-Wl,--wrap). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "api/cuda_fn.h"
#include "nccl/communicators.h"
#include "probe/probes.h"
#include "proc/helper_files.h"
#include "proc/vm_read.h"

enum { GROUPS = 100003, PROGRAM = 1009, FLOAT = 7, COMMUNICATORS = 7, LAUNCHES = 3, MANY = 10007 };
static int who, program;		/* of the records: the process, and its execution */

enum { CAPTURE = 11, GRAPH = 13, EXEC = 17 };

typedef bool mapping_fn(void *ctx, const struct mapping *m);

int __wrap_helper_mappings(struct helper_pool *l, int pid, bool identify, mapping_fn *fn,
			   void *ctx);
int __wrap_vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
			 unsigned long long *words);

int __wrap_helper_mappings(struct helper_pool *l, int pid, bool identify, mapping_fn *fn, void *ctx)
{
	(void)l, (void)pid, (void)identify, (void)fn, (void)ctx;
	return -ESRCH;
}

int __wrap_vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
			 unsigned long long *words)
{
	(void)l, (void)pid, (void)at, (void)n, (void)words;
	return -ESRCH;
}

static unsigned long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A call that returned at a time: its entry was one before. */
static struct nccl_event call(int id, unsigned long long handle, unsigned long long time)
{
	return (struct nccl_event){
		.head = { .kind = id, .pid = who }, .time = time, .start = time - 1,
		.program = program, .code = 1, .handle = handle, .tid = who, .other = -1,
	};
}

static void make(struct communicators *c, unsigned long long handle)
{
	struct nccl_event e = call(CUDA_ID_ncclCommInitRank, handle, 1);

	e.at = 8;
	e.hash = handle;
	e.nranks = 2;
	communicators_call(c, &e);
}

static const struct communicator *reduce(struct communicators *c, unsigned long long handle,
					 unsigned long long time, unsigned group)
{
	struct nccl_event e = call(CUDA_ID_ncclAllReduce, handle, time);

	e.count = 1;
	e.type = FLOAT;
	e.group = group;
	e.grouped = group;
	return communicators_call(c, &e);
}

static void end_group(struct communicators *c, unsigned long long time, unsigned group, bool inner)
{
	struct nccl_event e = call(CUDA_ID_ncclGroupEnd, 0, time);

	e.group = group;
	e.grouped = inner;
	communicators_call(c, &e);
}

static void groups(struct communicators *c, unsigned n)
{
	const struct communicator *m[4];
	unsigned long long began;
	unsigned group = 1;

	for (unsigned i = 0; i < n; i++)
		make(c, 1 + i);
	began = cpu_ns();
	for (; group <= GROUPS; group++) {
		reduce(c, 1 + group % n, 10, group);
		end_group(c, 20, group, false);
	}
	printf("{\"communicators\":%u,\"ns\":%llu}\n", n, (cpu_ns() - began) / GROUPS);
	for (int i = 0; i < 4; i++)
		m[i] = reduce(c, 1 + i, 100 + i, i < 3 ? group : 0);
	end_group(c, 200, group, true);
	printf("{\"inner\":%llu}\n", communicator_last(m[0])->time);
	end_group(c, 300, group, false);
	for (int i = 0; i < 4; i++)
		printf("{\"began\":%llu}\n", communicator_last(m[i])->time);
}

/* ---- Launches of graphs */

/* The nth of a graph's operations. */
static struct nccl_event operation(unsigned n)
{
	static const int ids[] = {
		CUDA_ID_ncclAllReduce, CUDA_ID_ncclAllReduce, CUDA_ID_ncclBroadcast,
		CUDA_ID_ncclSend, CUDA_ID_ncclRecv, CUDA_ID_ncclAllGather,
		CUDA_ID_ncclAllReduce, CUDA_ID_ncclSignal,
	};
	struct nccl_event e = call(ids[n % 8], 1 + n * 5 % 11 % COMMUNICATORS, 0);

	e.count = n % 13 ? 1ull << n % 23 : n;
	e.type = n % 29 ? FLOAT : FLOAT + 1;
	e.op = n % 2;
	e.other = n % 5;
	return e;
}

static void record_graph(struct communicators *c, unsigned kind, unsigned long long subject,
			 unsigned long long object)
{
	const struct launch_event e = {
		.head = { .kind = kind, .pid = who }, .key = { .program = program },
		.subject = subject, .object = object, .time = 2,
	};

	communicators_graph(c, &e.head, sizeof(e));
}

static void capture(struct communicators *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct nccl_event e = operation(i);

		e.capture = CAPTURE;
		communicators_call(c, &e);
	}
	record_graph(c, LAUNCH_CAPTURE_ENDED, CAPTURE, GRAPH);
	record_graph(c, LAUNCH_INSTANTIATED, EXEC, GRAPH);
}

static void launch(struct communicators *c, unsigned long long time)
{
	const struct nccl_event e = call(CUDA_ID_cuGraphLaunch, EXEC, time);

	communicators_launch(c, &e, NULL, NULL);
}

static void call_all(struct communicators *c, unsigned n, unsigned long long time)
{
	for (unsigned i = 0; i < n; i++) {
		struct nccl_event e = operation(i);

		e.time = time;
		e.start = time - 1;
		e.replayed = true;
		communicators_call(c, &e);
	}
}

struct ranks { const struct communicator *of[1 + COMMUNICATORS]; };

static void take(void *ctx, const struct communicator *m)
{
	struct ranks *r = ctx;

	r->of[m->handle] = m;
}

static bool same_op(const struct comm_op *a, const struct comm_op *b)
{
	return !a || !b ? a == b : !memcmp(a, b, sizeof(*a));
}

static bool same(const struct communicator *a, const struct communicator *b)
{
	bool recent = true;

	for (unsigned i = 0; i < RECENT; i++)
		recent &= same_op(&a->recent[i], &b->recent[i]);
	return recent && a->func == b->func && a->time == b->time && a->made == b->made &&
	       a->collectives == b->collectives && same_op(&a->message, &b->message) &&
	       !memcmp(&a->total, &b->total, sizeof(a->total)) &&
	       !memcmp(a->sizes, b->sizes, sizeof(a->sizes)) &&
	       a->total.operations && communicator_behind(a) == communicator_behind(b);
}

static void launches(struct communicators *c, struct communicators *called, unsigned n)
{
	struct ranks a = { 0 }, b = { 0 };
	unsigned long long began;

	for (int i = 1; i <= COMMUNICATORS; i++) {
		make(c, i);
		make(called, i);
	}
	capture(c, n);
	for (int i = 0; i < LAUNCHES; i++) {
		launch(c, 100 + i);
		call_all(called, n, 100 + i);
	}
	communicators_each(c, take, &a);
	communicators_each(called, take, &b);
	for (int i = 1; i <= COMMUNICATORS; i++)
		printf("{\"same\":%s}\n", same(a.of[i], b.of[i]) ? "true" : "false");
	began = cpu_ns();
	for (int i = 0; i < MANY; i++)
		launch(c, 200 + i);
	printf("{\"operations\":%u,\"ns\":%llu,\"total\":%llu}\n", n, (cpu_ns() - began) / MANY,
	       a.of[1]->total.operations);
}

struct handed { unsigned apart, together; };

static void hand_over(void *ctx, const struct communicator *m, const struct comm_calls *calls)
{
	const unsigned long long began = cpu_ns();
	struct handed *h = ctx;

	if (!m || (calls->kinds && calls->left + 1 < calls->kinds))
		return;
	if (!calls->kinds && calls->event->count != operation(0).count)
		return;		/* of each launch one */
	h->apart += !calls->kinds;
	h->together += !!calls->kinds;
	while (cpu_ns() < began + 2000000)
		;
}

static void slow(struct communicators *c, unsigned n, unsigned times)
{
	struct handed handed = { 0 };
	const struct nccl_event e = call(CUDA_ID_cuGraphLaunch, EXEC, 100);

	for (int i = 1; i <= COMMUNICATORS; i++)
		make(c, i);
	capture(c, n);
	c->unfollowed = 0;
	for (unsigned i = 0; i < times; i++)
		communicators_launch(c, &e, hand_over, &handed);
	printf("{\"who\":\"%s\",\"apart\":%u,\"together\":%u,\"unfollowed\":%llu}\n",
	       program == PROGRAM ? "greedy" : "other", handed.apart, handed.together,
	       c->unfollowed);
}

/* A process of another user. */
static int other(void)
{
	int pid = fork();

	if (pid)
		return pid;
	if (setuid(65534))
		_exit(1);
	for (;;)
		pause();
}

static void be(int pid)
{
	who = pid;
	program = PROGRAM + (pid != getpid());
}

static void two_users(struct communicators *c, unsigned n)
{
	int pid = other();

	slow(c, n, 2003);
	usleep(100000);		/* it has set its user */
	be(pid);
	slow(c, n, 11);
	kill(pid, SIGKILL);
	be(getpid());
}

static void open_model(struct communicators *c, struct probes *probes, bool whole)
{
	communicators_init(c, probes, whole);
	c->keeps_recent = true;
}

int main(int argc, char **argv)
{
	struct communicators c, called;
	struct probes probes = { 0 };

	if (argc != 3)
		return 2;
	be(getpid());
	open_model(&c, &probes, strcmp(argv[1], "slow"));
	open_model(&called, &probes, true);
	if (!strcmp(argv[1], "slow"))
		two_users(&c, atoi(argv[2]));
	else if (!strcmp(argv[1], "groups"))
		groups(&c, atoi(argv[2]));
	else
		launches(&c, &called, atoi(argv[2]));
	communicators_free(&called);
	communicators_ended(&c, &(struct process_event){ .program = PROGRAM });
	communicators_interval(&c);
	printf("{\"bytes\":%zu}\n", c.quota.used);
	communicators_free(&c);
	return 0;
}
