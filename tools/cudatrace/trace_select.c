/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_protos.h"
#include "api/match.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_errors.h"
#include "cudatrace/trace_place.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_select.h"
#include "probe/probes.h"

static const char *const groups[] = {
#define X(name) #name,
	CUDA_GROUPS(X)
#undef X
};

/* Selections of functions of several groups. */
static const char *const sets[] = { "all", "default", "nccl", "jit" };

enum { SETS = sizeof(sets) / sizeof(*sets) };

const char *trace_select_word(int i)
{
	if (i < CUDA_GROUP_MAX)
		return groups[i];
	i -= CUDA_GROUP_MAX;
	if (i < SETS)
		return sets[i];
	i -= SETS;
	return i < cuda_protos_n ? cuda_protos[i].name : NULL;
}

static int group_of(const char *word)
{
	int i = 0;

	while (i < CUDA_GROUP_MAX && strcmp(groups[i], word))
		i++;
	return i < CUDA_GROUP_MAX ? i : -1;
}

static bool launches_kernel(const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return fn && fn->class == CUDA_LAUNCH && fn->args.func;
}

/* A kernel that is loaded lazily may be loaded in its first launch. */
static bool loads_code(const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return (fn && cuda_fn_loads(fn)) || launches_kernel(p);
}

static bool matches(const char *word, const struct cuda_proto *p, int group)
{
	if (!strcmp(word, "all"))
		return true;
	if (!strcmp(word, "default"))
		return !cuda_proto_is_chatter(p);
	if (!strcmp(word, "nccl"))
		return p->lib == CUDA_NCCL;
	if (!strcmp(word, "jit"))
		return loads_code(p);
	return group >= 0 ? p->group == group : match_name(p->name, word, strlen(word));
}

static bool is_set(const char *word)
{
	for (int i = 0; i < SETS; i++)
		if (!strcmp(sets[i], word))
			return true;
	return group_of(word) >= 0;
}

/* State that a function gets if it matches the word. */
static enum trace_selected choose(const char *word, const struct cuda_proto *p, enum trace_selected before, bool in)
{
	if (!strcmp(word, "jit") && launches_kernel(p))
		return before == TRACE_SELECTED ? before : in ? TRACE_FIRSTS : TRACE_UNSELECTED;
	if (in)
		return TRACE_SELECTED;
	return is_set(word) || p->lib == CUDA_DRV ? TRACE_UNSELECTED : TRACE_EXCLUDED;
}

/* Adds or removes the word's functions; returns false if it has none. */
static bool apply(unsigned char *selected, const char *word, bool in)
{
	int group = group_of(word);
	bool found = false;

	for (int i = 0; i < cuda_protos_n; i++) {
		if (!matches(word, &cuda_protos[i], group))
			continue;
		found = true;
		selected[i] = choose(word, &cuda_protos[i], selected[i], in);
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

/* Reads "[trace=][!]WORD[,[!]WORD]..."; returns an enum trace_selected for each of cuda_protos[].  A WORD
 * is a group of cuda_protos.h, one of sets[], a function, or a pattern of functions with * and ?.  A
 * function selects all of its versions: cuMemAlloc for cuMemAlloc_v2.  A word after ! is removed.  If
 * the first one is, all are, as in strace, starting from the default.  NULL: the default. */
static unsigned char *select_functions(const char *expression)
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

static void check_options(const struct trace *t)
{
	const struct trace_lines *l = &t->lines;

	if ((t->summary || t->chrome) && !t->folded && (l->times || l->relative || l->durations || l->entries))
		usage_error("--summary and --chrome cannot be combined with --timestamp, "
			"--relative, --time-spent, --enter or --enter-only");
	if (t->folded && (t->summary || t->chrome || t->unchecked || t->tree || l->times || l->relative ||
			  l->durations || l->entries))
		usage_error("--folded cannot be combined with --summary, --chrome, "
			"--unchecked, --tree, --timestamp, --relative, --time-spent, --enter or --enter-only");
	if (t->profile.path && (t->unchecked || t->no_returns))
		usage_error("--pprof cannot be combined with --unchecked or --enter-only");
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

/* The function's class in cuda_api.tbl; CUDA_CLASS_MAX if it has none. */
static enum cuda_class class_of(const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return fn ? fn->class : CUDA_CLASS_MAX;
}

/* Return true if others than the selected functions need its calls: for the names of kernels, for
 * checked errors, for held memory. */
static bool is_needed(const struct trace *t, const struct cuda_proto *p)
{
	return (t->launches && class_of(p) == CUDA_NAME) || (t->unchecked && trace_checks_errors(p)) ||
	       (t->allocations && t->selected[p - cuda_protos] != TRACE_EXCLUDED && trace_changes_held(p));
}

/* Return true if it is probed only to find the device of other calls: see bpf/lib/device.bpf.h. */
static bool is_device_only(const struct trace *t, const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return t->devices && !t->selected[p - cuda_protos] && !is_needed(t, p) && fn &&
	       cuda_fn_in(fn, CUDA_DEVICE_CLASSES);
}

/* Return true if it is probed only to find what is captured: see bpf/lib/graph.bpf.h.  Of events the entry is enough. */
static bool is_capture_only(const struct trace *t, const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return t->marks_captured && !t->selected[p - cuda_protos] && !is_needed(t, p) && fn && cuda_fn_captures(fn);
}

static bool is_helper(const struct trace *t, const struct cuda_proto *p)
{
	return is_device_only(t, p) || is_capture_only(t, p);
}

/* Return true if inside a shown or hidden call it is a part, and not needed for anything else. */
static bool is_outermost(const struct trace *t, const struct cuda_proto *p)
{
	const unsigned char selected = t->selected[p - cuda_protos];
	const struct cuda_fn *fn = trace_role(p);

	if (t->tree || (selected != TRACE_SELECTED && selected != TRACE_EXCLUDED) || is_needed(t, p))
		return false;
	if ((p->lib != CUDA_RT && p->lib != CUDA_DRV) || (t->allocations && trace_changes_held(p)))
		return false;
	return !fn || !(cuda_fn_in(fn, CUDA_DEVICE_CLASSES) || cuda_fn_captures(fn) || fn->class == CUDA_NAME);
}

static int find(const void *ctx, const char *symbol)
{
	(void)ctx;
	return cuda_proto_find(symbol);
}

/* The forms that older runtimes have come after cuda_protos[]. */
static int form(int id, int major)
{
	const struct cuda_fn *newest = trace_role(&cuda_protos[id]);
	const int older = newest ? cuda_fn_form(newest - cuda_fns, major) : -1;

	for (int i = 0; i < cuda_forms_n; i++)
		if (cuda_fn_form_at(i) == older)
			return cuda_protos_n + i;
	return id;
}

static struct function get(const struct probes *probes, int which)
{
	const struct trace *t = probes->source->ctx;
	const int id = t->functions[which].id, older = which - cuda_protos_n;
	const struct cuda_proto *p = &cuda_protos[id];

	return (struct function){
		.name = p->name, .form = older < 0 ? NULL : cuda_fn_form_name(cuda_fn_form_at(older)), .lib = p->lib,
		.returns = !t->no_returns && !(is_helper(t, p) && class_of(p) == CUDA_EVENT),
		.wanted = t->selected[id] || is_needed(t, p) || is_helper(t, p),
		.helper_only = is_helper(t, p),
		.outermost = is_outermost(t, p),
	};
}

static bool unloads(const struct cuda_proto *p)
{
	const struct cuda_fn *fn = trace_role(p);

	return fn && fn->class == CUDA_NAME && !fn->args.out && !fn->args.name;
}

static unsigned flags_of(const struct trace *t, int id)
{
	const struct cuda_proto *p = &cuda_protos[id];
	unsigned flags = 0;

	if (t->selected[id] == TRACE_SELECTED)
		flags |= TRACE_SHOWN;
	if (t->selected[id] == TRACE_EXCLUDED && !is_needed(t, p))
		flags |= TRACE_HIDES;
	if (t->selected[id] == TRACE_FIRSTS)
		flags |= TRACE_FIRST;
	if (class_of(p) == CUDA_NAME)
		flags |= TRACE_NAMES | TRACE_ALWAYS;
	if (t->only_firsts && unloads(p))
		flags |= TRACE_UNLOADS;
	if (trace_role(p) && (trace_is_work(trace_role(p)) || trace_waits(trace_role(p))))
		flags |= TRACE_ALWAYS;
	if (t->allocations && trace_changes_held(p))
		flags |= TRACE_HELD | TRACE_ALWAYS;
	if (is_helper(t, p))
		flags |= TRACE_HELPER;
	return flags;
}

/* Return true if an allocation is in the timeline. */
static bool shows_allocations(const struct trace *t)
{
	for (int i = 0; i < cuda_protos_n && t->chrome; i++)
		if (t->selected[i] == TRACE_SELECTED && class_of(&cuda_protos[i]) == CUDA_ALLOC)
			return true;
	return false;
}

/* Return true if a selected function may be captured. */
static bool may_capture(const struct trace *t)
{
	const unsigned classes = 1 << CUDA_LAUNCH | 1 << CUDA_COPY | 1 << CUDA_SET | 1 << CUDA_ALLOC | 1 << CUDA_FREE |
				 1 << CUDA_EVENT | 1 << CUDA_OPERATION;

	for (int i = 0; i < cuda_protos_n; i++) {
		const bool shown = t->selected[i] == TRACE_SELECTED || t->selected[i] == TRACE_FIRSTS;
		const struct cuda_fn *fn = shown ? trace_role(&cuda_protos[i]) : NULL;

		if (fn && (cuda_fn_in(fn, classes) || fn->args.op == CUDA_HOST_CALL))
			return true;
	}
	return false;
}

/* Return true if first launches are told by its arguments. */
static bool needs_words(const struct trace *t, int id)
{
	return t->selected[id] == TRACE_FIRSTS || class_of(&cuda_protos[id]) == CUDA_NAME;
}

/* Only at its return is a launch known to be the first that succeeded; --unchecked needs the calls between. */
static void select_firsts(struct trace *t)
{
	for (int i = 0; i < cuda_protos_n; i++) {
		if (t->selected[i] != TRACE_FIRSTS)
			continue;
		t->selected[i] = t->no_returns || t->unchecked ? TRACE_UNSELECTED : TRACE_FIRSTS;
		t->only_firsts |= t->selected[i] == TRACE_FIRSTS;
	}
}

static void describe_functions(struct trace *t, bool full)
{
	t->source = (struct probe_source){ .find = find, .get = get, .form = form, .ctx = t, .n = cuda_protos_n + cuda_forms_n };
	t->functions = xcalloc(t->source.n, sizeof(*t->functions));
	t->places = xcalloc(t->source.n, sizeof(*t->places));
	for (int i = 0; i < cuda_protos_n; i++) {
		t->functions[i] = trace_describe(i, flags_of(t, i), full || (t->only_firsts && needs_words(t, i)));
		trace_place(&t->functions[i], &t->places[i], &cuda_protos[i], trace_role(&cuda_protos[i]));
	}
	for (int i = cuda_protos_n; i < t->source.n; i++) {
		const struct cuda_fn *role = &cuda_fns[cuda_fn_form_at(i - cuda_protos_n)];
		const int id = cuda_proto_find(role->name);

		t->functions[i] = trace_describe(id, flags_of(t, id), full);
		trace_place(&t->functions[i], &t->places[i], &cuda_protos[id], role);
	}
}

void trace_prepare(struct trace *t)
{
	bool full = (!t->summary && !t->folded) || t->chrome;

	t->lines.entries |= t->no_returns;
	t->lines.nested = t->tree;
	t->lines.previous = &t->previous;
	t->lines.unchecked = t->unchecked;
	t->lines.failed = t->failed || t->unchecked;
	check_options(t);
	t->selected = select_functions(t->expression);
	select_firsts(t);
	t->launches = t->only_firsts;
	for (int i = 0; i < cuda_protos_n; i++)
		t->launches |= full && t->selected[i] == TRACE_SELECTED && class_of(&cuda_protos[i]) == CUDA_LAUNCH;
	t->allocations = shows_allocations(t);
	t->aggregate = t->summary && !(t->chrome || t->folded || t->tree || t->only_firsts || t->lines.stacks || t->profile.path || t->max);
	t->devices = t->only || !(t->no_returns || t->unchecked || t->folded);
	t->marks_captured = !(t->no_returns || t->unchecked) && (t->chrome || !(t->folded || t->summary)) && may_capture(t);
	t->lines.seen.several = t->calls.seen.several = t->only;
	describe_functions(t, full);
	t->trees = trace_trees_init(&t->lines, t->processes);
	t->repeats = trace_repeats_init(&t->lines, t->processes);
	t->failures = trace_unchecked_init(&t->repeats, t->processes);
	t->sticky = trace_sticky_init(t->processes);
	t->firsts = trace_firsts_init(t->processes);
	t->timeline = trace_chrome_init(t->processes);
	t->held = trace_held_init(t->processes);
}
