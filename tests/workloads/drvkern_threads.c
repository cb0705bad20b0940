/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* drvkern: threads that load, launch and allocate at the same time, on two devices. */
#include <pthread.h>

#include "drvkern.h"

enum { THREADS = 5, ROUNDS = 23, N = 97 };

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".global .u32 launches = 100;\n"
	".visible .entry raise(.param .u64 p, .param .u32 by)\n"
	"{\n"
	"	.reg .b64 %rd<4>;\n"
	"	.reg .b32 %r<6>;\n"
	"	.reg .pred %p1;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [by];\n"
	"	mov.u32 %r2, %tid.x;\n"
	"	mul.wide.u32 %rd2, %r2, 4;\n"
	"	add.u64 %rd3, %rd1, %rd2;\n"
	"	ld.global.u32 %r3, [%rd3];\n"
	"	mad.lo.u32 %r4, %r1, %r2, %r3;\n"
	"	st.global.u32 [%rd3], %r4;\n"
	"	setp.eq.u32 %p1, %r2, 0;\n"
	"	@%p1 red.global.add.u32 [launches], 1;\n"
	"	ret;\n"
	"}\n";

struct thread {
	pthread_t thread;
	CUlibrary shared;
	int dev;
	unsigned by;
	struct results results;
};

static void *work(void *arg)
{
	struct thread *t = arg;
	struct results *r = &t->results;
	unsigned got[N], i;
	CUdeviceptr p, other;
	CUcontext ctx;
	CUkernel kernel;
	CUfunction f;
	CUmodule m;
	void *params[] = { &p, &t->by };

	TRY(cuDevicePrimaryCtxRetain(&ctx, t->dev));
	TRY(cuCtxSetCurrent(ctx));
	p = device(NULL, sizeof(got));
	for (i = 0; i < ROUNDS; i++) {
		TRY(cuLibraryGetKernel(&kernel, t->shared, "raise"));
		TRY(cuKernelGetFunction(&f, kernel));
		TRY(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
		TRY(cuModuleLoadData(&m, text));
		TRY(cuMemAlloc_v2(&other, 4096 * (i + 1)));
		TRY(cuModuleGetFunction(&f, m, "raise"));
		TRY(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
		TRY(cuCtxSynchronize());
		TRY(cuMemFree_v2(other));
		TRY(cuModuleUnload(m));
	}
	TRY(cuMemcpyDtoH_v2(got, p, sizeof(got)));
	for (i = 0; i < N; i++)
		IS(got[i] == 2 * ROUNDS * t->by * i);
	TRY(cuMemFree_v2(p));
	return NULL;
}

void part_concurrent(struct results *r)
{
	struct thread threads[THREADS];
	CUdeviceptr p;
	CUcontext ctx;
	CUlibrary shared;
	unsigned count = 0, i;

	TRY(cuLibraryLoadData(&shared, text, NULL, NULL, 0, NULL, NULL, 0));
	for (i = 0; i < THREADS; i++) {
		threads[i] = (struct thread) { .shared = shared, .dev = (int)i % 2, .by = i + 1 };
		if (pthread_create(&threads[i].thread, NULL, work, &threads[i]))
			exit(1);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		r->right += threads[i].results.right;
		r->all += threads[i].results.all;
	}
	/* each device counted its own */
	for (i = 0; i < 2; i++) {
		TRY(cuDevicePrimaryCtxRetain(&ctx, (int)i));
		TRY(cuCtxSetCurrent(ctx));
		TRY(cuLibraryGetGlobal(&p, NULL, shared, "launches"));
		TRY(cuMemcpyDtoH_v2(&count, p, sizeof(count)));
		IS(count == 100 + ROUNDS * (i ? THREADS / 2 : (THREADS + 1) / 2));
	}
	TRY(cuLibraryUnload(shared));
	TRY(cuCtxSetCurrent(r->ctx));
}
