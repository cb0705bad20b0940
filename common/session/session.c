/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/stack_frames.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "cli/out.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/scan.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "session/command.h"
#include "session/command_user.h"
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
	t->command_user = user.uid;
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
	if (t->command)		/* first, as the command is to have nothing of what follows */
		prepare_command(t);
	/* a caller may ignore it: the kernel would reap the tool's processes, and others get their numbers */
	signal(SIGCHLD, SIG_DFL);
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

static struct stack_config stack_config(const struct session *t)
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
	struct stack_config config = stack_config(t);

	if (!t->syms)
		t->syms = syms_new(&t->helpers, &config);
	if (t->lines)
		syms_show_lines(t->syms);
}

/* For copies of stacks, which a quarter of the ring buffer may hold. */
enum { ROOM = 16 << 20 };

static void make_room(struct bpf_object *obj)
{
	struct bpf_map *ring = bpf_object__find_map_by_name(obj, "events");
	struct bpf_map *size = bpf_object__find_map_by_name(obj, ".rodata.records");
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

/* What is not configured the verifier takes out of the programs, but their maps are made. */
static void prepare_stacks(const struct session *t, struct bpf_object *obj)
{
	static const char *const unwind[] = { "unwind_table", "unwind_processes", NULL };
	static const char *const python[] = { "python_processes", "python_codes", NULL };
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata.stack");
	struct stack_config config = stack_config(t);

	if (!map)
		return;
	bpf_map__set_initial_value(map, &config, sizeof(config));
	if (config.dwarf && config.native)
		make_room(obj);
	else
		shrink(obj, unwind);
	if (!config.python)
		shrink(obj, python);
}

void session_prepare(struct session *t, struct bpf_object *obj)
{
	static const char *const watched[] = { "watched", NULL };

	t->probes.attacher.obj = obj;
	if (!t->inject)
		attach_prepare(obj, t->probes.attacher.kind);
	if (!t->command || t->inject)
		shrink(obj, watched);
	filter_prepare(&t->filter, obj, &t->selected);
	prepare_stacks(t, obj);
}

char *session_who(const struct session *t)
{
	return t->pid_list ? pids_text(&t->opened) :
	       xstrdup(t->command ? t->command : "all processes");
}

bool session_is_preexisting(void *target, int pid)
{
	const struct session *t = target;

	return preexisting_has(&t->preexisting, pid);
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
		warning(0, "the USDT probes %s are of a form that cannot be read: tensors are not shown (--list says "
			"which files have them)", names);
	else
		warning(0, "no USDT probes %s found: tensors are not shown (builds of PyTorch without USDT; "
			"RMM's, CuPy's and JAX's allocators have none)", names);
}
