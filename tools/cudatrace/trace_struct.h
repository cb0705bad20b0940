/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The fields of the structs that are small and common in calls.  Those of the others are not
 * shown: one by value prints as words. */
#ifndef TRACE_STRUCT_H
#define TRACE_STRUCT_H
#include <stdio.h>
#include <stdbool.h>

/* struct, field, kind, enum or "", offset, size: as NVIDIA's headers have it (a test compares
 * them).  The fields of a struct stand together. */
#define TRACE_STRUCTS(X)									\
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
	X(cudaLaunchConfig_t, gridDim, DIM3, "", 0, 12)						\
	X(cudaLaunchConfig_t, blockDim, DIM3, "", 12, 12)					\
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

/* The bytes up to the end of its last known field, 0 if none is known; type as in struct
 * cuda_value, with or without "struct ". */
unsigned trace_struct_size(const char *type);

/* Prints the struct's size bytes at at: {width=4, ...}, in JSON an object; or, of one that is
 * not known or larger than that, its words in hexadecimal, in JSON an array of strings. */
void trace_struct(FILE *f, bool json, const char *type, const void *at, unsigned size);

#endif
