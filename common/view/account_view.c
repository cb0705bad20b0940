/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "abi/device.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/account.h"
#include "model/memory.h"
#include "view/account_view.h"
#include "view/columns.h"

/* A row of the account with its process; owner NULL: the rest. */
struct line {
	struct account_report of;
	struct account_row row;
	const char *owner, *part;
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
	{ "owner", NULL, 0, OUT_STR, AT(owner) },	/* library or program that allocated it, or name of a limit; null: the rest that NVML reports, on all devices */
	{ "part", NULL, 0, OUT_STR, AT(part) },	/* tensors; free: what an allocator holds beside tensors; in the rest: code, limit; null: all of it */
	{ "bytes", NULL, 0, OUT_UINT, AT(row.bytes) },	/* bytes: that it holds; of images of code; of a limit; null for images without a size */
	{ "count", NULL, 0, OUT_UINT, AT(row.count) },	/* allocations, tensors, free pieces or images; null if unknown */
	{ "default", NULL, 0, OUT_BOOL, AT(row.by_default) },	/* a limit that the program has not set: the documented default of CUDA */
	{ "largest", NULL, 0, OUT_UINT, AT(row.largest) },	/* bytes: of the largest free piece; null for other parts */
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
	case ACCOUNT_CODE:
		printf(": code, in %llu image%s%s, part of the rest\n", r->count, plural(r->count), none);
		return;
	case ACCOUNT_LIMIT:
		printf(": limit%s, part of the rest\n", r->by_default ? " by default" : "");
		return;
	}
}

static void text(const struct account_row *r)
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
	static const char *const parts[] = { NULL, "tensors", "free", "code", "limit" };
	struct line line = { *r, *row, NULL, parts[row->part] };

	line.owner = line.row.owner;
	if (out_is_json())
		out_row(fields, &line);
	else
		text(row);
	out_line_end();
}

static unsigned long long on_devices(const struct account *a)
{
	unsigned long long bytes = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->rows[i].device != DEVICE_NONE && account_is_held(&a->rows[i]))
			bytes += a->rows[i].bytes;
	return bytes;
}

static void rest(const struct account_report *r, unsigned long long held)
{
	const unsigned long long bytes = r->used > held ? r->used - held : 0;
	const struct line line = { *r, { .bytes = bytes, .count = OUT_NONE, .largest = OUT_NONE }, NULL, NULL };

	if (out_is_json())
		out_row(fields, &line);
	else
		printf("    %10s  of %s that NVML reports: contexts, code, limits, and what was allocated before tracing began\n",
		       out_bytes(bytes), out_bytes(r->used));
}

void account_view(const struct account_report *report)
{
	struct account account = account_of(report->process);

	if (!out_is_json())
		head(report);
	for (size_t i = 0; i < account.n; i++)
		row(report, &account.rows[i]);
	if (report->used != OUT_NONE)
		rest(report, on_devices(&account));
	out_line_end();
	account_free(&account);
}
