/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The simulated runtime's inside. */
#ifndef TESTS_SIM_RT_H
#define TESTS_SIM_RT_H

#include <pthread.h>
#include "sim.h"

#ifndef SIM_CUDART
#define SIM_CUDART 13
#endif
#ifdef RT_STATIC
#define RT_EXPORTED HIDDEN	/* as in NVIDIA's: local symbols of the program */
#else
#define RT_EXPORTED EXPORTED
#endif

/* The driver's functions the runtime uses; those of the second list have a twin
 * for the per-thread default stream.
 */
#define RT_DRIVER_PLAIN(X) \
	X(cuInit) X(cuDeviceGetCount) X(cuDriverGetVersion) X(cuDeviceGetAttribute) X(cuDeviceTotalMem_v2) \
	X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxGetDevice) X(cuCtxSetLimit) X(cuCtxSynchronize) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset_v2) \
	X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemAllocManaged) X(cuMemFree_v2) \
	X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostRegister_v2) X(cuMemHostUnregister) \
	X(cuMemHostGetDevicePointer_v2) X(cuMemHostGetFlags) X(cuMemGetInfo_v2) \
	X(cuPointerGetAttribute) X(cuMemAdvise_v2) \
	X(cuIpcGetMemHandle) X(cuIpcOpenMemHandle_v2) X(cuIpcCloseMemHandle) \
	X(cuImportExternalMemory) X(cuExternalMemoryGetMappedMipmappedArray) \
	X(cuDestroyExternalMemory) \
	X(cuArrayCreate_v2) X(cuArray3DCreate_v2) X(cuArrayDestroy) \
	X(cuArray3DGetDescriptor_v2) \
	X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) \
	X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolSetAttribute) \
	X(cuMemPoolGetAttribute) X(cuMemPoolTrimTo) \
	X(cuDeviceGetDefaultMemPool) X(cuDeviceGetMemPool) X(cuDeviceSetMemPool) \
	X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) \
	X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventSynchronize) X(cuEventQuery) \
	X(cuEventElapsedTime_v2) \
	X(cuModuleLoadData) X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) \
	X(cuLibraryLoadData) X(cuLibraryGetKernel) X(cuLibraryGetGlobal) X(cuKernelGetFunction) \
	X(cuGraphClone) X(cuGraphCreate) X(cuGraphExecUpdate_v2) X(cuGraphNodeGetType) X(cuGraphNodeSetEnabled) X(cuGraphAddKernelNode_v2) X(cuGraphGetNodes) \
	X(cuGraphInstantiateWithFlags) X(cuGraphExecDestroy) X(cuGraphDestroy) \
	X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphAddHostNode) X(cuGraphAddEmptyNode) \
	X(cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode) X(cuGraphExecMemcpyNodeSetParams) \
	X(cuGraphAddChildGraphNode) X(cuGraphAddDependencies_v2) \
	X(cuGraphKernelNodeSetParams_v2) X(cuGraphExecKernelNodeSetParams_v2) \
	X(cuLibraryGetManaged) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyAvailableDynamicSMemPerBlock) \
	X(cuTexObjectCreate) X(cuTexObjectDestroy) X(cuSurfObjectCreate) X(cuSurfObjectDestroy)

#define RT_DRIVER_THREAD(X) \
	X(cuMemcpy) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyDtoD_v2) \
	X(cuMemcpyAsync) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) \
	X(cuMemcpyDtoDAsync_v2) X(cuMemcpyPeer) X(cuMemcpyPeerAsync) \
	X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2DAsync_v2) X(cuMemcpy3D_v2) X(cuMemcpy3DAsync_v2) \
	X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync) \
	X(cuMemsetD8_v2) X(cuMemsetD8Async) X(cuMemsetD2D8_v2) X(cuMemsetD2D8Async) \
	X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) X(cuMemPrefetchAsync_v2) \
	X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) X(cuLaunchHostFunc) \
	X(cuEventRecord) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) X(cuStreamIsCapturing) \
	X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuGraphLaunch)

struct rt_driver {
#define RT_POINTER(name) __typeof__(name) *name;
	RT_DRIVER_PLAIN(RT_POINTER)
	RT_DRIVER_THREAD(RT_POINTER)
};

/* [1] has the twins. */
extern HIDDEN struct rt_driver rt_driver[2];
#define D (&rt_driver[pt])

enum { RT_DEVICES = 8 };
extern HIDDEN __thread int rt_device;		/* cudaSetDevice's */
extern HIDDEN __thread cudaError_t rt_last_error;

HIDDEN cudaError_t rt_driver_load(void);
HIDDEN cudaError_t rt_enter(void);		/* driver loaded, a context current */
HIDDEN CUcontext rt_primary(int dev);
extern HIDDEN pthread_mutex_t rt_register_lock;
HIDDEN cudaError_t rt_done(int ret);		/* remembers an error */
HIDDEN cudaError_t rt_symbol(const void *symbol, size_t size, size_t offset, CUdeviceptr *addr);

HIDDEN void rt_describe(CUDA_ARRAY3D_DESCRIPTOR *d, const struct cudaChannelFormatDesc *c,
			size_t width, size_t height, size_t depth, unsigned flags);

HIDDEN cudaError_t rt_box(CUDA_MEMCPY3D *to, const struct cudaMemcpy3DParms *from);

/* RT(name, (params), (args), trace...) { body }; the body sees pt, 1 in a twin. */
#define RT_UNPAREN(...) __VA_ARGS__
#define RT_WRAP(name, body, params, args, ...) \
	RT_EXPORTED __typeof__(name) name; \
	cudaError_t name params \
	{ \
		SIM_CALL("rt", name, body, args, __VA_ARGS__); \
		return rt_done(ret); \
	}
#define RT(name, params, args, ...) \
	static cudaError_t do_##name params; \
	RT_WRAP(name, do_##name, params, args, __VA_ARGS__) \
	static cudaError_t do_##name params
#define RT_PT(name, suffix, params, args, ...) \
	static cudaError_t do_##name(int pt, RT_UNPAREN params); \
	RT_WRAP(name, do_##name, params, (0, RT_UNPAREN args), __VA_ARGS__) \
	extern __typeof__(name) name##suffix; \
	RT_WRAP(name##suffix, do_##name, params, (1, RT_UNPAREN args), __VA_ARGS__) \
	static cudaError_t do_##name(int pt, RT_UNPAREN params)
#define RT_PTDS(name, ...) RT_PT(name, _ptds, __VA_ARGS__)
#define RT_PTSZ(name, ...) RT_PT(name, _ptsz, __VA_ARGS__)
#define RT_QUIET(name) \
	RT_EXPORTED __typeof__(name) name; \
	cudaError_t name

/* Compilers leave a small leaf function without a frame, whatever their options. */
#define RT_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* In a body: leave when there is no driver; the driver's codes are the runtime's. */
#define RT_ENTER() \
	do { \
		cudaError_t entered_ = rt_enter(); \
		if (unlikely(entered_)) \
			return entered_; \
	} while (0)
#define pt_none enum { pt = 0 }

#endif
