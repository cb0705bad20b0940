/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/device.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "inflight/inflight.h"
#include "inflight/inflight_view.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

enum { SHOWN = 10 };

OUT_WORD(row_type, "running");

#define AT(f) offsetof(struct inflight_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call in flight */
	{ "time", NULL, 0, OUT_TIME, AT(time) },	/* of the report, or of the return of a call */
	{ "running", NULL, 0, OUT_BOOL, AT(inflight) },	/* true */
	{ "pid", NULL, 0, OUT_INT, AT(pid) },	/* the process */
	{ "tid", NULL, 0, OUT_INT, AT(tid) },	/* the thread */
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* name of the thread */
	{ "container", NULL, 0, OUT_STR, AT(container) },	/* first 12 digits of its ID; null if none or unknown */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* as the program numbers them; null if unknown */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* the function */
	{ "age_ns", NULL, 0, OUT_UINT, AT(age) },	/* ns: since its entry; if not complete, since tracing began */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if earlier calls, or the entry, were not seen */
	/* only of a tool that sets inflight.ops */
	{ "nccl_func", NULL, 0, OUT_STR, AT(op.func) },	/* if the tool shows waits: of NCCL, the last operation before it; null if none is known */
	{ "nccl_count", NULL, 0, OUT_UINT, AT(op.count) },	/* if the tool shows waits: of its values, as passed */
	{ "nccl_data_type", NULL, 0, OUT_STR, AT(op.type) },	/* if the tool shows waits: of its values: f32, bf16, ... */
	{ "nccl_communicator", NULL, 0, OUT_PTR, AT(op.hash) },	/* if the tool shows waits: the hash, as in messages of NCCL; null if unknown */
	{ "nccl_rank", NULL, 0, OUT_UINT, AT(op.rank) },	/* if the tool shows waits: in the communicator; null if unknown */
	{ "nccl_nranks", NULL, 0, OUT_UINT, AT(op.nranks) },	/* if the tool shows waits: of the communicator; null if unknown */
	{ "nccl_ns", NULL, 0, OUT_UINT, AT(op.age) },	/* if the tool shows waits: ns: since the call of the operation */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* with --stacks: the caller first */
	{ 0 }
};

static const char *const op_keys[] = {
	"nccl_func", "nccl_count", "nccl_data_type", "nccl_communicator", "nccl_rank", "nccl_nranks", "nccl_ns",
};

static void op_text(const struct inflight_op *op)
{
	printf("; last NCCL operation: %s", op->func);
	if (op->count != OUT_NONE)
		printf(" of %llu %s", op->count, op->type ?: "values of an unknown type");
	printf(", %s ago", out_ns(op->age));
	if (op->hash != OUT_NONE)
		printf(", communicator 0x%llx", op->hash);
	if (op->nranks != OUT_NONE)
		printf(", rank %llu of %llu", op->rank, op->nranks);
}

static void text(const struct inflight *r, const struct inflight_row *row)
{
	char number[16];

	printf("still waiting: thread %d (", row->tid);
	escape_text(stdout, row->comm);
	putchar(')');
	if (row->pid != row->tid)
		printf(" of pid %d", row->pid);
	if (row->container)
		printf(" in container %s", row->container);
	printf(" in %s ", row->func);
	if (r->devices && r->devices->several && row->device != DEVICE_NONE)
		printf("on device %s ", device_text(row->device, number));
	if (row->complete)
		printf("for %s", out_ns(row->age));
	else
		printf("since before tracing began, %s ago", out_ns(row->age));
	if (r->ops && row->op.func)
		op_text(&row->op);
	putchar('\n');
	if (r->stacks)
		stack_text(row->stack);
}

static void text_all(const struct inflight *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n && r->devices; i++)
		if (r->rows[i].device)
			devices_see(r->devices, r->rows[i].device);
	for (size_t i = 0; i < r->n; i++)
		if (!r->rows[i].shown && n++ < SHOWN)
			text(r, &r->rows[i]);
	if (n > SHOWN)
		printf("... and %zu more thread%s\n", n - SHOWN, plural(n - SHOWN));
	if (n)
		putchar('\n');
}

static void json_all(const struct inflight *r)
{
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];

	columns_of_calls(fields, all_fields, true, r->stacks);
	for (size_t i = 0; !r->ops && i < sizeof(op_keys) / sizeof(*op_keys); i++)
		columns_remove(fields, op_keys[i]);
	for (size_t i = 0; i < r->n; i++)
		out_row(fields, &r->rows[i]);
}

void inflight_view(struct inflight *r)
{
	if (out_is_json())
		json_all(r);
	else
		text_all(r);
	inflight_clear(r);
}
