/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/device.h"
#include "base/die.h"
#include "cli/devices.h"
#include "cli/out.h"
#include "cli/out_file.h"
#include "cli/row.h"
#include "gpuprobe/gpuprobe_run.h"
#include "pprof/profile.h"
#include "session/attach_inject.h"
#include "session/backend.h"
#include "session/doctor.h"
#include "session/session_attach.h"
#include "session/tool.h"
#include "sym/syms.h"

/* Detach deadline after a signal, of the two seconds to the end. */
enum { END_MS = 1300 };

static bool is_folded(const struct tool *tool)
{
	return tool->folded && *tool->folded;
}

static const char *profile_path(const struct tool *tool)
{
	return tool->profile ? tool->profile->path : NULL;
}

static void read_options(const struct tool *tool, int argc, char **argv)
{
	char **command;
	int first = opt_parse(&argc, argv, tool->opts, tool->usage, &command);
	struct gpuprobe_config config;

	tool->session->gpuprobe = tool->gpuprobe;
	if (tool->gpuprobe)
		tool->gpuprobe->ctx = tool->ctx;
	if (command)
		session_command(tool->session, command);
	if (tool->session->check)
		return;
	if (tool->interval)
		opt_interval(argc, argv, first, &tool->events->interval_ns, &tool->events->count);
	else if (tool->operands)
		tool->operands(tool->ctx, argc, argv, first);
	else
		opt_no_operands(argc, argv, first);
	if (is_folded(tool) && tool->session->json)
		usage_error("--folded and --json are mutually exclusive");
	if (profile_path(tool) && out_is_file(profile_path(tool)))
		usage_error("--pprof %s: the output goes to the same file", profile_path(tool));
	if ((session_read_stacks(tool->session) || is_folded(tool) || profile_path(tool)) && tool->stacks)
		*tool->stacks = true;
	if (tool->session->device_list)
		tool->session->devices = devices_parse(tool->session->device_list, DEVICES);
	if (tool->check)
		tool->check(tool->ctx);
	if (tool->gpuprobe)
		gpuprobe_config(tool->gpuprobe, &config);
}

/* Without it, a command would seem to use no CUDA library. */
static void check_proc(void)
{
	if (access("/proc/self/status", R_OK))
		die(0, "cannot read /proc/self/status: %s (mount -t proc proc /proc)", strerror(errno));
}

/* libbpf caches the number, so that per-CPU code need not check for an error. */
static void check_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1)
		die(0, "cannot read /sys/devices/system/cpu/possible: %s (mount -t sysfs sysfs /sys)", strerror(-cpus));
}

static struct bpf_object_skeleton *load(const struct tool *tool, void *opened)
{
	struct bpf_object_skeleton *skel;
	unsigned classes;

	if (!opened)
		die(errno, "cannot open the BPF programs");
	skel = *(struct bpf_object_skeleton **)opened;
	session_prepare(tool->session, *skel->obj);
	classes = tool->classes ? *tool->classes : 0;
	if (tool->devices)
		classes = session_device_prepare(tool->session, *skel->obj, *tool->classes);
	session_choose_functions(tool->session, tool->source, classes);
	tool->session->backend->load(tool->session, skel);
	syms_open(tool->session->syms, *skel->obj);
	if (tool->loaded)
		tool->loaded(tool->ctx);
	if (tool->session->backend->kernel && bpf_object__attach_skeleton(skel))
		die(errno, "cannot attach to the %s tracepoints", tool->tracepoints ?: "process exit and exec");
	return skel;
}

/* The maps of bpf/lib/records.bpf.h and lost.bpf.h; NULL where a tool's programs have neither. */
static void find_maps(struct event_loop *events, const struct bpf_object *obj)
{
	struct bpf_map *lost = bpf_object__find_map_by_name(obj, SECTION_LOST);
	size_t size;

	events->ring = bpf_object__find_map_by_name(obj, MAP_EVENTS);
	events->lost_by = bpf_object__find_map_by_name(obj, MAP_LOST_BY);
	events->lost = lost ? bpf_map__initial_value(lost, &size) : NULL;
}

static int drop_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)data, (void)size;
	return 0;
}

/* --list of a command: it runs so that the files that it loads are found, but only the list is printed. */
static void list_only(const struct tool *tool)
{
	struct event_loop *e = tool->events;

	process_no_parts(&tool->session->processes);
	e->record = drop_record;
	e->report = NULL;
	e->tick = NULL;
	e->interval_ns = 0;
}

/* Opens the file of the profile before anything is traced; NULL: none is wanted. */
static FILE *open_profile(const struct tool *tool)
{
	struct profile *p = tool->profile;

	if (!profile_path(tool) || tool->session->list)
		return NULL;
	p->quota.whole = session_is_alone(tool->session);
	profile_begin(p);
	return out_file_stream(p->path);
}

/* Returns false, with a warning, if that fails. */
static bool write_profile(const struct profile *p, FILE *f)
{
	bool ok;

	if (!f)
		return true;
	ok = p->write(p, f);
	if (!ok)
		warning(errno, "cannot write to %s", p->path);
	return out_file_close(f, p->path) && ok;
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
	malloc_trim(0);		/* the kernel's BTF and the like, up to 12 MB, are not needed any more */
	sig = event_loop_run(events);
	if (tool->stop)
		sig = tool->stop(tool->ctx, sig);
	else if (events->report && !events->counted_out)
		events->report(events->ctx);
	if (tool->gpuprobe)
		gpuprobe_end(tool->gpuprobe, tool->session->verbose);
	return sig;
}

/* --check, regardless of the other options but -p. */
static int check(struct session *t)
{
	struct pids pids = { 0 };
	int status;

	log_init(t->verbose, t->quiet);
	out_init(t->json);
	t->helpers.limit = HELPER_START;
	t->helpers.asked_for = true;
	if (t->pid_list)
		pids = pids_open(t->pid_list);
	status = check_machine(&t->helpers, &t->filter, pids.pids);
	helper_pool_free(&t->helpers);
	return status;
}

int tool_run(const struct tool *tool, int argc, char **argv)
{
	struct event_loop *events = tool->events;
	struct bpf_object_skeleton *skel = NULL;
	void *opened = NULL;
	FILE *profile;
	bool list, written;
	int sig, status;

	read_options(tool, argc, argv);
	check_proc();
	if (tool->session->check)
		return check(tool->session);
	list = tool->session->list;
	session_init(tool->session);
	session_choose_backend(tool->session);
	if (tool->prepare)
		tool->prepare(tool->ctx);
	tool->session->stacks = tool->stacks && *tool->stacks;
	if (tool->session->stacks)
		session_need_syms(tool->session);
	if (tool->open) {
		check_cpus();
		opened = tool->open(tool->ctx);
		skel = load(tool, opened);
		find_maps(events, *skel->obj);
	} else {
		session_choose_functions(tool->session, tool->source, tool->classes ? *tool->classes : 0);
	}
	session_drop_syms_at_end(tool->session);
	profile = open_profile(tool);
	if (list)
		list_only(tool);
	event_loop_open(events, tool->session);
	session_attach(tool->session);
	if (tool->devices)
		session_device_begin(tool->session, *skel->obj);
	sig = list ? event_loop_run(events) : trace(tool);
	written = write_profile(tool->profile, profile);
	status = session_finish(tool->session, sig, event_loop_time_left(events, END_MS));
	if (list)
		losses_free(&events->losses);
	else
		losses_print(&events->losses, events->lost_then, &tool->session->stack_losses);
	if (tool->devices && !list)
		session_device_losses(*skel->obj);
	if (tool->close)
		status = tool->close(tool->ctx, status);
	if (!written)
		status = status ? status : EXIT_FAILURE;
	if (tool->profile)
		profile_free(tool->profile);
	record_queue_free(&tool->session->records);
	process_no_parts(&tool->session->processes);
	syms_free(tool->session->syms);	/* it deletes from maps of the skeleton */
	bpf_object__destroy_skeleton(skel);
	free(opened);
	process_table_free(&tool->session->processes);
	helper_pool_free(&tool->session->helpers);
	inject_free(tool->session->inject);
	session_free(tool->session);
	return status;
}
