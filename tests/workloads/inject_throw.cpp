/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: C++ exceptions that a call passes on, from a callback to its caller. */
#include "inject.h"
#include "cuda_api.h"

static int destroyed;

struct object {
	~object() { destroyed++; }
};

static void throws(void *data)
{
	object o;

	throw *static_cast<int *>(data);
}

static void calls(int *what)
{
	object o;

	cudaLaunchHostFunc(nullptr, throws, what);
}

int part_throw(int argc, char **argv)
{
	int n = inject_count(argc, argv), caught = 0;

	for (int i = 0; i < n; i++) {
		int what = i;
		try {
			calls(&what);
		} catch (int got) {
			caught += got == i;
		}
		inject_allocate(1);
	}
	inject_must(caught == n && destroyed == 2 * n, "an exception was not caught");
	return 0;
}
