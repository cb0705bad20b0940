/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "api/cuda_fn.h"
#include "abi/python_frames.h"
#include "api/cuda_protos.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/proc.h"
#include "inject/inject_memory.h"
#include "shmmap/create.h"

/* How long a program may take: its thread may wait for a CPU. */
static const unsigned long long SETTLE_NS = 50 * 1000000ull;

/* Of threads that have ended: a program may write that thousands have. */
static const unsigned long long LEFT_NS = 2 * 1000000ull;

/* Time limit for reading thread names per iteration. */
static const unsigned long long NAMES_NS = 1000000;

static struct shmmap_memory *memory_of(void *ctx)
{
	return ((struct inject_memory *)ctx)->memory;
}

static int lookup(void *ctx, const struct bpf_map *map, const void *key, void *value)
{
	const struct shmmap_map *m = shmmap_of(memory_of(ctx), map);

	return m ? shmmap_read(m, key, value) : -ENOENT;
}

struct inject_python {
	int pid;
	struct python_process is;
	UT_hash_handle hh;
};

static bool is_python(const struct bpf_map *map)
{
	return !strcmp(bpf_map__name(map), MAP_PYTHON_PROCESSES);
}

static struct inject_python *python_find(const struct inject_memory *m, int pid)
{
	struct inject_python *at;

	HASH_FIND_INT(m->python, &pid, at);
	return at;
}

const struct python_process *inject_memory_python(const struct inject_memory *m, int pid)
{
	const struct inject_python *at = python_find(m, pid);

	return at ? &at->is : NULL;
}

/* The mark makes the process ask for it. */
static int python_set(struct inject_memory *m, int pid, const struct python_process *is)
{
	struct inject_python *at = python_find(m, pid);

	if (!at) {
		at = xcalloc(1, sizeof(*at));
		at->pid = pid;
		HASH_ADD_INT(m->python, pid, at);
	}
	at->is = *is;
	inject_memory_mark(m, pid, INJECT_PYTHON);
	return 0;
}

static int python_drop(struct inject_memory *m, int pid)
{
	struct inject_python *at = python_find(m, pid);

	if (!at)
		return -ENOENT;
	HASH_DEL(m->python, at);
	free(at);
	return 0;
}

static int update(void *ctx, const struct bpf_map *map, const void *key, const void *value, unsigned long long flags)
{
	const struct shmmap_map *m = shmmap_of(memory_of(ctx), map);

	if (is_python(map))
		return python_set(ctx, *(const int *)key, value);
	return m ? shmmap_update(m, key, value, flags, 0) : -ENOENT;
}

static int delete(void *ctx, const struct bpf_map *map, const void *key)
{
	const struct shmmap_map *m = shmmap_of(memory_of(ctx), map);

	if (is_python(map))
		return python_drop(ctx, *(const int *)key);
	return m ? shmmap_delete(m, key) : -ENOENT;
}

static int next(void *ctx, const struct bpf_map *map, const void *key, void *next)
{
	struct shmmap_map *m = shmmap_of(memory_of(ctx), map);

	return m ? shmmap_next(m, key, next) : -ENOENT;
}

static void *elements(void *ctx, const struct bpf_map *map)
{
	const struct shmmap_map *m = shmmap_of(memory_of(ctx), map);
	unsigned first = 0;

	return m ? shmmap_lookup(m, &first, 0) : NULL;
}

/* How many threads there may be: the memory is untrusted. */
static unsigned inject_memory_threads_of(const struct shmmap *s)
{
	unsigned n = __atomic_load_n(&s->head->threads_used, __ATOMIC_RELAXED);

	return n < INJECT_THREADS ? n : INJECT_THREADS;
}

static void settle(void *ctx)
{
	const struct timespec pause = { 0, 100000 };
	const struct shmmap *s = &memory_of(ctx)->shm;
	unsigned long long end = clock_ns() + SETTLE_NS;

	for (unsigned i = 0, n = inject_memory_threads_of(s); i < n; i++)
		while (__atomic_load_n(&s->threads[i].tid, __ATOMIC_ACQUIRE) &&
		       __atomic_load_n(&s->threads[i].busy, __ATOMIC_ACQUIRE) && clock_ns() < end)
			nanosleep(&pause, NULL);
}

static void *inject_memory_run(void *ctx, const char *program, size_t size, size_t *n)
{
	struct inject_memory *m = ctx;

	return inject_each_run(&m->each, program, 0, 0, size, n);
}

static bool is_wanted(const struct probes *p, const struct function *fn)
{
	return fn->wanted && fn->lib != CUDA_USDT && cuda_lib_in_layer(fn->lib, p->layer);
}

/* How much of its caller's stack the function takes as arguments. */
static unsigned stack_flags(const char *name)
{
	int words = cuda_proto_words(name);

	return (words >= INJECT_STACK_MASK ? INJECT_STACK_MASK : words + 1u) << INJECT_STACK_SHIFT;
}

/* Target of the launches of nvcc 13: it jumps into the other one, with the same arguments, past the dynamic linker. */
static const char *const jumps[][2] = {
	{ "__cudaLaunchKernel", "cudaLaunchKernel" }, { "__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz" },
};
enum { JUMPS = sizeof(jumps) / sizeof(*jumps) };

/* Returns the function that jumps into this one, unless it has a probe of its own; NULL if none does. */
static const char *jumps_into(const struct probes *p, const char *name)
{
	const char *from = NULL;

	for (int i = 0; i < JUMPS; i++)
		if (!strcmp(jumps[i][1], name))
			from = jumps[i][0];
	for (int id = 0; from && id < p->source->n; id++) {
		struct function fn = p->source->get(p, id);

		if (is_wanted(p, &fn) && !strcmp(fn.name, from))
			return NULL;
	}
	return from;
}

static struct shmmap_function *list_functions(const struct probes *p, int *n)
{
	struct shmmap_function *list = xcalloc(p->source->n + JUMPS + 1, sizeof(*list));

	*n = 0;
	for (int id = 0; id < p->source->n; id++) {
		struct function fn = p->source->get(p, id);
		const char *from = is_wanted(p, &fn) ? jumps_into(p, fn.name) : NULL;
		unsigned flags = (fn.returns ? INJECT_RETURNS : 0) | (fn.outermost ? INJECT_OUTERMOST : 0) | stack_flags(fn.name);

		if (is_wanted(p, &fn))
			list[(*n)++] = (struct shmmap_function){ fn.form ? fn.form : fn.name, id, fn.lib, flags };
		if (from)
			list[(*n)++] = (struct shmmap_function){ from, id, fn.lib, flags };
	}
	return list;
}

void inject_memory_open(struct inject_memory *m, struct bpf_object *obj, const struct probes *p, const char *library)
{
	int n;
	struct shmmap_function *functions = list_functions(p, &n);

	m->memory = shmmap_create(obj, functions, n);
	if (!m->memory)
		die(errno, "cannot make the memory that is shared with the command");
	free(functions);
	m->maps = (struct maps){
		.ctx = m, .lookup = lookup, .update = update, .remove = delete, .next = next,
		.elements = elements, .settle = settle, .run = inject_memory_run,
	};
	inject_each_init(&m->each, library, m->memory);
	bmaps_use(&m->maps);
}

void inject_memory_fix(struct inject_memory *m)
{
	if (!shmmap_fix(m->memory))
		die(errno, "cannot make the memory that the command reads");
	m->each.keep[1] = m->memory->fixed;
}

void inject_memory_toggle(struct inject_memory *m, const struct probes *p, bool in)
{
	struct shmmap *s = &m->memory->shm;

	for (unsigned i = 0; i < s->functions; i++) {
		struct inject_function *f = &s->toggle[i];
		unsigned id = __atomic_load_n(&f->id, __ATOMIC_RELAXED);

		if (id >= (unsigned)p->source->n || !p->source->get(p, id).detachable)
			continue;
		if (in)
			__atomic_fetch_and(&f->flags, ~INJECT_OFF, __ATOMIC_RELAXED);
		else
			__atomic_fetch_or(&f->flags, INJECT_OFF, __ATOMIC_RELAXED);
	}
}

void inject_memory_end(struct inject_memory *m, bool resident)
{
	struct shmmap *s;

	if (!m->memory)
		return;
	s = &m->memory->shm;
	__atomic_store_n(&s->head->ended, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < s->functions; i++)	/* so that calls cost less than with a check of ended */
		if (resident)
			__atomic_fetch_and(&s->toggle[i].flags, ~INJECT_OFF, __ATOMIC_RELAXED);
		else
			__atomic_fetch_or(&s->toggle[i].flags, INJECT_OFF, __ATOMIC_RELAXED);
}

void inject_memory_tick(struct inject_memory *m)
{
	__atomic_store_n(&m->memory->shm.head->ticks, clock_ns() / 1000000, __ATOMIC_RELAXED);
}

void inject_memory_mark(struct inject_memory *m, unsigned pid, unsigned mark)
{
	struct shmmap *s = &m->memory->shm;

	for (unsigned i = 0, n = inject_memory_threads_of(s); i < n; i++)
		if (__atomic_load_n(&s->threads[i].pid, __ATOMIC_ACQUIRE) == pid)
			__atomic_fetch_or(&s->threads[i].marks, mark, __ATOMIC_RELAXED);
}

/* Pid and thread id are untrusted: any program of the command can write them. */
static void name(struct inject_thread *t, bool (*is_known)(void *ctx, unsigned pid), void *ctx)
{
	unsigned tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE), pid = __atomic_load_n(&t->pid, __ATOMIC_ACQUIRE);
	char comm[16] = { 0 };

	if (!tid || tid & INJECT_LEFT || !is_known(ctx, pid) ||
	    !(tid & INJECT_OF_PROCESS ? proc_comm(pid, comm) : proc_thread_comm(pid, tid, comm)))
		return;
	if (memcmp(t->comm, comm, sizeof(comm)))
		memcpy(t->comm, comm, sizeof(comm));
	__atomic_store_n(&t->named, 1, __ATOMIC_RELAXED);
}

void inject_memory_names(struct inject_memory *m, bool (*is_known)(void *ctx, unsigned pid), void *ctx, bool again)
{
	struct shmmap *s = &m->memory->shm;
	unsigned long long end = clock_ns() + NAMES_NS;
	unsigned all = inject_memory_threads_of(s);

	for (unsigned i = 0; i < all; i++) {
		struct inject_thread *t = &s->threads[i];

		if (!__atomic_load_n(&t->tid, __ATOMIC_RELAXED) || __atomic_load_n(&t->named, __ATOMIC_RELAXED))
			continue;
		if (clock_ns() >= end)
			return;
		name(t, is_known, ctx);
	}
	if (again && m->named_at >= all)
		m->named_at = 0;
	while (m->named_at < all && clock_ns() < end)
		name(&s->threads[m->named_at++], is_known, ctx);
}

void inject_memory_drop(struct inject_memory *m, unsigned pid)
{
	struct shmmap *s = &m->memory->shm;

	for (unsigned i = 0, n = inject_memory_threads_of(s); i < n; i++)
		if (__atomic_load_n(&s->threads[i].tid, __ATOMIC_ACQUIRE) && s->threads[i].pid == pid)
			shmmap_thread_free(s, &s->threads[i]);
}

bool inject_memory_left(struct inject_memory *m, bool (*has_ended)(void *ctx, unsigned pid, unsigned tid), void *ctx,
			const char *program)
{
	struct shmmap *s = &m->memory->shm;
	unsigned long long end = clock_ns() + LEFT_NS;
	unsigned all = inject_memory_threads_of(s);
	size_t n;

	if (m->left_at >= all)
		m->left_at = 0;
	while (m->left_at < all && clock_ns() < end) {
		struct inject_thread *t = &s->threads[m->left_at++];
		unsigned tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE), pid = t->pid;
		unsigned long long since = t->start_time;

		if (!tid || tid & (INJECT_OF_PROCESS | INJECT_LEFT) || !has_ended(ctx, pid, tid) || !shmmap_thread_claim(t, tid, since))
			continue;
		free(program ? inject_each_run(&m->each, program, pid, tid | INJECT_LEFT, 0, &n) : NULL);
		shmmap_thread_free(s, t);
	}
	return m->left_at >= all;
}

void inject_memory_close(struct inject_memory *m)
{
	struct inject_python *at, *next;

	HASH_ITER(hh, m->python, at, next)
		python_drop(m, at->pid);
	bmaps_use(NULL);
	inject_each_free(&m->each);
	if (m->memory)
		shmmap_destroy(m->memory);
}
