/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* injected PART PTX [ARGUMENT]: what a library inside a program could change of it, and how a program ends.  PTX is
 * nvcc-vadd.ptx.  Prints "PART: N of N right"; status 1 if anything is not.
 *   end HOW       three launches, then the end: return exit _exit _Exit quick_exit abort kill
 *   many N        N times: load, launch, unload
 *   contexts      a module in each of two contexts, one of which is destroyed
 *   threads       four threads that load, launch and unload
 *   capture MS    a stream is captured for that long, in the mode that forbids most calls in all threads
 *   fork          the child of fork ends in several ways
 *   quiet         descriptors, errno, signals, the environment
 *   names         dlsym and its like
 *   slow MS       launches, then waits that long
 *   attributes    what the driver says of the kernel, and launches with all the shared memory that it may have
 *   link          links the file again and again
 *   load          loads PTX, which may be any image, and prints the error
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "drvkern.h"

enum { N = 997 };		/* 32 warps, the last of which has 5 lanes */

static const char *ptx_file, *argument;

static void launch(struct results *r, CUmodule m)
{
	float host[N];
	CUfunction f;
	CUdeviceptr a, b, c;
	int n = N;
	void *args[] = { &a, &b, &c, &n };

	for (int i = 0; i < N; i++)
		host[i] = (float)i;
	a = device(host, sizeof(host));
	b = device(host, sizeof(host));
	c = device(NULL, sizeof(host));
	TRY(cuModuleGetFunction(&f, m, "_Z4vaddPKfS0_Pfi"));
	TRY(cuLaunchKernel(f, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
	TRY(cuMemcpyDtoH_v2(host, c, sizeof(host)));
	for (int i = 0; i < N; i++)
		IS(host[i] == 2 * (float)i);
	TRY(cuMemFree_v2(a));
	TRY(cuMemFree_v2(b));
	TRY(cuMemFree_v2(c));
}

static CUmodule load(void)
{
	CUmodule m;

	TRY(cuModuleLoad(&m, ptx_file));
	return m;
}

static void part_end(struct results *r)
{
	CUmodule m = load();

	for (int i = 0; i < 3; i++)
		launch(r, m);
	printf("end: %lu of %lu right\n", r->right, r->all);
	fflush(stdout);
	if (!strcmp(argument, "exit"))
		exit(19);
	if (!strcmp(argument, "_exit"))
		_exit(19);
	if (!strcmp(argument, "_Exit"))
		_Exit(19);
	if (!strcmp(argument, "quick_exit"))
		quick_exit(19);
	if (!strcmp(argument, "abort"))
		abort();
	if (!strcmp(argument, "kill")) {
		usleep(500000);
		kill(getpid(), SIGKILL);
	}
}

static void part_many(struct results *r)
{
	for (int i = atoi(argument); i--;) {
		CUmodule m = load();

		launch(r, m);
		TRY(cuModuleUnload(m));
	}
}

static void part_contexts(struct results *r)
{
	CUmodule first = load(), second;
	CUcontext ctx;

	TRY(cuCtxCreate_v4(&ctx, NULL, 0, 1));
	second = load();
	launch(r, second);
	launch(r, second);
	TRY(cuCtxDestroy_v2(ctx));
	TRY(cuCtxSetCurrent(r->ctx));
	launch(r, first);
}

static void *one_thread(void *ctx)
{
	struct results *all = ctx, mine = { .ctx = all->ctx };

	TRY(cuCtxSetCurrent(all->ctx));
	part_many(&mine);
	__atomic_add_fetch(&all->right, mine.right, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&all->all, mine.all, __ATOMIC_SEQ_CST);
	return NULL;
}

static void part_threads(struct results *r)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, one_thread, r);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void part_capture(struct results *r)
{
	CUmodule m = load();
	CUstream stream;
	CUgraph graph;

	launch(r, m);
	TRY(cuStreamCreate(&stream, 0));
	TRY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	usleep((useconds_t)atoi(argument) * 1000);
	IS(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
	launch(r, m);
}

static int child_status(void (*end)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		end();
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void child_exits(void)
{
	exit(23);
}

static void child_exits_now(void)
{
	_exit(29);
}

static void child_executes(void)
{
	execl("/bin/sh", "sh", "-c", "exit 31", NULL);
}

static void part_fork(struct results *r)
{
	CUmodule m = load();

	launch(r, m);
	fflush(stdout);
	IS(child_status(child_exits) == 23);
	IS(child_status(child_exits_now) == 29);
	IS(child_status(child_executes) == 31);
	launch(r, m);
}

static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

/* Return true if a thread takes a signal that this one has blocked. */
static bool another_takes(int signal)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), signal);
	usleep(200000);
	sigpending(&pending);
	return !sigismember(&pending, signal);	/* by default it would have ended the process */
}

static void part_quiet(struct results *r)
{
	int before = next_descriptor();
	CUmodule m;

	errno = 77;
	m = load();
	IS(errno == 77);
	launch(r, m);
	IS(next_descriptor() == before);
	IS(!another_takes(SIGUSR1));
	IS(!another_takes(SIGTERM));
	errno = 78;
	TRY(cuModuleUnload(m));
	IS(errno == 78);
	IS(next_descriptor() == before);
}

static void part_names(struct results *r)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *libc = dlopen("libc.so.6", RTLD_NOW), *p, *q;
	__typeof__(cuGetProcAddress_v2) *get;
	CUdriverProcAddressQueryResult found;
	Dl_info info;
	const char *said;

	/* the dynamic linker looks where the caller is */
	p = dlsym(RTLD_DEFAULT, "main");
	IS(!p || (dladdr(p, &info) && strstr(info.dli_fname, "injected")));
	p = dlsym(RTLD_NEXT, "malloc");
	IS(p && dladdr(p, &info) && strstr(info.dli_fname, "libc"));
	IS(dlvsym(RTLD_NEXT, "malloc", "GLIBC_2.2.5") == p);
	IS(dlsym(libc, "malloc") == p);
	IS(dlsym(libc, "dlsym") && dlsym(libc, "dlsym") == (void *)dlsym);
	IS(!dlsym(cuda, "cuNoSuchFunction"));
	said = dlerror();
	IS(said && strstr(said, "cuNoSuchFunction"));
	dlsym(cuda, "cuInit");
	IS(!dlerror());
	/* each way to a wrapped function leads to the same */
	p = dlsym(cuda, "cuModuleLoadData");
	IS(p == (void *)cuModuleLoadData);
	*(void **)&get = dlsym(cuda, "cuGetProcAddress_v2");
	IS(get && !get("cuModuleLoadData", &q, 12000, 0, &found) && q == p);
	IS(!get("cuGetProcAddress", &q, 12000, 0, &found) && q == (void *)get);
	IS(get("cuNoSuchFunction", &q, 12000, 0, &found) == CUDA_ERROR_NOT_FOUND);
}

static void part_slow(struct results *r)
{
	CUmodule m = load();

	launch(r, m);
	usleep((useconds_t)atoi(argument) * 1000);
	launch(r, m);
}

#define SHARED_MOST CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

static void print_attributes(const char *what, CUfunction f, CUkernel kernel)
{
	int value;

	printf("%s:", what);
	for (int i = 0; i <= SHARED_MOST; i++) {
		if (f)
			TRY(cuFuncGetAttribute(&value, (CUfunction_attribute)i, f));
		else
			TRY(cuKernelGetAttribute(&value, (CUfunction_attribute)i, kernel, 0));
		printf(" %d", value);
	}
	printf("\n");
}

/* No element: only whether it can be launched. */
static CUresult launch_with(CUfunction f, int shared)
{
	CUdeviceptr none = 0;
	int n = 0;
	void *args[] = { &none, &none, &none, &n };
	CUresult err = cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, (unsigned)shared, NULL, args, NULL);

	return err ? err : cuStreamSynchronize(NULL);
}

/* Asks for, and launches with, bytes that a rewritten kernel may not be able to have. */
static void set_shared(struct results *r, CUfunction f, CUkernel kernel)
{
	int most, usual, value;

	TRY(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
	TRY(cuFuncGetAttribute(&usual, SHARED_MOST, f));
	IS(!launch_with(f, usual));
	IS(launch_with(f, usual + 1) == CUDA_ERROR_INVALID_VALUE);
	for (int more = 0; more < 2; more++) {
		CUresult err = kernel ? cuKernelSetAttribute(SHARED_MOST, most + more, kernel, 0) :
					cuFuncSetAttribute(f, SHARED_MOST, most + more);

		IS(err == (more ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS));
		TRY(kernel ? cuKernelGetAttribute(&value, SHARED_MOST, kernel, 0) : cuFuncGetAttribute(&value, SHARED_MOST, f));
		IS(value == most);
	}
	IS(!launch_with(f, usual + 1));
}

static void part_attributes(struct results *r)
{
	CUmodule m = load();
	CUlibrary library;
	CUkernel kernel;
	CUfunction f;

	TRY(cuModuleGetFunction(&f, m, "_Z4vaddPKfS0_Pfi"));
	print_attributes("function", f, NULL);
	set_shared(r, f, NULL);
	TRY(cuLibraryLoadFromFile(&library, ptx_file, NULL, NULL, 0, NULL, NULL, 0));
	TRY(cuLibraryGetKernel(&kernel, library, "_Z4vaddPKfS0_Pfi"));
	print_attributes("kernel", NULL, kernel);
	TRY(cuKernelGetFunction(&f, kernel));
	print_attributes("function of a kernel", f, NULL);
	set_shared(r, f, kernel);
	TRY(cuLibraryUnload(library));
	TRY(cuModuleUnload(m));
}

/* Linking a file again and again takes no more memory. */
static void part_link(struct results *r)
{
	size_t before = 0;

	for (int i = 0; i < 67; i++) {
		CUlinkState state;
		size_t size;
		void *cubin;

		if (i == 5)
			before = mallinfo2().uordblks;
		TRY(cuLinkCreate_v2(0, NULL, NULL, &state));
		TRY(cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, ptx_file, 0, NULL, NULL));
		TRY(cuLinkComplete(state, &cubin, &size));
		TRY(cuLinkDestroy(state));
	}
	IS(mallinfo2().uordblks < before + (64 << 10));
}

static void part_load(struct results *r)
{
	FILE *f = fopen(ptx_file, "r");
	static char image[1 << 20];
	CUmodule m;

	if (!f || !fread(image, 1, sizeof(image) - 1, f))
		exit(2);
	fclose(f);
	printf("error %d\n", (int)cuModuleLoadData(&m, image));
	IS(true);
}

static const struct {
	const char *name;
	void (*run)(struct results *r);
} parts[] = {
	{ "end", part_end }, { "many", part_many }, { "contexts", part_contexts }, { "threads", part_threads },
	{ "capture", part_capture }, { "fork", part_fork }, { "quiet", part_quiet }, { "names", part_names },
	{ "slow", part_slow }, { "attributes", part_attributes }, { "load", part_load },
	{ "link", part_link },
};

int main(int argc, char **argv)
{
	struct results r = { 0 };
	size_t i;

	if (argc < 3)
		return 2;
	ptx_file = argv[2];
	argument = argc > 3 ? argv[3] : "3";
	TRY(cuInit(0));
	TRY(cuCtxCreate_v4(&r.ctx, NULL, 0, 0));
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(parts[i].name, argv[1])) {
			parts[i].run(&r);
			printf("%s: %lu of %lu right\n", argv[1], r.right, r.all);
		}
	return r.right != r.all || !r.all;
}
