/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nvrtc LIBNVRTC [cubin]: compiles a kernel while it runs, to PTX or to machine code, and launches it; prints
 * "nvrtc: N of N right".
 */
#include <dlfcn.h>

#include "drvkern.h"

typedef struct program *program;
static struct {
	int (*nvrtcCreateProgram)(program *, const char *, const char *, int, const char **, const char **);
	int (*nvrtcCompileProgram)(program, int, const char *const *);
	int (*nvrtcGetPTXSize)(program, size_t *);
	int (*nvrtcGetPTX)(program, char *);
	int (*nvrtcGetCUBINSize)(program, size_t *);
	int (*nvrtcGetCUBIN)(program, char *);
	int (*nvrtcDestroyProgram)(program *);
} nvrtc;

static const char source[] =
	"extern \"C\" __global__ void power(float *p, int n)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	float x = p[i];\n"
	"	for (int k = 1; k < n; k++)\n"
	"		p[i] *= x;\n"
	"}\n";

static void *function(void *library, const char *name)
{
	void *p = library ? dlsym(library, name) : NULL;

	if (!p) {
		fprintf(stderr, "nvrtc: %s\n", dlerror());
		exit(1);
	}
	return p;
}

static char *compile(bool cubin)
{
	const char *const option = cubin ? "-arch=sm_75" : "-arch=compute_75";
	int (*get_size)(program, size_t *) = cubin ? nvrtc.nvrtcGetCUBINSize : nvrtc.nvrtcGetPTXSize;
	int (*get)(program, char *) = cubin ? nvrtc.nvrtcGetCUBIN : nvrtc.nvrtcGetPTX;
	char *image = NULL;
	size_t size;
	program p;

	if (nvrtc.nvrtcCreateProgram(&p, source, "power.cu", 0, NULL, NULL) ||
	    nvrtc.nvrtcCompileProgram(p, 1, &option) || get_size(p, &size) || !(image = malloc(size)) ||
	    get(p, image) || nvrtc.nvrtcDestroyProgram(&p)) {
		fprintf(stderr, "nvrtc: cannot compile\n");
		exit(1);
	}
	return image;
}

int main(int argc, char **argv)
{
	enum { N = 192 };
	struct results results = { 0 }, *r = &results;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int i, n = 3;
	float data[N];
	CUdeviceptr p;
	CUfunction f;
	CUmodule m;
	void *params[] = { &p, &n };
	char *image;

#define FIND(name) *(void **)&nvrtc.name = function(library, #name)
	FIND(nvrtcCreateProgram);
	FIND(nvrtcCompileProgram);
	FIND(nvrtcGetPTXSize);
	FIND(nvrtcGetPTX);
	FIND(nvrtcGetCUBINSize);
	FIND(nvrtcGetCUBIN);
	FIND(nvrtcDestroyProgram);
	TRY(cuInit(0));
	TRY(cuCtxCreate_v4(&r->ctx, NULL, 0, 0));
	image = compile(argc > 2);
	TRY(cuModuleLoadData(&m, image));
	free(image);
	TRY(cuModuleGetFunction(&f, m, "power"));
	for (i = 0; i < N; i++)
		data[i] = (float)i;
	p = device(data, sizeof(data));
	TRY(cuLaunchKernel(f, 6, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
	TRY(cuMemcpyDtoH_v2(data, p, sizeof(data)));
	for (i = 0; i < N; i++)
		IS(data[i] == (float)(i * i * i));
	TRY(cuCtxDestroy_v2(r->ctx));
	printf("nvrtc: %lu of %lu right\n", r->right, r->all);
	return r->right != r->all;
}
