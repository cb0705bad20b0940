/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "cli/opt.h"
#include "probe/probes.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_describe.h"
#include "cudatrace/trace_device.h"
#include "cudatrace/trace_prepare.h"
#include "cudatrace/trace_program.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_select.h"

static void check(const struct trace *t)
{
	const struct trace_lines *l = &t->lines;

	if ((t->summary || t->chrome) && !t->folded && (l->times || l->relative || l->durations || l->entries))
		usage_error("--summary and --chrome cannot be combined with --timestamp, "
			"--relative, --time-spent, --enter or --enter-only");
	if (t->folded && (t->summary || t->chrome || t->unchecked || t->tree || l->times || l->relative || l->durations ||
			  l->entries))
		usage_error("--folded cannot be combined with --summary, --chrome, "
			"--unchecked, --tree, --timestamp, --relative, --time-spent, --enter or --enter-only");
	if (t->unchecked && (t->summary || t->chrome || t->failed || l->entries || t->tree))
		usage_error("--unchecked cannot be combined with --summary, --chrome, "
			"--failed, --enter, --enter-only or --tree");
	if (t->failed && l->entries)
		usage_error("--failed cannot be combined with --enter or --enter-only");
	if (l->entries && t->slower)
		usage_error("--slower cannot be combined with --enter or --enter-only");
	if (l->times > 2)
		usage_error("--timestamp can be given once or twice");
	if (t->unchecked && (t->slower || t->max))
		usage_error("--unchecked cannot be combined with --slower or --max-events");
	if (t->no_returns && (t->tree || l->durations || t->only))
		usage_error("--enter-only cannot be combined with --tree, --time-spent "
			"or --device");
}

/* Return true if the function was not requested but tells something needed. */
static bool tells(const struct trace *t, const struct cuda_proto *p)
{
	return (t->launches && trace_names_kernels(p)) || (t->unchecked && trace_asks(p)) ||
	       (t->allocations && t->selected[p - cuda_protos] != TRACE_UNWANTED && trace_held_by(p));
}

static bool is_helper_only(const struct trace *t, const struct cuda_proto *p)
{
	return t->devices && !t->selected[p - cuda_protos] && !tells(t, p) && trace_tells_device(p);
}

static int find(const void *ctx, const char *symbol)
{
	(void)ctx;
	return cuda_proto_find(symbol);
}

static struct function get(const struct probes *probes, int id)
{
	const struct trace *t = probes->source->ctx;
	const struct cuda_proto *p = &cuda_protos[id];

	return (struct function){
		.name = p->name, .lib = p->lib, .returns = !t->no_returns,
		.wanted = t->selected[id] || tells(t, p) || is_helper_only(t, p), .helper_only = is_helper_only(t, p),
	};
}

static unsigned flags_of(const struct trace *t, int id)
{
	const struct cuda_proto *p = &cuda_protos[id];
	unsigned flags = 0;

	if (t->selected[id] == TRACE_WANTED)
		flags |= TRACE_SHOWN;
	if (t->selected[id] == TRACE_UNWANTED && !tells(t, p))
		flags |= TRACE_HIDES;
	if (trace_names_kernels(p))
		flags |= TRACE_NAMES | TRACE_ALWAYS;
	if (trace_is_launch(p) || trace_is_wait(p))
		flags |= TRACE_ALWAYS;
	if (t->allocations && trace_held_by(p))
		flags |= TRACE_HELD | TRACE_ALWAYS;
	if (is_helper_only(t, p))
		flags |= TRACE_ASIDE;
	return flags;
}

/* Return true if an allocation is in the timeline. */
static bool shows_allocations(const struct trace *t)
{
	const struct cuda_fn *fn;

	for (int i = 0; i < cuda_protos_n && t->chrome; i++) {
		fn = t->selected[i] == TRACE_WANTED ? trace_role(&cuda_protos[i]) : NULL;
		if (fn && fn->class == CUDA_ALLOC)
			return true;
	}
	return false;
}

void trace_prepare(struct trace *t)
{
	bool full = (!t->summary && !t->folded) || t->chrome;

	t->lines.entries |= t->no_returns;
	t->lines.nested = t->tree;
	t->lines.previous = &t->previous;
	t->lines.unchecked = t->unchecked;
	check(t);
	t->selected = trace_select(t->expression);
	t->functions = xcalloc(cuda_protos_n, sizeof(*t->functions));
	for (int i = 0; i < cuda_protos_n; i++)
		t->launches |= full && t->selected[i] == TRACE_WANTED && trace_is_launch(&cuda_protos[i]);
	t->allocations = shows_allocations(t);
	t->devices = t->only || !(t->no_returns || t->unchecked || t->folded);
	t->lines.seen.several = t->calls.seen.several = t->only;
	for (int i = 0; i < cuda_protos_n; i++)
		t->functions[i] = trace_describe(i, flags_of(t, i), full);
	t->source = (struct probe_source){ .find = find, .get = get, .ctx = t, .n = cuda_protos_n };
	t->trees.lines = t->failures.lines = &t->lines;
	t->trees.users = t->failures.users = t->sticky.users = t->timeline.users = &t->users;
	t->timeline.streams.users = &t->users;
	t->held = trace_held_init();
	t->held.users = &t->users;
	t->trees.quota = trace_tree_quota();
	t->failures.quota = trace_unchecked_quota();
	t->sticky.quota = trace_sticky_quota();
	t->timeline.quota = trace_chrome_quota();
	t->timeline.streams.quota = trace_streams_quota();
}
