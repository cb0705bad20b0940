/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "cudabt/bt_session.h"
#include "cudabt/bt_translate.h"
#include "base/clock.h"
#include "api/cuda_protos.h"
#include "base/die.h"
#include "base/version.h"

#define START_NS 60000000000ull	/* a thousand probes take some seconds */

static _Noreturn void bad_program(const struct bt_session *s)
{
	bt_source_error(&s->source, &s->script.error);
	exit(EXIT_USAGE);
}

static int find(const void *ctx, const char *symbol)
{
	const bool *wanted = ctx;
	int id = cuda_proto_find(symbol);

	return id >= 0 && wanted[id] ? id : -1;
}

static struct function get(const struct probes *p, int id)
{
	(void)p;
	return (struct function){ .name = cuda_protos[id].name, .lib = cuda_protos[id].lib, .wanted = true };
}

void bt_session_check(struct bt_session *s, struct bt_source source)
{
	s->source = source;
	s->script.text = source.text;
	s->script.len = source.len;
	if (!bt_check(&s->script))
		bad_program(s);
	s->functions = (struct probe_source){ find, get, s->script.wanted };
}

/* bpftrace 0.17 has no filter of its own for uprobes: -p and -c mean other probes. */
static void choose_processes(struct bt_session *s, const struct target *t)
{
	char *list = NULL;

	for (int i = 0; t->pid_list && t->probes.pids[i]; i++) {
		char *longer = xprintf("%s%spid == %d", list ? list : "", list ? " || " : "",
				       t->probes.pids[i]);

		free(list);
		list = longer;
	}
	if (list)
		s->condition = xprintf("(%s)", list);
	free(list);
	if (!t->command)
		return;
	/* the command's processes are our descendants: we adopt those whose parents end */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die(errno, "cannot adopt the command's children");
	s->condition = xprintf("$cudabt_task->tgid == %d", getpid());
	s->statements = xprintf(
		"$cudabt_task = curtask; $cudabt_n = 0;\n"
		"\twhile ($cudabt_task->tgid != %d && $cudabt_task->tgid > 1 && $cudabt_n < 32) {\n"
		"\t\t$cudabt_task = $cudabt_task->real_parent; $cudabt_n++;\n\t}", getpid());
}

static void found(void *ctx, struct dso *c, int pid)
{
	struct bt_session *s = ctx;
	bool is_new = bt_files_add(&s->files, c, pid);

	s->mapped |= pid > 0;
	if (is_new && bt_run_started(&s->run) && !s->target->list)
		warning(0, "%s was loaded after bpftrace had begun: its calls are not seen (-l probes a file "
			   "from the start)", c->path);
}

static void looked(void *ctx, int pid)
{
	struct bt_session *s = ctx;

	(void)pid;
	if (s->target->command && s->mapped && !bt_run_started(&s->run) && !s->target->list)
		bt_session_start(s);
}

void bt_session_prepare(struct bt_session *s, struct target *t)
{
	s->target = t;
	t->probes.tool = s;
	t->probes.on_dso = found;
	t->probes.on_scanned = looked;
	choose_processes(s, t);
	s->script.condition = s->condition;
	s->script.statements = s->statements;
}

static void make_script(struct bt_session *s, bool to_stay)
{
	struct bt_script *script = &s->script;
	char *rest, *line;

	s->named = bt_files_named(&s->files, to_stay, &script->nfiles);
	script->files = s->named;
	if (!bt_translate(script))
		bad_program(s);
	rest = script->notes;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			warning(0, "%s: %s", s->source.name, line);
	if (!script->nprobes)
		die_status(EXIT_NOTHING, 0, "no file has the functions that this program probes: neither the "
			   "processes nor the usual directories have one (-l names a file, --list says more)");
}

void bt_session_print(struct bt_session *s)
{
	const struct bt_script *script = &s->script;

	make_script(s, true);
	printf("// Made by cudabt " VERSION " for bpftrace 0.17 or newer.  Write other names for these files\n"
	       "// where they are elsewhere:\n");
	for (int i = 0; i < script->nfiles; i++)
		printf("//   %s\n", script->files[i].path);
	if (script->nprobes > BT_RUN_PROBES)
		printf("// In the environment: BPFTRACE_MAX_PROBES=%d BPFTRACE_MAX_BPF_PROGS=%d\n",
		       script->nprobes, script->nprobes);
	fputs(script->out, stdout);
	if (fflush(stdout) || ferror(stdout))
		die(errno, "cannot write to standard output");
	exit(EXIT_SUCCESS);
}

void bt_session_start(struct bt_session *s)
{
	const struct timespec pause = { 0, 5000000 };
	unsigned long long end = clock_ns() + START_NS;
	const struct bt_script *script = &s->script;
	char *who = target_who(s->target);

	make_script(s, false);
	if (s->target->verbose)
		fputs(script->out, stderr);
	bt_run_start(&s->run, script->out, script->out_len, script->nprobes, s->target->json);
	while (!bt_run_ended(&s->run) && !bt_run_waits(&s->run)) {
		nanosleep(&pause, NULL);
		bt_output_copy(&s->run.output);
		if (clock_ns() > end)
			die(0, "bpftrace has not placed its probes for a minute");
	}
	if (!bt_run_ended(&s->run))
		note("tracing %s: %d probe%s in %d file%s", who, script->nprobes,
		     script->nprobes == 1 ? "" : "s", script->nfiles, script->nfiles == 1 ? "" : "s");
	free(who);
}

void bt_session_free(struct bt_session *s)
{
	bt_files_named_free(s->named, s->script.nfiles);
	bt_files_free(&s->files);
	bt_script_free(&s->script);
	free(s->condition);
	free(s->statements);
	free(s->source.text);
}
