/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/account.h"
#include "model/memory.h"
#include "nvml/device_env.h"
#include "nvml/nvml.h"
#include "proc/proc.h"
#include "view/account_view.h"
#include "view/columns.h"

/* How long it waits for NVML, ms. */
enum { NVML_MS = 100 };

/* Other processes that are listed for a GPU. */
enum { HOLDERS = 8 };

/* A row of the account with its process; owner NULL: what NVML reports.  OUT_NONE: has none of it. */
struct line {
	struct account_report of;
	struct account_row row;
	const char *owner, *part;
	unsigned long long gpu, holder, total, used;
	const char *made;
};

OUT_WORD(row_type, "account");

#define AT(f) offsetof(struct line, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* with --account, or of cudatop -m: of what the memory of a process consists */
	{ "time", NULL, 0, OUT_TIME, AT(of.time) },	/* of the report, or of the return of a call */
	{ "pid", NULL, 0, OUT_INT, AT(of.pid) },	/* the process */
	{ "comm", NULL, 0, OUT_STR, AT(of.comm) },	/* name of the thread */
	{ "container", NULL, 0, OUT_STR, AT(of.container) },	/* first 12 digits of its ID; null if none or unknown */
	{ "at", NULL, 0, OUT_STR, AT(of.at) },	/* interval; exit: after exit or execve; failure: an allocation has failed */
	{ "complete", NULL, 0, OUT_BOOL, AT(of.complete) },	/* false if earlier calls, or the entry, were not seen */
	{ "device", NULL, 0, OUT_DEVICE, AT(row.device) },	/* of the memory; null if unknown, of the host or of all devices */
	{ "owner", NULL, 0, OUT_STR, AT(owner) },	/* library or program that allocated it, name of a limit, or of another process; null: what NVML reports beyond */
	{ "part", NULL, 0, OUT_STR, AT(part) },	/* tensors; free: what an allocator holds beside tensors; imported: what other processes have allocated; in the rest: context, graphs (what one launch of the largest graph allocates and frees itself), code, limit; gpu-free, gpu-other: of the GPU, free, or held by another process; gpu-used: of a GPU that has no known number in the program, used by it; gpu-driver: by none that NVML lists; null: all of it */
	{ "bytes", NULL, 0, OUT_UINT, AT(row.bytes) },	/* bytes: that it holds; of images of code; of a limit; null for images without a size */
	{ "count", NULL, 0, OUT_UINT, AT(row.count) },	/* allocations, tensors, free pieces or images; null if unknown */
	{ "made", NULL, 0, OUT_STR, AT(made) },	/* of contexts: where the first one was made: FILE:LINE FUNCTION in Python, or the function of the owner; null for other parts, or if unknown */
	{ "default", NULL, 0, OUT_BOOL, AT(row.by_default) },	/* a limit that the program has not set: the documented default of CUDA */
	{ "largest", NULL, 0, OUT_UINT, AT(row.largest) },	/* bytes: of the largest free piece; null for other parts */
	{ "gpu", NULL, 0, OUT_UINT, AT(gpu) },	/* number of the GPU by NVML; null for what the process allocated, or on several */
	{ "gpu_used", NULL, 0, OUT_UINT, AT(used) },	/* bytes: all that NVML reports of the process there, for the rest; on all its GPUs if gpu is null; null for other parts */
	{ "gpu_total", NULL, 0, OUT_UINT, AT(total) },	/* bytes: memory of that GPU; null as gpu */
	{ "holder", NULL, 0, OUT_UINT, AT(holder) },	/* pid of the other process; null for other parts */
	{ 0 }
};

static unsigned long long bytes_held(const struct account_report *r)
{
	return r->process ? r->process->groups.held.bytes : 0;
}

static void head(const struct account_report *r)
{
	const unsigned long long count = r->process ? r->process->groups.held.count : 0;

	printf("[%s] ", out_clock());
	process_text(r->pid, r->comm, r->container);
	printf("%s: ", !strcmp(r->at, "exit") ? " at exit" : "");
	if (!r->func) {
		printf("%s in %llu allocation%s\n", out_bytes(bytes_held(r)), count, plural(count));
		return;
	}
	printf("%s", r->func);
	if (r->size)
		printf(" of %s", out_bytes(r->size));
	printf(" failed: %s held\n", out_bytes(bytes_held(r)));
}

static void part_text(const struct account_row *r)
{
	const char *none = r->bytes == OUT_NONE ? " of unknown size" : "";

	switch (r->part) {
	case ACCOUNT_ALL:
		printf(", in %llu allocation%s\n", r->count, plural(r->count));
		return;
	case ACCOUNT_TENSORS:
		printf(": tensors, in %llu allocation%s\n", r->count, plural(r->count));
		return;
	case ACCOUNT_FREE:
		printf(": free, in %llu piece%s, the largest %s\n", r->count, plural(r->count), out_bytes(r->largest));
		return;
	case ACCOUNT_IMPORTED:
		printf(": imported from other processes, in %llu allocation%s%s\n", r->count, plural(r->count), none);
		return;
	case ACCOUNT_CONTEXT:
		printf(": %llu context%s", r->count, plural(r->count));
		if (*r->made) {
			fputs(", made by ", stdout);
			escape_text(stdout, r->made);
		}
		puts(", part of the rest");
		return;
	case ACCOUNT_GRAPHS:
		puts(": pool of what one launch allocates and frees, part of the rest");
		return;
	case ACCOUNT_CODE:
		printf(": code, in %llu image%s%s, part of the rest\n", r->count, plural(r->count), none);
		return;
	case ACCOUNT_LIMIT:
		printf(": limit%s, part of the rest\n", r->by_default ? " by default" : "");
		return;
	}
}

static void account_view_text(const struct account_row *r)
{
	char device[16];

	printf("    %10s  ", r->bytes == OUT_NONE ? "-" : out_bytes(r->bytes));
	if (r->device == DEVICE_NONE)
		fputs("host      ", stdout);
	else
		printf("device %-3s", device_text(r->device, device));
	fputs("  ", stdout);
	escape_text(stdout, r->owner);
	part_text(r);
}

static void row(const struct account_report *r, const struct account_row *row)
{
	static const char *const parts[] = { NULL, "tensors", "free", "imported", "context", "graphs", "code", "limit" };
	struct line line = { *r, *row, NULL, parts[row->part], OUT_NONE, OUT_NONE, OUT_NONE, OUT_NONE, NULL };

	line.owner = line.row.owner;
	line.made = *row->made ? line.row.made : NULL;
	if (out_is_json())
		out_row(fields, &line);
	else
		account_view_text(row);
	out_line_end();
}

/* ---- What NVML reports */

static const char BEYOND[] = "contexts, code, limits, and what was allocated before tracing began";

/* A GPU that the process uses, and the number that it has there: abi/device.h, 0 if that is not known. */
struct gpu { unsigned nvml, device; unsigned long long used; };

struct gpus {
	const struct nvml *n;
	struct gpu all[NVML_DEVICES];
	unsigned len;
	bool numbered;		/* all have their number */
};

/* Bytes that the process holds on a device, DEVICE_NONE: on all. */
static unsigned long long on_device(const struct account *a, unsigned device)
{
	unsigned long long bytes = 0;

	for (size_t i = 0; i < a->n; i++)
		if (account_is_held(&a->rows[i]) && (device == DEVICE_NONE ? a->rows[i].device != DEVICE_NONE : a->rows[i].device == device))
			bytes += a->rows[i].bytes;
	return bytes;
}

static void find_gpus(struct gpus *g, const struct account_report *r)
{
	unsigned numbers[NVML_DEVICES] = { 0 };
	struct device_env env;

	*g = (struct gpus){ .n = r->nvml, .numbered = true };
	if (!nvml_read(r->nvml, NVML_MS))
		return;
	if (!device_env_read(r->helpers, r->pid, &env))
		device_numbers(&env, g->n, r->pid, numbers);
	for (unsigned i = 0; i < g->n->ndevices; i++) {
		struct gpu *to = &g->all[g->len];

		if (!nvml_used(g->n, r->pid, i, &to->used))
			continue;
		to->nvml = i;
		to->device = numbers[i];
		g->numbered &= !!to->device;
		g->len++;
	}
}

static void gpu_text(const struct line *l, const struct gpu *on)
{
	char device[16];

	printf("    %10s  device %-3s  ", out_bytes(l->row.bytes), device_text(on->device, device));
	if (l->part && !strcmp(l->part, "gpu-used")) {
		printf("used of GPU %u by this process\n", on->nvml);
	} else if (!l->part) {
		printf("of %s that NVML reports on GPU %u: %s\n", out_bytes(on->used), on->nvml, BEYOND);
	} else if (l->holder != OUT_NONE) {
		printf("held by pid %llu (", l->holder);
		escape_text(stdout, l->owner ? l->owner : "?");
		puts(")");
	} else if (!strcmp(l->part, "gpu-free")) {
		printf("free of %s: GPU %u, ", out_bytes(l->total), on->nvml);
		escape_text(stdout, l->of.nvml->devices[on->nvml].name);
		putchar('\n');
	} else {
		puts("held by the driver, or by processes that NVML does not list");
	}
}

/* part NULL: what the process uses beyond what it holds. */
static void gpu_row(const struct account_report *r, const struct gpu *on, const char *part,
		    const struct nvml_process *holder, unsigned long long bytes)
{
	const struct nvml_device *d = &r->nvml->devices[on->nvml];
	struct line line = {
		*r, { .device = on->device, .bytes = bytes, .count = OUT_NONE, .largest = OUT_NONE },
		NULL, part, on->nvml, holder ? (unsigned)holder->pid : OUT_NONE, d->memory_known ? d->total : OUT_NONE,
		part ? OUT_NONE : on->used, NULL,
	};
	char comm[16];

	if (holder && proc_comm(holder->pid, comm))
		line.owner = comm;
	if (out_is_json())
		out_row(fields, &line);
	else
		gpu_text(&line, on);
	out_line_end();
}

static int by_used(const void *a, const void *b)
{
	const struct nvml_process *const *p = a, *const *q = b;

	return ((*p)->used < (*q)->used) - ((*p)->used > (*q)->used);
}

/* The other processes of a GPU, the largest first, and what else is there. */
static void gpu_rows(const struct account_report *r, const struct gpu *on)
{
	const struct nvml_device *d = &r->nvml->devices[on->nvml];
	const struct nvml_process **others = xcalloc(r->nvml->nprocesses + 1, sizeof(*others));
	unsigned long long listed = on->used, smaller = 0;
	size_t n = 0;

	for (unsigned i = 0; i < r->nvml->nprocesses; i++) {
		const struct nvml_process *p = &r->nvml->processes[i];

		if (p->device != on->nvml || p->pid == r->pid)
			continue;
		others[n++] = p;
		listed += p->used;
	}
	qsort(others, n, sizeof(*others), by_used);
	for (size_t i = 0; i < n; i++)
		if (i < HOLDERS || out_is_json())
			gpu_row(r, on, "gpu-other", others[i], others[i]->used);
		else
			smaller += others[i]->used;
	if (smaller)
		printf("    %10s  held by %zu more processes\n", out_bytes(smaller), n - HOLDERS);
	free(others);
	if (!d->memory_known)
		return;
	if (d->used > listed)
		gpu_row(r, on, "gpu-driver", NULL, d->used - listed);
	gpu_row(r, on, "gpu-free", NULL, d->total > d->used ? d->total - d->used : 0);
}

static unsigned long long beyond(unsigned long long used, unsigned long long held)
{
	return used > held ? used - held : 0;
}

/* If the process's devices cannot be told apart: of all of them. */
static void rest_of_all(const struct account_report *r, const struct gpus *g, unsigned long long held)
{
	struct line line = {
		*r, { .count = OUT_NONE, .largest = OUT_NONE }, NULL, NULL, OUT_NONE, OUT_NONE, OUT_NONE, 0, NULL,
	};

	for (unsigned i = 0; i < g->len; i++)
		line.used += g->all[i].used;
	line.row.bytes = beyond(line.used, held);
	if (out_is_json())
		out_row(fields, &line);
	else
		printf("    %10s  of %s that NVML reports: %s\n", out_bytes(line.row.bytes), out_bytes(line.used), BEYOND);
	out_line_end();
}

static void show_gpus(const struct account_report *r, const struct account *account)
{
	struct gpus g;

	find_gpus(&g, r);
	if (g.len && !g.numbered)
		rest_of_all(r, &g, on_device(account, DEVICE_NONE));
	for (unsigned i = 0; i < g.len; i++) {
		const struct gpu *on = &g.all[i];

		if (g.numbered)
			gpu_row(r, on, NULL, NULL, beyond(on->used, on_device(account, g.len == 1 ? DEVICE_NONE : on->device)));
		else if (g.len > 1)
			gpu_row(r, on, "gpu-used", NULL, on->used);
		gpu_rows(r, on);
	}
}

void account_view(const struct account_report *report)
{
	struct account account = account_of(report->process);

	if (!out_is_json())
		head(report);
	for (size_t i = 0; i < account.n; i++)
		row(report, &account.rows[i]);
	if (report->nvml)
		show_gpus(report, &account);
	out_line_end();
	account_free(&account);
}
