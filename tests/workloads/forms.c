/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* forms: calls of functions whose parameters CUDA 13 has changed, by a runtime that has them as CUDA 13 does
 * (-DMAJOR=13), or as those before (11, 12).  Device 0 is current; prefetches: 7 to device 1, 3 to the host; advice:
 * 5 about device 1; copies: 11 batches in a stream of device 1, the last argument.  With -DRUNTIME only the runtime,
 * with -DPROGRAM only the rest.
 */
#include <stddef.h>

struct location { int type, id; };

#if MAJOR == 13
#define TO(device) (struct location){ device < 0 ? 2 : 1, device < 0 ? 0 : device }, 0
#define ABOUT(device) (struct location){ 1, device }
#define FAIL
int cudaMemPrefetchAsync(const void *p, size_t n, struct location to, unsigned flags, void *stream);
int cudaMemAdvise(const void *p, size_t n, int advice, struct location about);
int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t n, void *attrs, size_t *which, size_t nattrs,
			 void *stream);
#else
#define TO(device) device
#define ABOUT(device) device
#define FAIL &failed,
int cudaMemPrefetchAsync(const void *p, size_t n, int device, void *stream);
int cudaMemAdvise(const void *p, size_t n, int advice, int device);
int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t n, void *attrs, size_t *which, size_t nattrs,
			 size_t *failed, void *stream);
#endif
int cudaSetDevice(int device);
int cudaStreamCreate(void **stream);

#ifndef PROGRAM
#define KEPT(name, ...) __attribute__((noipa, visibility("default"))) int name(__VA_ARGS__) { return 0; }
#define IS __attribute__((unused))

KEPT(cudaSetDevice, int device IS)
#if MAJOR == 13
KEPT(cudaMemPrefetchAsync, const void *p IS, size_t n IS, struct location to IS, unsigned flags IS, void *stream IS)
KEPT(cudaMemAdvise, const void *p IS, size_t n IS, int advice IS, struct location about IS)
KEPT(cudaMemcpyBatchAsync, void **to IS, void **from IS, size_t *sizes IS, size_t n IS, void *attrs IS,
     size_t *which IS, size_t nattrs IS, void *stream IS)
#else
KEPT(cudaThreadExit, void)
KEPT(cudaMemPrefetchAsync, const void *p IS, size_t n IS, int device IS, void *stream IS)
KEPT(cudaMemAdvise, const void *p IS, size_t n IS, int advice IS, int device IS)
KEPT(cudaMemcpyBatchAsync, void **to IS, void **from IS, size_t *sizes IS, size_t n IS, void *attrs IS,
     size_t *which IS, size_t nattrs IS, size_t *failed IS, void *stream IS)
#endif

__attribute__((noipa, visibility("default"))) int cudaStreamCreate(void **stream)
{
	*stream = (void *)0x5500;
	return 0;
}
#endif

#ifndef RUNTIME
int main(void)
{
	void *stream = NULL, *p = &stream;
	size_t size = 64, which = 0;
#if MAJOR != 13
	size_t failed = 0;
#endif

	cudaSetDevice(1);
	cudaStreamCreate(&stream);
	cudaSetDevice(0);
	for (int i = 0; i < 7; i++)
		cudaMemPrefetchAsync(p, size, TO(1), NULL);
	for (int i = 0; i < 3; i++)
		cudaMemPrefetchAsync(p, size, TO(-1), NULL);
	for (int i = 0; i < 5; i++)
		cudaMemAdvise(p, size, 3, ABOUT(1));
	for (int i = 0; i < 11; i++)
		cudaMemcpyBatchAsync(&p, &p, &size, 1, NULL, &which, 1, FAIL stream);
	return 0;
}
#endif
