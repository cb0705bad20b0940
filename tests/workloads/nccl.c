/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nccl N WORD...: N processes, each a rank, do the words from left to right.
 *   init             a communicator by ncclCommInitRankConfig; prints "rank R of N: 0xHASH", as after each word that makes one
 *   init-rank        … by ncclCommInitRank
 *   init-scalable    … by ncclCommInitRankScalable
 *   init-nonblocking … that does not block
 *   init-all N       one process: ncclCommInitAll; the first rank's is used
 *   split-late C     the same by a call that does not block
 *   shrink           the first one without rank 0, which then only waits
 *   nap R MS         rank R sleeps
 *   split C          ranks of the same remainder by C make one, the last one first; it is used until it is destroyed
 *   grid A B         ranks that differ only in rank / A % B make one, in order
 *   use N            the words use the Nth communicator from now on, from 0 on
 *   only R N         ranks other than R skip the next N arguments; but R N: rank R does
 *   ranked           writes its rank, three digits, over the value of RANK in the environment
 *   lock R           a thread of rank R takes a lock and keeps it, and rank R waits for it
 *   send R COUNT     to rank R, of f32; recv R COUNT: from rank R
 *   FUNCTION N COUNT N calls, of COUNT values of f32: allreduce reduce broadcast bcast allgather reducescatter alltoall gather
 *                    scatter; reduce and gather to the last rank
 *   ring N COUNT     N times: sends to the next rank and receives from the one before, in a group
 *   bad N            N calls with a type that does not exist
 *   null             a call without a communicator
 *   capture N COUNT  N calls of ncclAllReduce on a stream that captures
 *   graph N COUNT    makes a graph of N calls of ncclAllReduce of COUNT f32 and, in a child graph, as many messages to itself
 *   nest N           makes a graph of N launches of it
 *   launch N         launches the graph that was made last N times
 *   late N           of rank 0 only: N calls of ncclAllReduce of one i32
 *   differ R         rank R calls ncclAllReduce of 101 f32, the others of 100
 *   stream           makes a stream: FUNCTION and mark use it from then on, and sync waits for it
 *   mark             records an event behind what was called
 *   await            the stream waits for the event
 *   watchdog         a thread asks about the communicators and the event, as PyTorch's does, every 20 ms; of more than 40 ranks
 *                    every half ms for each
 *   sync             waits for what was called; so do event-sync, to the event, and device-sync and copy-sync
 *   here             prints "here" and the process id
 *   split-alone      rank 0 calls ncclCommSplit, the others do not
 *   die R            rank R ends at once
 *   sleep MS         in a function of its own, as also:
 *   late-rank R MS   rank R
 *   late-until R FILE rank R, until FILE has something, ten minutes at most
 *   finalize destroy abort
 *   finalize-often N N calls of ncclCommFinalize
 *   destroy-stream   and makes another one, as stream does
 *   lost             a communicator that the other ranks do not come to: only rank 0
 *   rename NAME      of the thread
 *   wait             when all are there prints "ready" and their process ids, and reads a line
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cuda_api.h"
#include "../sim/sim_nccl.h"

enum { RANKS = 1024, IDS = 16, CONFIG_MAGIC = (int)0xcafebeef, DEPTH = 8 };

static struct shared {
	ncclUniqueId ids[IDS];
	atomic_int waiting, released;
	int pids[RANKS];
} *shared;

extern __typeof__(ncclCommShrink) ncclCommShrink __attribute__((weak));
static int rank, nranks, nids, nwaits;
static ncclComm_t comms[DEPTH];
static int depth, used = -1;
static cudaGraphExec_t exec;
static float *data;
static cudaStream_t in;

static void ok(const char *what, int result)
{
	if (!result || result == ncclInProgress)
		return;
	printf("nccl: %s: %d\n", what, result);
	fflush(stdout);
	_exit(1);
}

static void say(ncclComm_t c)
{
	int r, n;

	ok("rank", ncclCommUserRank(c, &r) ?: ncclCommCount(c, &n));
	printf("rank %d of %d: 0x%llx\n", r, n, (unsigned long long)sim_nccl_hash(c));
	fflush(stdout);
}

static void use(ncclComm_t c)
{
	if (!c)
		return;
	comms[depth++] = c;
	say(c);
}

static ncclComm_t comm(void)
{
	return used >= 0 ? comms[used] : depth ? comms[depth - 1] : NULL;
}

static void init(const char *how)
{
	ncclConfig_t config = { .size = sizeof(config), .magic = CONFIG_MAGIC, .version = 22809, .blocking = 1 };
	ncclUniqueId *id = &shared->ids[nids++];
	ncclComm_t c = NULL;

	if (!strcmp(how, "-rank")) {
		ok("init", ncclCommInitRank(&c, nranks, *id, rank));
	} else if (!strcmp(how, "-scalable")) {
		ok("init", ncclCommInitRankScalable(&c, nranks, rank, 1, id, &config));
	} else {
		config.blocking = strcmp(how, "-nonblocking");
		ok("init", ncclCommInitRankConfig(&c, nranks, *id, rank, &config));
	}
	use(c);
}

static void pause_ms(int ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

static void split(int by, bool blocking)
{
	ncclConfig_t config = { .size = sizeof(config), .magic = CONFIG_MAGIC, .version = 22809, .blocking = blocking };
	static ncclComm_t made[DEPTH];
	ncclComm_t *c = &made[depth];

	ok("split", ncclCommSplit(comm(), rank % by, -rank, c, &config));
	while (!blocking && !__atomic_load_n(c, __ATOMIC_ACQUIRE))
		pause_ms(1);
	use(*c);
}

static void grid(int a, int b)
{
	ncclComm_t c = NULL;

	used = -1;
	ok("split", ncclCommSplit(comms[0], rank / (a * b) * a + rank % a, rank, &c, NULL));
	use(c);
}

static void wait_here(void)
{
	nwaits++;
	atomic_fetch_add(&shared->waiting, 1);
	while (atomic_load(&shared->released) < nwaits)
		pause_ms(1);
}

static void shrink(char **w)
{
	int without[] = { 0 };
	ncclComm_t c = NULL;

	for (; !rank && *w; w++)
		if (!strcmp(*w, "wait"))
			wait_here();
	if (!rank)
		_exit(0);
	ok("shrink", ncclCommShrink(comm(), without, 1, &c, NULL, 0));
	use(c);
}

__attribute__((noinline)) static int call(const char *function, size_t n)
{
	ncclComm_t c = comm();
	int size = 1;

	ncclCommCount(c, &size);
	if (!strcmp(function, "allreduce"))
		return ncclAllReduce(data, data, n, ncclFloat32, ncclSum, c, (simStream_t)in);
	if (!strcmp(function, "reduce"))
		return ncclReduce(data, data, n, ncclFloat32, ncclMax, size - 1, c, (simStream_t)in);
	if (!strcmp(function, "broadcast"))
		return ncclBroadcast(data, data, n, ncclFloat32, 0, c, (simStream_t)in);
	if (!strcmp(function, "bcast"))
		return ncclBcast(data, n, ncclFloat32, 0, c, (simStream_t)in);
	if (!strcmp(function, "allgather"))
		return ncclAllGather(data, data, n, ncclFloat32, c, (simStream_t)in);
	if (!strcmp(function, "reducescatter"))
		return ncclReduceScatter(data, data, n, ncclFloat32, ncclAvg, c, (simStream_t)in);
	if (!strcmp(function, "alltoall"))
		return ncclAlltoAll(data, data, n, ncclFloat32, c, (simStream_t)in);
	if (!strcmp(function, "gather"))
		return ncclGather(data, data, n, ncclFloat32, size - 1, c, (simStream_t)in);
	if (!strcmp(function, "scatter"))
		return ncclScatter(data, data, n, ncclFloat32, 0, c, (simStream_t)in);
	printf("nccl: %s: unknown word\n", function);
	_exit(2);
}

static void ring(size_t n)
{
	ok("group", ncclGroupStart());
	ok("send", ncclSend(data, n, ncclFloat32, (rank + 1) % nranks, comm(), NULL));
	ok("recv", ncclRecv(data, n, ncclFloat32, (rank + nranks - 1) % nranks, comm(), NULL));
	ok("group", ncclGroupEnd());
}

static cudaGraph_t captured(cudaStream_t stream, int calls, size_t n, bool messages)
{
	cudaGraph_t graph;

	ok("capture", (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < calls; i++)
		ok("captured", messages ? ncclSend(data, n, ncclFloat32, rank, comm(), (simStream_t)stream) ?:
		   ncclRecv(data, n, ncclFloat32, rank, comm(), (simStream_t)stream) :
		   ncclAllReduce(data, data, n, ncclFloat32, ncclSum, comm(), (simStream_t)stream));
	ok("capture", (int)cudaStreamEndCapture(stream, &graph));
	return graph;
}

static void capture(int calls, size_t n)
{
	cudaStream_t stream;

	ok("stream", (int)cudaStreamCreate(&stream));
	captured(stream, calls, n, false);
}

static void make_graph(int calls, size_t n)
{
	cudaGraphNode_t node;
	cudaStream_t stream;
	cudaGraph_t graph, child;

	ok("stream", (int)cudaStreamCreate(&stream));
	graph = captured(stream, calls, n, false);
	child = captured(stream, calls, n, true);
	ok("child", (int)cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	ok("instantiate", (int)cudaGraphInstantiate(&exec, graph, 0));
	ok("destroy", (int)cudaGraphDestroy(graph) ?: (int)cudaGraphDestroy(child));
}

static void nest(int launches)
{
	cudaStream_t stream;
	cudaGraph_t graph;

	ok("stream", (int)cudaStreamCreate(&stream));
	ok("capture", (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < launches; i++)
		ok("captured", (int)cudaGraphLaunch(exec, stream));
	ok("capture", (int)cudaStreamEndCapture(stream, &graph));
	ok("instantiate", (int)cudaGraphInstantiate(&exec, graph, 0));
}

static void init_all(int n)
{
	static ncclComm_t all[RANKS];

	ok("init", ncclCommInitAll(all, n, NULL));
	use(all[0]);
}

__attribute__((noinline)) static void lost(void)
{
	ncclComm_t c;

	if (!rank)
		ncclCommInitRank(&c, nranks + 1, shared->ids[IDS - 1], rank);
}

static cudaEvent_t event;
static pthread_mutex_t marking = PTHREAD_MUTEX_INITIALIZER;	/* as PyTorch's watchdog, ours does not ask meanwhile */

static void mark(void)
{
	pthread_mutex_lock(&marking);
	if (!event)
		ok("event", (int)cudaEventCreate(&event));
	ok("record", (int)cudaEventRecord(event, in));
	pthread_mutex_unlock(&marking);
}

static void *watchdog(void *unused)
{
	ncclResult_t result;

	for (;; pause_ms(nranks < 40 ? 20 : nranks / 2)) {
		for (int i = 0; i < depth; i++)
			ncclCommGetAsyncError(comms[i], &result);
		pthread_mutex_lock(&marking);
		if (event)
			cudaEventQuery(event);
		pthread_mutex_unlock(&marking);
	}
	return unused;
}

__attribute__((noinline)) static void load_data(int ms)
{
	pause_ms(ms);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void *hold_lock(void *unused)
{
	pthread_mutex_lock(&held);
	atomic_store((atomic_int *)unused, 1);
	for (;;)
		load_data(1000);
	return unused;
}

__attribute__((noinline)) static void take_lock(void)
{
	atomic_int holds = 0;
	pthread_t thread;

	ok("thread", pthread_create(&thread, NULL, hold_lock, &holds));
	while (!atomic_load(&holds))
		pause_ms(1);
	pthread_mutex_lock(&held);
}

__attribute__((noinline)) static void message(bool sends, int peer, size_t n)
{
	ok("message", sends ? ncclSend(data, n, ncclFloat32, peer, comm(), (simStream_t)in) :
	   ncclRecv(data, n, ncclFloat32, peer, comm(), (simStream_t)in));
}

static void set_rank(void)
{
	char *value = getenv("RANK"), digits[8];

	snprintf(digits, sizeof(digits), "%03d", rank);
	if (value && strlen(value) == strlen(digits))
		memcpy(value, digits, strlen(digits));
}

static void late_until(const char *file)
{
	struct stat st;

	for (int i = 0; i < 60000 && !(stat(file, &st) == 0 && st.st_size); i++)
		load_data(10);
}

/* Does one word; returns how many operands it had. */
static int word(char **w)
{
	if (!strncmp(*w, "init", 4) && strcmp(*w, "init-all"))
		return init(*w + 4), 0;
	if (!strcmp(*w, "init-all"))
		return init_all(atoi(w[1])), 1;
	if (!strcmp(*w, "split") || !strcmp(*w, "split-late"))
		return split(atoi(w[1]), !w[0][5]), 1;
	if (!strcmp(*w, "shrink"))
		return shrink(w), 0;
	if (!strcmp(*w, "grid"))
		return grid(atoi(w[1]), atoi(w[2])), 2;
	if (!strcmp(*w, "use"))
		return used = atoi(w[1]), 1;
	if (!strcmp(*w, "only") || !strcmp(*w, "but"))
		return 2 + ((rank == atoi(w[1])) == (**w == 'b') ? atoi(w[2]) : 0);
	if (!strcmp(*w, "ranked"))
		return set_rank(), 0;
	if (!strcmp(*w, "lock"))
		return rank == atoi(w[1]) ? take_lock() : (void)0, 1;
	if (!strcmp(*w, "send") || !strcmp(*w, "recv"))
		return message(**w == 's', atoi(w[1]), strtoul(w[2], NULL, 10)), 2;
	if (!strcmp(*w, "nap"))
		return pause_ms(rank == atoi(w[1]) ? atoi(w[2]) : 0), 2;
	if (!strcmp(*w, "capture"))
		return capture(atoi(w[1]), atoi(w[2])), 2;
	if (!strcmp(*w, "graph"))
		return make_graph(atoi(w[1]), atoi(w[2])), 2;
	if (!strcmp(*w, "nest"))
		return nest(atoi(w[1])), 1;
	if (!strcmp(*w, "launch")) {
		for (int i = atoi(w[1]); i; i--)
			ok("launch", (int)cudaGraphLaunch(exec, NULL));
		return 1;
	}
	if (!strcmp(*w, "ring")) {
		for (int i = atoi(w[1]); i; i--)
			ring(atoi(w[2]));
		return 2;
	}
	if (!strcmp(*w, "bad")) {
		for (int i = atoi(w[1]); i; i--)
			ncclAllReduce(data, data, 1, 99, ncclSum, comm(), NULL);
		return 1;
	}
	if (!strcmp(*w, "null"))
		return ncclAllReduce(data, data, 1, ncclInt32, ncclSum, NULL, NULL), 0;
	if (!strcmp(*w, "late")) {
		for (int i = rank ? 0 : atoi(w[1]); i; i--)
			ok("late", ncclAllReduce(data, data, 1, ncclInt32, ncclSum, comm(), NULL));
		return 1;
	}
	if (!strcmp(*w, "differ"))
		return ok("differ", call("allreduce", rank == atoi(w[1]) ? 101 : 100)), 1;
	if (!strcmp(*w, "mark"))
		return mark(), 0;
	if (!strcmp(*w, "watchdog"))
		return pthread_create(&(pthread_t){ 0 }, NULL, watchdog, NULL), 0;
	if (!strcmp(*w, "sync"))
		return ok("sync", (int)cudaStreamSynchronize(in)), 0;
	if (!strcmp(*w, "event-sync"))
		return ok("sync", (int)cudaEventSynchronize(event)), 0;
	if (!strcmp(*w, "device-sync"))
		return ok("sync", (int)cudaDeviceSynchronize()), 0;
	if (!strcmp(*w, "copy-sync"))
		return ok("sync", (int)cudaMemcpy(data, data, 4, cudaMemcpyDeviceToDevice)), 0;
	if (!strcmp(*w, "stream"))
		return ok("stream", (int)cudaStreamCreate(&in)), 0;
	if (!strcmp(*w, "destroy-stream"))
		return ok("stream", (int)cudaStreamDestroy(in) ?: (int)cudaStreamCreate(&in)), 0;
	if (!strcmp(*w, "await"))
		return ok("await", (int)cudaStreamWaitEvent(in, event, 0)), 0;
	if (!strcmp(*w, "here"))
		return printf("here %d\n", getpid()), fflush(stdout), 0;
	if (!strcmp(*w, "split-alone"))
		return rank ? 0 : (split(1, true), 0);
	if (!strcmp(*w, "late-rank"))
		return rank == atoi(w[1]) ? load_data(atoi(w[2])) : (void)0, 2;
	if (!strcmp(*w, "late-until"))
		return rank == atoi(w[1]) ? late_until(w[2]) : (void)0, 2;
	if (!strcmp(*w, "die"))
		return rank == atoi(w[1]) ? _exit(0) : (void)0, 1;
	if (!strcmp(*w, "sleep"))
		return load_data(atoi(w[1])), 1;
	if (!strcmp(*w, "finalize"))
		return ok("finalize", ncclCommFinalize(comm())), 0;
	if (!strcmp(*w, "finalize-often")) {
		for (int i = atoi(w[1]); i; i--)
			ok("finalize", ncclCommFinalize(comm()));
		return 1;
	}
	if (!strcmp(*w, "destroy"))
		return ok("destroy", ncclCommDestroy(comms[--depth])), 0;
	if (!strcmp(*w, "abort"))
		return ok("abort", ncclCommAbort(comms[--depth])), 0;
	if (!strcmp(*w, "lost"))
		return lost(), 0;
	if (!strcmp(*w, "rename"))
		return prctl(PR_SET_NAME, w[1]), 1;
	if (!strcmp(*w, "wait"))
		return wait_here(), 0;
	for (int i = atoi(w[1]); i; i--)
		ok(*w, call(*w, strtoul(w[2], NULL, 10)));
	return 2;
}

static void child(char **w)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pids[rank] = getpid();
	ok("memory", (int)cudaMalloc((void **)&data, 1 << 20));
	for (; *w; w++)
		w += word(w);
	_exit(0);
}

/* Lets the ranks go on from each word `wait`. */
static void release(char **w)
{
	char line[16];

	for (int n = 0; *w; w++) {
		if (strcmp(*w, "wait"))
			continue;
		n++;
		while (atomic_load(&shared->waiting) < n * nranks)
			pause_ms(1);
		printf("ready");
		for (int i = 0; i < nranks; i++)
			printf(" %d", shared->pids[i]);
		puts("");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			line[0] = 0;
		atomic_store(&shared->released, n);
	}
}

int main(int argc, char **argv)
{
	int failed = 0, status;

	nranks = argc > 1 ? atoi(argv[1]) : 0;
	if (nranks < 1 || nranks > RANKS) {
		fprintf(stderr, "usage: nccl RANKS WORD...\n");
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < IDS; i++)
		ok("id", ncclGetUniqueId(&shared->ids[i]));
	for (rank = 0; rank < nranks; rank++)
		if (!fork())
			child(argv + 2);
	release(argv + 2);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
