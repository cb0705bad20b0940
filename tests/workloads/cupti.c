/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cupti LIBCUPTI WORD...: uses CUPTI's activity API on what it launches itself through the driver, in one context.
 *   kernel N NAME    launches N kernels in the default stream
 *   streams N NAME   the same, each in a stream of its own
 *   copy N BYTES, back N BYTES, beside N BYTES   copies to the device, from it, and to the second device
 *   set N BYTES      sets memory
 *   graph N KERNELS NAME   launches a graph N times that has captured so many kernels, a memset of 64 bytes and a copy
 *   enable KIND, disable KIND   by number; what fails is printed
 *   hw               cuptiActivityEnableHWTrace(1)
 *   buffer BYTES     how large the buffers are, from the next one on (65536); 0: there are none
 *   most N           records in a buffer at most, 0: as many as fit
 *   flush            cuptiActivityFlushAll(0)
 *   period MS        cuptiActivityFlushPeriod()
 *   await N          waits until N buffers are back
 *   subscribe
 *   finalize
 * Prints what the records are when all words are done:
 *   RESULT of WORD   what failed, from the start on
 *   version N
 *   kernel NAME RECORDS NS GRID-X BLOCK-X, copy KIND RECORDS NS BYTES, peer …, set …, graph RECORDS NS, overhead RECORDS MS
 *   nodes N          different nodes of graphs
 *   odd N            records that cannot be right
 *   order N          records that begin before the last of their stream ends
 *   dropped N, ends N (buffers whose last record is none), beyond N (that are said to be longer than they are) */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "agent/gputime/cupti.h"
#include "cuda_api.h"

enum { SUMS = 64, STREAMS = 64, NODES = 4096 };

static struct sum {
	char what[600];
	unsigned long records, ns, bytes;
} sums[SUMS];

static struct { unsigned id; unsigned long end; } ends_of[STREAMS];
static unsigned long nodes[NODES];
static unsigned long odd, disorder, num_nodes, ends, beyond, dropped, delivered;
static size_t buffer_size = 65536, buffer_most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
#define MEMBER(name, since, params) name##_fn *name;
	CUPTI_FUNCTIONS(MEMBER)
} cupti;

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "cupti: %s: error %d\n", what, error);
	exit(1);
}
#define MUST(call) must((int)(call), #call)

static void add(const char *what, unsigned long ns, unsigned long bytes)
{
	struct sum *s = sums;

	while (s->records && strcmp(s->what, what))
		if (++s == sums + SUMS)
			exit(3);
	strcpy(s->what, what);
	s->records++;
	s->ns += ns;
	s->bytes += bytes;
}

static void follow(unsigned context, unsigned stream, unsigned long start, unsigned long end)
{
	unsigned i, id = context * 1000 + stream;

	for (i = 0; i < STREAMS - 1 && ends_of[i].id && ends_of[i].id != id; i++)
		;
	disorder += start < ends_of[i].end;
	ends_of[i].id = id;
	ends_of[i].end = end;
}

static void node(unsigned long id)
{
	unsigned i;

	for (i = 0; i < num_nodes && nodes[i] != id; i++)
		;
	if (id && i == num_nodes && num_nodes < NODES)
		nodes[num_nodes++] = id;
}

static void kernel(const struct cupti_kernel *k)
{
	char text[600];

	if (!k->name || k->end < k->start || !k->start || k->device > 7 || strlen(k->name) > 500 || strchr(k->name, '\n')) {
		odd++;
		return;
	}
	follow(k->context, k->stream, k->start, k->end);
	node(k->graph_node);
	snprintf(text, sizeof(text), "kernel %s", k->name);
	add(text, k->end - k->start, (unsigned long)k->grid[0] * 1000 + (unsigned long)k->block[0]);
}

static void one(const struct cupti_record *record)
{
	const struct cupti_copy *c = (const void *)record;
	const struct cupti_peer_copy *p = (const void *)record;
	const struct cupti_set *s = (const void *)record;
	const struct cupti_graph_trace *g = (const void *)record;
	const struct cupti_overhead *o = (const void *)record;
	char text[60];

	switch (record->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		kernel((const void *)record);
		break;
	case CUPTI_KIND_MEMCPY:
		follow(c->context, c->stream, c->start, c->end);
		node(c->graph_node);
		sprintf(text, "copy %d", c->copy_kind);
		add(text, c->end - c->start, c->bytes);
		break;
	case CUPTI_KIND_MEMCPY2:
		follow(p->context, p->stream, p->start, p->end);
		sprintf(text, "peer %u %u", p->from_device, p->to_device);
		add(text, p->end - p->start, p->bytes);
		break;
	case CUPTI_KIND_MEMSET:
		follow(s->context, s->stream, s->start, s->end);
		node(s->graph_node);
		add("set", s->end - s->start, s->bytes);
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		follow(g->context, g->stream, g->start, g->end);
		add("graph", g->end - g->start, 0);
		break;
	case CUPTI_KIND_OVERHEAD:
		add("overhead", (o->end - o->start) / 1000000, 0);
		break;
	default:
		odd++;
	}
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = buffer_size ? malloc(buffer_size) : NULL;
	*size = buffer_size;
	*most = buffer_most;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;
	enum cupti_result r;
	size_t n;

	(void)context, (void)stream;
	pthread_mutex_lock(&lock);
	if (valid > size) {
		beyond++;
		valid = size;
	}
	while (!(r = cupti.cuptiActivityGetNextRecord(buffer, valid, &record)))
		one(record);
	ends += r != CUPTI_NO_MORE;
	MUST(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	dropped += n;
	free(buffer);
	__atomic_add_fetch(&delivered, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

static void try(enum cupti_result r, const char *word)
{
	const char *text = "?";

	if (!r)
		return;
	cupti.cuptiGetResultString(r, &text);
	printf("%s of %s\n", text, word);
}

/* 7 blocks of 32 threads; others: each launch in another stream */
static void kernels(unsigned long n, const char *name, CUstream stream, bool others)
{
	CUmodule module;
	CUfunction f;
	char image[600];

	snprintf(image, sizeof(image), ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; }\n", name);
	MUST(cuModuleLoadData(&module, image));
	MUST(cuModuleGetFunction(&f, module, name));
	while (n--) {
		if (others)
			MUST(cuStreamCreate(&stream, 0));
		MUST(cuLaunchKernel(f, 7, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	}
	if (!stream || others)
		MUST(cuModuleUnload(module));
}

static void copy(char kind, unsigned long n, size_t size)
{
	char *host = malloc(size);
	CUdeviceptr device, other;
	CUcontext beside;

	MUST(cuMemAlloc_v2(&device, size));
	MUST(cuDevicePrimaryCtxRetain(&beside, 1));
	MUST(cuCtxPushCurrent_v2(beside));
	MUST(cuMemAlloc_v2(&other, size));
	MUST(cuCtxPopCurrent_v2(NULL));
	while (n--)
		switch (kind) {
		case 'c': MUST(cuMemcpyHtoD_v2(device, host, size)); break;
		case 'b': MUST(cuMemcpyDtoHAsync_v2(host, device, size, NULL)); break;
		case 'p': MUST(cuMemcpyPeer(other, beside, device, NULL, size)); break;
		case 's': MUST(cuMemsetD8_v2(device, 7, size)); break;
		}
	free(host);
}

static void graph(unsigned long n, unsigned long num, const char *name)
{
	CUdeviceptr device;
	CUgraphExec exec;
	CUstream stream;
	CUgraph graph;
	char host[64] = "";

	MUST(cuMemAlloc_v2(&device, 64));
	MUST(cuStreamCreate(&stream, 0));
	MUST(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	kernels(num, name, stream, false);
	MUST(cuMemsetD8Async(device, 7, 64, stream));
	MUST(cuMemcpyHtoDAsync_v2(device, host, 64, stream));
	MUST(cuStreamEndCapture(stream, &graph));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuGraphDestroy(graph));
	while (n--)
		MUST(cuGraphLaunch(exec, stream));
}

static void await(unsigned long n)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (__atomic_load_n(&delivered, __ATOMIC_ACQUIRE) < n)
		nanosleep(&pause, NULL);
}

static const char *word(char ***a)
{
	if (!**a)
		exit(2);
	return *(*a)++;
}

static unsigned long number(char ***a)
{
	return strtoul(word(a), NULL, 0);
}

static void words(char **a)
{
	unsigned long n, size;
	const char *w;
	void *subscriber;

	while (*a) {
		w = word(&a);
		if (!strcmp(w, "kernel") || !strcmp(w, "streams")) {
			n = number(&a);
			kernels(n, word(&a), NULL, *w == 's');
		} else if (!strcmp(w, "copy") || !strcmp(w, "back") || !strcmp(w, "beside") || !strcmp(w, "set")) {
			n = number(&a);
			copy(!strcmp(w, "beside") ? 'p' : *w, n, number(&a));
		} else if (!strcmp(w, "graph")) {
			n = number(&a);
			size = number(&a);
			graph(n, size, word(&a));
		} else if (!strcmp(w, "enable")) {
			try(cupti.cuptiActivityEnable((enum cupti_kind)number(&a)), w);
		} else if (!strcmp(w, "disable")) {
			try(cupti.cuptiActivityDisable((enum cupti_kind)number(&a)), w);
		} else if (!strcmp(w, "hw")) {
			try(cupti.cuptiActivityEnableHWTrace(1), w);
		} else if (!strcmp(w, "buffer")) {
			buffer_size = number(&a);
		} else if (!strcmp(w, "most")) {
			buffer_most = number(&a);
		} else if (!strcmp(w, "flush")) {
			try(cupti.cuptiActivityFlushAll(0), w);
		} else if (!strcmp(w, "period")) {
			try(cupti.cuptiActivityFlushPeriod((uint32_t)number(&a)), w);
		} else if (!strcmp(w, "await")) {
			await(number(&a));
		} else if (!strcmp(w, "subscribe")) {
			try(cupti.cuptiSubscribe(&subscriber, NULL, NULL), w);
		} else if (!strcmp(w, "finalize")) {
			try(cupti.cuptiFinalize(), w);
		} else {
			exit(2);
		}
	}
}

static void print(void)
{
	const struct sum *s;
	uint32_t version;
	size_t n;

	MUST(cupti.cuptiGetVersion(&version));
	MUST(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	printf("version %u\n", version);
	pthread_mutex_lock(&lock);
	for (s = sums; s < sums + SUMS && s->records; s++) {
		printf("%s %lu %lu", s->what, s->records, s->ns);
		if (!strncmp(s->what, "kernel", 6))
			printf(" %lu %lu", s->bytes / s->records / 1000, s->bytes / s->records % 1000);
		else if (s->bytes)
			printf(" %lu", s->bytes);
		putchar('\n');
	}
	printf("nodes %lu\nodd %lu\norder %lu\ndropped %lu\nends %lu\nbeyond %lu\n", num_nodes, odd, disorder, dropped + n, ends, beyond);
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	CUcontext ctx;

	if (!library) {
		fprintf(stderr, "cupti: %s\n", argc > 1 ? dlerror() : "LIBCUPTI is missing");
		return 2;
	}
#define FIND(name, since, params) \
	*(void **)&cupti.name = dlsym(library, #name); \
	must(!cupti.name, #name);
	CUPTI_FUNCTIONS(FIND)
	MUST(cupti.cuptiActivityRegisterCallbacks(request, complete));
	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&ctx, 0));
	MUST(cuCtxPushCurrent_v2(ctx));
	words(argv + 2);
	print();
	return 0;
}
