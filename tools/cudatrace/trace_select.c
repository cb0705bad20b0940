/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <string.h>
#include "api/cuda_protos.h"
#include "api/match.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_program.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_select.h"
#include "probe/probes.h"

/* Called all the time, by libraries more than by programs, and without side effects. */
static const char *const chatter[] = {
	"__cuda*", "cudaGetDevice", "cudaGetDeviceFlags", "cudaDeviceGetAttribute",
	"cuDeviceGetAttribute", "cuDeviceGet", "cuCtxGet*", "cuCtxPushCurrent*", "cuCtxPopCurrent*",
	"cuCtxSetCurrent", "cuDevicePrimaryCtxGetState", "cudaPointerGetAttributes",
	"cuPointerGetAttribute*", "cudaFuncGetAttributes", "cuFuncGetAttribute",
	"cudaStreamIsCapturing*", "cuStreamIsCapturing*", "cudaStreamGetCaptureInfo*",
	"cuStreamGetCaptureInfo*", "cudaThreadExchangeStreamCaptureMode",
	"cuThreadExchangeStreamCaptureMode", "cudaGetDriverEntryPoint*", "cuGetProcAddress*",
	"cudaGetExportTable", "cuGetExportTable", "cudaDriverGetVersion", "cudaRuntimeGetVersion",
	"cuDriverGetVersion",
};

static bool by_default(const struct cuda_proto *p)
{
	if (p->group == CUDA_GROUP_internal || p->group == CUDA_GROUP_error ||
	    p->group == CUDA_GROUP_occupancy)
		return false;
	for (size_t i = 0; i < sizeof(chatter) / sizeof(*chatter); i++)
		if (!fnmatch(chatter[i], p->name, 0))
			return false;
	return true;
}

static const char *const groups[] = {
#define X(name) #name,
	CUDA_GROUPS(X)
#undef X
};

const char *trace_select_word(int i)
{
	static const char *const sets[] = { "all", "default" };

	if (i < CUDA_GROUP_MAX)
		return groups[i];
	i -= CUDA_GROUP_MAX;
	if (i < 2)
		return sets[i];
	i -= 2;
	return i < cuda_protos_n ? cuda_protos[i].name : NULL;
}

static int group_of(const char *word)
{
	int i = 0;

	while (i < CUDA_GROUP_MAX && strcmp(groups[i], word))
		i++;
	return i < CUDA_GROUP_MAX ? i : -1;
}

static bool matches(const char *word, const struct cuda_proto *p, int group)
{
	if (!strcmp(word, "all"))
		return true;
	if (!strcmp(word, "default"))
		return by_default(p);
	return group >= 0 ? p->group == group : match_name(p->name, word, strlen(word));
}

static bool is_set(const char *word)
{
	return !strcmp(word, "all") || !strcmp(word, "default") || group_of(word) >= 0;
}

/* Adds or removes what the word stands for; returns false if it stands for nothing. */
static bool apply(unsigned char *selected, const char *word, bool in)
{
	int group = group_of(word);
	bool found = false;

	for (int i = 0; i < cuda_protos_n; i++) {
		if (!matches(word, &cuda_protos[i], group))
			continue;
		found = true;
		selected[i] = in ? TRACE_WANTED : is_set(word) || cuda_protos[i].lib != CUDA_RT ?
			      TRACE_UNASKED : TRACE_UNWANTED;
	}
	return found;
}

static _Noreturn void unknown(const char *word)
{
	struct match_near near = { .name = word, .len = strlen(word) };
	char text[MATCH_NEAR_TEXT];

	for (int i = 0; i < cuda_protos_n; i++)
		match_near_try(&near, cuda_protos[i].name, match_plain_length(cuda_protos[i].name));
	for (int i = 0; i < CUDA_GROUP_MAX; i++)
		match_near_try(&near, groups[i], strlen(groups[i]));
	usage_error("--trace: unknown function or group '%s'%s", word,
		match_near_text(&near, text, sizeof(text)));
}

unsigned char *trace_select(const char *expression)
{
	unsigned char *selected = xcalloc(cuda_protos_n, sizeof(*selected));
	char *copy, *rest, *word;
	bool out;

	copy = rest = xstrdup(expression ? expression : "default");
	if (!strncmp(rest, "trace=", 6))
		rest += 6;
	out = *rest == '!';
	if (out)
		apply(selected, "default", true);
	while ((word = strsep(&rest, ","))) {
		bool no = *word == '!';

		if (!apply(selected, word + no, !no && !out))
			unknown(word + no);
	}
	free(copy);
	return selected;
}

/* From cudatrace's options to the functions that are probed. */

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

static bool is_aside(const struct trace *t, const struct cuda_proto *p)
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
		.wanted = t->selected[id] || tells(t, p) || is_aside(t, p), .aside = is_aside(t, p),
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
	if (is_aside(t, p))
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
