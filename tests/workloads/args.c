/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* args [N]: makes calls with arguments that are all different, N times (1), and prints each call
 * as an object of JSON as cudatrace -j does: the function, what it passed, what was stored, and the
 * result.  The runtime's calls come first, then the driver's, if there is one.  nvcc compiles this
 * too; then its own kernel is launched. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_api.h"

#define NAME_OF(f) #f
#define NAME(f) NAME_OF(f)	/* nvcc may make it another one: cudaMemcpyAsync_ptsz */
#define P(x) ((unsigned long)(x))

static const char image[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n"
			    ".visible .entry _Z6directPfi() { ret; }\n";
static char host[4096];
static const CUstream legacy = (CUstream)1, per_thread = (CUstream)2;

/* 'name':value,...: with " in place of ' */
static void print(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *s = text; *s; s++)
		putchar(*s == '\'' ? '"' : *s);
}

__attribute__((format(printf, 2, 3))) static void passed(const char *func, const char *fmt, ...)
{
	va_list ap;

	printf("{\"func\":\"%s\",\"args\":{", func);
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void stored(int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!ret)
		print(fmt, ap);
	va_end(ap);
	printf("},\"ret\":%d}\n", ret);
}

#ifdef __CUDACC__
__global__ void own(float *data, int n)
{
	data[n] = 0;
}

/* Its handle, and where its arguments are, nvcc does not tell. */
static void launch(float *data, cudaStream_t stream)
{
	own<<<dim3(3, 5, 7), dim3(11, 2, 1), 64, stream>>>(data, 0);
	passed(NAME(cudaLaunchKernel), "'gridDim':[3,5,7],'blockDim':[11,2,1],'sharedMem':64,"
	       "'stream':'0x%lx'", P(stream));
	stored(cudaGetLastError(), "%s", "");
}
#else
static void own(void)
{
	__asm__ volatile("nop");
}

__attribute__((constructor)) static void register_kernel(void)
{
	extern void **__cudaRegisterFatBinary(void *);
	extern void __cudaRegisterFatBinaryEnd(void **);
	extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
					   void *, void *, void *, int *);
	static const char own_image[] = "//\n.version 9.0\n.target sm_75\n.address_size 64\n"
					".visible .entry _Z3ownPfi() { ret; }\n";
	static struct { int magic, version; const void *data; void *name; } binary = {
		0x466243b1, 1, own_image, NULL
	};
	void **h = __cudaRegisterFatBinary(&binary);

	__cudaRegisterFunction(h, (const char *)(unsigned long)own, NULL, "_Z3ownPfi", -1, NULL, NULL,
			       NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(h);
}

static void launch(float *data, cudaStream_t stream)
{
	const dim3 grid = { 3, 5, 7 }, block = { 11, 2, 1 };
	void *args[] = { &data };
	int ret = cudaLaunchKernel((const void *)(unsigned long)own, grid, block, args, 64, stream);

	passed(NAME(cudaLaunchKernel), "'func':'0x%lx','gridDim':[3,5,7],'blockDim':[11,2,1],"
	       "'args':'0x%lx','sharedMem':64,'stream':'0x%lx'", P(own), P(args), P(stream));
	stored(ret, "%s", "");
}
#endif

static void memory(void)
{
	struct cudaPitchedPtr pitched = { 0 };
	struct cudaExtent extent = { 96, 7, 3 };
	size_t pitch = 0, least, most;
	void *p = NULL, *q = NULL;
	int ret;

	ret = cudaMallocPitch(&p, &pitch, 100, 7);
	passed("cudaMallocPitch", "'devPtr':'0x%lx','pitch':'0x%lx','width':100,'height':7", P(&p),
	       P(&pitch));
	stored(ret, ",'*devPtr':'0x%lx','*pitch':%zu", P(p), pitch);

	ret = cudaMallocManaged(&q, 8191, 2);
	passed("cudaMallocManaged", "'devPtr':'0x%lx','size':8191,'flags':2", P(&q));
	stored(ret, ",'*devPtr':'0x%lx'", P(q));
	cudaFree(q);

	ret = cudaMalloc3D(&pitched, extent);
	passed("cudaMalloc3D", "'pitchedDevPtr':'0x%lx','extent':{'width':96,'height':7,'depth':3}",
	       P(&pitched));
	stored(ret, ",'*pitchedDevPtr':{'ptr':'0x%lx','pitch':%zu,'xsize':%zu,'ysize':%zu}",
	       P(pitched.ptr), pitched.pitch, pitched.xsize, pitched.ysize);

	ret = cudaMemset3D(pitched, -3, extent);
	passed(NAME(cudaMemset3D), "'pitchedDevPtr':{'ptr':'0x%lx','pitch':%zu,'xsize':%zu,"
	       "'ysize':%zu},'value':-3,'extent':{'width':96,'height':7,'depth':3}", P(pitched.ptr),
	       pitched.pitch, pitched.xsize, pitched.ysize);
	stored(ret, "%s", "");

	ret = cudaMemGetInfo(&least, &most);
	passed("cudaMemGetInfo", "'free':'0x%lx','total':'0x%lx'", P(&least), P(&most));
	stored(ret, ",'*free':%zu,'*total':%zu", least, most);

	ret = cudaFree(p);
	passed("cudaFree", "'devPtr':'0x%lx'", P(p));
	stored(ret, "%s", "");
	cudaFree(pitched.ptr);
}

static void copies(void)
{
	struct cudaMemcpy3DParms parms = { 0 };
	cudaStream_t stream = NULL;
	void *p = NULL;
	int ret;

	ret = cudaStreamCreateWithPriority(&stream, 1, -1);
	passed("cudaStreamCreateWithPriority", "'pStream':'0x%lx','flags':1,'priority':-1", P(&stream));
	stored(ret, ",'*pStream':'0x%lx'", P(stream));

	cudaMalloc(&p, 4096);
	ret = cudaMemcpyAsync(p, host, 1021, cudaMemcpyHostToDevice, stream);
	passed(NAME(cudaMemcpyAsync), "'dst':'0x%lx','src':'0x%lx','count':1021,"
	       "'kind':'cudaMemcpyHostToDevice','stream':'0x%lx'", P(p), P(host), P(stream));
	stored(ret, "%s", "");

	ret = cudaMemcpy2DAsync(host, 64, p, 128, 31, 13, cudaMemcpyDeviceToHost, stream);
	passed(NAME(cudaMemcpy2DAsync), "'dst':'0x%lx','dpitch':64,'src':'0x%lx','spitch':128,"
	       "'width':31,'height':13,'kind':'cudaMemcpyDeviceToHost','stream':'0x%lx'", P(host), P(p),
	       P(stream));
	stored(ret, "%s", "");

	parms.srcPtr.ptr = host;
	parms.srcPtr.pitch = 64;
	parms.srcPtr.xsize = 60;
	parms.srcPtr.ysize = 5;
	parms.dstPos.x = 8;
	parms.dstPtr.ptr = p;
	parms.dstPtr.pitch = 128;
	parms.extent.width = 32;
	parms.extent.height = 2;
	parms.extent.depth = 1;
	parms.kind = cudaMemcpyDefault;
	ret = cudaMemcpy3DAsync(&parms, stream);
	passed(NAME(cudaMemcpy3DAsync), "'p':'0x%lx','*p':{'srcArray':'0x0','srcPos':{'x':0,'y':0,'z':0},"
	       "'srcPtr':{'ptr':'0x%lx','pitch':64,'xsize':60,'ysize':5},'dstArray':'0x0','dstPos':"
	       "{'x':8,'y':0,'z':0},'dstPtr':{'ptr':'0x%lx','pitch':128,'xsize':0,'ysize':0},"
	       "'extent':{'width':32,'height':2,'depth':1},'kind':'cudaMemcpyDefault'},"
	       "'stream':'0x%lx'", P(&parms), P(host), P(p), P(stream));
	stored(ret, "%s", "");

	launch((float *)p, stream);
	cudaStreamSynchronize(stream);
	cudaFree(p);
	ret = cudaStreamDestroy(stream);
	passed("cudaStreamDestroy", "'stream':'0x%lx'", P(stream));
	stored(ret, "%s", "");
}

static void events(void)
{
	cudaEvent_t a = NULL, b = NULL;
	float ms = -1;
	int ret, count = -1;

	ret = cudaEventCreateWithFlags(&a, 1);
	passed("cudaEventCreateWithFlags", "'event':'0x%lx','flags':1", P(&a));
	stored(ret, ",'*event':'0x%lx'", P(a));
	cudaEventCreate(&b);
	ret = cudaEventRecord(a, NULL);
	passed(NAME(cudaEventRecord), "'event':'0x%lx','stream':'0x0'", P(a));
	stored(ret, "%s", "");
	cudaEventRecord(b, NULL);
	cudaEventSynchronize(b);
	ret = cudaEventElapsedTime(&ms, a, b);
	passed("cudaEventElapsedTime", "'ms':'0x%lx','start':'0x%lx','end':'0x%lx'", P(&ms), P(a), P(b));
	stored(ret, ",'*ms':%.9g", ms);

	ret = cudaGetDeviceCount(&count);
	passed("cudaGetDeviceCount", "'count':'0x%lx'", P(&count));
	stored(ret, ",'*count':%d", count);
	ret = cudaSetDevice(0);
	passed("cudaSetDevice", "%s", "'device':0");
	stored(ret, "%s", "");
}

static void *lib;

/* The driver's function of that exported name; of one that a header may hide, with its parameters. */
#define DRIVER(name) __typeof__(&name) drv_##name = (__typeof__(&name))dlsym(lib, #name)
#define DRIVER_OF(name, ...) \
	CUresult (*drv_##name)(__VA_ARGS__) = (CUresult (*)(__VA_ARGS__))dlsym(lib, #name)

static void driver_memory(void)
{
	DRIVER(cuMemAllocPitch_v2);
	DRIVER_OF(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr, size_t, CUstream);
	DRIVER(cuMemcpyPeerAsync);
	DRIVER(cuMemGetAddressRange_v2);
	DRIVER_OF(cuMemsetD2D16_v2, CUdeviceptr, size_t, unsigned short, size_t, size_t);
	DRIVER(cuMemFree_v2);
	CUdeviceptr p = 0, base = 0;
	size_t pitch = 0, size = 0;
	int ret;

	ret = drv_cuMemAllocPitch_v2(&p, &pitch, 1000, 11, 8);
	passed("cuMemAllocPitch_v2", "'dptr':'0x%lx','pPitch':'0x%lx','WidthInBytes':1000,'Height':11,"
	       "'ElementSizeBytes':8", P(&p), P(&pitch));
	stored(ret, ",'*dptr':'0x%lx','*pPitch':%zu", P(p), pitch);

	ret = drv_cuMemsetD2D16_v2(p, pitch, 0xabcd, 17, 3);
	passed("cuMemsetD2D16_v2", "'dstDevice':'0x%lx','dstPitch':%zu,'us':43981,'Width':17,'Height':3",
	       P(p), pitch);
	stored(ret, "%s", "");

	ret = drv_cuMemcpyDtoHAsync_v2(host, p, 509, NULL);
	passed("cuMemcpyDtoHAsync_v2", "'dstHost':'0x%lx','srcDevice':'0x%lx','ByteCount':509,"
	       "'hStream':'0x0'", P(host), P(p));
	stored(ret, "%s", "");

	ret = drv_cuMemcpyPeerAsync(p + 2048, NULL, p, NULL, 251, legacy);
	passed("cuMemcpyPeerAsync", "'dstDevice':'0x%lx','dstContext':'0x0','srcDevice':'0x%lx',"
	       "'srcContext':'0x0','ByteCount':251,'hStream':'0x1'", P(p + 2048), P(p));
	stored(ret, "%s", "");

	ret = drv_cuMemGetAddressRange_v2(&base, &size, p + 7);
	passed("cuMemGetAddressRange_v2", "'pbase':'0x%lx','psize':'0x%lx','dptr':'0x%lx'", P(&base),
	       P(&size), P(p + 7));
	stored(ret, ",'*pbase':'0x%lx','*psize':%zu", P(base), size);
	drv_cuMemFree_v2(p);
}

static void driver_launch(void)
{
	DRIVER(cuModuleLoadData);
	DRIVER(cuModuleGetFunction);
	DRIVER(cuLaunchKernel);
	CUmodule module = NULL;
	CUfunction f = NULL;
	void *params[] = { NULL }, *extra[] = { NULL };
	int ret;

	ret = drv_cuModuleLoadData(&module, image);
	passed("cuModuleLoadData", "'module':'0x%lx','image':'0x%lx'", P(&module), P(image));
	stored(ret, ",'*module':'0x%lx'", P(module));
	ret = drv_cuModuleGetFunction(&f, module, "_Z6directPfi");
	passed("cuModuleGetFunction", "'hfunc':'0x%lx','hmod':'0x%lx','name':'_Z6directPfi'", P(&f),
	       P(module));
	stored(ret, ",'*hfunc':'0x%lx'", P(f));
	ret = drv_cuLaunchKernel(f, 19, 23, 29, 31, 3, 2, 128, per_thread, params, extra);
	passed("cuLaunchKernel", "'f':'0x%lx','gridDimX':19,'gridDimY':23,'gridDimZ':29,'blockDimX':31,"
	       "'blockDimY':3,'blockDimZ':2,'sharedMemBytes':128,'hStream':'0x2','kernelParams':'0x%lx',"
	       "'extra':'0x%lx'", P(f), P(params), P(extra));
	stored(ret, "%s", "");
}

static void driver_texts(void)
{
	DRIVER(cuDeviceGetName);
	DRIVER(cuGetErrorName);
	const char *text = NULL;
	char name[64] = "";
	int ret;

	ret = drv_cuDeviceGetName(name, sizeof(name), 1);
	passed("cuDeviceGetName", "'name':'0x%lx','len':64,'dev':1", P(name));
	stored(ret, ",'*name':'%s'", name);
	ret = drv_cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text);
	passed("cuGetErrorName", "'error':'CUDA_ERROR_OUT_OF_MEMORY','pStr':'0x%lx'", P(&text));
	stored(ret, ",'*pStr':'%s'", text);
}

int main(int argc, char **argv)
{
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	for (int n = argc > 1 ? atoi(argv[1]) : 1; n > 0; n--) {
		memory();
		copies();
		events();
		if (!lib)
			continue;
		driver_memory();
		driver_launch();
		driver_texts();
	}
	return 0;
}
