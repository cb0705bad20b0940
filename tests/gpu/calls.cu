/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Recursion, which needs each lane's own stack, and calls by pointers. */
#include "gpu.h"

__host__ __device__ __noinline__ static unsigned ackermann(unsigned m, unsigned n)
{
	return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __noinline__ static int thrice(int x)
{
	return 3 * x;
}

__host__ __device__ __noinline__ static int less_seven(int x)
{
	return x - 7;
}

__host__ __device__ __noinline__ static int squared(int x)
{
	return x * x;
}

typedef int (*function)(int);
__device__ function table[] = { thrice, less_seven, squared };

__global__ void call(unsigned *recursive, int *indirect)
{
	int i = threadIdx.x;

	recursive[i] = ackermann(i % 3, i % 5);
	indirect[i] = table[i % 3](i) + table[i / 3 % 3](100);
}

void gpu_calls(struct results *r)
{
	enum { N = 61 };
	static const function here[] = { thrice, less_seven, squared };
	static unsigned recursive[N];
	static int indirect[N];
	unsigned *drecursive = device<unsigned>(NULL, N);
	int *dindirect = device<int>(NULL, N);

	call<<<1, N>>>(drecursive, dindirect);
	fetch(recursive, drecursive, N);
	fetch(indirect, dindirect, N);
	for (int i = 0; i < N; i++) {
		r->add(recursive[i] == ackermann(i % 3, i % 5));
		r->add(indirect[i] == here[i % 3](i) + here[i / 3 % 3](100));
	}
}
