/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "cudabt/bt_files.h"
#include "cudabt/bt_session.h"
#include "cudabt/bt_output.h"
#include "cudabt/bt_run.h"
#include "cudabt/bt_translate.h"
#include "base/clock.h"
#include "api/cuda_protos.h"
#include "base/die.h"
#include "base/version.h"

#define START_NS 60000000000ull	/* a thousand probes take some seconds */

static const struct bt_source *source;
static struct bt_script script;
static struct bt_files files;
static bool mapped;		/* a process of the command has one of them */

static _Noreturn void bad_program(void)
{
	bt_source_error(source, &script.error);
	exit(EXIT_USAGE);
}

void bt_session_check(const struct bt_source *s)
{
	source = s;
	script.text = s->text;
	script.len = s->len;
	if (!bt_check(&script))
		bad_program();
}

static int find(const char *symbol)
{
	int id = cuda_proto_find(symbol);

	return id >= 0 && script.wanted[id] ? id : -1;
}

static struct function get(const struct probes *p, int id)
{
	(void)p;
	return (struct function){ .name = cuda_protos[id].name, .lib = cuda_protos[id].lib, .wanted = true };
}

const struct probe_source bt_session_source = { find, get };

/* bpftrace 0.17 has no filter of its own for uprobes: -p and -c mean other probes. */
static void choose_processes(const struct target *t)
{
	char *list = NULL;

	for (int i = 0; t->pid_list && t->probes.pids[i]; i++) {
		char *longer = xprintf("%s%spid == %d", list ? list : "", list ? " || " : "",
				       t->probes.pids[i]);

		free(list);
		list = longer;
	}
	if (list)
		script.condition = xprintf("(%s)", list);
	free(list);
	if (!t->command)
		return;
	/* the command's processes are our descendants: we adopt those whose parents end */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die(errno, "cannot adopt the command's children");
	script.condition = xprintf("$cudabt_task->tgid == %d", getpid());
	script.statements = xprintf(
		"$cudabt_task = curtask; $cudabt_n = 0;\n"
		"\twhile ($cudabt_task->tgid != %d && $cudabt_task->tgid > 1 && $cudabt_n < 32) {\n"
		"\t\t$cudabt_task = $cudabt_task->real_parent; $cudabt_n++;\n\t}", getpid());
}

static void found(void *ctx, struct dso *c, int pid)
{
	struct target *t = ctx;
	bool is_new = bt_files_add(&files, c, pid);

	mapped |= pid > 0;
	if (is_new && bt_run_started() && !t->list)
		warning(0, "%s was loaded after bpftrace had begun: its calls are not seen (-l probes a file "
			   "from the start)", c->path);
}

static void looked(void *ctx, int pid)
{
	struct target *t = ctx;

	(void)pid;
	if (t->command && mapped && !bt_run_started() && !t->list)
		bt_session_start(t);
}

void bt_session_prepare(struct target *t)
{
	t->probes.tool = t;
	t->probes.on_dso = found;
	t->probes.on_scanned = looked;
	choose_processes(t);
}

static void make_script(bool to_stay)
{
	char *rest, *line;

	script.files = bt_files_named(&files, to_stay, &script.nfiles);
	if (!bt_translate(&script))
		bad_program();
	rest = script.notes;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			warning(0, "%s: %s", source->name, line);
	if (!script.nprobes)
		die_status(EXIT_NOTHING, 0, "no file has the functions that this program probes: neither the "
			   "processes nor the usual directories have one (-l names a file, --list says more)");
}

void bt_session_print(void)
{
	make_script(true);
	printf("// Made by cudabt " VERSION " for bpftrace 0.17 or newer.  Write other names for these files\n"
	       "// where they are elsewhere:\n");
	for (int i = 0; i < script.nfiles; i++)
		printf("//   %s\n", script.files[i].path);
	if (script.nprobes > BT_RUN_PROBES)
		printf("// In the environment: BPFTRACE_MAX_PROBES=%d BPFTRACE_MAX_BPF_PROGS=%d\n",
		       script.nprobes, script.nprobes);
	fputs(script.out, stdout);
	if (fflush(stdout) || ferror(stdout))
		die(errno, "cannot write to standard output");
	exit(EXIT_SUCCESS);
}

void bt_session_start(struct target *t)
{
	const struct timespec pause = { 0, 5000000 };
	unsigned long long end = clock_ns() + START_NS;
	char *who = target_who(t);

	make_script(false);
	if (t->verbose)
		fputs(script.out, stderr);
	bt_run_start(script.out, script.out_len, script.nprobes, t->json);
	while (!bt_run_ended() && !bt_run_waits()) {
		nanosleep(&pause, NULL);
		bt_output_copy();
		if (clock_ns() > end)
			die(0, "bpftrace has not placed its probes for a minute");
	}
	if (!bt_run_ended())
		note("tracing %s: %d probe%s in %d file%s", who, script.nprobes,
		     script.nprobes == 1 ? "" : "s", script.nfiles, script.nfiles == 1 ? "" : "s");
	free(who);
}
