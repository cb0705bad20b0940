/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* handles WORD N...: makes N handles of the kind that WORD names, in both layers; with - before the word it destroys the last N.
 *   Runtime:  stream event graph exec capture array texture surface mempool
 *   Driver:   drvstream drvevent drvgraph drvexec drvtexture module context
 *   Others:   cublas cublaslt cudnn cusolver cusparse, of libcublas.so.12 and libcudnn.so.9, which are loaded by the first of these
 *   fails N   N calls of each of several kinds, none of which makes anything; nocublas N: of cublasCreate_v2()
 *   enter N   N contexts, each the current one until it is destroyed
 *   on D      (cudaSetDevice)   reset D (cudaDeviceReset)   wait N (prints "ready", reads N lines)
 * A texture, surface or exec is of an array or graph that is the last one made.  Exit status 0; 2 for a mistake in the words.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_api.h"

enum { MOST = 512 };
struct made { unsigned long long all[MOST]; int n; };

static struct made arrays, graphs, drvgraphs;

static const char image[] = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";

static void resource(struct cudaResourceDesc *r)
{
	memset(r, 0, sizeof(*r));
	r->resType = cudaResourceTypeArray;
	r->res.array.array = (cudaArray_t)arrays.all[arrays.n - 1];
}

#define LAST(type, from) ((type)(from).all[(from).n - 1])
#define KIND(name, type, make, destroy)						\
static struct made name##s_;							\
static int make_##name(void)							\
{										\
	type h = 0;								\
	int failed = (make);							\
										\
	if (!failed)								\
		name##s_.all[name##s_.n++] = (unsigned long long)h;		\
	return failed;								\
}										\
static int destroy_##name(void)							\
{										\
	type h = (type)name##s_.all[--name##s_.n];				\
										\
	return (int)(destroy);							\
}

static int texture(cudaTextureObject_t *t)
{
	struct cudaResourceDesc r;
	struct cudaTextureDesc d;

	resource(&r);
	memset(&d, 0, sizeof(d));
	return (int)cudaCreateTextureObject(t, &r, &d, NULL);
}

static int surface(cudaSurfaceObject_t *s)
{
	struct cudaResourceDesc r;

	resource(&r);
	return (int)cudaCreateSurfaceObject(s, &r);
}

static int drvtexture(CUtexObject *t)
{
	CUDA_RESOURCE_DESC r;
	CUDA_TEXTURE_DESC d;

	memset(&r, 0, sizeof(r));
	memset(&d, 0, sizeof(d));
	r.resType = CU_RESOURCE_TYPE_ARRAY;
	r.res.array.hArray = (CUarray)arrays.all[arrays.n - 1];
	return (int)cuTexObjectCreate(t, &r, &d, NULL);
}

static int array(cudaArray_t *a)
{
	const struct cudaChannelFormatDesc d = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
	const int failed = (int)cudaMallocArray(a, &d, 8, 8, 2);

	arrays.all[arrays.n++] = (unsigned long long)*a;
	return failed;
}

static int graph(cudaGraph_t *g)
{
	const int failed = (int)cudaGraphCreate(g, 0);

	graphs.all[graphs.n++] = (unsigned long long)*g;
	return failed;
}

static int drvgraph(CUgraph *g)
{
	const int failed = (int)cuGraphCreate(g, 0);

	drvgraphs.all[drvgraphs.n++] = (unsigned long long)*g;
	return failed;
}

/* The stream stays until the program ends. */
static cudaStream_t capturing(void)
{
	static cudaStream_t stream;

	if (!stream)
		cudaStreamCreateWithFlags(&stream, 1);
	return stream;
}

static int capture(cudaGraph_t *g)
{
	return (int)cudaStreamBeginCapture(capturing(), cudaStreamCaptureModeGlobal) ?: (int)cudaStreamEndCapture(capturing(), g);
}

static int mempool(cudaMemPool_t *p)
{
	struct cudaMemPoolProps props;

	memset(&props, 0, sizeof(props));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 1;
	return (int)cudaMemPoolCreate(p, &props);
}

static int context(CUcontext *c)
{
	CUcontext was;

	return (int)cuCtxGetCurrent(&was) ?: (int)cuCtxCreate_v4(c, NULL, 0, 1) ?: (int)cuCtxSetCurrent(was);
}

/* Calls a function of the library that is loaded for it: NAME(argument). */
static int call(const char *name, void *argument)
{
	void *lib = dlopen(strncmp(name, "cudnn", 5) ? "libcublas.so.12" : "libcudnn.so.9", RTLD_NOW);
	int (*f)(void *) = NULL;

	if (lib)
		*(void **)&f = dlsym(lib, name);
	return f ? f(argument) : -1;
}

KIND(cublas, void *, call("cublasCreate_v2", &h), call("cublasDestroy_v2", h))
KIND(cublaslt, void *, call("cublasLtCreate", &h), call("cublasLtDestroy", h))
KIND(cudnn, void *, call("cudnnCreate", &h), call("cudnnDestroy", h))
KIND(cusolver, void *, call("cusolverDnCreate", &h), call("cusolverDnDestroy", h))
KIND(cusparse, void *, call("cusparseCreate", &h), call("cusparseDestroy", h))
KIND(stream, cudaStream_t, (int)cudaStreamCreate(&h), cudaStreamDestroy(h))
KIND(event, cudaEvent_t, (int)cudaEventCreate(&h), cudaEventDestroy(h))
KIND(graph, cudaGraph_t, graph(&h), cudaGraphDestroy(h))
KIND(exec, cudaGraphExec_t, (int)cudaGraphInstantiateWithFlags(&h, LAST(cudaGraph_t, graphs), 0), cudaGraphExecDestroy(h))
KIND(capture, cudaGraph_t, capture(&h), cudaGraphDestroy(h))
KIND(array, cudaArray_t, array(&h), cudaFreeArray(h))
KIND(texture, cudaTextureObject_t, texture(&h), cudaDestroyTextureObject(h))
KIND(surface, cudaSurfaceObject_t, surface(&h), cudaDestroySurfaceObject(h))
KIND(mempool, cudaMemPool_t, mempool(&h), cudaMemPoolDestroy(h))
KIND(drvstream, CUstream, (int)cuStreamCreate(&h, 0), cuStreamDestroy_v2(h))
KIND(drvevent, CUevent, (int)cuEventCreate(&h, 0), cuEventDestroy_v2(h))
KIND(drvgraph, CUgraph, drvgraph(&h), cuGraphDestroy(h))
KIND(drvexec, CUgraphExec, (int)cuGraphInstantiateWithFlags(&h, LAST(CUgraph, drvgraphs), 0), cuGraphExecDestroy(h))
KIND(drvtexture, CUtexObject, drvtexture(&h), cuTexObjectDestroy(h))
KIND(module, CUmodule, (int)cuModuleLoadData(&h, image), cuModuleUnload(h))
KIND(context, CUcontext, context(&h), cuCtxDestroy_v2(h))
KIND(enter, CUcontext, (int)cuCtxCreate_v4(&h, NULL, 0, 0), cuCtxDestroy_v2(h))

static int fails(void)
{
	return !cudaStreamCreate(NULL) || !cudaEventCreate(NULL) || !cuEventCreate(NULL, 0) || !cuStreamCreate(NULL, 0) ||
	       !cudaGraphCreate(NULL, 0) || !cudaEventDestroy(NULL) || !cuModuleLoadData(NULL, image);
}

static int nocublas(void) { return !call("cublasCreate_v2", NULL); }

static int on(int device) { return (int)cudaSetDevice(device); }

static int reset(int device) { return on(device) ?: (int)cudaDeviceReset(); }

static int wait_for_line(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}

#define WORD(name) { #name, make_##name, destroy_##name }
static const struct { const char *name; int (*make)(void), (*destroy)(void); } words[] = {
	WORD(stream), WORD(event), WORD(graph), WORD(exec), WORD(capture), WORD(array), WORD(texture), WORD(surface), WORD(mempool),
	WORD(drvstream), WORD(drvevent), WORD(drvgraph), WORD(drvexec), WORD(drvtexture), WORD(module), WORD(context), WORD(enter),
	WORD(cublas), WORD(cublaslt), WORD(cudnn), WORD(cusolver), WORD(cusparse), { "nocublas", nocublas, NULL },
	{ "fails", fails, NULL }, { "wait", wait_for_line, NULL },
};

static int word(const char *name, int n)
{
	const int destroys = *name == '-';

	if (!strcmp(name, "on") || !strcmp(name, "reset"))
		return *name == 'o' ? on(n) : reset(n);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(words[i].name, name + destroys))
			continue;
		while (n--) {
			const int failed = destroys ? words[i].destroy() : words[i].make();

			if (failed)
				return fprintf(stderr, "handles: %s failed: %d\n", name, failed), 2;
		}
		return 0;
	}
	return fprintf(stderr, "handles: no word '%s'\n", name), 2;
}

int main(int argc, char **argv)
{
	CUcontext ctx;

	if (cudaSetDevice(0) || cudaFree(NULL) || cuCtxGetCurrent(&ctx))
		return 2;
	for (int i = 1; i + 1 < argc; i += 2)
		if (word(argv[i], atoi(argv[i + 1])))
			return 2;
	return 0;
}
