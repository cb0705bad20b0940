/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/row.h"
#include "elf/elf.h"
#include "gpuprobe/gpuprobe_run.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/scan.h"
#include "probe/share.h"
#include "proc/command.h"
#include "session/backend.h"
#include "session/preexisting.h"
#include "session/session.h"
#include "session/session_attach.h"
#include "sym/syms.h"

struct probe_line {
	char *file;
	const char *layer, *func, *skipped;
	unsigned long long offset, step;
};

OUT_WORD(row_type, "probe");

static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a probe, with --list */
	{ "file", "FILE", -40, OUT_STR, offsetof(struct probe_line, file) },	/* the file */
	{ "layer", "LAYER", -7, OUT_STR, offsetof(struct probe_line, layer) },	/* runtime, driver, nccl, nvrtc, library (as cuBLAS) or usdt */
	{ "func", "FUNCTION", -36, OUT_STR, offsetof(struct probe_line, func) },	/* the function */
	{ "offset", "OFFSET", -12, OUT_PTR, offsetof(struct probe_line, offset) },	/* in the file */
	{ "step", "STEP", 4, OUT_UINT, offsetof(struct probe_line, step) },	/* bytes: from the symbol */
	{ "skipped", "SKIPPED", -1, OUT_STR, offsetof(struct probe_line, skipped) },	/* why there is no probe */
	{ 0 }
};

static struct probe_line *list_line(struct probe_list *list, const char *path)
{
	list->lines = xrealloc(list->lines, list->n + 1, sizeof(*list->lines));
	list->lines[list->n] = (struct probe_line){ .file = xstrdup(path), .offset = OUT_NONE,
						    .step = OUT_NONE };
	return &list->lines[list->n++];
}

static void list_probe(void *list, const char *path, const struct function *fn, const struct elf_probe *p,
		       const char *skipped)
{
	struct probe_line *l = list_line(list, path);

	l->layer = cuda_lib_name(fn->lib);
	l->func = fn->name;
	l->offset = p->offset;
	l->step = p->offset - p->symbol;
	l->skipped = skipped;
}

static void list_file(void *list, const char *path, const char *why)
{
	list_line(list, path)->skipped = why;
}

static void probe_list_print(const struct probe_list *list)
{
	out_head(fields);
	for (int i = 0; i < list->n; i++)
		out_row(fields, &list->lines[i]);
	out_flush();
}

static void probe_list_free(struct probe_list *list)
{
	for (int i = 0; i < list->n; i++)
		free(list->lines[i].file);
	free(list->lines);
	*list = (struct probe_list){ 0 };
}

/* For the command to end after a signal. */
enum { COMMAND_MS = 400 };

/* Says so of a process; the others of a list are traced. */
static void nothing_in(const struct session *t, int pid)
{
	if (t->probes.cuda)
		warning(0, "process %d uses CUDA, but its libraries have none of the functions to trace (see --list)", pid);
	else
		warning(0, "process %d has no CUDA functions to trace: neither libcudart nor libcuda is mapped, and no runtime "
			"is linked in (see --list; -c traces from the start)%s", pid, pids_hint(pid));
}

static void warn_ended(const struct session *t, int pid)
{
	if (pids_ended(&t->opened))
		die(0, "process %d has ended, before it could be traced", pid);
	warning(0, "process %d has ended, before it could be traced", pid);
}

static void attach_pids(struct session *t)
{
	const int *pids = t->probes.pids;
	bool nothing = false, some = false;

	for (int i = 0; pids[i]; i++) {
		int found = scan_process(&t->probes, pids[i]);

		session_die_if_failed(t);
		if (!helper_pool_poll(&t->helpers))	/* the tool is to end */
			return;
		if (err_is_transient(found))
			warning(0, "process %d could not be read: %s; trying again", pids[i], helper_error(found));
		else if (found < 0 && !t->list)
			die(0, "not permitted to inspect process %d: %s", pids[i], scan_refusal(found));
		if (pid_ended(&t->opened, i)) {
			warn_ended(t, pids[i]);
		} else if (!found && !t->lib && !t->list) {
			nothing_in(t, pids[i]);
			nothing = true;
		} else {
			some = true;
		}
	}
	if (nothing && !some)
		exit(EXIT_NOTHING);
}

static void attach_lib(struct session *t)
{
	if (scan_lib(&t->probes, t->lib))
		return;
	session_die_if_failed(t);
	exit(EXIT_FAILURE);
}

static void note_tracing(const struct session *t)
{
	const struct probes *p = &t->probes;
	char *who = session_who(t);

	if (t->argv)
		note("tracing '%s' (pid %d) and its children", t->command, p->pids[0]);
	else if (t->command)	/* its pid is the shell's */
		note("tracing '%s' and its children", t->command);
	else
		note("tracing %s: %d probe%s in %d file%s%s", who, p->nprobes, plural(p->nprobes),
		     p->nfiles, plural(p->nfiles), !process_is_complete(&t->processes, 0) ? "; earlier calls are unknown" : "");
	free(who);
}

static void add_preexisting(void *ctx, int pid)
{
	struct session *t = ctx;

	if (!t->attached && !t->command && filter_wants(&t->selected, pid))
		process_set_preexisting(&t->processes, pid);
}

/* Reads what reports need after its exit. */
static void on_process(void *ctx, int pid)
{
	struct session *t = ctx;

	process_mapped(&t->processes, pid);
	t->matched |= filter_wants(&t->selected, pid);
	syms_refresh(t->syms, pid);
	add_preexisting(t, pid);
	if (t->on_process)
		t->on_process(t->probes.tool, pid);
}

static void set_callbacks(struct session *t)
{
	struct probes *p = &t->probes;

	p->session = t;
	if (t->list) {
		p->listener = &t->found;
		p->on_probe = list_probe;
		p->on_skipped = list_file;
	}
	p->on_process = on_process;
	p->on_unread = add_preexisting;
}

void session_choose_functions(struct session *t, const struct probe_source *source, unsigned classes)
{
	t->probes.classes = classes;
	t->probes.source = source ?: &cuda_probe_source;
}

void session_attach_named(struct session *t)
{
	t->helpers.limit = HELPER_START;
	t->helpers.asked_for = true;
	if (t->lib)
		attach_lib(t);
	else
		share_list(&t->probes);
	if (t->pid_list)
		attach_pids(t);
	t->helpers.asked_for = false;
	session_die_if_failed(t);
}

void session_attach(struct session *t)
{
	struct probes *p = &t->probes;

	set_callbacks(t);
	progress_begin(&t->progress);
	if (t->backend->attach)
		t->backend->attach(t);
	t->attached = true;
	preexisting_begin(&t->processes);
	t->helpers.limit = t->command ? HELPER_STOPPED : t->pid_list ? HELPER_START : HELPER_QUICK;
	t->helpers.asked_for = t->command;	/* only its processes are traced */
	if (t->list && !t->command) {
		probe_list_print(&t->found);
		exit(p->nfiles ? EXIT_SUCCESS : EXIT_NOTHING);
	}
	if (t->backend->begin)
		t->backend->begin(t);
	if (!p->on_dso)
		note_tracing(t);
	if (t->command)
		command_go();
}

/* Waits for the command, but not for long if a signal has ended the tool.  Returns its status. */
static int finish_command(const struct session *t, int sig)
{
	const struct timespec pause = { 0, 1000000 };

	for (int ms = COMMAND_MS; sig && ms > 0 && !command_ended(); ms--)
		nanosleep(&pause, NULL);
	if (!sig || command_ended())
		return command_finish();
	note("'%s' still runs (pid %d%s)", t->command, t->probes.pids[0], t->argv ? "" : ", its shell");
	return 128 + sig;
}

static void warn_unmatched(const struct session *t)
{
	char *text = filter_text(&t->filter);

	warning(0, "no process matched %s when it loaded CUDA", text);
	free(text);
}

static int gpuprobe_status(const struct session *t, int status, int sig)
{
	if (t->gpuprobe->peers.greeted || status || sig)
		return status;
	warning(0, "the command loaded no CUDA images");
	return EXIT_FAILURE;
}

/* The command has ended without a function to trace. */
static void warn_unused(const struct session *t, int status)
{
	if (t->probes.cuda)
		warning(0, "the command used CUDA, but its libraries have none of the functions to "
			"trace (see --list)");
	else if (status == COMMAND_NOT_RUN || status == COMMAND_NOT_FOUND)
		warning(0, "the command ended with status %d: a program could not be started; no "
			"CUDA library was used", status);
	else
		warning(0, "the command used no CUDA library: nothing to trace%s", t->inject ?
			"; a runtime that is linked in is seen once it loads the driver" : "");
}

int session_finish(struct session *t, int sig, long ms)
{
	bool complete = t->command && command_ended();
	const struct probes *p = &t->probes;
	int status = 0;

	t->finishing = true;
	progress_begin(&t->progress);
	t->progress.hidden = sig || t->live;
	t->backend->detach(t, sig, ms);
	if (t->command)
		status = finish_command(t, sig);
	if (t->gpuprobe)
		return gpuprobe_status(t, status, sig);
	if (!status && !p->nfiles && p->starved)	/* there was a message */
		status = EXIT_FAILURE;
	if (!t->command)
		return status;
	if (t->list)
		probe_list_print(&t->found);
	else if (!p->nfiles && complete && !p->refused && !p->incomplete)
		warn_unused(t, status);
	else if (p->nfiles && complete && !t->matched && filter_is_set(&t->selected))
		warn_unmatched(t);
	probe_list_free(&t->found);
	return status;
}
