/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A cooperative grid, whose blocks wait for each other. */
#include <cooperative_groups.h>

#include "gpu.h"

namespace cg = cooperative_groups;

__global__ void rotate(int *a, int *b, int n, int rounds)
{
	cg::grid_group grid = cg::this_grid();
	int i = (int)grid.thread_rank();

	for (int k = 0; k < rounds; k++) {
		if (i < n)
			b[(i + 1) % n] = a[i] + 1;
		grid.sync();
		if (i < n)
			a[i] = b[i];
		grid.sync();
	}
}

void gpu_grid_sync(struct results *r)
{
	enum { N = 197, ROUNDS = 5 };
	static int host[N];

	for (int i = 0; i < N; i++)
		host[i] = i * 100;
	int *a = device(host, N), *b = device<int>(NULL, N), n = N, rounds = ROUNDS;
	void *args[] = { &a, &b, &n, &rounds };
	TRY(cudaLaunchCooperativeKernel((void *)rotate, dim3(7), dim3(32), args, 0, 0));
	fetch(host, a, N);
	TRY(cudaFree(b));
	for (int i = 0; i < N; i++)
		r->add(host[(i + ROUNDS) % N] == i * 100 + ROUNDS);
	/* more blocks than are resident at once */
	r->add(cudaLaunchCooperativeKernel((void *)rotate, dim3(4096), dim3(1024), args, 0, 0) ==
	       cudaErrorCooperativeLaunchTooLarge);
	cudaGetLastError();
}
