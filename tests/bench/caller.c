/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* caller DIR: makes calls to the simulated CUDA in DIR and prints what they cost.  For each line
 * "WORD THREADS MS" on standard input it makes calls for MS milliseconds and prints, summed over
 * the threads, the number of calls and their nanoseconds of CPU time and of wall-clock time.
 * "WORD THREADS MS RATE" makes RATE calls per second in each thread.  Words:
 *   launch drvlaunch   a kernel          wait drvwait     for the default stream
 *   drvlaunchex        a kernel, by cuLaunchKernelEx
 *   launch20           a kernel with 20 frames on the stack
 *   copy drvcopy       64 bytes to the device
 *   alloc drvalloc     allocates 256 bytes and frees them: two calls
 *   deep drvdeep       the same with ten frames on the stack
 *   stackN             alloc with N frames: 10, 50 or 100
 *   keep               allocates; nothing is freed
 *   replayN drvreplayN a graph of N kernels: 1 or 1000
 *   nccl               ncclAllReduce of 64 values, by a communicator of one rank for each thread
 * "kernels N" launches N kernels, each with its own name; "fail N" makes N launches that the
 * runtime refuses.  "step WORD N" makes N calls, each between two SIGUSR1 of the first thread, for steps.c; nothing is printed. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cuda_api.h"
#include "tests/step.h"
#include "../sim/sim_nccl.h"

enum { BATCH = 64, THREADS = 2 };

static const char image[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n";
static CUfunction function;
static CUmodule module;
static CUdeviceptr room;

/* All functions called: X(name) */
#define RUNTIME(X) X(cudaMalloc) X(cudaFree) X(cudaMemcpy) X(cudaStreamSynchronize) \
	X(cudaLaunchKernel) X(cudaGraphLaunch)
#define DRIVER(X) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemcpyHtoD_v2) X(cuStreamSynchronize) \
	X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuModuleLoadData) X(cuModuleGetFunction) \
	X(cuGraphCreate) X(cuGraphAddKernelNode_v2) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch)
#define POINTER(name) __typeof__(&name) name;
static struct { RUNTIME(POINTER) DRIVER(POINTER) } call;

static const dim3 grid = { 8, 1, 1 }, block = { 128, 1, 1 };

__attribute__((noinline)) static void stub(void)
{
	__asm__ volatile("");
}

static int launch(void)
{
	return call.cudaLaunchKernel((const void *)(unsigned long)stub, grid, block, NULL, 0, NULL);
}

static int drvlaunch(void)
{
	return call.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL);
}

static int drvlaunchex(void)
{
	static const CUlaunchConfig config = {
		.gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1,
	};

	return call.cuLaunchKernelEx(&config, function, NULL, NULL);
}

static int copy(void)
{
	static const char bytes[64];

	return call.cudaMemcpy((void *)(unsigned long)room, bytes, sizeof(bytes),
			       cudaMemcpyHostToDevice);
}

static int drvcopy(void)
{
	static const char bytes[64];

	return call.cuMemcpyHtoD_v2(room, bytes, sizeof(bytes));
}

static int wait(void)
{
	return call.cudaStreamSynchronize(NULL);
}

static int drvwait(void)
{
	return call.cuStreamSynchronize(NULL);
}

static int alloc(void)
{
	void *p;

	return call.cudaMalloc(&p, 256) || call.cudaFree(p);
}

static int drvalloc(void)
{
	CUdeviceptr p;

	return call.cuMemAlloc_v2(&p, 256) || call.cuMemFree_v2(p);
}

/* Adds frames with the frame pointers that stacks are unwound by. */
__attribute__((noinline)) static int frame(int n, int (*fn)(void))
{
	int r = n ? frame(n - 1, fn) : fn();

	__asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory");
	return r;
}

/* With the frames around these, ten. */
static int deep(void)
{
	return frame(5, alloc);
}

static int drvdeep(void)
{
	return frame(5, drvalloc);
}

/* One of them is the runtime's function: in the end the driver's is probed. */
static int launch20(void)
{
	return frame(14, launch);
}

static int stack10(void)
{
	return frame(5, alloc);
}

static int stack50(void)
{
	return frame(45, alloc);
}

static int stack100(void)
{
	return frame(95, alloc);
}

static int keep(void)
{
	void *p;

	return call.cudaMalloc(&p, 256);
}

/* Made when first launched, so that a tool sees it. */
static CUgraphExec graph_of(int n)
{
	CUDA_KERNEL_NODE_PARAMS kernel = {
		.func = function, .gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1,
	};
	CUgraphExec exec;
	CUgraphNode node;
	CUgraph graph;

	if (call.cuGraphCreate(&graph, 0))
		_exit(3);
	for (int i = 0; i < n; i++)
		if (call.cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel))
			_exit(3);
	if (call.cuGraphInstantiateWithFlags(&exec, graph, 0))
		_exit(3);
	return exec;
}

static CUgraphExec one, thousand;

static void make_one(void)
{
	one = graph_of(1);
}

static void make_thousand(void)
{
	thousand = graph_of(1000);
}

static CUgraphExec graph_one(void)
{
	static pthread_once_t made = PTHREAD_ONCE_INIT;

	pthread_once(&made, make_one);
	return one;
}

static CUgraphExec graph_thousand(void)
{
	static pthread_once_t made = PTHREAD_ONCE_INIT;

	pthread_once(&made, make_thousand);
	return thousand;
}

static int replay1(void)
{
	return call.cudaGraphLaunch(graph_one(), NULL);
}

static int drvreplay1(void)
{
	return call.cuGraphLaunch(graph_one(), NULL);
}

static int replay1000(void)
{
	return call.cudaGraphLaunch(graph_thousand(), NULL);
}

static int drvreplay1000(void)
{
	return call.cuGraphLaunch(graph_thousand(), NULL);
}

static struct {
	__typeof__(&ncclCommInitRank) ncclCommInitRank;
	__typeof__(&ncclAllReduce) ncclAllReduce;
} nccl_call;

/* Made when first used, so that a tool sees it. */
static int nccl(void)
{
	static _Thread_local ncclComm_t comm;
	ncclUniqueId id;

	if (!nccl_call.ncclCommInitRank)
		return 1;
	if (!comm) {
		memset(&id, 0, sizeof(id));
		snprintf(id.internal, sizeof(id.internal), "%d %p", getpid(), (void *)&comm);
		if (nccl_call.ncclCommInitRank(&comm, 1, id, 0))
			_exit(3);
	}
	return nccl_call.ncclAllReduce(NULL, NULL, 64, ncclFloat32, ncclSum, comm, NULL);
}

static const struct word { const char *name; int (*fn)(void); int calls; } words[] = {
	{ "launch", launch, 1 }, { "drvlaunch", drvlaunch, 1 },
	{ "drvlaunchex", drvlaunchex, 1 }, { "launch20", launch20, 1 },
	{ "copy", copy, 1 }, { "drvcopy", drvcopy, 1 },
	{ "wait", wait, 1 }, { "drvwait", drvwait, 1 },
	{ "alloc", alloc, 2 }, { "drvalloc", drvalloc, 2 },
	{ "deep", deep, 2 }, { "drvdeep", drvdeep, 2 },
	{ "stack10", stack10, 2 }, { "stack50", stack50, 2 }, { "stack100", stack100, 2 },
	{ "keep", keep, 1 },
	{ "replay1", replay1, 1 }, { "drvreplay1", drvreplay1, 1 },
	{ "replay1000", replay1000, 1 }, { "drvreplay1000", drvreplay1000, 1 },
	{ "nccl", nccl, 1 },
};

static struct {
	const struct word *word;
	int threads, ms;
	double rate;
} job;

struct result {
	unsigned long calls;
	double cpu, wall;
};

static pthread_barrier_t begin, end;
static struct result results[THREADS];

static double clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void pause_until(double ns)
{
	double left = ns - clock_of(CLOCK_MONOTONIC);
	struct timespec ts = { 0, (long)left };

	if (left > 0)
		nanosleep(&ts, NULL);
}

static void run(struct result *r)
{
	double cpu = clock_of(CLOCK_THREAD_CPUTIME_ID), start = clock_of(CLOCK_MONOTONIC);
	double now = start, stop = start + job.ms * 1e6;
	unsigned long n = 0;

	while (now < stop && n * job.word->calls < job.rate * job.ms / 1e3) {
		for (int i = 0; i < BATCH; i++, n++)
			if (job.word->fn())
				_exit(3);
		if (job.rate < 1e9)
			pause_until(start + n * job.word->calls * 1e9 / job.rate);
		now = clock_of(CLOCK_MONOTONIC);
	}
	r->calls = n * job.word->calls;
	r->wall = now - start;
	r->cpu = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static void pin(int i)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((cpus - 1 - i) % cpus, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *thread(void *at)
{
	int i = (struct result *)at - results;

	pin(i);
	call.cudaFree(NULL);	/* makes the context current */
	for (;;) {
		pthread_barrier_wait(&begin);
		results[i] = (struct result){ 0 };
		if (i < job.threads)
			run(&results[i]);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void *symbol(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "caller: no %s\n", name);
		exit(1);
	}
	return p;
}

static void *library(const char *dir, const char *name)
{
	char path[4096];
	void *lib;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	lib = dlopen(path, RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "caller: %s\n", dlerror());
		exit(1);
	}
	return lib;
}

/* If DIR has it. */
static void open_nccl(const char *dir)
{
	char path[4096];
	void *lib;

	snprintf(path, sizeof(path), "%s/libnccl.so.2", dir);
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		return;
	*(void **)&nccl_call.ncclCommInitRank = symbol(lib, "ncclCommInitRank");
	*(void **)&nccl_call.ncclAllReduce = symbol(lib, "ncclAllReduce");
}

typedef void **register_binary(void *);
typedef void register_function(void **, const char *, char *, const char *, int, void *, void *,
			       void *, void *, int *);

static void open_cuda(const char *dir)
{
	static struct { int magic, version; const void *data; void *name; } binary = {
		0x466243b1, 1, image, NULL
	};
	void *rt = library(dir, "libcudart.so.13"), *drv = library(dir, "libcuda.so.1"), *p;
	register_function *register_kernel;
	register_binary *register_image;

#define FIND_RUNTIME(name) *(void **)&call.name = symbol(rt, #name);
#define FIND_DRIVER(name) *(void **)&call.name = symbol(drv, #name);
	RUNTIME(FIND_RUNTIME)
	DRIVER(FIND_DRIVER)
	*(void **)&register_image = symbol(rt, "__cudaRegisterFatBinary");
	*(void **)&register_kernel = symbol(rt, "__cudaRegisterFunction");
	register_kernel(register_image(&binary), (const char *)(unsigned long)stub, NULL,
			"_Z6kernelPf", -1, NULL, NULL, NULL, NULL, NULL);
	if (call.cudaMalloc(&p, 4096) || call.cuModuleLoadData(&module, image) ||
	    call.cuModuleGetFunction(&function, module, "_Z6directPf") || launch()) {
		fprintf(stderr, "caller: CUDA fails\n");
		exit(1);
	}
	room = (CUdeviceptr)p;
}

static void kernels(int n)
{
	char name[64];
	CUfunction f;

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "_Z12kernel_%05dPfi", i);
		if (call.cuModuleGetFunction(&f, module, name) ||
		    call.cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL))
			exit(1);
	}
}

static void fail(int n)
{
	for (int i = 0; i < n; i++)
		call.cudaLaunchKernel(&module, grid, block, NULL, 0, NULL);
}

static void mark(unsigned long counter)
{
	pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){ .sival_ptr = (void *)counter });
}

/* After as many calls as the library and the tool need to know what they can know of the thread. */
static void step(const struct word *word, int n)
{
	double stop = clock_of(CLOCK_MONOTONIC) + 20e6;

	while (clock_of(CLOCK_MONOTONIC) < stop)
		if (word->fn())
			_exit(3);
	for (int i = 0; i < n; i++) {
		if (word->fn())
			_exit(3);
		mark(step_counter_stops(true));
		word->fn();
		mark(0);
		step_counter_stops(false);
	}
}

static const struct word *find(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i].name))
			return &words[i];
	return NULL;
}

static void work(const char *line)
{
	struct result sum = { 0 };
	char name[16];
	int n;

	job.rate = 1e18;
	n = sscanf(line, "%15s %d %d %lf", name, &job.threads, &job.ms, &job.rate);
	if (n == 2 && !strcmp(name, "kernels"))
		kernels(job.threads);
	if (n == 2 && !strcmp(name, "fail"))
		fail(job.threads);
	if (sscanf(line, "step %15s %d", name, &job.threads) == 2) {
		job.word = find(name);
		if (job.word)
			step(job.word, job.threads);
		return;
	}
	job.word = n >= 3 ? find(name) : NULL;
	if (job.word) {
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
	}
	for (int i = 0; n >= 3 && i < THREADS; i++) {
		sum.calls += results[i].calls;
		sum.cpu += results[i].cpu;
		sum.wall += results[i].wall;
	}
	printf("%lu %.0f %.0f\n", sum.calls, sum.cpu, sum.wall);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char line[128];

	if (argc != 2) {
		fprintf(stderr, "caller: usage: caller DIR\n");
		return 2;
	}
	open_cuda(argv[1]);
	open_nccl(argv[1]);
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, &results[i]))
			return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		work(line);
		fflush(stdout);
	}
	_exit(0);
}
