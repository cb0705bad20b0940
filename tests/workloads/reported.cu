// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// reported CASE: goes on as programs of public reports did that had a problem, until it is killed:
//   streams events modules  made for each request and never destroyed (pycuda#370, cuckoo#69, gpuowl PR 5)
//   capture    a thread calls cudaDeviceSynchronize() while another one captures, which breaks the capture (TensorRT#2888);
//              SIM_FAIL=cudaDeviceSynchronize=900,cudaStreamEndCapture=901, as a driver answers
//   threads    4 blocks of 1500 threads, which nobody checks (brian2cuda#59)
//   polling    a thread asks in a loop whether an event is done (tensorflow#6224); SIM_FAIL=cuEventQuery=600
//   headroom   asks before each step how much memory is free (sglang#25225)
//   frames     keeps one in three frames, and leaves their buffers registered (nvcodec-python#5)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>
#include <cuda.h>
#include <cuda_runtime.h>

#define NOINLINE extern "C" __attribute__((noinline))

__global__ void kernel(float *p) { p[threadIdx.x] += 1; }

static const char image[] = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";
static float *weights, *frame;
static volatile int capturing, broke;

NOINLINE void open_session(void)
{
	CUstream s;

	cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
	cuStreamSynchronize(s);
}

NOINLINE void start_timer(void)
{
	cudaEvent_t e;

	cudaEventCreate(&e);
	cudaEventRecord(e, 0);
}

NOINLINE void load_kernel(void)
{
	CUmodule m;

	cuModuleLoadData(&m, image);
}

NOINLINE void upload_frame(void)
{
	cudaMemsetAsync(frame, 0, 4096, 0);
	cudaDeviceSynchronize();
}

static void *preprocess(void *)
{
	pthread_setname_np(pthread_self(), "preprocess");
	upload_frame();
	while (!capturing)
		usleep(1000);
	upload_frame();
	broke = 1;
	return NULL;
}

NOINLINE void capture_engine(void)
{
	cudaGraph_t graph = NULL;
	cudaStream_t s;
	pthread_t t;

	capturing = broke = 0;
	pthread_create(&t, NULL, preprocess, NULL);
	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	kernel<<<1, 64, 0, s>>>(weights);
	capturing = 1;
	while (!broke)
		usleep(1000);
	if (!cudaStreamEndCapture(s, &graph))
		cudaGraphDestroy(graph);
	cudaStreamDestroy(s);
	pthread_join(t, NULL);
}

NOINLINE void apply_synapses(void)
{
	kernel<<<4, 1500>>>(weights);
	cudaDeviceSynchronize();
}

NOINLINE void poll_events(void)
{
	cudaEvent_t e;

	cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
	cudaEventRecord(e, 0);
	while (cudaEventQuery(e))
		;
}

NOINLINE void headroom(void)
{
	size_t available, total;

	cudaMemGetInfo(&available, &total);
}

NOINLINE void create_mat(int n)
{
	enum { WIDTH = 1918 * 3, HEIGHT = 1080 };
	size_t pitch;
	void *d, *h = malloc(WIDTH * HEIGHT);

	cudaMallocPitch(&d, &pitch, WIDTH, HEIGHT);
	cudaHostRegister(h, WIDTH * HEIGHT, cudaHostRegisterDefault);
	cudaMemcpy2D(d, pitch, h, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice);
	if (n % 3) {
		cudaFree(d);
		cudaHostUnregister(h);
		free(h);
	}
}

static void step(const char *name, int n)
{
	if (!strcmp(name, "streams"))
		open_session();
	else if (!strcmp(name, "events"))
		start_timer();
	else if (!strcmp(name, "modules"))
		load_kernel();
	else if (!strcmp(name, "capture"))
		capture_engine();
	else if (!strcmp(name, "threads"))
		apply_synapses();
	else if (!strcmp(name, "polling"))
		poll_events();
	else if (!strcmp(name, "headroom"))
		headroom();
	else if (!strcmp(name, "frames"))
		create_mat(n);
	else
		exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	cudaMalloc(&weights, 8192);
	cudaMalloc(&frame, 4096);
	for (int n = 1;; n++) {
		step(argv[1], n);
		usleep(10000);
	}
}
