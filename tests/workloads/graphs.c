/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* graphs WORD...: makes and launches CUDA graphs, the words from left to right.  A kernel K is a, b or c.
 *   driver         by the driver's functions from here on
 *   eager K N      launches K N times, in no graph
 *   begin          a new stream begins to capture
 *   launch K N     launches K N times on that stream
 *   fork K N       another stream waits for an event of that stream, K is launched N times on it, and that stream waits
 *   external K N   that other stream waits for an event of that stream by a node of its own, and K is launched there
 *   again          replays the last graph on that stream, once
 *   beside K N     launches K N times on a stream that does not capture
 *   end            the capture ends: the graph
 *   create         an empty graph
 *   node K N       adds N nodes of K to it
 *   other N        adds N nodes without kernels
 *   any K N        the same by cudaGraphAddNode()
 *   copy N B       N copies of B bytes to the device, on the stream that captures
 *   copy-beside N B  the same on a stream that does not
 *   fill N B       N memsets of B bytes
 *   call N         N functions of the host
 *   alloc B        allocates B bytes in the order of that stream
 *   free           frees them in the order of that stream
 *   take B         allocates B bytes by cudaMalloc()
 *   copy-node N B  adds N nodes that copy B bytes to the device
 *   copy-set I B   node I that was added, of the last one, copies B bytes
 *   copy-any N B   N copies by cudaGraphAddNode(), from the device to the host
 *   fill-node N B  … that set B bytes
 *   call-node N    … that call a function of the host
 *   alloc-node B   … that allocates B bytes
 *   free-node      … that frees them
 *   many N         N graphs of a node of a each, which stay
 *   child          adds the graph before it to it, as a child
 *   clone          a copy of the graph
 *   make           instantiates the graph; the last one is launched
 *   update         the last one becomes what the graph is now
 *   set I K        node I that was added, of the last one, is K from now on
 *   node-set I K   the same of the graph
 *   enable I 0|1   node I, of the last one, runs not, or again
 *   destroy        the graph
 *   unmake         the last one
 *   replay N       launches the last one N times
 *   fails          what fails: a stream that captures begins to, another one ends, and one that has joined
 *   threads N      as many threads each capture 2 launches of a and 3 of b, and replay them 5 times
 *   own N          the same with each thread's default stream; this thread launches c on its own twice meanwhile
 *   wait           prints "ready" and reads a line
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

#define KERNEL(name) __attribute__((noinline)) static void name(float *data) { __asm__ volatile("" : : "r"(data)); }
KERNEL(a) KERNEL(b) KERNEL(c)

enum { MANY = 4096 };
static void (*const stubs[])(float *) = { a, b, c };
static const char *const symbols[] = { "_Z1aPf", "_Z1bPf", "_Z1cPf" };
static CUfunction functions[3];
static bool by_driver;
static cudaStream_t stream, other;
static cudaEvent_t event;
static cudaGraph_t graph, before;
static cudaGraphExec_t exec;
static cudaGraphNode_t nodes[MANY];
static int n_nodes;
static void *memory;	/* that was allocated last in the order of a stream, or by a node */
static char from[1 << 20], to[1 << 20];

extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);

#define DRIVER(X) \
	X(add, cuGraphAddKernelNode_v2) X(child, cuGraphAddChildGraphNode) \
	X(empty, cuGraphAddEmptyNode) X(add_copy, cuGraphAddMemcpyNode) \
	X(add_fill, cuGraphAddMemsetNode) X(add_call, cuGraphAddHostNode) \
	X(add_alloc, cuGraphAddMemAllocNode) X(add_free, cuGraphAddMemFreeNode) \
	X(set_copy, cuGraphExecMemcpyNodeSetParams) X(copy, cuMemcpyHtoDAsync_v2) \
	X(fill, cuMemsetD8Async) X(call, cuLaunchHostFunc) X(alloc, cuMemAllocAsync) \
	X(free, cuMemFreeAsync) X(clone, cuGraphClone) X(create, cuGraphCreate) \
	X(destroy, cuGraphDestroy) X(exec_destroy, cuGraphExecDestroy) \
	X(exec_set, cuGraphExecKernelNodeSetParams_v2) X(update, cuGraphExecUpdate_v2) \
	X(instantiate, cuGraphInstantiateWithFlags) X(set, cuGraphKernelNodeSetParams_v2) \
	X(launch_graph, cuGraphLaunch) X(enable, cuGraphNodeSetEnabled) X(launch, cuLaunchKernel) \
	X(function, cuModuleGetFunction) X(load, cuModuleLoadData) \
	X(begin, cuStreamBeginCapture_v2) X(end, cuStreamEndCapture) X(record, cuEventRecord) \
	X(wait, cuStreamWaitEvent)
static struct {
#define POINTER(member, function) __typeof__(&function) member;
	DRIVER(POINTER)
} drv;

static void ok(const char *what, int error)
{
	if (error)
		fprintf(stderr, "graphs: %s: %d\n", what, error);
}

/* CALL(runtime's, driver's): one of them. */
#define CALL(rt, dr) ok(#rt, by_driver ? (int)(dr) : (int)(rt))

static void register_kernels(void)
{
	static const unsigned long long image[8] = { 0xba55ed50 };
	static struct { int magic, version; const void *data; void *file; } wrapper = { 0x466243b1, 1, image, NULL };
	void **binary = __cudaRegisterFatBinary(&wrapper);

	for (int i = 0; i < 3; i++)
		__cudaRegisterFunction(binary, (const char *)(uintptr_t)stubs[i], (char *)symbols[i], symbols[i], -1, NULL,
				       NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(binary);
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "graphs: no %s\n", name);
		exit(2);
	}
	return found;
}

static void load_driver(void)
{
	static const char ptx[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n";
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	CUmodule module = NULL;

	if (!lib)
		exit(2);
#define LOAD(member, function) drv.member = (__typeof__(&function))symbol(lib, #function);
	DRIVER(LOAD)
	ok("load", drv.load(&module, ptx));
	for (int i = 0; i < 3; i++)
		ok("function", drv.function(&functions[i], module, symbols[i]));
	by_driver = true;
}

static void launch(int kernel, int n, cudaStream_t on)
{
	const dim3 grid = { 13, 1, 1 }, block = { 128, 1, 1 };
	float *data = NULL;
	void *args[] = { &data };

	for (; n; n--)
		CALL(cudaLaunchKernel((const void *)(uintptr_t)stubs[kernel], grid, block, args, 0, on),
		     drv.launch(functions[kernel], 13, 1, 1, 128, 1, 1, 0, (CUstream)on, args, NULL));
}

static struct cudaKernelNodeParams rt_params(int kernel)
{
	static float *data;
	static void *args[] = { &data };
	struct cudaKernelNodeParams p;

	memset(&p, 0, sizeof(p));
	p.func = (void *)(uintptr_t)stubs[kernel];
	p.gridDim.x = 17;
	p.blockDim.x = 64;
	p.gridDim.y = p.gridDim.z = p.blockDim.y = p.blockDim.z = 1;
	p.kernelParams = args;
	return p;
}

static CUDA_KERNEL_NODE_PARAMS drv_params(int kernel)
{
	CUDA_KERNEL_NODE_PARAMS p;

	memset(&p, 0, sizeof(p));
	p.func = functions[kernel];
	p.gridDimX = 17;
	p.blockDimX = 64;
	p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
	return p;
}

static void fork_join(int kernel, int n)
{
	CALL(cudaEventRecord(event, stream), drv.record((CUevent)event, (CUstream)stream));
	CALL(cudaStreamWaitEvent(other, event, 0), drv.wait((CUstream)other, (CUevent)event, 0));
	launch(kernel, n, other);
	CALL(cudaEventRecord(event, other), drv.record((CUevent)event, (CUstream)other));
	CALL(cudaStreamWaitEvent(stream, event, 0), drv.wait((CUstream)stream, (CUevent)event, 0));
}

static void begin(void)
{
	ok("stream", (int)cudaStreamCreate(&stream));
	CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
	     drv.begin((CUstream)stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static void end(void)
{
	before = graph;
	CALL(cudaStreamEndCapture(stream, &graph), drv.end((CUstream)stream, (CUgraph *)&graph));
}

static void add(int kernel, int n)
{
	const struct cudaKernelNodeParams rt = rt_params(kernel);
	const CUDA_KERNEL_NODE_PARAMS dr = drv_params(kernel);

	for (; n && n_nodes < MANY; n--, n_nodes++)
		CALL(cudaGraphAddKernelNode(&nodes[n_nodes], graph, NULL, 0, &rt),
		     drv.add((CUgraphNode *)&nodes[n_nodes], (CUgraph)graph, NULL, 0, &dr));
}

static void other_nodes(int n)
{
	cudaGraphNode_t node;

	for (; n; n--)
		CALL(cudaGraphAddEmptyNode(&node, graph, NULL, 0), drv.empty((CUgraphNode *)&node, (CUgraph)graph, NULL, 0));
}

static void any(int kernel, int n)
{
#if CUDART_VERSION >= 13000
	const struct cudaKernelNodeParams rt = rt_params(kernel);
	struct cudaGraphNodeParams params;

	memset(&params, 0, sizeof(params));
	params.type = cudaGraphNodeTypeKernel;
	memcpy(&params.kernel, &rt, sizeof(rt));
	for (; n && n_nodes < MANY; n--, n_nodes++)
		ok("node", (int)cudaGraphAddNode(&nodes[n_nodes], graph, NULL, NULL, 0, &params));
#else
	add(kernel, n);
#endif
}

static void copies(int n, size_t bytes, cudaStream_t on)
{
	for (; n; n--)
		CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on),
		     drv.copy((CUdeviceptr)(uintptr_t)to, from, bytes, (CUstream)on));
}

static void fills(int n, size_t bytes)
{
	for (; n; n--)
		CALL(cudaMemsetAsync(to, 0, bytes, stream), drv.fill((CUdeviceptr)(uintptr_t)to, 0, bytes, (CUstream)stream));
}

static void nothing(void *data)
{
	(void)data;
}

static void calls(int n)
{
	for (; n; n--)
		CALL(cudaLaunchHostFunc(stream, nothing, NULL), drv.call((CUstream)stream, nothing, NULL));
}

static CUDA_MEMCPY3D drv_copy(size_t bytes)
{
	CUDA_MEMCPY3D c;

	memset(&c, 0, sizeof(c));
	c.srcMemoryType = CU_MEMORYTYPE_HOST;
	c.srcHost = from;
	c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.dstDevice = (CUdeviceptr)(uintptr_t)to;
	c.WidthInBytes = bytes;
	c.Height = c.Depth = 1;
	return c;
}

static void copy_nodes(int n, size_t bytes)
{
	const CUDA_MEMCPY3D c = drv_copy(bytes);

	for (; n && n_nodes < MANY; n--, n_nodes++)
		CALL(cudaGraphAddMemcpyNode1D(&nodes[n_nodes], graph, NULL, 0, to, from, bytes, cudaMemcpyHostToDevice),
		     drv.add_copy((CUgraphNode *)&nodes[n_nodes], (CUgraph)graph, NULL, 0, &c, NULL));
}

static void any_copies(int n, size_t bytes)
{
#if CUDART_VERSION >= 13000
	struct cudaGraphNodeParams params;

	memset(&params, 0, sizeof(params));
	params.type = cudaGraphNodeTypeMemcpy;
	params.memcpy.copyParams.srcPtr.ptr = from;
	params.memcpy.copyParams.dstPtr.ptr = to;
	params.memcpy.copyParams.srcPtr.pitch = params.memcpy.copyParams.dstPtr.pitch = bytes;
	params.memcpy.copyParams.extent.width = bytes;
	params.memcpy.copyParams.extent.height = params.memcpy.copyParams.extent.depth = 1;
	params.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
	for (; n && n_nodes < MANY; n--, n_nodes++)
		ok("node", (int)cudaGraphAddNode(&nodes[n_nodes], graph, NULL, NULL, 0, &params));
#else
	copy_nodes(n, bytes);
#endif
}

static void set_copy(int node, size_t bytes)
{
	const CUDA_MEMCPY3D c = drv_copy(bytes);

	CALL(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[node], to, from, bytes, cudaMemcpyHostToDevice),
	     drv.set_copy((CUgraphExec)exec, (CUgraphNode)nodes[node], &c, NULL));
}

static void fill_nodes(int n, size_t bytes)
{
	struct cudaMemsetParams rt;
	CUDA_MEMSET_NODE_PARAMS dr;

	memset(&rt, 0, sizeof(rt));
	memset(&dr, 0, sizeof(dr));
	rt.dst = to;
	dr.dst = (CUdeviceptr)(uintptr_t)to;
	rt.elementSize = dr.elementSize = 4;
	rt.width = dr.width = bytes / 4;
	rt.height = dr.height = 1;
	for (; n && n_nodes < MANY; n--, n_nodes++)
		CALL(cudaGraphAddMemsetNode(&nodes[n_nodes], graph, NULL, 0, &rt),
		     drv.add_fill((CUgraphNode *)&nodes[n_nodes], (CUgraph)graph, NULL, 0, &dr, NULL));
}

static void call_nodes(int n)
{
	struct cudaHostNodeParams rt;
	CUDA_HOST_NODE_PARAMS dr;

	memset(&rt, 0, sizeof(rt));
	memset(&dr, 0, sizeof(dr));
	rt.fn = dr.fn = nothing;
	for (; n && n_nodes < MANY; n--, n_nodes++)
		CALL(cudaGraphAddHostNode(&nodes[n_nodes], graph, NULL, 0, &rt),
		     drv.add_call((CUgraphNode *)&nodes[n_nodes], (CUgraph)graph, NULL, 0, &dr));
}

static void alloc_node(size_t bytes)
{
	struct cudaMemAllocNodeParams rt;
	CUDA_MEM_ALLOC_NODE_PARAMS dr;
	cudaGraphNode_t node;

	memset(&rt, 0, sizeof(rt));
	memset(&dr, 0, sizeof(dr));
	rt.bytesize = dr.bytesize = bytes;
	CALL(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &rt),
	     drv.add_alloc((CUgraphNode *)&node, (CUgraph)graph, NULL, 0, &dr));
	memory = by_driver ? (void *)(uintptr_t)dr.dptr : rt.dptr;
}

static void free_node(void)
{
	cudaGraphNode_t node;

	CALL(cudaGraphAddMemFreeNode(&node, graph, NULL, 0, memory),
	     drv.add_free((CUgraphNode *)&node, (CUgraph)graph, NULL, 0, (CUdeviceptr)(uintptr_t)memory));
}

static void make(void)
{
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0),
	     drv.instantiate((CUgraphExec *)&exec, (CUgraph)graph, 0));
}

static void update(void)
{
	cudaGraphExecUpdateResultInfo rt;
	CUgraphExecUpdateResultInfo dr;

	CALL(cudaGraphExecUpdate(exec, graph, &rt), drv.update((CUgraphExec)exec, (CUgraph)graph, &dr));
}

static void replay(int n, cudaStream_t on)
{
	for (; n; n--)
		CALL(cudaGraphLaunch(exec, on), drv.launch_graph((CUgraphExec)exec, (CUstream)on));
}

static void set(bool of_exec, int node, int kernel)
{
	const struct cudaKernelNodeParams rt = rt_params(kernel);
	const CUDA_KERNEL_NODE_PARAMS dr = drv_params(kernel);

	if (of_exec)
		CALL(cudaGraphExecKernelNodeSetParams(exec, nodes[node], &rt),
		     drv.exec_set((CUgraphExec)exec, (CUgraphNode)nodes[node], &dr));
	else
		CALL(cudaGraphKernelNodeSetParams(nodes[node], &rt), drv.set((CUgraphNode)nodes[node], &dr));
}

static void child(void)
{
	cudaGraphNode_t node;

	CALL(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, before),
	     drv.child((CUgraphNode *)&node, (CUgraph)graph, NULL, 0, (CUgraph)before));
}

static void copy(void)
{
	before = graph;
	CALL(cudaGraphClone(&graph, before), drv.clone((CUgraph *)&graph, (CUgraph)before));
}

static void create(void)
{
	before = graph;
	n_nodes = 0;
	CALL(cudaGraphCreate(&graph, 0), drv.create((CUgraph *)&graph, 0));
}

static void fails(void)
{
	cudaStream_t another = NULL;
	cudaGraph_t none = NULL;

	(void)cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	(void)cudaStreamCreate(&another);
	(void)cudaStreamEndCapture(another, &none);
	(void)cudaStreamEndCapture(other, &none);
}

static void *thread(void *own)
{
	cudaStream_t s = NULL;
	cudaGraph_t g = NULL;
	cudaGraphExec_t e = NULL;

	if (own)
		s = cudaStreamPerThread;
	else
		ok("stream", (int)cudaStreamCreate(&s));
	ok("begin", (int)cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	launch(0, 2, s);
	launch(1, 3, s);
	ok("end", (int)cudaStreamEndCapture(s, &g));
	ok("instantiate", (int)cudaGraphInstantiateWithFlags(&e, g, 0));
	ok("destroy", (int)cudaGraphDestroy(g));
	for (int i = 0; i < 5; i++)
		ok("launch", (int)cudaGraphLaunch(e, s));
	return own;
}

static void threads(int n, bool own)
{
	pthread_t all[64];

	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&all[i], NULL, thread, own ? all : NULL);
	if (own)
		launch(2, 2, cudaStreamPerThread);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(all[i], NULL);
}

static int kernel_of(const char *word)
{
	return word[0] - 'a';
}

/* Runs a word with its arguments; returns how many those are. */
static int run(char **w)
{
	const char *word = *w;

	if (!strcmp(word, "eager") || !strcmp(word, "beside"))
		return launch(kernel_of(w[1]), atoi(w[2]), NULL), 2;
	if (!strcmp(word, "launch"))
		return launch(kernel_of(w[1]), atoi(w[2]), stream), 2;
	if (!strcmp(word, "fork"))
		return fork_join(kernel_of(w[1]), atoi(w[2])), 2;
	if (!strcmp(word, "external")) {
		CALL(cudaEventRecord(event, stream), drv.record((CUevent)event, (CUstream)stream));
		CALL(cudaStreamWaitEvent(other, event, 1), drv.wait((CUstream)other, (CUevent)event, 1));
		return launch(kernel_of(w[1]), atoi(w[2]), other), 2;
	}
	if (!strcmp(word, "node"))
		return add(kernel_of(w[1]), atoi(w[2])), 2;
	if (!strcmp(word, "set") || !strcmp(word, "node-set"))
		return set(word[0] == 's', atoi(w[1]), kernel_of(w[2])), 2;
	if (!strcmp(word, "enable")) {
		CALL(cudaGraphNodeSetEnabled(exec, nodes[atoi(w[1])], atoi(w[2])),
		     drv.enable((CUgraphExec)exec, (CUgraphNode)nodes[atoi(w[1])], atoi(w[2])));
		return 2;
	}
	if (!strcmp(word, "many")) {
		for (int i = atoi(w[1]); i; i--) {
			create();
			add(0, 1);
		}
		return 1;
	}
	if (!strcmp(word, "any"))
		return any(kernel_of(w[1]), atoi(w[2])), 2;
	if (!strcmp(word, "copy") || !strcmp(word, "copy-beside"))
		return copies(atoi(w[1]), (size_t)atoi(w[2]), word[4] ? other : stream), 2;
	if (!strcmp(word, "fill"))
		return fills(atoi(w[1]), (size_t)atoi(w[2])), 2;
	if (!strcmp(word, "call"))
		return calls(atoi(w[1])), 1;
	if (!strcmp(word, "alloc")) {
		CALL(cudaMallocAsync(&memory, (size_t)atoi(w[1]), stream),
		     drv.alloc((CUdeviceptr *)&memory, (size_t)atoi(w[1]), (CUstream)stream));
		return 1;
	}
	if (!strcmp(word, "take")) {
		void *taken = NULL;

		ok("take", (int)cudaMalloc(&taken, (size_t)atoi(w[1])));
		return 1;
	}
	if (!strcmp(word, "copy-node"))
		return copy_nodes(atoi(w[1]), (size_t)atoi(w[2])), 2;
	if (!strcmp(word, "copy-set"))
		return set_copy(atoi(w[1]), (size_t)atoi(w[2])), 2;
	if (!strcmp(word, "copy-any"))
		return any_copies(atoi(w[1]), (size_t)atoi(w[2])), 2;
	if (!strcmp(word, "fill-node"))
		return fill_nodes(atoi(w[1]), (size_t)atoi(w[2])), 2;
	if (!strcmp(word, "call-node"))
		return call_nodes(atoi(w[1])), 1;
	if (!strcmp(word, "alloc-node"))
		return alloc_node((size_t)atoi(w[1])), 1;
	if (!strcmp(word, "other"))
		return other_nodes(atoi(w[1])), 1;
	if (!strcmp(word, "replay"))
		return replay(atoi(w[1]), stream), 1;
	if (!strcmp(word, "threads"))
		return threads(atoi(w[1]), false), 1;
	if (!strcmp(word, "own"))
		return threads(atoi(w[1]), true), 1;
	if (!strcmp(word, "driver"))
		load_driver();
	else if (!strcmp(word, "free"))
		CALL(cudaFreeAsync(memory, stream), drv.free((CUdeviceptr)(uintptr_t)memory, (CUstream)stream));
	else if (!strcmp(word, "free-node"))
		free_node();
	else if (!strcmp(word, "begin"))
		begin();
	else if (!strcmp(word, "end"))
		end();
	else if (!strcmp(word, "again"))
		replay(1, stream);
	else if (!strcmp(word, "create"))
		create();
	else if (!strcmp(word, "child"))
		child();
	else if (!strcmp(word, "clone"))
		copy();
	else if (!strcmp(word, "make"))
		make();
	else if (!strcmp(word, "update"))
		update();
	else if (!strcmp(word, "destroy"))
		CALL(cudaGraphDestroy(graph), drv.destroy((CUgraph)graph));
	else if (!strcmp(word, "unmake"))
		CALL(cudaGraphExecDestroy(exec), drv.exec_destroy((CUgraphExec)exec));
	else if (!strcmp(word, "fails"))
		fails();
	else if (!strcmp(word, "wait")) {
		puts("ready");
		fflush(stdout);
		(void)getchar();
	} else {
		fprintf(stderr, "graphs: no word %s\n", word);
		exit(2);
	}
	return 0;
}

int main(int argc, char **argv)
{
	register_kernels();
	ok("stream", (int)cudaStreamCreate(&other));
	ok("event", (int)cudaEventCreate(&event));
	for (int i = 1; i < argc; i++)
		i += run(argv + i);
	return 0;
}
