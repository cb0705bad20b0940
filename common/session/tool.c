/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "abi/device.h"
#include "cli/devices.h"
#include "cli/out.h"
#include "cli/row.h"
#include "session/check.h"
#include "session/inject.h"
#include "session/target_attach.h"
#include "session/target_choose.h"
#include "session/target_device.h"
#include "session/tool.h"
#include "sym/syms.h"

/* Of the two seconds from a signal to the end, until the probes are detached. */
enum { END_MS = 1300 };

static bool is_folded(const struct tool *tool)
{
	return tool->folded && *tool->folded;
}

static void read_options(const struct tool *tool, int argc, char **argv)
{
	char **command;
	int first = opt_parse(&argc, argv, tool->opts, tool->usage, &command);

	if (command)
		target_command(tool->target, command);
	if (tool->target->check)
		return;
	if (tool->interval)
		opt_interval(argc, argv, first, &tool->events->interval_ns, &tool->events->count);
	else if (tool->operands)
		tool->operands(tool->ctx, argc, argv, first);
	else
		opt_no_operands(argc, argv, first);
	if (is_folded(tool) && tool->target->json)
		usage_error("--folded and --json are mutually exclusive");
	if ((target_read_stacks(tool->target) || is_folded(tool)) && tool->stacks)
		*tool->stacks = true;
	if (tool->target->device_list)
		tool->target->devices = devices_parse(tool->target->device_list, DEVICES);
	if (tool->check)
		tool->check(tool->ctx);
}

/* libbpf caches the number, so that per-CPU code need not check for an error. */
static void check_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1)
		die(cpus, "cannot determine the number of CPUs");
}

/* Each map and program takes a descriptor; where there is none left, libbpf says "Invalid argument" of
 * some. */
static void check_descriptors(const struct bpf_object *obj)
{
	struct bpf_program *p;
	struct bpf_map *m;
	int *fds = NULL, n = 0, err = 0;

	bpf_object__for_each_map(m, obj)
		n++;
	bpf_object__for_each_program(p, obj)
		n += bpf_program__autoload(p);
	fds = xcalloc(n + 1, sizeof(*fds));
	for (int i = 0; i < n && !err; i++) {
		fds[i] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		err = fds[i] < 0 ? errno : 0;
	}
	if (err == EMFILE)
		die(err, "cannot load the BPF programs");
	for (int i = 0; i < n && fds[i] > 0; i++)
		close(fds[i]);
	free(fds);
}

/* Makes the maps, and where the kernel runs the programs, those. */
static void make(const struct tool *tool, struct bpf_object_skeleton *skel, unsigned classes)
{
	struct target *t = tool->target;

	if (t->inject) {
		target_choose_functions(t, tool->source, classes);
		inject_load(t->inject, *skel->obj);
		return;
	}
	check_descriptors(*skel->obj);
	if (bpf_object__load_skeleton(skel))
		die(errno, "cannot load the BPF programs");
}

static struct bpf_object_skeleton *load(const struct tool *tool, void *opened, unsigned *classes)
{
	struct bpf_object_skeleton *skel;

	if (!opened)
		die(errno, "cannot open the BPF programs");
	skel = *(struct bpf_object_skeleton **)opened;
	target_prepare(tool->target, *skel->obj);
	*classes = tool->classes ? *tool->classes : 0;
	if (tool->devices)
		*classes = target_device_prepare(tool->target, *skel->obj, *tool->classes);
	make(tool, skel, *classes);
	syms_open(tool->target->syms, *skel->obj);
	if (tool->loaded)
		tool->loaded(tool->ctx);
	if (!tool->target->inject && bpf_object__attach_skeleton(skel))
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

static void attach(const struct tool *tool, unsigned classes)
{
	target_choose_functions(tool->target, tool->source, classes);
	target_attach(tool->target);
}

static int drop_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)data, (void)size;
	return 0;
}

/* --list of a command: it runs, so that the files are found that it loads, but only the list is printed. */
static void list_only(struct event_loop *e)
{
	e->record = drop_record;
	e->report = NULL;
	e->tick = NULL;
	e->interval_ns = 0;
}

/* Prints what the tool prints; returns the signal to send to the command. */
static int trace(const struct tool *tool)
{
	struct event_loop *events = tool->events;
	int sig;

	if (tool->fields && !is_folded(tool))
		out_head(tool->fields);
	if (tool->start)
		tool->start(tool->ctx);
	sig = event_loop_run(events);
	if (tool->stop)
		sig = tool->stop(tool->ctx, sig);
	else if (events->report && !events->counted_out)
		events->report(events->ctx);
	return sig;
}

/* --check: whatever else is on the command line. */
static int check(struct target *t)
{
	int status;

	log_init(t->verbose, t->quiet);
	out_init(t->json);
	t->looks.limit = LOOK_START;
	t->looks.asked_for = true;
	status = check_machine(&t->looks, &t->filter);
	looks_free(&t->looks);
	return status;
}

int tool_run(const struct tool *tool, int argc, char **argv)
{
	struct event_loop *events = tool->events;
	struct bpf_object_skeleton *skel = NULL;
	void *opened = NULL;
	unsigned classes = 0;
	bool list;
	int sig, status;

	read_options(tool, argc, argv);
	if (tool->target->check)
		return check(tool->target);
	list = tool->target->list;
	target_init(tool->target);
	target_choose(tool->target);
	if (tool->prepare)
		tool->prepare(tool->ctx);
	tool->target->stacks = tool->stacks && *tool->stacks;
	if (tool->target->stacks)
		target_need_syms(tool->target);
	if (tool->open) {
		check_cpus();
		opened = tool->open(tool->ctx);
		skel = load(tool, opened, &classes);
		find_maps(events, *skel->obj);
	}
	event_loop_open(events, tool->target);
	attach(tool, classes);
	if (tool->devices)
		target_device_begin(tool->target, *skel->obj);
	if (list)
		list_only(events);
	sig = list ? event_loop_run(events) : trace(tool);
	status = target_finish(tool->target, sig, event_loop_time_left(events, END_MS));
	if (list)
		losses_free(&events->losses);
	else
		losses_print(&events->losses, events->lost_then, syms_losses(tool->target->syms));
	if (tool->devices && !list)
		target_device_losses(*skel->obj);
	if (tool->close)
		status = tool->close(tool->ctx, status);
	record_queue_free(&events->queue);
	syms_free(tool->target->syms);	/* it deletes from maps of the skeleton */
	bpf_object__destroy_skeleton(skel);
	free(opened);
	early_free(&tool->target->early);
	containers_free(&tool->target->containers);
	looks_free(&tool->target->looks);
	inject_free(tool->target->inject);
	if (tool->target->argv)
		free((char *)tool->target->command);
	return status;
}
