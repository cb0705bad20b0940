/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The members of small structs that are common in calls.  Other structs are not known. */
#ifndef API_CUDA_STRUCTS_H
#define API_CUDA_STRUCTS_H
#include "api/cuda_protos.h"

/* struct, member, kind, enum or struct or "", offset, size: as in NVIDIA's headers (a test
 * compares them).  The members of a struct must be adjacent. */
#define CUDA_STRUCTS(X)										\
	X(dim3, x, UINT, "", 0, 4)								\
	X(dim3, y, UINT, "", 4, 4)								\
	X(dim3, z, UINT, "", 8, 4)								\
	X(cudaExtent, width, UINT, "", 0, 8)							\
	X(cudaExtent, height, UINT, "", 8, 8)							\
	X(cudaExtent, depth, UINT, "", 16, 8)							\
	X(cudaPos, x, UINT, "", 0, 8)								\
	X(cudaPos, y, UINT, "", 8, 8)								\
	X(cudaPos, z, UINT, "", 16, 8)								\
	X(cudaPitchedPtr, ptr, PTR, "", 0, 8)							\
	X(cudaPitchedPtr, pitch, UINT, "", 8, 8)						\
	X(cudaPitchedPtr, xsize, UINT, "", 16, 8)						\
	X(cudaPitchedPtr, ysize, UINT, "", 24, 8)						\
	X(cudaChannelFormatDesc, x, INT, "", 0, 4)						\
	X(cudaChannelFormatDesc, y, INT, "", 4, 4)						\
	X(cudaChannelFormatDesc, z, INT, "", 8, 4)						\
	X(cudaChannelFormatDesc, w, INT, "", 12, 4)						\
	X(cudaChannelFormatDesc, f, ENUM, "cudaChannelFormatKind", 16, 4)			\
	X(cudaMemLocation, type, ENUM, "cudaMemLocationType", 0, 4)				\
	X(cudaMemLocation, id, INT, "", 4, 4)							\
	X(CUmemLocation, type, ENUM, "CUmemLocationType", 0, 4)					\
	X(CUmemLocation, id, INT, "", 4, 4)							\
	X(cudaLaunchConfig_t, gridDim, DIM3, "dim3", 0, 12)					\
	X(cudaLaunchConfig_t, blockDim, DIM3, "dim3", 12, 12)					\
	X(cudaLaunchConfig_t, dynamicSmemBytes, UINT, "", 24, 8)				\
	X(cudaLaunchConfig_t, stream, HANDLE, "", 32, 8)					\
	X(CUlaunchConfig, gridDimX, UINT, "", 0, 4)						\
	X(CUlaunchConfig, gridDimY, UINT, "", 4, 4)						\
	X(CUlaunchConfig, gridDimZ, UINT, "", 8, 4)						\
	X(CUlaunchConfig, blockDimX, UINT, "", 12, 4)						\
	X(CUlaunchConfig, blockDimY, UINT, "", 16, 4)						\
	X(CUlaunchConfig, blockDimZ, UINT, "", 20, 4)						\
	X(CUlaunchConfig, sharedMemBytes, UINT, "", 24, 4)					\
	X(CUlaunchConfig, hStream, HANDLE, "", 32, 8)						\
	X(cudaMemcpy3DParms, srcArray, HANDLE, "", 0, 8)					\
	X(cudaMemcpy3DParms, srcPos, STRUCT, "cudaPos", 8, 24)					\
	X(cudaMemcpy3DParms, srcPtr, STRUCT, "cudaPitchedPtr", 32, 32)				\
	X(cudaMemcpy3DParms, dstArray, HANDLE, "", 64, 8)					\
	X(cudaMemcpy3DParms, dstPos, STRUCT, "cudaPos", 72, 24)					\
	X(cudaMemcpy3DParms, dstPtr, STRUCT, "cudaPitchedPtr", 96, 32)				\
	X(cudaMemcpy3DParms, extent, STRUCT, "cudaExtent", 128, 24)				\
	X(cudaMemcpy3DParms, kind, ENUM, "cudaMemcpyKind", 152, 4)				\
	X(CUDA_ARRAY_DESCRIPTOR, Width, UINT, "", 0, 8)						\
	X(CUDA_ARRAY_DESCRIPTOR, Height, UINT, "", 8, 8)					\
	X(CUDA_ARRAY_DESCRIPTOR, Format, ENUM, "CUarray_format", 16, 4)				\
	X(CUDA_ARRAY_DESCRIPTOR, NumChannels, UINT, "", 20, 4)					\
	X(CUDA_ARRAY3D_DESCRIPTOR, Width, UINT, "", 0, 8)					\
	X(CUDA_ARRAY3D_DESCRIPTOR, Height, UINT, "", 8, 8)					\
	X(CUDA_ARRAY3D_DESCRIPTOR, Depth, UINT, "", 16, 8)					\
	X(CUDA_ARRAY3D_DESCRIPTOR, Format, ENUM, "CUarray_format", 24, 4)			\
	X(CUDA_ARRAY3D_DESCRIPTOR, NumChannels, UINT, "", 28, 4)				\
	X(CUDA_ARRAY3D_DESCRIPTOR, Flags, UINT, "", 32, 4)

struct cuda_member {
	const char *of, *name;
	unsigned offset;
	struct cuda_value value;
};

/* Returns the first member of a struct, with type as in struct cuda_value, with or without
 * "struct "; NULL if the struct is not known. */
const struct cuda_member *cuda_struct_find(const char *type);

/* Returns the next member of the same struct; NULL if m is the last. */
const struct cuda_member *cuda_struct_next(const struct cuda_member *m);

/* Returns the bytes up to the end of the last known member; 0 if no member is known. */
unsigned cuda_struct_size(const char *type);

#endif
