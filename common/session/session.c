/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/device.h"
#include "abi/record.h"
#include "abi/stack_frames.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/failure.h"
#include "base/util.h"
#include "cli/out.h"
#include "probe/scan.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "proc/command.h"
#include "proc/privileges.h"
#include "proc/proc.h"
#include "session/session.h"
#include "sym/syms.h"

/* In the order of the words of the options. */
enum { UNWIND_DWARF, UNWIND_FP };
enum { SHOW_ALL, SHOW_NATIVE, SHOW_PYTHON };

enum { SIZE_LEAST = 4 << 10, SIZE_MOST = 64 << 10, SIZE_DEFAULT = SIZE_MOST };

static long whole_size(long size)
{
	long whole = SIZE_LEAST;

	if (size < SIZE_LEAST || size > SIZE_MOST)
		usage_error("--stack-size: %ld bytes are not 4k to 64k", size);
	while (whole < size)
		whole *= 2;
	return whole;
}

bool session_read_stacks(struct session *t)
{
	bool unwind = t->unwind >= 0, shown = t->shown >= 0, size = t->stack_size >= 0;

	if (t->shown == SHOW_PYTHON && (unwind || size || t->lines))
		usage_error("--stack python has no native frames; it cannot be combined with --unwind, "
			    "--stack-size or --lines");
	if (t->unwind == UNWIND_FP && size)
		usage_error("--unwind fp copies no stack; it cannot be combined with --stack-size");
	if (!unwind)
		t->unwind = UNWIND_DWARF;
	if (!shown)
		t->shown = SHOW_ALL;
	t->stack_size = size ? whole_size(t->stack_size) : SIZE_DEFAULT;
	return unwind || shown || size || t->lines;
}

static void drop_syms(void *ctx, const struct process_event *e)
{
	const struct session *t = ctx;

	if (e->head.kind == RECORD_EXEC && t->reads_at_exec)
		syms_refresh(t->syms, e->head.pid);
	else
		syms_forget(t->syms, e->head.pid);
}

void session_drop_syms_at_end(struct session *t)
{
	process_on_end(&t->processes, drop_syms, t);
}

void session_die_if_failed(const struct session *t)
{
	if (t->probes.failure.text)
		failure_die(&t->probes.failure);
}

void session_command(struct session *t, char **argv)
{
	char *text = xstrdup(*argv);

	if (t->command)
		usage_error("--command and -- %s are mutually exclusive", *argv);
	for (t->argv = argv; *++argv; ) {
		char *longer = xprintf("%s %s", text, *argv);

		free(text);
		text = longer;
	}
	t->command = text;	/* tool_run() frees it */
}

static void prepare_command(struct session *t)
{
	int *pids = xcalloc(2, sizeof(*pids));
	struct command_user user;

	command_user_choose(&user, t->user);
	pids[0] = command_prepare(t->command, t->argv, &user);
	t->traced_user = user.uid;
	command_user_free(&user);
	t->probes.pids = pids;
	t->probes.tree = true;
}

void session_init(struct session *t)
{
	struct probes *p = &t->probes;
	struct rlimit files;

	if (t->pid_list && t->command)
		usage_error("--pid and --command are mutually exclusive");
	if (t->user && !t->command)
		usage_error("--user requires a command: --command or -- CMD");
	if (t->gpuprobe && !t->command)
		usage_error("a command is required, --command or -- CMD: modules that a process has loaded cannot be "
			    "changed, so there is no --pid");
	if (t->command)		/* first: the command must not inherit the changes that follow */
		prepare_command(t);
	/* a caller may ignore it: the kernel would reap the tool's processes, and their pids be reused */
	signal(SIGCHLD, SIG_DFL);
	if (t->output)
		out_to_file(t->output);
	log_init(t->verbose, t->quiet);
	out_init(t->json);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {	/* each perf event takes one */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (t->pid_list) {
		t->opened = pids_open(t->pid_list);
		p->pids = t->opened.pids;
	}
	p->layer = t->layer;
	p->helpers = &t->helpers;
	t->helpers.progress = &t->progress;
}

struct stack_config session_stack_config(const struct session *t)
{
	if (!t->stacks)		/* names only */
		return (struct stack_config){ 0 };
	return (struct stack_config){
		.dwarf = t->unwind == UNWIND_DWARF, .copy = t->stack_size,
		.native = t->shown != SHOW_PYTHON, .python = t->shown != SHOW_NATIVE,
	};
}

void session_need_syms(struct session *t)
{
	struct stack_config config = session_stack_config(t);

	if (!t->syms)
		t->syms = syms_new(&t->helpers, &config, &t->stack_losses);
	if (t->lines)
		syms_show_lines(t->syms);
}

/* Bytes of the ring buffer with copies of stacks, which may hold a quarter of it. */
enum { ROOM = 16 << 20 };

static void session_make_room(struct bpf_object *obj)
{
	struct bpf_map *ring = bpf_object__find_map_by_name(obj, MAP_EVENTS);
	struct bpf_map *size = bpf_object__find_map_by_name(obj, SECTION_RECORDS);
	unsigned int bytes = ROOM;

	if (!ring || !size || bpf_map__max_entries(ring) >= ROOM)
		return;
	bpf_map__set_max_entries(ring, bytes);
	bpf_map__set_initial_value(size, &bytes, sizeof(bytes));
}

/* A hash table takes memory for as many elements as it may have. */
static void shrink(struct bpf_object *obj, const char *const *maps)
{
	struct bpf_map *map;

	for (; *maps; maps++) {
		map = bpf_object__find_map_by_name(obj, *maps);
		if (map)
			bpf_map__set_max_entries(map, 1);
	}
}

/* The verifier removes code for what is not configured, but its maps are made. */
static void prepare_stacks(const struct session *t, struct bpf_object *obj)
{
	static const char *const unwind[] = { MAP_UNWIND_TABLE, MAP_UNWIND_PROCESSES, NULL };
	static const char *const python[] = { MAP_PYTHON_PROCESSES, MAP_PYTHON_CODES, NULL };
	struct bpf_map *map = bpf_object__find_map_by_name(obj, SECTION_STACK);
	struct stack_config config = session_stack_config(t);

	if (!map)
		return;
	bpf_map__set_initial_value(map, &config, sizeof(config));
	if (config.dwarf && config.native)
		session_make_room(obj);
	else
		shrink(obj, unwind);
	if (!config.python)
		shrink(obj, python);
}

void session_prepare(struct session *t, struct bpf_object *obj)
{
	static const char *const watched[] = { MAP_WATCHED, NULL };
	static const char *const generations[] = { MAP_LINK_GENERATIONS, NULL };

	t->probes.attacher.obj = obj;
	if (!t->inject)
		attach_prepare(obj, t->probes.attacher.kind);
	if ((!t->command || t->inject) && !share_wanted(&t->probes))
		shrink(obj, watched);
	if (t->inject)
		shrink(obj, generations);
	filter_prepare(&t->filter, obj, &t->selected);
	prepare_stacks(t, obj);
}

char *session_who(const struct session *t)
{
	if (t->pid_list)
		return pids_text(&t->opened);
	if (t->inject && !t->command)
		return xprintf("all processes of UID %u that have inject/resident.so", t->traced_user);
	return xstrdup(t->command ?: "all processes");
}

bool session_is_alone(const struct session *t)
{
	return t->command || (t->pid_list && t->opened.pids && !t->opened.pids[1]);
}

bool session_ended(struct session *t)
{
	if (t->command)
		return command_ended();
	return t->pid_list && pids_ended(&t->opened);
}

void session_free(struct session *t)
{
	free(t->opened.fds);
	free((int *)t->probes.pids);
	if (t->argv)
		free((char *)t->command);
}

/* "a, b and c" of the table's USDT probes of the tool's classes */
static void usdt_names(const struct session *t, char *names, size_t size)
{
	const char *last = NULL;
	int n = 0;

	*names = 0;
	for (int i = 0; i <= CUDA_ID_MAX; i++) {
		bool named = i < CUDA_ID_MAX && cuda_fns[i].lib == CUDA_USDT &&
			     cuda_fn_in(&cuda_fns[i], t->probes.classes);
		size_t at = strlen(names);

		if (last && (named || i == CUDA_ID_MAX))
			snprintf(names + at, size - at, "%s%s", !n++ ? "" : named ? ", " : " and ", last);
		if (named)
			last = cuda_fns[i].name;
	}
}

void session_check_usdt(const struct session *t)
{
	char names[256];

	if (!t->probes.usdt || t->probes.usdt_placed || !t->attached || t->list)
		return;
	usdt_names(t, names, sizeof(names));
	if (t->probes.usdt_left)
		warning(0, "the USDT probes %s have an unsupported form: tensors are not shown (see --list)", names);
	else
		warning(0, "no USDT probes %s found: tensors are not shown (builds of PyTorch without USDT; "
			"RMM's, CuPy's and JAX's allocators have none)", names);
}

/* Classes that are probed for their device only: a tool that wants functions that wait reports those of any class. */
static unsigned only_for_devices(unsigned classes)
{
	unsigned mask = CUDA_DEVICE_CLASSES & ~classes;

	return classes & CUDA_WAITS ? mask & ~(1u << CUDA_RESET | 1u << CUDA_WAIT) : mask;
}

static struct device_state *state_of(const struct bpf_object *obj)
{
	size_t size;

	return (struct device_state *)bpf_map__initial_value(
		bpf_object__find_map_by_name(obj, SECTION_DEVICE), &size);
}

unsigned session_device_prepare(struct session *t, struct bpf_object *obj, unsigned classes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, SECTION_DEVICE_CONFIG);
	struct device_config config = { .only = t->devices, .alone = only_for_devices(classes) };

	bpf_map__set_initial_value(map, &config, sizeof(config));
	t->probes.helper_classes = config.alone | CUDA_GRAPH_CLASSES;
	if (t->command)
		state_of(obj)->since = 0;
	return classes | CUDA_DEVICE_CLASSES;
}

void session_device_begin(const struct session *t, const struct bpf_object *obj)
{
	struct device_state *state = state_of(obj);

	if (t->command)
		return;
	state->since = clock_ns();
	__atomic_add_fetch(&state->generation, 1, __ATOMIC_RELAXED);
}

void session_device_losses(const struct bpf_object *obj)
{
	const struct device_state *state = state_of(obj);

	if (state->unknown)
		warning(0, "left out %llu call%s whose device is not known: chosen before tracing began, or by another process",
			state->unknown, plural(state->unknown));
}

static void scan_again(struct session *t)
{
	struct probes *p = &t->probes;

	for (int i = 0; p->pids && p->pids[i] && !p->failure.text; i++)
		scan_process(p, p->pids[i]);
	if (!p->pids)
		scan_all(p);
	session_die_if_failed(t);
}

void session_scan_new(struct session *t, int pid)
{
	struct probes *p = &t->probes;

	if (!pid) {
		scan_again(t);
		if (p->on_scanned)
			p->on_scanned(p->tool, pid);
		return;
	}
	scan_watched(p, pid);
	session_die_if_failed(t);
	syms_refresh(t->syms, pid);	/* its first call may be handled after its exit */
	if (p->on_scanned)
		p->on_scanned(p->tool, pid);
}

int session_load_error(int err)
{
	struct btf *types;

	if (err != -ESRCH)
		return err;
	types = btf__parse_raw("/sys/kernel/btf/vmlinux");
	err = types ? err : -errno;
	btf__free(types);
	return err;
}

void session_tick(struct session *t)
{
	helper_pool_tick(&t->helpers);
	uprobes_tick(&t->probes);
	share_tick(&t->probes);
	syms_tick(t->syms);
	if (t->watching || time(NULL) == t->scanned)
		return;
	t->scanned = time(NULL);
	scan_again(t);
}
