/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A simulated libcupti: the activity API over the simulated driver.  Each kernel, copy and memset, and each launch of a graph,
 * gives a record, of the size that the claimed version has.  In streams one follows the other, beginning when it is called or
 * when the one before it ends, so durations are exact and start is not; the calls that wait do not wait until then, and all
 * records are complete.  Streams do not wait for each other.
 *
 * Full buffers are delivered by a thread, in each flush period if one was set.  Flushes deliver all.
 *
 * Built with SIM_CUPTI=12 or 13: the version, and what a missing driver is answered with.
 *
 * SIM_KERNEL_NS  NAME=NS,NAME=NS,NS: how long a kernel takes, by its mangled name, and others (1000)
 * SIM_COPY_NS    how long a copy takes (500)
 * SIM_SET_NS     how long a memset takes (200)
 * SIM_CUPTI      faults, separated by commas:
 *   version=N    cuptiGetVersion() returns N
 *   refuse, refuse=CODE    cuptiActivityEnable() fails: CUPTI_ERROR_UNKNOWN (999), or CODE
 *   subscribed   cuptiSubscribe() fails: there is another subscriber
 *   slow=MS      cuptiActivityEnable() takes so long; with OVERHEAD enabled a record says so
 *   late         buffers are delivered only by flushes
 *   drop=N       the first N records are dropped
 *   nobuffer     all records are: a buffer that was asked for comes back empty
 *   hw           cuptiActivityEnableHWTrace() succeeds
 *   hostile      behind each kernel's record another one, in turn: end before start; no times; no name; a name of 1 MiB; a name of
 *                control bytes; wrong ids; an unknown kind, at which cuptiActivityGetNextRecord() fails, as the buffer's last.
 *                Each third buffer is said to have more valid bytes than its size. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "agent/gputime/cupti.h"

#define EXPORTED __attribute__((visibility("default")))
#define API(name) EXPORTED name##_fn name; EXPORTED enum cupti_result name

/* ---- Settings */

/* What follows NAME= in SIM_CUPTI, or "" for NAME; NULL if it is not there. */
static const char *fault(const char *name)
{
	const char *p = getenv("SIM_CUPTI");
	size_t n = strlen(name);

	while (p && *p) {
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ',' || p[n] == '='))
			return p + n + (p[n] == '=');
		p = strchr(p, ',');
		p += p != NULL;
	}
	return NULL;
}

static unsigned long number(const char *text, unsigned long otherwise)
{
	return text && *text && *text != ',' ? strtoul(text, NULL, 10) : otherwise;
}

/* By CUDA's version * 100: CUPTI_SIZES. */
struct sizes {
	unsigned since;
	size_t kernel, copy, peer, set, graph, overhead;
};

static struct settings {
	uint32_t version;
	struct sizes sizes;
	unsigned long refuse, slow, drop;
	uint64_t copy_ns, set_ns;
	bool subscribed, late, nobuffer, hw, hostile;
} settings;

static void __attribute__((constructor)) setup(void)
{
#define ROW(...) { __VA_ARGS__ },
	static const struct sizes rows[] = { CUPTI_SIZES(ROW) };
	const uint32_t v = (uint32_t)number(fault("version"), SIM_CUPTI == 12 ? CUPTI_12_9 : CUPTI_13_0 + 1);
	const unsigned cuda = v >= CUPTI_13_0 ? v / 100 : v <= CUPTI_11_8 ? 1108 : v < CUPTI_12_9 ? 1200 + v - CUPTI_11_8 : 1209;

	settings = (struct settings) {
		.version = v, .refuse = fault("refuse") ? number(fault("refuse"), CUPTI_UNKNOWN) : CUPTI_OK,
		.slow = number(fault("slow"), 0), .drop = number(fault("drop"), 0),
		.copy_ns = number(getenv("SIM_COPY_NS"), 500), .set_ns = number(getenv("SIM_SET_NS"), 200),
		.subscribed = fault("subscribed"), .late = fault("late"), .nobuffer = fault("nobuffer"), .hw = fault("hw"),
		.hostile = fault("hostile"), .sizes = rows[0],
	};
	for (size_t i = 1; i < sizeof(rows) / sizeof(*rows) && rows[i].since <= cuda; i++)
		settings.sizes = rows[i];
}

static size_t size_of(uint32_t kind)
{
	const struct sizes s = settings.sizes;

	switch (kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL: return s.kernel;
	case CUPTI_KIND_MEMCPY: return s.copy;
	case CUPTI_KIND_MEMCPY2: return s.peer;
	case CUPTI_KIND_MEMSET: return s.set;
	case CUPTI_KIND_GRAPH_TRACE: return s.graph;
	case CUPTI_KIND_OVERHEAD: return s.overhead;
	case CUPTI_KIND_RUNTIME:
	case CUPTI_KIND_DRIVER: return sizeof(struct cupti_call);
	default: return 0;
	}
}

/* ---- State */

enum { KINDS = 55, HASHES = 1024, FUNCTIONS = 1024 };

/* CUpti_runtime_api_trace_cbid of what stands for all calls of its kind. */
enum { CUDA_MEMCPY_ASYNC = 41, CUDA_MEMSET_ASYNC = 51, CUDA_LAUNCH_KERNEL = 211, CUDA_GRAPH_LAUNCH = 311 };

struct name {
	struct name *next;
	uint64_t ns;
	char text[];
};

struct stream {
	struct stream *next;
	uint32_t context, id;
	uint64_t end;
};

struct buffer {
	struct buffer *next;
	uint8_t *at;
	size_t size, valid, most, records;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivering = PTHREAD_MUTEX_INITIALIZER;	/* before lock; held in cupti_buffer_completed */
static pthread_cond_t full_come = PTHREAD_COND_INITIALIZER;
static cupti_buffer_requested *requested;
static cupti_buffer_completed *completed;
static cupti_clock *own_clock;
static bool enabled[KINDS], functions[FUNCTIONS], graph_level, has_worker;
static enum cupti_thread thread_type;
static void *subscriber;
static struct name *names[HASHES];
static struct stream *streams;
static struct buffer *current, *full, **full_last = &full;
static uint32_t period_ms;
static uint32_t last_correlation, correlation;	/* of what happens now */
static uint64_t buffers_done, hostile_turn;
static size_t dropped, dropped_all;	/* dropped: atomic, since it was asked for */
static __thread bool delivers;

static uint64_t now(void)
{
	struct timespec t;

	if (own_clock)
		return own_clock();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t kernel_ns(const char *name)
{
	const char *p = getenv("SIM_KERNEL_NS");
	size_t n = strlen(name);
	uint64_t ns = 1000;

	while (p && *p) {
		if (!strncmp(p, name, n) && p[n] == '=')
			return number(p + n + 1, 0);
		if (strcspn(p, "=") >= strcspn(p, ","))
			ns = number(p, ns);
		p = strchr(p, ',');
		p += p != NULL;
	}
	return ns;
}

/* CUPTI's names stay when a module is unloaded. */
static struct name *name_of(const char *text)
{
	struct name *n;
	unsigned hash = 5381;
	const char *p;

	for (p = text; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	for (n = names[hash % HASHES]; n && strcmp(n->text, text); n = n->next)
		;
	if (n)
		return n;
	n = malloc(sizeof(*n) + strlen(text) + 1);
	if (!n)
		abort();
	n->ns = kernel_ns(text);
	strcpy(n->text, text);
	n->next = names[hash % HASHES];
	return names[hash % HASHES] = n;
}

static struct stream *stream_of(const struct sim_place *place)
{
	struct stream *s;

	for (s = streams; s && (s->id != place->stream || s->context != place->context); s = s->next)
		;
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	*s = (struct stream) { streams, place->context, place->stream, 0 };
	return streams = s;
}

/* ---- Buffers, by lock */

static void buffer_finish(void)
{
	if (!current)
		return;
	*full_last = current;
	full_last = &current->next;
	current = NULL;
	pthread_cond_signal(&full_come);
}

static bool buffer_begin(size_t size)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	requested(&b->at, &b->size, &b->most);
	if (!b->at || b->size < size || settings.nobuffer) {
		/* the buffer goes back, if there is one */
		if (b->at) {
			current = b;
			buffer_finish();
		} else {
			free(b);
		}
		return false;
	}
	current = b;
	return true;
}

static void drop(void)
{
	dropped_all++;
	__atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
}

/* Bytes behind the fields that all versions have are not 0. */
static void put(const void *fields, size_t length, size_t size)
{
	if (!requested)
		return;
	if (dropped_all < settings.drop) {
		drop();
		return;
	}
	if (current && (current->size - current->valid < size || (current->most && current->records == current->most)))
		buffer_finish();
	if (!current && !buffer_begin(size)) {
		drop();
		return;
	}
	memset(current->at + current->valid, 0xa5, size);
	memcpy(current->at + current->valid, fields, length < size ? length : size);
	current->valid += size;
	current->records++;
}

/* Takes the full buffers to the user, in order; called without lock. */
static void deliver(void)
{
	struct buffer *list, *b;

	pthread_mutex_lock(&delivering);
	pthread_mutex_lock(&lock);
	list = full;
	full = NULL;
	full_last = &full;
	pthread_mutex_unlock(&lock);
	delivers = true;
	while ((b = list)) {
		list = b->next;
		completed(NULL, 0, b->at, b->size, settings.hostile && ++buffers_done % 3 == 0 ? b->size + 4096 : b->valid);
		free(b);
	}
	delivers = false;
	pthread_mutex_unlock(&delivering);
}

static void *worker(void *arg)
{
	struct timespec t;

	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;) {
		if (period_ms) {
			clock_gettime(CLOCK_REALTIME, &t);
			t.tv_sec += period_ms / 1000;
			t.tv_nsec += (long)(period_ms % 1000) * 1000000;
			t.tv_sec += t.tv_nsec / 1000000000;
			t.tv_nsec %= 1000000000;
			while (period_ms && !pthread_cond_timedwait(&full_come, &lock, &t))
				;
		} else {
			while (!full && !period_ms)
				pthread_cond_wait(&full_come, &lock);
		}
		pthread_mutex_unlock(&lock);
		deliver();
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

static void worker_start(void)
{
	pthread_t thread;

	if (has_worker || settings.late)
		return;
	has_worker = !pthread_create(&thread, NULL, worker, NULL);
	if (has_worker)
		pthread_detach(thread);
}

/* In a child that does not exec nothing is delivered but by flushes. */
static void hold(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }
static void release_child(void)
{
	pthread_mutex_init(&delivering, NULL);
	pthread_mutex_unlock(&lock);
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(hold, release, release_child);
}

/* ---- Records */

static void put_hostile(const struct cupti_kernel *kernel)
{
	static char *longest;
	struct cupti_kernel k = *kernel;
	const size_t length = 1 << 20;

	switch (hostile_turn++ % 7) {
	case 0: k.end = k.start - 1; break;
	case 1: k.start = k.end = 0; break;
	case 2: k.name = NULL; break;
	case 3:
		if (!longest && !(longest = calloc(1, length + 1)))
			abort();
		k.name = memset(longest, 'x', length);
		break;
	case 4: k.name = "\033[2J\n\"\\\t\x80\xff%s"; break;
	case 5: k.device = k.context = k.stream = k.graph = k.correlation = UINT32_MAX; k.graph_node = UINT64_MAX; break;
	default: k.kind = 0x7fffffff; break;
	}
	put(&k, sizeof(k), settings.sizes.kernel);
	if (k.kind == 0x7fffffff)
		buffer_finish();
}

static void put_kernel(const struct sim_activity *a, const struct sim_place *p, const struct name *name, uint64_t start, uint64_t end)
{
	struct cupti_kernel k = {
		.kind = enabled[CUPTI_KIND_KERNEL] ? CUPTI_KIND_KERNEL : CUPTI_KIND_CONCURRENT_KERNEL,
		.registers = 16, .start = start, .end = end, .completed = end,
		.device = p->device, .context = p->context, .stream = p->stream, .correlation = correlation,
		.dynamic_shared = (int32_t)a->shared, .grid_id = correlation, .name = name->text,
		.graph_node = a->node, .graph = p->graph,
	};

	memcpy(k.grid, a->grid, sizeof(k.grid));
	memcpy(k.block, a->block, sizeof(k.block));
	put(&k, sizeof(k), settings.sizes.kernel);
	if (settings.hostile)
		put_hostile(&k);
}

static enum cupti_copy_kind copy_kind(enum sim_memory from, enum sim_memory to)
{
	static const enum cupti_copy_kind kinds[3][3] = {	/* host, device, array */
		{ CUPTI_COPY_HTOH, CUPTI_COPY_HTOD, CUPTI_COPY_HTOA },
		{ CUPTI_COPY_DTOH, CUPTI_COPY_DTOD, CUPTI_COPY_DTOA },
		{ CUPTI_COPY_ATOH, CUPTI_COPY_ATOD, CUPTI_COPY_ATOA },
	};
	static const uint8_t side[] = { [SIM_PAGEABLE] = 0, [SIM_PINNED] = 0, [SIM_DEVICE] = 1, [SIM_ARRAY] = 2, [SIM_MANAGED] = 1 };

	return kinds[side[from]][side[to]];
}

static enum cupti_memory memory(enum sim_memory m)
{
	static const uint8_t to[] = {
		[SIM_PAGEABLE] = CUPTI_MEMORY_PAGEABLE, [SIM_PINNED] = CUPTI_MEMORY_PINNED, [SIM_DEVICE] = CUPTI_MEMORY_DEVICE,
		[SIM_ARRAY] = CUPTI_MEMORY_ARRAY, [SIM_MANAGED] = CUPTI_MEMORY_MANAGED,
	};

	return (enum cupti_memory)to[m];
}

static void put_copy(const struct sim_activity *a, const struct sim_place *p, uint64_t start, uint64_t end)
{
	const struct cupti_copy c = {
		.kind = CUPTI_KIND_MEMCPY, .copy_kind = (uint8_t)copy_kind(a->from, a->to), .from = (uint8_t)memory(a->from),
		.to = (uint8_t)memory(a->to), .flags = a->async, .bytes = a->bytes, .start = start, .end = end,
		.device = p->device, .context = p->context, .stream = p->stream, .correlation = correlation,
		.graph_node = a->node, .graph = p->graph,
	};

	put(&c, sizeof(c), settings.sizes.copy);
}

static void put_peer_copy(const struct sim_activity *a, const struct sim_place *p, uint64_t start, uint64_t end)
{
	const struct cupti_peer_copy c = {
		.kind = CUPTI_KIND_MEMCPY2, .copy_kind = CUPTI_COPY_PTOP, .from = (uint8_t)memory(a->from),
		.to = (uint8_t)memory(a->to), .flags = a->async, .bytes = a->bytes, .start = start, .end = end,
		.device = p->device, .context = p->context, .stream = p->stream, .correlation = correlation,
		.from_device = a->devices[0], .to_device = a->devices[1],
		.from_context = a->devices[0] + 1, .to_context = a->devices[1] + 1,
		.graph_node = a->node, .graph = p->graph,
	};

	put(&c, sizeof(c), settings.sizes.peer);
}

static void put_set(const struct sim_activity *a, const struct sim_place *p, uint64_t start, uint64_t end)
{
	const struct cupti_set s = {
		.kind = CUPTI_KIND_MEMSET, .value = a->value, .bytes = a->bytes, .start = start, .end = end,
		.device = p->device, .context = p->context, .stream = p->stream, .correlation = correlation,
		.flags = a->async, .memory = (uint16_t)memory(a->to), .graph_node = a->node, .graph = p->graph,
	};

	put(&s, sizeof(s), settings.sizes.set);
}

static void put_graph(const struct sim_place *p, uint64_t start, uint64_t end)
{
	const struct cupti_graph_trace g = {
		.kind = CUPTI_KIND_GRAPH_TRACE, .correlation = correlation, .start = start, .end = end,
		.device = p->device, .graph = p->graph, .context = p->context, .stream = p->stream,
	};

	put(&g, sizeof(g), settings.sizes.graph);
}

/* The call has the time of its activity, which is inside it. */
static void put_call(const struct sim_activity *a, uint64_t at)
{
	const struct cupti_call c = {
		.kind = CUPTI_KIND_RUNTIME, .start = at, .end = at, .process = (uint32_t)getpid(), .correlation = correlation,
		.thread = thread_type == CUPTI_THREAD_SYSTEM ? (uint32_t)gettid() : (uint32_t)(uintptr_t)pthread_self(),
		.function = a->kind == SIM_KERNEL ? CUDA_LAUNCH_KERNEL : a->kind == SIM_SET ? CUDA_MEMSET_ASYNC :
			    a->kind == SIM_GRAPH_BEGIN ? CUDA_GRAPH_LAUNCH : CUDA_MEMCPY_ASYNC,
	};

	if (enabled[CUPTI_KIND_RUNTIME] || functions[c.function])
		put(&c, sizeof(c), sizeof(c));
}

static uint64_t duration(const struct sim_activity *a, struct name **name)
{
	switch (a->kind) {
	case SIM_KERNEL: return (*name = name_of(a->name))->ns;
	case SIM_COPY:
	case SIM_PEER_COPY: return settings.copy_ns;
	case SIM_SET: return settings.set_ns;
	default: return 0;
	}
}

static bool kernels_are_enabled(void)
{
	return enabled[CUPTI_KIND_KERNEL] || enabled[CUPTI_KIND_CONCURRENT_KERNEL];
}

/* A graph's nodes follow each other without time between them. */
static void happened(const struct sim_activity *a, const struct sim_place *p)
{
	static __thread uint64_t graph_start;
	static __thread uint32_t graph_correlation;
	struct name *name = NULL;
	struct stream *s;
	uint64_t start, end;

	pthread_mutex_lock(&lock);
	s = stream_of(p);
	start = a->kind == SIM_GRAPH_BEGIN || !p->graph ? now() : s->end;
	if (start < s->end)
		start = s->end;
	end = s->end = start + duration(a, &name);
	if (a->kind == SIM_GRAPH_BEGIN) {
		graph_start = start;
		graph_correlation = ++last_correlation;
	}
	correlation = p->graph ? graph_correlation : ++last_correlation;
	if (a->kind == SIM_GRAPH_BEGIN || !p->graph)
		put_call(a, now());
	if (a->kind == SIM_GRAPH_END && enabled[CUPTI_KIND_GRAPH_TRACE])
		put_graph(p, graph_start, end);
	else if (p->graph && graph_level)
		;
	else if (a->kind == SIM_KERNEL && kernels_are_enabled())
		put_kernel(a, p, name, start, end);
	else if (a->kind == SIM_COPY && enabled[CUPTI_KIND_MEMCPY])
		put_copy(a, p, start, end);
	else if (a->kind == SIM_PEER_COPY && enabled[CUPTI_KIND_MEMCPY2])
		put_peer_copy(a, p, start, end);
	else if (a->kind == SIM_SET && enabled[CUPTI_KIND_MEMSET])
		put_set(a, p, start, end);
	pthread_mutex_unlock(&lock);
}

/* ---- The API */

/* CUPTI loads the driver if the program has not. */
static void (*driver(void))(sim_activity_hook *hook)
{
	static void (*set)(sim_activity_hook *hook);
	void *cuda;

	if (!set && (cuda = dlopen("libcuda.so.1", RTLD_NOW)))
		*(void **)&set = dlsym(cuda, "sim_activity_set");
	return set;
}

#define NEED_DRIVER() do { \
		if (!driver()) \
			return SIM_CUPTI == 12 ? CUPTI_NOT_INITIALIZED : CUPTI_UNKNOWN; \
	} while (0)

API(cuptiGetVersion)(uint32_t *to)
{
	if (!to)
		return CUPTI_BAD_PARAMETER;
	*to = settings.version;
	return CUPTI_OK;
}

API(cuptiGetTimestamp)(uint64_t *ns)
{
	if (!ns)
		return CUPTI_BAD_PARAMETER;
	*ns = now();
	return CUPTI_OK;
}

API(cuptiGetResultString)(enum cupti_result result, const char **text)
{
	static const struct { enum cupti_result result; const char *name; } all[] = {
		{ CUPTI_OK, "CUPTI_SUCCESS" }, { CUPTI_BAD_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER" },
		{ CUPTI_BAD_OPERATION, "CUPTI_ERROR_INVALID_OPERATION" }, { CUPTI_NO_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY" },
		{ CUPTI_NO_MORE, "CUPTI_ERROR_MAX_LIMIT_REACHED" }, { CUPTI_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE" },
		{ CUPTI_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED" }, { CUPTI_BAD_KIND, "CUPTI_ERROR_INVALID_KIND" },
		{ CUPTI_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED" },
		{ CUPTI_VIRTUALIZED, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED" },
		{ CUPTI_NO_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" },
		{ CUPTI_OTHER_SUBSCRIBER, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" },
		{ CUPTI_UNKNOWN, "CUPTI_ERROR_UNKNOWN" },
	};

	for (size_t i = 0; text && i < sizeof(all) / sizeof(*all); i++)
		if (all[i].result == result) {
			*text = all[i].name;
			return CUPTI_OK;
		}
	return CUPTI_BAD_PARAMETER;
}

API(cuptiSubscribe)(void **to, cupti_callback *callback, void *arg)
{
	enum cupti_result r = CUPTI_OTHER_SUBSCRIBER;

	(void)callback, (void)arg;
	NEED_DRIVER();
	if (!to)
		return CUPTI_BAD_PARAMETER;
	pthread_mutex_lock(&lock);
	if (!subscriber && !settings.subscribed) {
		*to = subscriber = &subscriber;
		r = CUPTI_OK;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

API(cuptiUnsubscribe)(void *which)
{
	if (!which || which != subscriber)
		return CUPTI_BAD_PARAMETER;
	subscriber = NULL;
	return CUPTI_OK;
}

API(cuptiActivityRegisterCallbacks)(cupti_buffer_requested *request, cupti_buffer_completed *complete)
{
	if (!request || !complete)
		return CUPTI_BAD_PARAMETER;
	pthread_mutex_lock(&lock);
	requested = request;
	completed = complete;
	worker_start();
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

API(cuptiActivityRegisterTimestampCallback)(cupti_clock *clock)
{
	if (!clock)
		return CUPTI_BAD_PARAMETER;
	own_clock = clock;
	return CUPTI_OK;
}

API(cuptiActivitySetAttribute)(enum cupti_attribute attribute, size_t *size, void *value)
{
	(void)attribute;
	return !size || !value ? CUPTI_BAD_PARAMETER : *size < sizeof(size_t) ? CUPTI_TOO_SMALL : CUPTI_OK;
}

/* As long as loaded kernels are instrumented. */
static void be_slow(void)
{
	const uint64_t start = now();
	struct cupti_overhead o = {
		.kind = CUPTI_KIND_OVERHEAD, .overhead = CUPTI_OVERHEAD_INSTRUMENTATION, .object_kind = 2,
		.object = { (uint32_t)getpid(), (uint32_t)gettid() }, .start = start,
	};

	usleep((useconds_t)settings.slow * 1000);
	o.end = now();
	pthread_mutex_lock(&lock);
	if (enabled[CUPTI_KIND_OVERHEAD])
		put(&o, sizeof(o), settings.sizes.overhead);
	pthread_mutex_unlock(&lock);
}

API(cuptiActivityEnable)(enum cupti_kind kind)
{
	enum cupti_kind other = kind == CUPTI_KIND_KERNEL ? CUPTI_KIND_CONCURRENT_KERNEL :
		kind == CUPTI_KIND_CONCURRENT_KERNEL ? CUPTI_KIND_KERNEL : 0;

	NEED_DRIVER();
	if (settings.slow)
		be_slow();
	if (settings.refuse)
		return (enum cupti_result)settings.refuse;
	if (!kind || (uint32_t)kind >= KINDS)
		return CUPTI_BAD_KIND;
	if (enabled[other])
		return CUPTI_NOT_COMPATIBLE;
	pthread_mutex_lock(&lock);
	enabled[kind] = true;
	graph_level |= kind == CUPTI_KIND_GRAPH_TRACE;
	pthread_mutex_unlock(&lock);
	driver()(happened);
	return CUPTI_OK;
}

/* The driver tells what happens as long as that is wanted. */
static void listen(void)
{
	bool any = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < KINDS; i++)
		any |= enabled[i];
	for (int i = 0; i < FUNCTIONS; i++)
		any |= functions[i];
	pthread_mutex_unlock(&lock);
	driver()(any ? happened : NULL);
}

API(cuptiActivityDisable)(enum cupti_kind kind)
{

	NEED_DRIVER();
	if (!kind || (uint32_t)kind >= KINDS)
		return CUPTI_BAD_KIND;
	pthread_mutex_lock(&lock);
	enabled[kind] = false;
	pthread_mutex_unlock(&lock);
	listen();
	return CUPTI_OK;
}

API(cuptiSetThreadIdType)(enum cupti_thread type)
{
	thread_type = type;
	return CUPTI_OK;
}

API(cuptiActivityEnableRuntimeApi)(uint32_t function, uint8_t enable)
{
	NEED_DRIVER();
	if (settings.version < CUPTI_12_5)
		return CUPTI_NOT_SUPPORTED;
	if (!function || function >= FUNCTIONS)
		return CUPTI_BAD_PARAMETER;
	pthread_mutex_lock(&lock);
	functions[function] = enable;
	pthread_mutex_unlock(&lock);
	listen();
	return CUPTI_OK;
}

/* Calls of the driver are not simulated. */
API(cuptiActivityEnableDriverApi)(uint32_t function, uint8_t enable)
{
	(void)enable;
	NEED_DRIVER();
	return settings.version < CUPTI_12_5 ? CUPTI_NOT_SUPPORTED : function ? CUPTI_OK : CUPTI_BAD_PARAMETER;
}

API(cuptiFinalize)(void)
{
	if (driver())
		driver()(NULL);
	pthread_mutex_lock(&lock);
	memset(enabled, 0, sizeof(enabled));
	memset(functions, 0, sizeof(functions));
	graph_level = false;
	subscriber = NULL;
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

API(cuptiActivityFlushAll)(uint32_t flags)
{
	(void)flags;
	NEED_DRIVER();
	if (!completed || delivers)
		return CUPTI_BAD_OPERATION;
	pthread_mutex_lock(&lock);
	buffer_finish();
	pthread_mutex_unlock(&lock);
	deliver();
	return CUPTI_OK;
}

API(cuptiActivityFlushPeriod)(uint32_t ms)
{
	NEED_DRIVER();
	pthread_mutex_lock(&lock);
	period_ms = ms;
	pthread_cond_signal(&full_come);
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

API(cuptiActivityGetNextRecord)(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	struct cupti_record *next;
	size_t left;

	if (!buffer || !record)
		return CUPTI_BAD_PARAMETER;
	next = *record ? (void *)((uint8_t *)*record + size_of((*record)->kind)) : (void *)buffer;
	left = valid - (size_t)((uint8_t *)next - buffer);
	if (!left)
		return CUPTI_NO_MORE;
	if (left < sizeof(*next) || !size_of(next->kind) || left < size_of(next->kind))
		return CUPTI_BAD_KIND;
	*record = next;
	return CUPTI_OK;
}

API(cuptiActivityGetNumDroppedRecords)(void *context, uint32_t stream, size_t *to)
{
	(void)context, (void)stream;
	if (!to)
		return CUPTI_BAD_PARAMETER;
	*to = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
	return CUPTI_OK;
}

API(cuptiActivityEnableHWTrace)(uint8_t enable)
{
	(void)enable;
	NEED_DRIVER();
	return settings.hw && settings.version >= CUPTI_12_8 ? CUPTI_OK : CUPTI_NOT_SUPPORTED;
}

/* ---- Not simulated: only there for PyTorch to find */

#define REFUSED(name) EXPORTED int name(void); int name(void) { return CUPTI_NOT_SUPPORTED; }

REFUSED(cuptiActivityEnableCudaEventDeviceTimestamps)
REFUSED(cuptiActivityPopExternalCorrelationId)
REFUSED(cuptiActivityPushExternalCorrelationId)
REFUSED(cuptiEnableCallback)
REFUSED(cuptiEnableDomain)
REFUSED(cuptiGetCallbackName)
