/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudaleak/account.h"
#include "cudaleak/leak_view.h"
#include "nvml/nvml.h"
#include "proc/process_table.h"
#include "sym/stack.h"

/* Bytes of an owner's name; frames that are looked at; how long an answer of NVML is waited for, ms. */
enum { OWNER = 64, FRAMES = 32, NVML_MS = 100 };

/* What one owner holds on a device. */
struct account_row {
	unsigned long long time, bytes, count, largest;	/* largest: piece; OUT_NONE: not known */
	int pid;
	unsigned int device;
	const char *comm, *container, *at, *owner, *part;	/* owner NULL: NVML's rest; part NULL: all of it */
	bool complete;
	char name[OWNER];
};

struct account {
	struct account_row *rows;
	size_t n, room;
};

OUT_WORD(account_type, "account");

#define AT(f) offsetof(struct account_row, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &account_type, 0 },	/* with --account: of what the memory of a process consists */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "at", NULL, 0, OUT_STR, AT(at) },	/* interval; exit: after exit or execve; failure: an allocation has failed */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the memory; null if unknown, of the host or of all devices */
	{ "owner", NULL, 0, OUT_STR, AT(owner) },	/* library or program that allocated it; null: the rest that NVML reports, on all devices */
	{ "part", NULL, 0, OUT_STR, AT(part) },	/* tensors, or free: what an allocator holds beside tensors; null: all of it */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: that it holds */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* allocations, tensors or free pieces; null if unknown */
	{ "largest", NULL, 0, OUT_UINT, AT(largest) },	/* bytes: of the largest free piece; null for other parts */
	{ 0 }
};

static const char PYTORCH[] = "PyTorch", GRAPHS[] = "CUDA graphs";

/* ---- Who has allocated it */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* The last part of a path, without what follows the library's name. */
static void library_name(char name[OWNER], const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *end = strstr(base, ".so");

	snprintf(name, OWNER, "%.*s", end && end > base ? (int)(end - base) : (int)strlen(base), base);
}

/* The library's name as users know it. */
static void name_owner(char name[OWNER], const char *path)
{
	static const struct { const char *library, *name; } known[] = {
		{ "libnccl", "NCCL" }, { "libcublas", "cuBLAS" }, { "libcudnn", "cuDNN" }, { "libc10_cuda", PYTORCH }, { "libtorch", PYTORCH },
		{ "libcufft", "cuFFT" }, { "libcusolver", "cuSOLVER" }, { "libcusparse", "cuSPARSE" }, { "libcurand", "cuRAND" },
		{ "libnvshmem", "NVSHMEM" }, { "libnvinfer", "TensorRT" },
	};

	library_name(name, path);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (begins(name, known[i].library)) {
			snprintf(name, OWNER, "%s", known[i].name);
			return;
		}
}

/* The innermost frame that is not of CUDA itself. */
static void find_owner(char name[OWNER], const struct allocation *a)
{
	const struct stack *stack = a->group->key.stack;
	struct frame_view view;

	if (a->id == CUDA_ID_cudaGraphLaunch) {
		snprintf(name, OWNER, "%s", GRAPHS);
		return;
	}
	for (int i = 0; stack && i < FRAMES && stack_view(stack, i, &view); i++) {
		if (view.kind != FRAME_KIND_NATIVE || !view.file)
			continue;
		name_owner(name, view.file);
		if (!begins(name, "libcudart") && !begins(name, "libcuda"))
			return;
	}
	snprintf(name, OWNER, "unknown");
}

/* ---- The rows */

static struct account_row *row_of(struct account *a, const char *owner, const char *part, unsigned device)
{
	for (size_t i = 0; i < a->n; i++) {
		struct account_row *r = &a->rows[i];

		if (r->device == device && !strcmp(r->name, owner) && (part ? r->part && !strcmp(r->part, part) : !r->part))
			return r;
	}
	if (a->n == a->room) {
		a->room = a->room ? 2 * a->room : 16;
		a->rows = xrealloc(a->rows, a->room, sizeof(*a->rows));
	}
	a->rows[a->n] = (struct account_row){ .device = device, .part = part, .largest = OUT_NONE };
	snprintf(a->rows[a->n].name, OWNER, "%s", owner);
	return &a->rows[a->n++];
}

/* Of a site, whose allocations have one stack: looked for once. */
struct site_owner {
	const struct mem_site *site;
	char name[OWNER];
};

static void add_allocation(struct account *a, struct site_owner *last, const struct allocation *each)
{
	struct account_row *r;

	if (last->site != each->group || each->id == CUDA_ID_cudaGraphLaunch) {
		find_owner(last->name, each);
		last->site = each->id == CUDA_ID_cudaGraphLaunch ? NULL : each->group;
	}
	r = row_of(a, last->name, NULL, each->group->key.device);
	r->bytes += each->size;
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

/* Returns the *n allocations of a process that are tensors, or are not; the caller frees the list. */
static const struct allocation **list(const struct mem_process *process, bool tensors, size_t *n)
{
	const struct allocation **all = xcalloc(HASH_COUNT(process->allocations) + 1, sizeof(*all));

	*n = 0;
	for (const struct allocation *a = process->allocations; a; a = a->hh.next)
		if ((a->group->key.memory == CUDA_TENSOR) == tensors)
			all[(*n)++] = a;
	return all;
}

static void add_piece(struct account *a, const char *owner, unsigned device, unsigned long long size)
{
	struct account_row *r = row_of(a, owner, "free", device);

	r->bytes += size;
	r->count++;
	r->largest = r->largest == OUT_NONE || r->largest < size ? size : r->largest;
}

/* The tensors from this one on that are in a segment, and the pieces between them; returns the first one behind it. */
static size_t add_segment(struct account *a, const char *owner, const struct allocation *segment, const struct allocation **tensors,
			  size_t n, size_t from)
{
	const unsigned device = segment->group->key.device;
	const unsigned long long end = segment->key.ptr + segment->size;
	unsigned long long at = segment->key.ptr;

	for (; from < n && tensors[from]->key.ptr < end; from++) {
		struct account_row *r = row_of(a, owner, "tensors", device);
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
	const struct allocation **tensors = list(process, true, &ntensors), **segments = list(process, false, &nsegments);
	char owner[OWNER];

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
	return (p->bytes < q->bytes) - (p->bytes > q->bytes);
}

/* What NVML reports beyond what is held on devices; false: it does not, or that is less. */
static bool find_rest(const struct account *a, int pid, struct nvml *nvml, unsigned long long *rest, unsigned long long *used)
{
	unsigned long long held = 0, on;
	bool any = false;

	*used = 0;
	if (!nvml_read(nvml, NVML_MS))
		return false;
	for (unsigned i = 0; i < nvml->ndevices; i++)
		if (nvml_used(nvml, pid, i, &on)) {
			*used += on;
			any = true;
		}
	for (size_t i = 0; i < a->n; i++)
		if (a->rows[i].device != DEVICE_NONE && !a->rows[i].part)
			held += a->rows[i].bytes;
	*rest = *used > held ? *used - held : 0;
	return any;
}

/* The rows of an allocator's parts stand for that of all of it. */
static void gather(struct account *a, const struct mem_process *process)
{
	struct site_owner last = { 0 };
	size_t n;
	const struct allocation **all = list(process, false, &n);

	qsort(all, n, sizeof(*all), by_site);
	for (size_t i = 0; i < n; i++)
		add_allocation(a, &last, all[i]);
	free(all);
	split(a, process);
	if (a->n)
		qsort(a->rows, a->n, sizeof(*a->rows), by_bytes);
}

static bool is_split(const struct account *a, const struct account_row *r)
{
	for (size_t i = 0; !r->part && i < a->n; i++)
		if (a->rows[i].part && a->rows[i].device == r->device && !strcmp(a->rows[i].name, r->name))
			return true;
	return false;
}

/* ---- As text and JSON */

static void text_row(const struct account_row *r)
{
	char device[16];

	printf("    %10s  ", out_bytes(r->bytes));
	if (r->device == DEVICE_NONE)
		fputs("host      ", stdout);
	else
		printf("device %-3s", device_text(r->device, device));
	fputs("  ", stdout);
	escape_text(stdout, r->name);
	if (r->part && !strcmp(r->part, "free"))
		printf(": free, in %llu piece%s, the largest %s\n", r->count, plural(r->count), out_bytes(r->largest));
	else
		printf("%s, in %llu allocation%s\n", r->part ? ": tensors" : "", r->count, plural(r->count));
	out_line_end();
}

static void json_row(const struct leak_view *view, const struct mem_process *process, const char *at, struct account_row *r)
{
	r->time = view->options.now;
	r->pid = process->pid;
	r->comm = process->comm;
	r->container = process_container(view->processes, process->pid);
	r->at = at;
	r->complete = !process->preexisting;
	out_row(fields, r);
	out_line_end();
}

static void print(const struct leak_view *view, const struct mem_process *process, struct nvml *nvml, const char *at)
{
	struct account account = { 0 };
	unsigned long long rest, used;
	bool known;

	gather(&account, process);
	known = find_rest(&account, process->pid, nvml, &rest, &used);
	for (size_t i = 0; i < account.n; i++) {
		struct account_row *r = &account.rows[i];

		if (is_split(&account, r))
			continue;
		r->owner = r->name;
		if (out_is_json())
			json_row(view, process, at, r);
		else
			text_row(r);
	}
	if (known && out_is_json())
		json_row(view, process, at, &(struct account_row){ .bytes = rest, .count = OUT_NONE, .largest = OUT_NONE });
	else if (known)
		printf("    %10s  of %s that NVML reports: contexts, kernels, and what was allocated before tracing began\n", out_bytes(rest),
		       out_bytes(used));
	out_line_end();
	free(account.rows);
}

void account_print(const struct leak_view *view, const struct mem_process *process, struct nvml *nvml, const char *at)
{
	if (!out_is_json()) {
		leak_view_head(view, process, at);
		printf("%s in %llu allocation%s\n", out_bytes(process->groups.held.bytes), process->groups.held.count,
		       plural(process->groups.held.count));
	}
	print(view, process, nvml, at);
}

void account_print_failure(const struct leak_view *view, const struct mem_process *process, struct nvml *nvml, const char *func,
			   unsigned long long size)
{
	if (!out_is_json()) {
		leak_view_head(view, process, "failure");
		printf("%s", func);
		if (size)
			printf(" of %s", out_bytes(size));
		printf(" has failed: %s held\n", out_bytes(process->groups.held.bytes));
	}
	print(view, process, nvml, "failure");
}
