/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libmiddle.so: C in the middle of Python, as an extension module is; it calls back into Python, from
 * a thread of its own too, and allocates.  No frame pointers.
 */
#include <pthread.h>
#include <stddef.h>

typedef int (*callback)(void);

int cudaMalloc(void **p, size_t size);

__attribute__((noipa)) static int middle_inner(callback fn)
{
	volatile char room[40];
	int ret;

	room[3] = 1;
	ret = fn();
	return ret + room[3] - 1;
}

/* calls fn */
__attribute__((noipa)) int middle_call(callback fn)
{
	volatile long room[9];
	int ret;

	room[3] = 1;
	ret = middle_inner(fn);
	return ret + (int)room[3] - 1;
}

/* calls fn, which writes down the truth, and allocates */
__attribute__((noipa)) int middle_malloc(callback fn, void **p, size_t size)
{
	volatile int ret;

	fn();
	ret = cudaMalloc(p, size);
	return ret;
}

static void *on_thread(void *fn)
{
	volatile int ret = middle_inner((callback)fn);

	(void)ret;
	return NULL;
}

/* calls fn in a thread that Python did not make */
int middle_thread(callback fn)
{
	pthread_t t;

	return pthread_create(&t, NULL, on_thread, (void *)fn) || pthread_join(t, NULL);
}
