/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* drvkern: what kernels may access, faults, graphs, time. */
#include <time.h>

#include "drvkern.h"

/* put(p, value): *p = value; helper_call(clock): %gridid, %globaltimer, %smid of a block */
static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry put(.param .u64 p, .param .u32 v)\n"
	"{\n"
	"	.reg .b64 %rd<3>;\n"
	"	.reg .b32 %r<2>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [v];\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n"
	"	st.global.u32 [%rd2], %r1;\n"
	"	ret;\n"
	"}\n"
	".visible .entry affine(.param .u64 p, .param .u32 times, .param .u32 plus)\n"
	"{\n"
	"	.reg .b64 %rd<2>;\n"
	"	.reg .b32 %r<5>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [times];\n"
	"	ld.param.u32 %r2, [plus];\n"
	"	ld.global.u32 %r3, [%rd1];\n"
	"	mad.lo.u32 %r4, %r3, %r1, %r2;\n"
	"	st.global.u32 [%rd1], %r4;\n"
	"	ret;\n"
	"}\n"
	".visible .entry look(.param .u64 p)\n"
	"{\n"
	"	.reg .b64 %rd<5>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	mov.u64 %rd2, %gridid;\n"
	"	mov.u64 %rd3, %globaltimer;\n"
	"	st.global.u64 [%rd1], %rd2;\n"
	"	st.global.u64 [%rd1+8], %rd3;\n"
	"	ret;\n"
	"}\n";

static CUfunction function(const char *name)
{
	CUfunction f;
	CUmodule m;

	TRY(cuModuleLoadData(&m, text));
	TRY(cuModuleGetFunction(&f, m, name));
	return f;
}

static CUresult put(CUfunction f, CUdeviceptr p, unsigned value)
{
	void *params[] = { &p, &value };

	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	return cuCtxSynchronize();
}

static unsigned got(CUdeviceptr p)
{
	unsigned value = 0;

	TRY(cuMemcpyDtoH_v2(&value, p, sizeof(value)));
	return value;
}

void part_memory(struct results *r)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED };
	CUmemAccessDesc access = { .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	static unsigned registered[4096];
	CUfunction f = function("put");
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p, range;
	unsigned *pinned;

	TRY(cuMemAlloc_v2(&p, 4));
	IS(put(f, p, 7) == CUDA_SUCCESS && got(p) == 7);
	/* a GPU's pages have 2 MiB */
	IS(put(f, (p & ~((2ull << 20) - 1)) + (2 << 20) - 4, 11) == CUDA_SUCCESS);
	TRY(cuMemFree_v2(p));
	TRY(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
	IS(put(f, p + 60, 13) == CUDA_SUCCESS && ((unsigned *)(uintptr_t)p)[15] == 13);
	TRY(cuMemAllocHost_v2((void **)&pinned, 64));
	IS(put(f, (CUdeviceptr)(uintptr_t)&pinned[3], 17) == CUDA_SUCCESS && pinned[3] == 17);
	TRY(cuMemHostRegister_v2(registered, sizeof(registered), 0));
	IS(put(f, (CUdeviceptr)(uintptr_t)&registered[4095], 19) == CUDA_SUCCESS && registered[4095] == 19);
	TRY(cuMemAllocAsync(&p, 64, NULL));
	IS(put(f, p, 23) == CUDA_SUCCESS && got(p) == 23);
	prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	TRY(cuMemAddressReserve(&range, 4 << 20, 0, 0, 0));
	TRY(cuMemCreate(&handle, 2 << 20, &prop, 0));
	TRY(cuMemMap(range + (2 << 20), 2 << 20, 0, handle, 0));
	TRY(cuMemSetAccess(range + (2 << 20), 2 << 20, &access, 1));
	IS(put(f, range + (2 << 20), 29) == CUDA_SUCCESS && got(range + (2 << 20)) == 29);
	/* the other half is reserved, but not mapped: the last thing that this context does */
	IS((int)put(f, range + (2 << 20) - 4, 31) == 700);
}

/* Each fault in a context of its own, as it is that context's end. */
static void fault(struct results *r, CUdeviceptr p, int error)
{
	CUdeviceptr other;
	CUcontext ctx;
	CUfunction f;

	TRY(cuCtxCreate_v4(&ctx, NULL, 0, 0));
	f = function("put");
	IS((int)put(f, p, 1) == error);
	IS((int)cuCtxSynchronize() == error);
	IS((int)cuMemAlloc_v2(&other, 64) == error);
	IS((int)cuStreamSynchronize(NULL) == error);
	TRY(cuCtxDestroy_v2(ctx));
	TRY(cuCtxSetCurrent(r->ctx));
	TRY(cuCtxSynchronize());
}

void part_faults(struct results *r)
{
	static unsigned plain[2048];
	void *params[2];
	CUfunction f = function("put");
	CUdeviceptr p = device(NULL, 64), zero = 0, other;
	unsigned value = 3;

	fault(r, 0, 700);
	fault(r, 4096, 700);
	fault(r, p + (1ull << 36), 700);
	fault(r, 0xfffffffffffffffc, 700);
	fault(r, (CUdeviceptr)(uintptr_t)&plain[1024], 700);
	fault(r, p + 2, 716);
	fault(r, 1, 716);
	TRY(cuMemFree_v2(p));
	IS(put(f, device(NULL, 4), 5) == CUDA_SUCCESS);
	/* untold until a call waits */
	params[0] = &zero;
	params[1] = &value;
	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	TRY(cuMemAlloc_v2(&other, 64));
	IS((int)cuStreamSynchronize(NULL) == 700);
	IS((int)cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == 700);
}

static CUDA_KERNEL_NODE_PARAMS node_of(CUfunction f, void **params)
{
	return (CUDA_KERNEL_NODE_PARAMS) {
		.func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
		.kernelParams = params,
	};
}

void part_graph(struct results *r)
{
	CUDA_MEMSET_NODE_PARAMS set = { .value = 5, .elementSize = 4, .width = 1, .height = 1 };
	CUdeviceptr p = device(NULL, 4);
	unsigned times = 2, plus = 1;
	void *params[] = { &p, &times, &plus };
	CUDA_KERNEL_NODE_PARAMS kernel = node_of(function("affine"), params);
	CUgraphNode first, second, third, inner, nodes[4];
	CUgraph graph, child;
	CUgraphExec exec;
	size_t count = 4;

	set.dst = p;
	TRY(cuGraphCreate(&child, 0));
	TRY(cuGraphAddKernelNode_v2(&inner, child, NULL, 0, &kernel));
	TRY(cuGraphCreate(&graph, 0));
	/* added in the reverse of their order: memset, times 2 and 1, times 3, the child */
	TRY(cuGraphAddChildGraphNode(&third, graph, NULL, 0, child));
	times = 3, plus = 0;
	TRY(cuGraphAddKernelNode_v2(&second, graph, NULL, 0, &kernel));
	TRY(cuGraphAddMemsetNode(&first, graph, NULL, 0, &set, NULL));
	TRY(cuGraphAddDependencies_v2(graph, &first, &second, NULL, 1));
	TRY(cuGraphAddDependencies_v2(graph, &second, &third, NULL, 1));
	TRY(cuGraphGetNodes(graph, nodes, &count));
	IS(count == 3 && nodes[0] == third && nodes[2] == first);
	TRY(cuGraphInstantiateWithFlags(&exec, graph, 0));
	IS(got(p) == 0);
	TRY(cuGraphLaunch(exec, NULL));
	IS(got(p) == 5 * 3 * 2 + 1);
	times = 100, plus = 7;
	TRY(cuGraphExecKernelNodeSetParams_v2(exec, second, &kernel));
	TRY(cuGraphLaunch(exec, NULL));
	IS(got(p) == (5 * 100 + 7) * 2 + 1);
	TRY(cuGraphExecDestroy(exec));
	/* a circle has no order */
	TRY(cuGraphAddDependencies_v2(graph, &third, &first, NULL, 1));
	IS(cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_ERROR_INVALID_VALUE);
	TRY(cuGraphDestroy(graph));
	TRY(cuGraphDestroy(child));
}

void part_time(struct results *r)
{
	CUdeviceptr p = device(NULL, 16);
	unsigned long long seen[2], last[2] = { 0, 0 };
	CUfunction f = function("look");
	void *params[] = { &p };
	CUevent begin, end;
	long long ahead;
	float ms = -1;
	int i;

	TRY(cuEventCreate(&begin, 0));
	TRY(cuEventCreate(&end, 0));
	for (i = 0; i < 7; i++) {
		TRY(cuEventRecord(begin, NULL));
		TRY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
		TRY(cuEventRecord(end, NULL));
		TRY(cuMemcpyDtoH_v2(seen, p, sizeof(seen)));
		IS(i ? seen[0] == last[0] + 1 : seen[0] > 0);
		IS(seen[1] > last[1]);
		ahead = (long long)seen[1] / 1000000000 - (long long)time(NULL);
		IS(ahead > -3600 && ahead < 3600);
		TRY(cuEventElapsedTime_v2(&ms, begin, end));
		IS(ms > 0 && ms < 1);
		memcpy(last, seen, sizeof(last));
	}
}
