/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions of the CUDA driver that the library calls and wraps, with the names, values and prototypes of CUDA.
 * Handles are opaque pointers. */
#ifndef AGENT_GPUPROBE_CUDA_H
#define AGENT_GPUPROBE_CUDA_H
#include <stddef.h>

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUlibrary, *CUfunction, *CUkernel, *CUstream, *CUlinkState;

enum {
	CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_DEINITIALIZED = 4, CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
};

enum { CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_PTX, CU_JIT_INPUT_FATBINARY };
enum { CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13 };		/* kHz */
enum { CU_DEVICE_ATTRIBUTE_MAJOR = 75, CU_DEVICE_ATTRIBUTE_MINOR = 76 };
enum { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97 };
enum {
	CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1, CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
	CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_MEMHOSTALLOC_DEVICEMAP = 2 };
enum { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum { CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };

/* passed on, by value */
struct CUipcMemHandle {
	char reserved[64];
};

/* a launch's configuration, as cuLaunchKernelEx gets it: passed on */
struct CUlaunchConfig;

#define LAUNCH_SHAPE CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
	unsigned shared, CUstream stream, void **params

/* CALLED(name, parameters): called only.  WRAPPED(name, parameters): wrapped in this library, and called. */
#define DRIVER_FUNCTIONS(CALLED, WRAPPED) \
	CALLED(cuCtxGetCurrent, (CUcontext *ctx)) \
	CALLED(cuCtxGetDevice, (CUdevice *dev)) \
	CALLED(cuCtxPushCurrent_v2, (CUcontext ctx)) \
	CALLED(cuCtxPopCurrent_v2, (CUcontext *ctx)) \
	CALLED(cuDeviceGetCount, (int *count)) \
	CALLED(cuDeviceGetAttribute, (int *value, int attribute, CUdevice dev)) \
	CALLED(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned *flags, int *active)) \
	CALLED(cuFuncGetName, (const char **name, CUfunction f)) \
	CALLED(cuGetErrorName, (CUresult error, const char **name)) \
	CALLED(cuKernelGetName, (const char **name, CUkernel kernel)) \
	CALLED(cuLibraryGetGlobal, (CUdeviceptr *p, size_t *size, CUlibrary library, const char *name)) \
	CALLED(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name)) \
	CALLED(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size, CUstream stream)) \
	CALLED(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size, CUstream stream)) \
	CALLED(cuMemHostGetDevicePointer_v2, (CUdeviceptr *p, void *host, unsigned flags)) \
	CALLED(cuMemGetAddressRange_v2, (CUdeviceptr *low, size_t *size, CUdeviceptr p)) \
	CALLED(cuModuleGetFunction, (CUfunction *f, CUmodule module, const char *name)) \
	CALLED(cuModuleGetGlobal_v2, (CUdeviceptr *p, size_t *size, CUmodule module, const char *name)) \
	CALLED(cuStreamCreate, (CUstream *stream, unsigned flags)) \
	CALLED(cuStreamQuery, (CUstream stream)) \
	CALLED(cuThreadExchangeStreamCaptureMode, (int *mode)) \
	WRAPPED(cuGetProcAddress, (const char *symbol, void **f, int version, unsigned long long flags)) \
	WRAPPED(cuGetProcAddress_v2, (const char *symbol, void **f, int version, unsigned long long flags, int *status)) \
	WRAPPED(cuModuleLoad, (CUmodule *module, const char *file)) \
	WRAPPED(cuModuleLoadData, (CUmodule *module, const void *image)) \
	WRAPPED(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned n, int *options, void **values)) \
	WRAPPED(cuModuleLoadFatBinary, (CUmodule *module, const void *image)) \
	WRAPPED(cuModuleUnload, (CUmodule module)) \
	WRAPPED(cuLibraryLoadData, (CUlibrary *library, const void *image, int *jit, void **jit_values, unsigned num_jit, \
		int *options, void **values, unsigned num)) \
	WRAPPED(cuLibraryLoadFromFile, (CUlibrary *library, const char *file, int *jit, void **jit_values, \
		unsigned num_jit, int *options, void **values, unsigned num)) \
	WRAPPED(cuLibraryUnload, (CUlibrary library)) \
	WRAPPED(cuLinkAddData_v2, (CUlinkState state, int type, void *data, size_t size, const char *name, unsigned n, \
		int *options, void **values)) \
	WRAPPED(cuLinkAddFile_v2, (CUlinkState state, int type, const char *file, unsigned n, int *options, void **values)) \
	WRAPPED(cuCtxCreate_v2, (CUcontext *ctx, unsigned flags, CUdevice dev)) \
	WRAPPED(cuCtxCreate_v3, (CUcontext *ctx, void *params, int n, unsigned flags, CUdevice dev)) \
	WRAPPED(cuCtxCreate_v4, (CUcontext *ctx, void *params, unsigned flags, CUdevice dev)) \
	WRAPPED(cuCtxDestroy_v2, (CUcontext ctx)) \
	WRAPPED(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice dev)) \
	WRAPPED(cuDevicePrimaryCtxRelease_v2, (CUdevice dev)) \
	WRAPPED(cuDevicePrimaryCtxReset_v2, (CUdevice dev)) \
	WRAPPED(cuFuncGetAttribute, (int *value, int attribute, CUfunction f)) \
	WRAPPED(cuFuncSetAttribute, (CUfunction f, int attribute, int value)) \
	WRAPPED(cuKernelGetAttribute, (int *value, int attribute, CUkernel kernel, CUdevice dev)) \
	WRAPPED(cuKernelSetAttribute, (int attribute, int value, CUkernel kernel, CUdevice dev)) \
	WRAPPED(cuKernelGetFunction, (CUfunction *f, CUkernel kernel)) \
	WRAPPED(cuLaunchKernel, (LAUNCH_SHAPE, void **extra)) \
	WRAPPED(cuLaunchKernel_ptsz, (LAUNCH_SHAPE, void **extra)) \
	WRAPPED(cuLaunchKernelEx, (const struct CUlaunchConfig *config, CUfunction f, void **params, void **extra)) \
	WRAPPED(cuLaunchKernelEx_ptsz, (const struct CUlaunchConfig *config, CUfunction f, void **params, void **extra)) \
	WRAPPED(cuLaunchCooperativeKernel, (LAUNCH_SHAPE)) \
	WRAPPED(cuLaunchCooperativeKernel_ptsz, (LAUNCH_SHAPE)) \
	WRAPPED(cuMemAlloc_v2, (CUdeviceptr *p, size_t size)) \
	WRAPPED(cuMemAllocManaged, (CUdeviceptr *p, size_t size, unsigned flags)) \
	WRAPPED(cuMemAllocPitch_v2, (CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element)) \
	WRAPPED(cuMemAllocAsync, (CUdeviceptr *p, size_t size, CUstream stream)) \
	WRAPPED(cuMemAllocAsync_ptsz, (CUdeviceptr *p, size_t size, CUstream stream)) \
	WRAPPED(cuMemAllocFromPoolAsync, (CUdeviceptr *p, size_t size, void *pool, CUstream stream)) \
	WRAPPED(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr *p, size_t size, void *pool, CUstream stream)) \
	WRAPPED(cuMemFree_v2, (CUdeviceptr p)) \
	WRAPPED(cuMemAllocHost_v2, (void **p, size_t size)) \
	WRAPPED(cuMemHostAlloc, (void **p, size_t size, unsigned flags)) \
	WRAPPED(cuMemHostRegister_v2, (void *p, size_t size, unsigned flags)) \
	WRAPPED(cuMemFreeHost, (void *p)) \
	WRAPPED(cuMemHostUnregister, (void *p)) \
	WRAPPED(cuMemMap, (CUdeviceptr p, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)) \
	WRAPPED(cuMemUnmap, (CUdeviceptr p, size_t size)) \
	WRAPPED(cuIpcOpenMemHandle_v2, (CUdeviceptr *p, struct CUipcMemHandle handle, unsigned flags))

/* The wrappers. */
#define NO_PROTOTYPE(name, params)
#define PROTOTYPE(name, params) CUresult name params;
DRIVER_FUNCTIONS(NO_PROTOTYPE, PROTOTYPE)

#endif
