/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "cli/row.h"
#include "session/target_attach.h"
#include "session/tool.h"
#include "sym/syms.h"

/* Of the two seconds from a signal to the end, until the probes are detached. */
enum { END_MS = 1300 };

static void read_options(const struct tool *tool, int argc, char **argv)
{
	int first = opt_parse(argc, argv, tool->opts, tool->usage);

	if (tool->interval)
		opt_interval(argc, argv, first, &tool->events->interval, &tool->events->count);
	else if (tool->operands)
		tool->operands(tool->ctx, argc, argv, first);
	else
		opt_no_operands(argc, argv, first);
	if (tool->check)
		tool->check(tool->ctx);
	if (tool->target->lines && tool->stacks && !*tool->stacks)
		usage_error("--lines is for call stacks: --stack is missing");
}

/* libbpf caches the number, so that per-CPU code need not check for an error. */
static void check_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1)
		die(cpus, "cannot determine the number of CPUs");
}

static struct bpf_object_skeleton *load(const struct tool *tool, void *opened)
{
	struct bpf_object_skeleton *skel;

	if (!opened)
		die(errno, "cannot open the BPF programs");
	skel = *(struct bpf_object_skeleton **)opened;
	target_prepare(tool->target, *skel->obj);
	if (bpf_object__load_skeleton(skel))
		die(errno, "cannot load the BPF programs");
	syms_open(tool->target->syms, *skel->obj);
	if (tool->loaded)
		tool->loaded(tool->ctx);
	if (bpf_object__attach_skeleton(skel))
		die(errno, "cannot attach to the %s tracepoints", tool->tracepoints ?: "process exit and exec");
	return skel;
}

/* The maps of bpf/lib/records.bpf.h and lost.bpf.h; NULL where a tool's programs have neither. */
static void find_maps(struct event_loop *events, const struct bpf_object *obj)
{
	struct bpf_map *lost = bpf_object__find_map_by_name(obj, ".data.lost");
	size_t size;

	events->ring = bpf_object__find_map_by_name(obj, "events");
	events->lost_by = bpf_object__find_map_by_name(obj, "lost_by");
	events->lost = lost ? bpf_map__initial_value(lost, &size) : NULL;
}

static void attach(const struct tool *tool)
{
	if (tool->source)
		target_attach_functions(tool->target, tool->source);
	else
		target_attach(tool->target, *tool->classes);
}

int tool_run(const struct tool *tool, int argc, char **argv)
{
	struct event_loop *events = tool->events;
	struct bpf_object_skeleton *skel = NULL;
	void *opened = NULL;
	int sig, status;

	read_options(tool, argc, argv);
	target_init(tool->target);
	if (tool->prepare)
		tool->prepare(tool->ctx);
	if (tool->stacks && *tool->stacks)
		target_need_syms(tool->target);
	if (tool->open) {
		check_cpus();
		opened = tool->open(tool->ctx);
		skel = load(tool, opened);
		find_maps(events, *skel->obj);
	}
	event_loop_open(events, tool->target);
	attach(tool);
	if (tool->fields)
		out_head(tool->fields);
	if (tool->start)
		tool->start(tool->ctx);

	sig = event_loop_run(events);
	if (tool->stop)
		sig = tool->stop(tool->ctx, sig);
	else if (events->report && !events->counted_out)
		events->report(events->ctx);
	status = target_finish(tool->target, sig, event_loop_time_left(events, END_MS));
	losses_print(&events->losses, events->lost_then);
	if (tool->close)
		status = tool->close(tool->ctx, status);
	record_queue_free(&events->queue);
	bpf_object__destroy_skeleton(skel);
	free(opened);
	syms_free(tool->target->syms);
	looks_free(&tool->target->looks);
	return status;
}
