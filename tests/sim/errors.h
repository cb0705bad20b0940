/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The errors that the simulation itself returns, in both layers' words. */
#ifndef TESTS_SIM_ERRORS_H
#define TESTS_SIM_ERRORS_H

#include <stddef.h>

struct error {
	int code;
	const char *driver, *runtime, *text;
};

static const struct error errors[] = {
	{ 0, "CUDA_SUCCESS", "cudaSuccess", "no error" },
	{ 1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument" },
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory" },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError",
	  "initialization error" },
	{ 4, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading", "driver shutting down" },
	{ 9, NULL, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
	{ 13, NULL, "cudaErrorInvalidSymbol", "invalid device symbol" },
	{ 21, NULL, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy" },
	{ 35, NULL, "cudaErrorInsufficientDriver",
	  "CUDA driver version is insufficient for CUDA runtime version" },
	{ 98, NULL, "cudaErrorInvalidDeviceFunction", "invalid device function" },
	{ 100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected" },
	{ 101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal" },
	{ 200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage", "device kernel image is invalid" },
	{ 201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
	  "invalid device context" },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice",
	  "no kernel image is available for execution on the device" },
	{ 218, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx", "a PTX JIT compilation failed" },
	{ 301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound", "file not found" },
	{ 400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
	  "invalid resource handle" },
	{ 401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
	  "the operation cannot be performed in the present state" },
	{ 500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found" },
	{ 600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready" },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress",
	  "an illegal memory access was encountered" },
	{ 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cudaErrorLaunchOutOfResources",
	  "too many resources requested for launch" },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout",
	  "the launch timed out and was terminated" },
	{ 710, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered" },
	{ 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	  "cudaErrorHostMemoryAlreadyRegistered",
	  "part or all of the requested memory range is already mapped" },
	{ 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered",
	  "pointer does not correspond to a registered memory region" },
	{ 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "cudaErrorIllegalInstruction",
	  "an illegal instruction was encountered" },
	{ 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress", "misaligned address" },
	{ 718, "CUDA_ERROR_INVALID_PC", "cudaErrorInvalidPc", "invalid program counter" },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure",
	  "unspecified launch failure" },
	{ 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "cudaErrorCooperativeLaunchTooLarge",
	  "too many blocks in cooperative launch" },
	{ 801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported" },
	{ 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
	  "operation not permitted when stream is capturing" },
	{ 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cudaErrorInvalidClusterSize",
	  "a kernel launch requires an invalid cluster size" },
	{ 999, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error" },
};

static inline const struct error *error_find(int code)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}

#endif
