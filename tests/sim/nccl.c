/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A simulated libnccl.so.2.  The ranks of a communicator meet in shared memory that its hash names, as processes or threads.
 * Operations move nothing; on the simulated libcuda they take until the other ranks have called theirs, for ever if those are of
 * another size.
 *
 * Built with SIM_NCCL_OLD it is one before 2.26, with another hash and without ncclCommShrink.
 *
 * SIM_NCCL_DIR where the memory's files are (/dev/shm)
 * SIM_NCCL_STUCK=1: no operation ends
 * SIM_NCCL_UNTIL  a rank waits for the others until this file has something, before its call fails (or 20 s) */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "sim_nccl.h"

#define EXPORTED __attribute__((visibility("default")))
/* As NCCL does: two names of one function. */
#define API(name) EXPORTED extern __typeof__(name) name __attribute__((weak, alias("p" #name))); \
	EXPORTED ncclResult_t p##name

enum { SIZES = 1024 };
enum { RANKS = 1024, SPLITS = 64, CONFIG_MAGIC = 0xcafebeef - 0x100000000ll };

/* Shared by the ranks. */
struct meeting {
	atomic_int nranks, arrived, left;
	atomic_ulong collectives[RANKS];	/* that each rank has called … */
	atomic_ulong sizes[RANKS][SIZES];	/* … and the last ones' count and type */
	atomic_ulong sent[RANKS][RANKS], received[RANKS][RANKS];	/* from, to */
	struct split { atomic_int arrived; struct { int color, key; } of[RANKS]; } splits[SPLITS];
};

/* These four are beside each other in NCCL's, far from its beginning. */
struct ncclComm {
	char before[0x784a8];
	uint64_t magic;
	uint64_t hash;
	int rank, nranks, device;
	int children, shrunk;	/* so many were made of it */
	unsigned long collectives, *sent, *received;	/* called; to and from each rank */
	int generation;		/* others before it had the same hash */
	struct meeting *meeting;
};

static _Thread_local int groups;

/* ---- Hashes: src/include/bitops.h */

static void eat(uint64_t h[2], const void *bytes, size_t size)
{
	const char *at = bytes;

	h[0] ^= size;
	while (size) {
		size_t n = size < 8 ? size : 8;
		uint64_t x = 0;

		h[0] += h[1];
		h[1] ^= h[0];
		h[0] ^= h[0] >> 31;
		h[0] *= 0x9de62bbc8cef3ce3;
		h[1] ^= h[1] >> 32;
		h[1] *= 0x485cd6311b599e79;
		memcpy(&x, at, n);
		at += n;
		size -= n;
		h[0] += x;
	}
}

static uint64_t digest(const uint64_t h[2])
{
	uint64_t d = h[0];

	d ^= d >> 31;
	d *= 0xbac3bd562846de6b;
	d += h[1];
	d ^= d >> 32;
	return d * 0x995a187a14e7b445;
}

/* ---- Where ranks meet */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* Waits until n have arrived. */
static ncclResult_t await(atomic_int *arrived, int n)
{
	const char *file = getenv("SIM_NCCL_UNTIL");
	double until = now() + 20000;
	struct timespec pause = { .tv_nsec = 200000 };
	struct stat st;

	while (atomic_load(arrived) < n) {
		if (now() > until || (file && !stat(file, &st) && st.st_size))
			return ncclRemoteError;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 10000000)	/* hundreds of ranks may wait for one that needs a CPU */
			pause.tv_nsec += pause.tv_nsec / 4;
	}
	return ncclSuccess;
}

static void meeting_name(char name[256], uint64_t hash, int generation)
{
	const char *dir = getenv("SIM_NCCL_DIR");

	snprintf(name, 256, "%s/sim-nccl-%016llx.%d", dir ? dir : "/dev/shm", (unsigned long long)hash, generation);
}

static struct meeting *meeting_of(uint64_t hash, int generation)
{
	char name[256];
	void *at;
	int fd;

	meeting_name(name, hash, generation);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(struct meeting)))
		return NULL;
	at = mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static ncclResult_t begin_again(ncclComm_t *to, uint64_t hash, int nranks, int rank, int generation)
{
	ncclComm_t c;

	if (!to || nranks < 1 || nranks > RANKS || rank < 0 || rank >= nranks)
		return ncclInvalidArgument;
	c = calloc(1, sizeof(*c));
	if (!c || !(c->meeting = meeting_of(hash, generation)))
		return ncclSystemError;
	c->sent = calloc(nranks, sizeof(*c->sent));
	c->received = calloc(nranks, sizeof(*c->received));
	if (!c->sent || !c->received)
		return ncclSystemError;
	c->magic = 0x0280028002800280;
	c->rank = rank;
	c->nranks = nranks;
	c->generation = generation;
	*to = c;
	atomic_fetch_add(&c->meeting->arrived, 1);
	if (!groups && await(&c->meeting->arrived, nranks)) {
		*to = NULL;
		free(c);
		return ncclRemoteError;
	}
	c->hash = hash;
	return ncclSuccess;
}

static ncclResult_t begin(ncclComm_t *to, uint64_t hash, int nranks, int rank)
{
	return begin_again(to, hash, nranks, rank, 0);
}

static ncclResult_t check(const struct ncclComm *c)
{
	return c && c->magic == 0x0280028002800280 ? ncclSuccess : ncclInvalidArgument;
}

static ncclResult_t end(ncclComm_t c)
{
	char name[256];

	if (check(c))
		return ncclInvalidArgument;
	meeting_name(name, c->hash, c->generation);
	if (atomic_fetch_add(&c->meeting->left, 1) + 1 == c->nranks)
		unlink(name);
	free(c->sent);
	free(c->received);
	c->magic = 0;	/* work that has not ended looks at the meeting */
	free(c);
	return ncclSuccess;
}

/* ---- Communicators */

API(ncclGetVersion)(int *version)
{
	*version = 22809;
	return ncclSuccess;
}

API(ncclGetUniqueId)(ncclUniqueId *id)
{
	return getrandom(id, sizeof(*id), 0) == sizeof(*id) ? ncclSuccess : ncclSystemError;
}

EXPORTED const char *ncclGetErrorString(ncclResult_t result)
{
	return result ? "simulated error" : "no error";
}

EXPORTED const char *ncclGetLastError(ncclComm_t comm)
{
	(void)comm;
	return "";
}

static uint64_t hash_of(const ncclUniqueId *id)
{
#ifdef SIM_NCCL_OLD		/* getHash() of 2.25, which had no others */
	uint64_t h = 5381;

	for (size_t i = 0; i < sizeof(*id); i++)
		h = h * 33 ^ id->internal[i];
	return h;
#else
	uint64_t h[2] = { 1, 1 };

	eat(h, id, sizeof(*id));
	return digest(h);
#endif
}

API(ncclCommInitRank)(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
	return begin(comm, hash_of(&id), nranks, rank);
}

API(ncclCommInitRankConfig)(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
	ncclResult_t r;

	if (config && config->magic != (unsigned)CONFIG_MAGIC)
		return ncclInvalidArgument;
	r = begin(comm, hash_of(&id), nranks, rank);
	return !r && config && !config->blocking ? ncclInProgress : r;
}

API(ncclCommInitRankScalable)(ncclComm_t *comm, int nranks, int rank, int n, ncclUniqueId *ids, ncclConfig_t *config)
{
	(void)config;
	return n < 1 ? ncclInvalidArgument : begin(comm, hash_of(ids), nranks, rank);
}

API(ncclCommInitAll)(ncclComm_t *comms, int n, const int *devices)
{
	ncclUniqueId id;
	ncclResult_t r = pncclGetUniqueId(&id);

	groups++;
	for (int i = 0; !r && i < n; i++) {
		r = begin(&comms[i], hash_of(&id), n, i);
		if (!r)
			comms[i]->device = devices ? devices[i] : i;
	}
	groups--;
	return r;
}

static uint64_t child_hash(const struct ncclComm *c, int child, int color)
{
	uint64_t h[2] = { 1, 1 };

	eat(h, &c->hash, sizeof(c->hash));
	eat(h, &child, sizeof(child));
	eat(h, &color, sizeof(color));
	return digest(h);
}

struct splitting {
	ncclComm_t c, *to;
	int color, key, child;
};

static ncclResult_t do_split(const struct splitting *w)
{
	struct split *s = &w->c->meeting->splits[w->child];
	int rank = 0, n = 0;

	if (await(&s->arrived, w->c->nranks))
		return ncclRemoteError;
	if (w->color == NCCL_SPLIT_NOCOLOR)
		return ncclSuccess;
	for (int i = 0; i < w->c->nranks; i++) {
		if (s->of[i].color != w->color)
			continue;
		n++;
		rank += s->of[i].key < w->key || (s->of[i].key == w->key && i < w->c->rank);
	}
	return begin(w->to, child_hash(w->c, w->child + 1, w->color), n, rank);
}

static void *splitter(void *work)
{
	ncclComm_t c, *to = ((struct splitting *)work)->to;

	((struct splitting *)work)->to = &c;
	if (!do_split(work))
		__atomic_store_n(to, c, __ATOMIC_RELEASE);
	free(work);
	return NULL;
}

/* As NCCL's, one that does not block stores the communicator when it is complete. */
API(ncclCommSplit)(ncclComm_t c, int color, int key, ncclComm_t *to, ncclConfig_t *config)
{
	struct splitting w = { c, to, color, key, 0 }, *work;
	struct split *s;
	pthread_t thread;

	if (check(c) || !to || c->children == SPLITS)
		return ncclInvalidArgument;
	*to = NULL;
	w.child = c->children++;
	s = &c->meeting->splits[w.child];
	s->of[c->rank].color = color;
	s->of[c->rank].key = key;
	atomic_fetch_add(&s->arrived, 1);
	if (!config || config->blocking)
		return do_split(&w);
	work = malloc(sizeof(*work));
	*work = w;
	return pthread_create(&thread, NULL, splitter, work) || pthread_detach(thread) ? ncclSystemError : ncclSuccess;
}

#ifndef SIM_NCCL_OLD
API(ncclCommShrink)(ncclComm_t c, int *without, int n, ncclComm_t *to, ncclConfig_t *config, int flags)
{
	int rank = check(c) ? 0 : c->rank;

	(void)config;
	(void)flags;
	if (check(c) || !to)
		return ncclInvalidArgument;
	for (int i = 0; i < n; i++)
		rank -= without[i] < c->rank;
	return begin_again(to, child_hash(c, 0, 0), c->nranks - n, rank, c->shrunk++);
}
#endif

API(ncclCommFinalize)(ncclComm_t c)
{
	return check(c);
}

API(ncclCommDestroy)(ncclComm_t c)
{
	return end(c);
}

API(ncclCommAbort)(ncclComm_t c)
{
	return end(c);
}

API(ncclCommGetAsyncError)(ncclComm_t c, ncclResult_t *result)
{
	*result = ncclSuccess;
	return c ? ncclSuccess : ncclInvalidArgument;
}

API(ncclCommCount)(ncclComm_t c, int *n)
{
	ncclResult_t r = check(c);

	if (!r)
		*n = c->nranks;
	return r;
}

API(ncclCommCuDevice)(ncclComm_t c, int *device)
{
	ncclResult_t r = check(c);

	if (!r)
		*device = c->device;
	return r;
}

API(ncclCommUserRank)(ncclComm_t c, int *rank)
{
	ncclResult_t r = check(c);

	if (!r)
		*rank = c->rank;
	return r;
}

EXPORTED uint64_t sim_nccl_hash(ncclComm_t c)
{
	return c->hash;
}

/* ---- Operations */

API(ncclGroupStart)(void)
{
	groups++;
	return ncclSuccess;
}

API(ncclGroupEnd)(void)
{
	if (!groups)
		return ncclInvalidUsage;
	groups--;
	return ncclSuccess;
}

/* An operation in a stream: it is done when each of n counters has come to a number; a collective, if it is the same one. */
struct work {
	const atomic_ulong *counters;
	int n;
	unsigned long number;
	const struct meeting *collective;	/* or NULL */
};

static int is_same(const struct meeting *m, int n, unsigned long number)
{
	for (int i = 1; i < n; i++)
		if (atomic_load(&m->sizes[i][number % SIZES]) != atomic_load(&m->sizes[0][number % SIZES]))
			return 0;
	return 1;
}

static int has_ended(void *arg)
{
	const struct work *w = arg;

	for (int i = 0; i < w->n; i++)
		if (atomic_load(&w->counters[i]) < w->number)
			return 0;
	return !w->collective || is_same(w->collective, w->n, w->number);
}

static int never(void *arg)
{
	(void)arg;
	return 0;
}

static void *driver_symbol(const char *name)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return cuda ? dlsym(cuda, name) : NULL;
}

static void begin_work(simStream_t stream, const atomic_ulong *counters, int n, unsigned long number, const struct meeting *collective)
{
	static void (*add)(simStream_t stream, int (*done)(void *arg), void *arg);
	const struct work now = { counters, n, number, collective };
	struct work *w;

	if (!add)
		*(void **)&add = driver_symbol("sim_stream_work");
	if (!add)
		return;
	if (getenv("SIM_NCCL_STUCK")) {
		add(stream, never, NULL);
		return;
	}
	if (has_ended((void *)&now))	/* and what was before it */
		return;
	w = malloc(sizeof(*w));
	if (!w)
		abort();
	*w = now;
	add(stream, has_ended, w);
}

static ncclResult_t check_values(const struct ncclComm *c, ncclDataType_t type, int rank)
{
	return check(c) || type < 0 || type > ncclBfloat16 || rank < 0 || rank >= c->nranks ? ncclInvalidArgument : ncclSuccess;
}

/* A call that may be captured: then the graph makes it. */
struct call {
	ncclComm_t comm;
	size_t n;
	ncclDataType_t type;
	int peer;
	enum { COLLECTIVE, SEND, RECV } kind;
};

static void run(const void *arg, simStream_t stream)
{
	const struct call *call = arg;
	struct ncclComm *c = call->comm;
	struct meeting *m = c->meeting;

	switch (call->kind) {
	case COLLECTIVE:
		c->collectives++;
		atomic_store(&m->sizes[c->rank][c->collectives % SIZES], call->n * 16 + call->type);
		atomic_store(&m->collectives[c->rank], c->collectives);
		begin_work(stream, m->collectives, c->nranks, c->collectives, m);
		break;
	case SEND:
		atomic_store(&m->sent[c->rank][call->peer], ++c->sent[call->peer]);
		begin_work(stream, &m->received[c->rank][call->peer], 1, c->sent[call->peer], NULL);
		break;
	case RECV:
		atomic_store(&m->received[call->peer][c->rank], ++c->received[call->peer]);
		begin_work(stream, &m->sent[call->peer][c->rank], 1, c->received[call->peer], NULL);
		break;
	}
}

static ncclResult_t make(const struct call *call, simStream_t stream)
{
	static int (*capture)(simStream_t stream, void (*run)(const void *arg, simStream_t stream), const void *arg, size_t size);

	if (check_values(call->comm, call->type, call->peer))
		return ncclInvalidArgument;
	if (!capture)
		*(void **)&capture = driver_symbol("sim_stream_capture");
	if (!capture || !capture(stream, run, call, sizeof(*call)))
		run(call, stream);
	return ncclSuccess;
}

static ncclResult_t operation(ncclComm_t c, size_t n, ncclDataType_t type, int rank, simStream_t stream)
{
	return make(&(struct call){ c, n, type, rank, COLLECTIVE }, stream);
}

#define OPERATION(name, rank, ...) API(name)(__VA_ARGS__)		\
{									\
	(void)from;							\
	(void)to;							\
	return operation(comm, n, type, rank, stream);			\
}

OPERATION(ncclBroadcast, root, const void *from, void *to, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
	  simStream_t stream)
OPERATION(ncclAllGather, 0, const void *from, void *to, size_t n, ncclDataType_t type, ncclComm_t comm, simStream_t stream)
OPERATION(ncclAlltoAll, 0, const void *from, void *to, size_t n, ncclDataType_t type, ncclComm_t comm, simStream_t stream)
OPERATION(ncclGather, root, const void *from, void *to, size_t n, ncclDataType_t type, int root, ncclComm_t comm, simStream_t stream)
OPERATION(ncclScatter, root, const void *from, void *to, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
	  simStream_t stream)

#define REDUCTION(name, rank, ...) API(name)(__VA_ARGS__)		\
{									\
	(void)from;							\
	(void)to;							\
	return op < 0 ? ncclInvalidArgument : operation(comm, n, type, rank, stream);	\
}

REDUCTION(ncclReduce, root, const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
	  simStream_t stream)
REDUCTION(ncclAllReduce, 0, const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
	  simStream_t stream)
REDUCTION(ncclReduceScatter, 0, const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
	  simStream_t stream)

API(ncclBcast)(void *buffer, size_t n, ncclDataType_t type, int root, ncclComm_t comm, simStream_t stream)
{
	return pncclBroadcast(buffer, buffer, n, type, root, comm, stream);
}

API(ncclSend)(const void *from, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, simStream_t stream)
{
	(void)from;
	return make(&(struct call){ comm, n, type, peer, SEND }, stream);
}

API(ncclRecv)(void *to, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, simStream_t stream)
{
	(void)to;
	return make(&(struct call){ comm, n, type, peer, RECV }, stream);
}

/* ---- Memory: registering it changes nothing */

EXPORTED ncclResult_t ncclCommRegister(ncclComm_t c, void *memory, size_t size, void **handle);
EXPORTED ncclResult_t ncclCommDeregister(ncclComm_t c, void *handle);
EXPORTED ncclResult_t ncclCommWindowRegister(ncclComm_t c, void *memory, size_t size, void **window, int flags);
EXPORTED ncclResult_t ncclCommWindowDeregister(ncclComm_t c, void *window);

ncclResult_t ncclCommRegister(ncclComm_t c, void *memory, size_t size, void **handle)
{
	(void)size;
	*handle = memory;
	return check(c);
}

ncclResult_t ncclCommDeregister(ncclComm_t c, void *handle)
{
	(void)handle;
	return check(c);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t c, void *memory, size_t size, void **window, int flags)
{
	(void)flags;
	return ncclCommRegister(c, memory, size, window);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t c, void *window)
{
	return ncclCommDeregister(c, window);
}

/* ---- Not simulated: only there for PyTorch to find */

#define REFUSED(name) EXPORTED int name(void); int name(void) { return ncclInvalidUsage; }

REFUSED(ncclCommGrow)
REFUSED(ncclCommGetUniqueId)
REFUSED(ncclCommMemStats)
REFUSED(ncclCommSuspend)
REFUSED(ncclCommResume)
REFUSED(ncclCommRevoke)
REFUSED(ncclDevCommCreate)
REFUSED(ncclDevCommDestroy)
REFUSED(ncclGetLsaMultimemDevicePointer)
REFUSED(ncclGetPeerDevicePointer)
REFUSED(ncclGroupSimulateEnd)
REFUSED(ncclMemAlloc)
REFUSED(ncclMemFree)
REFUSED(ncclPutSignal)
REFUSED(ncclSignal)
REFUSED(ncclWaitSignal)
REFUSED(ncclWinGetUserPtr)
REFUSED(ncclRedOpCreatePreMulSum)
REFUSED(ncclRedOpDestroy)
