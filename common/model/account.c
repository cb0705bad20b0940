/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "base/die.h"
#include "model/account.h"
#include "model/memory.h"
#include "sym/stack.h"

/* Frames that are looked at. */
enum { FRAMES = 32 };

/* cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY (driver_types.h, cuda.h). */
enum { OUT_OF_MEMORY = 2 };

/* A process's failures that come sooner have no account of their own. */
static const unsigned long long FAILURES_NS = 1000000000;

static const char PYTORCH[] = "PyTorch", GRAPHS[] = "CUDA graphs";

/* ---- Who has allocated it */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* The Python package in site-packages or dist-packages that the file is of, and what follows; NULL if it is of none. */
static const char *package_in(const char *path)
{
	static const char in[] = "-packages/";
	const char *at = strstr(path, in);

	return at ? at + strlen(in) : NULL;
}

static bool ends(const char *name, const char *with)
{
	const size_t n = strlen(name), m = strlen(with);

	return n >= m && !strcmp(name + n - m, with);
}

/* Return true for Python code, and for modules in C, which many packages name after what they wrap: runtime, driver. */
static bool is_module(const char *path)
{
	return ends(path, ".py") || strstr(path, ".cpython-") || strstr(path, ".abi3.");
}

/* The package of a Python module, or else the last part of a path, without what follows the library's name. */
static void library_name(char name[ACCOUNT_OWNER], const char *path)
{
	const char *package = is_module(path) ? package_in(path) : NULL;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *end = strstr(base, ".so");

	if (package)
		snprintf(name, ACCOUNT_OWNER, "%.*s", (int)strcspn(package, "/."), package);
	else
		snprintf(name, ACCOUNT_OWNER, "%.*s", end && end > base ? (int)(end - base) : (int)strlen(base), base);
}

/* The library's name as users know it. */
static void name_owner(char name[ACCOUNT_OWNER], const char *path)
{
	static const struct { const char *library, *name; } known[] = {
		{ "libnccl", "NCCL" }, { "libcublas", "cuBLAS" }, { "libcudnn", "cuDNN" }, { "libc10_cuda", PYTORCH }, { "libtorch", PYTORCH },
		{ "libcufft", "cuFFT" }, { "libcusolver", "cuSOLVER" }, { "libcusparse", "cuSPARSE" }, { "libcurand", "cuRAND" },
		{ "libnvshmem", "NVSHMEM" }, { "libnvinfer", "TensorRT" },
	};

	library_name(name, path);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (begins(name, known[i].library)) {
			snprintf(name, ACCOUNT_OWNER, "%s", known[i].name);
			return;
		}
}

/* Return true for what calls C functions for Python programs: ctypes, cffi, libffi below them, and CUDA Python (package cuda). */
static bool is_foreign(const char *name)
{
	return begins(name, "libffi") || begins(name, "_ctypes") || begins(name, "_cffi") || !strcmp(name, "cuda") || !strcmp(name, "ctypes");
}

/* Return true for CUDA itself, and for our library of --attach inject. */
static bool is_cuda(const char *file)
{
	const char *slash = strrchr(file, '/');

	return begins(slash ? slash + 1 : file, "libcuda") || (strstr(file, "/inject/cuda") && ends(file, ".so"));
}

/* The innermost frame that is not of CUDA itself; of a Python program that calls it by ctypes, the program's file. */
static void find_owner(char name[ACCOUNT_OWNER], const struct allocation *a)
{
	const struct stack *stack = a->group->key.stack;
	struct frame_view view;
	bool foreign = false;

	if (a->id == CUDA_ID_cudaGraphLaunch) {
		snprintf(name, ACCOUNT_OWNER, "%s", GRAPHS);
		return;
	}
	for (int i = 0; stack && i < FRAMES && stack_view(stack, i, &view); i++) {
		if (!view.file || !(view.kind == FRAME_KIND_NATIVE || (foreign && view.kind == FRAME_KIND_PYTHON)))
			continue;
		name_owner(name, view.file);
		foreign |= is_foreign(name);
		if (!is_cuda(view.file) && !is_foreign(name))
			return;
	}
	snprintf(name, ACCOUNT_OWNER, "unknown");
}

static bool is_installed(const char *file)
{
	return package_in(file) || strstr(file, "/lib/python") || *file == '<';
}

/* The line of the Python program, or else of a package; without any the innermost function that is not of CUDA. */
static void find_maker(char made[ACCOUNT_MADE], const struct allocation *a)
{
	const struct stack *stack = a->group->key.stack;
	struct frame_view view;
	bool python = false;

	*made = '\0';
	for (int i = 0; stack && i < FRAMES && stack_view(stack, i, &view); i++) {
		const char *slash = view.file ? strrchr(view.file, '/') : NULL, *base = slash ? slash + 1 : view.file;

		if (!base || !view.name || (view.kind != FRAME_KIND_NATIVE && view.kind != FRAME_KIND_PYTHON))
			continue;
		if (view.kind == FRAME_KIND_NATIVE && !*made && !is_cuda(view.file))
			snprintf(made, ACCOUNT_MADE, "%s", view.name);
		if (view.kind != FRAME_KIND_PYTHON || (python && is_installed(view.file)))
			continue;
		snprintf(made, ACCOUNT_MADE, "%s:%d %s", base, view.line, view.name);
		if (!is_installed(view.file))
			return;
		python = true;
	}
}

/* ---- The rows */

/* sized: its bytes are known. */
static struct account_row *account_row_of(struct account *a, const char *owner, enum account_part part, unsigned device, bool sized)
{
	for (size_t i = 0; i < a->n; i++) {
		struct account_row *r = &a->rows[i];

		if (r->device == device && r->part == part && (r->bytes != ACCOUNT_UNKNOWN) == sized && !strcmp(r->owner, owner))
			return r;
	}
	ALLOC_GROW(a->rows, a->n, a->room);
	a->rows[a->n] = (struct account_row){ .device = device, .part = part, .bytes = sized ? 0 : ACCOUNT_UNKNOWN, .largest = ACCOUNT_UNKNOWN };
	snprintf(a->rows[a->n].owner, ACCOUNT_OWNER, "%s", owner);
	return &a->rows[a->n++];
}

/* Of a site, whose allocations have one stack: looked for once. */
struct site_owner {
	const struct mem_site *site;
	char name[ACCOUNT_OWNER];
};

static enum account_part part_of(const struct allocation *a)
{
	if (cuda_fns[a->id].args.anywhere)
		return ACCOUNT_IMPORTED;
	switch (a->group->key.memory) {
	case CUDA_IPC: return ACCOUNT_IMPORTED;
	case CUDA_CODE: return ACCOUNT_CODE;
	case CUDA_CONTEXT_HANDLE: return ACCOUNT_CONTEXT;
	default: return ACCOUNT_ALL;
	}
}

static void add_allocation(struct account *a, struct site_owner *last, const struct allocation *each)
{
	const enum account_part part = part_of(each);
	const bool sized = part == ACCOUNT_ALL || each->size;
	struct account_row *r;

	if (last->site != each->group || each->id == CUDA_ID_cudaGraphLaunch) {
		find_owner(last->name, each);
		last->site = each->id == CUDA_ID_cudaGraphLaunch ? NULL : each->group;
	}
	r = account_row_of(a, last->name, part, each->group->key.device, sized);
	r->bytes += sized ? each->size : 0;
	if (part == ACCOUNT_CONTEXT && (!r->count || each->time < r->first)) {
		r->first = each->time;
		find_maker(r->made, each);
	}
	r->count++;
}

static int by_address(const void *a, const void *b)
{
	const struct allocation *const *p = a, *const *q = b;

	return ((*p)->key.ptr > (*q)->key.ptr) - ((*p)->key.ptr < (*q)->key.ptr);
}

static int by_site(const void *a, const void *b)
{
	const struct allocation *const *p = a, *const *q = b;

	return ((*p)->group > (*q)->group) - ((*p)->group < (*q)->group);
}

static bool is_beyond(const struct allocation *a)
{
	return part_of(a) != ACCOUNT_ALL;
}

static bool is_tensor(const struct allocation *a)
{
	return a->group->key.memory == CUDA_TENSOR;
}

static bool is_memory(const struct allocation *a)
{
	return !is_beyond(a) && !is_tensor(a);
}

/* Returns the *n allocations of a process that are wanted; the caller frees the list. */
static const struct allocation **list(const struct mem_process *process, bool (*wanted)(const struct allocation *a), size_t *n)
{
	const struct allocation **all = xcalloc(HASH_COUNT(process->allocations) + 1, sizeof(*all));

	*n = 0;
	for (const struct allocation *a = process->allocations; a; a = a->hh.next)
		if (wanted(a))
			all[(*n)++] = a;
	return all;
}

static void add_piece(struct account *a, const char *owner, unsigned device, unsigned long long size)
{
	struct account_row *r = account_row_of(a, owner, ACCOUNT_FREE, device, true);

	r->bytes += size;
	r->count++;
	r->largest = r->largest == ACCOUNT_UNKNOWN || r->largest < size ? size : r->largest;
}

/* The tensors from this one on that are in a segment, and the pieces between them; returns the first one behind it. */
static size_t add_segment(struct account *a, const char *owner, const struct allocation *segment, const struct allocation **tensors,
			  size_t n, size_t from)
{
	const unsigned device = segment->group->key.device;
	const unsigned long long end = segment->key.ptr + segment->size;
	unsigned long long at = segment->key.ptr;

	for (; from < n && tensors[from]->key.ptr < end; from++) {
		struct account_row *r = account_row_of(a, owner, ACCOUNT_TENSORS, device, true);
		const unsigned long long begin = tensors[from]->key.ptr, size = tensors[from]->size;

		r->bytes += size;
		r->count++;
		if (begin > at)
			add_piece(a, owner, device, begin - at);
		if (begin + size > at)
			at = begin + size;
	}
	if (at < end)
		add_piece(a, owner, device, end - at);
	return from;
}

/* An allocator that has tensors in some of its segments may have none in others: its memory is split into tensors and pieces. */
static void split(struct account *a, const struct mem_process *process)
{
	size_t ntensors, nsegments, from = 0;
	const struct allocation **tensors = list(process, is_tensor, &ntensors), **segments = list(process, is_memory, &nsegments);
	char owner[ACCOUNT_OWNER];

	qsort(tensors, ntensors, sizeof(*tensors), by_address);
	qsort(segments, nsegments, sizeof(*segments), by_address);
	for (size_t i = 0; ntensors && i < nsegments; i++) {
		const struct allocation *s = segments[i];

		while (from < ntensors && tensors[from]->key.ptr < s->key.ptr)
			from++;
		find_owner(owner, s);
		if (s->group->key.device != DEVICE_NONE &&
		    (!strcmp(owner, PYTORCH) || (from < ntensors && tensors[from]->key.ptr < s->key.ptr + s->size)))
			from = add_segment(a, owner, s, tensors, ntensors, from);
	}
	free(tensors);
	free(segments);
}

static int by_bytes(const void *a, const void *b)
{
	const struct account_row *p = a, *q = b;

	if (p->device != q->device)
		return (p->device > q->device) - (p->device < q->device);
	if (account_is_held(p) != account_is_held(q) || p->part == ACCOUNT_LIMIT || q->part == ACCOUNT_LIMIT)
		return (p->part > q->part) - (p->part < q->part);
	return (p->bytes < q->bytes) - (p->bytes > q->bytes);
}

static bool is_split(const struct account *a, const struct account_row *r)
{
	for (size_t i = 0; r->part == ACCOUNT_ALL && i < a->n; i++)
		if ((a->rows[i].part == ACCOUNT_TENSORS || a->rows[i].part == ACCOUNT_FREE) && a->rows[i].device == r->device && !strcmp(a->rows[i].owner, r->owner))
			return true;
	return false;
}

/* The rows of an allocator's parts stand for that of all of it. */
static void drop_split(struct account *a)
{
	size_t n = 0;
	bool *drop = xcalloc(a->n + 1, sizeof(*drop));

	for (size_t i = 0; i < a->n; i++)
		drop[i] = is_split(a, &a->rows[i]);
	for (size_t i = 0; i < a->n; i++)
		if (!drop[i])
			a->rows[n++] = a->rows[i];
	free(drop);
	a->n = n;
}

/* Allocations of the process, what it has imported, and contexts and code that it made. */
static void add_all(struct account *a, const struct mem_process *process, bool (*wanted)(const struct allocation *a))
{
	struct site_owner last = { 0 };
	size_t n;
	const struct allocation **all = list(process, wanted, &n);

	qsort(all, n, sizeof(*all), by_site);
	for (size_t i = 0; i < n; i++)
		add_allocation(a, &last, all[i]);
	free(all);
}

/* The defaults of the CUDA C++ Programming Guide, "Formatted Output" and "Dynamic Global Memory Allocation"; it has none for
 * stacks. */
static const struct {
	const char *name;
	unsigned long long bytes;	/* 0: not known */
} limits[MEM_LIMITS] = {
	[MEM_LIMIT_STACK] = { "stack of a thread", 0 },
	[MEM_LIMIT_PRINTF] = { "printf FIFO", 1 << 20 },
	[MEM_LIMIT_HEAP] = { "malloc heap", 8 << 20 },
};

/* A program that was not seen from its start may have set it before. */
static void add_limit(struct account *a, const struct mem_process *process, const struct mem_device *d, enum mem_limit limit)
{
	const unsigned long long bytes = d->limited[limit] ? d->limits[limit] : limits[limit].bytes;
	struct account_row *r;

	if (!d->limited[limit] && (process->preexisting || !bytes || !d->device))
		return;
	r = account_row_of(a, limits[limit].name, ACCOUNT_LIMIT, d->device, true);
	r->bytes = bytes;
	r->count = ACCOUNT_UNKNOWN;
	r->by_default = !d->limited[limit];
}

static void add_graphs(struct account *a, const struct mem_device *d)
{
	struct account_row *r = d->graphs ? account_row_of(a, GRAPHS, ACCOUNT_GRAPHS, d->device, true) : NULL;

	if (!r)
		return;
	r->bytes = d->graphs;
	r->count = ACCOUNT_UNKNOWN;
}

struct account account_of(const struct mem_process *process)
{
	struct account a = { 0 };

	if (!process)
		return a;
	add_all(&a, process, is_memory);
	split(&a, process);
	drop_split(&a);
	add_all(&a, process, is_beyond);
	for (const struct mem_device *d = process->groups.devices; d; d = d->hh.next)
		add_graphs(&a, d);
	for (const struct mem_device *d = process->groups.devices; d; d = d->hh.next)
		for (int i = 0; d->device != DEVICE_NONE && i < MEM_LIMITS; i++)
			add_limit(&a, process, d, i);
	if (a.n)
		qsort(a.rows, a.n, sizeof(*a.rows), by_bytes);
	return a;
}

void account_free(struct account *account)
{
	free(account->rows);
	*account = (struct account){ 0 };
}

bool account_is_due(struct mem_process *process, const struct memory_event *event)
{
	if (!process || cuda_fns[event->head.kind].class != CUDA_ALLOC || event->ret != OUT_OF_MEMORY)
		return false;
	if (process->accounted && event->time - process->accounted < FAILURES_NS)
		return false;
	process->accounted = event->time;
	return true;
}
