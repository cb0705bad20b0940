/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions that are inlined from a header. */
#ifndef TESTS_WORKLOADS_INLINED_H
#define TESTS_WORKLOADS_INLINED_H

#define INLINED inline __attribute__((always_inline))

struct device {
	static INLINED int allocate(size_t size)
	{
		void *p;
		int ret = cudaMalloc(&p, size);

		__asm__ volatile("" : : "r"(p) : "memory");
		return ret;
	}
};

template <typename T> INLINED int many(T n)
{
	int ret = 0;

	for (T i = 0; i < n; i++)
		ret += device::allocate(sizeof(T) << 10);
	__asm__ volatile("" ::: "memory");
	return ret;
}

#endif
