/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Lanes that go different ways: loops of different lengths, early returns, a switch. */
#include "gpu.h"

__host__ __device__ static unsigned steps(unsigned n)
{
	unsigned i = 0;

	while (n > 1) {
		n = n % 2 ? 3 * n + 1 : n / 2;
		i++;
		if (i > 1000)
			break;
	}
	return i;
}

__host__ __device__ static int ways(int i)
{
	int value = 0;

	switch (i % 7) {
	case 0: return i;
	case 1: value = i * 3; break;
	case 2: value = -i; /* fall through */
	case 3: value += 5; break;
	case 4:
		for (int k = 0; k < i % 11; k++)
			value += k % 3 ? k : -k;
		break;
	case 5: value = i % 2 ? i / 3 : i / 5; break;
	default: value = 1 << i % 20;
	}
	return value ^ 1;
}

__global__ void diverge(unsigned *collatz, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	collatz[i] = steps(i);
	out[i] = ways(i);
}

void gpu_divergence(struct results *r)
{
	enum { N = 1009 };
	static unsigned collatz[N];
	static int out[N];
	unsigned *dcollatz = device<unsigned>(NULL, N);
	int *dout = device<int>(NULL, N);

	diverge<<<(N + 95) / 96, 96>>>(dcollatz, dout, N);
	fetch(collatz, dcollatz, N);
	fetch(out, dout, N);
	for (int i = 0; i < N; i++) {
		r->add(collatz[i] == steps(i));
		r->add(out[i] == ways(i));
	}
}
