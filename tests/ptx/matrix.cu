/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* matrix-wmma.ptx and matrix-loops.ptx: nvcc -arch=sm_80 -ptx, with and without -DWMMA.  They leave the same in
 * memory. */
#include <mma.h>
using namespace nvcuda;
#define SHARED __shared__ __align__(32)

__device__ static int number(int i) { return i * 7919 % 13 - 6; }

extern "C" __global__ void product_u8(int *out)
{
	SHARED unsigned char a[256], b[256];
	SHARED int c[8][256];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (blockDim.x % 32 || blockDim.x > 256 || gridDim.x > 64)
		return;
#pragma unroll 1
	for (int i = threadIdx.x; i < 256; i += blockDim.x) {
		a[i] = i * 31 + blockIdx.x;
		b[i] = i * 57;
	}
	__syncthreads();
#ifdef WMMA
	wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
	wmma::fill_fragment(fc, warp);
	wmma::load_matrix_sync(fa, a, 16);
	wmma::load_matrix_sync(fb, b, 16);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c[warp], fc, 16, wmma::mem_col_major);
#else
#pragma unroll 1
	for (int i = lane; i < 256; i += 32) {
		int sum = warp;
#pragma unroll 1
		for (int k = 0; k < 16; k++)
			sum += a[i % 16 * 16 + k] * b[i / 16 * 16 + k];
		c[warp][i] = sum;
	}
#endif
	__syncwarp();
#pragma unroll 1
	for (int i = lane; i < 256; i += 32)
		out[(blockIdx.x * 8 + warp) * 256 + i] = c[warp][i];
}

extern "C" __global__ void product_f16(float *out)
{
	SHARED __half a[16 * 16], b[8 * 16];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	float d[4];

	if (blockDim.x % 32 || blockDim.x > 256 || gridDim.x > 64)
		return;
#pragma unroll 1
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		a[i] = __int2half_rn(number(i + blockIdx.x));
#pragma unroll 1
	for (int i = threadIdx.x; i < 128; i += blockDim.x)
		b[i] = __int2half_rn(number(3 * i));
	__syncthreads();
	for (int i = 0; i < 4; i++)
		d[i] = number(i + lane + warp);
#ifdef WMMA
	unsigned fa[4], fb[2];
	unsigned pa = (unsigned)__cvta_generic_to_shared(a + lane % 16 * 16 + lane / 16 * 8);
	unsigned pb = (unsigned)__cvta_generic_to_shared(b + lane % 8 * 16 + lane / 8 % 2 * 8);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa));
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(pb));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
		     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
#else
	for (int i = 0; i < 4; i++) {
		int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2;
#pragma unroll 1
		for (int k = 0; k < 16; k++)
			d[i] += __half2float(a[row * 16 + k]) * __half2float(b[col * 16 + k]);
	}
#endif
	for (int i = 0; i < 4; i++)
		out[(blockIdx.x * 8 + warp) * 128 + lane * 4 + i] = d[i];
}
