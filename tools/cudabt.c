// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabt - bpftrace with the types of CUDA */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "cudabt/bt_run.h"
#include "cudabt/bt_session.h"
#include "session/tool.h"

static const struct usage usage = {
	.args = "FILE | -e PROGRAM",
	.what = "Run a bpftrace program with CUDA functions as probes, cuda:FUNC and cudaret:FUNC, and\n"
		"their arguments by name and type, args.NAME.  A FILE without a slash is an included program.",
	.examples =
	"  cudabt -e 'cuda:cudaMalloc { @[comm] = sum(args.size); }' -d 1\n"
	"  cudabt -e 'cudaret:cuda*Alloc /retval/ { @[errname(retval)] = count(); }' -d 1\n"
	"  cudabt failures.bt -c './train 10'  # an included program\n"
	"  cudabt launch-config.bt --emit      # for a machine that has only bpftrace\n",
};

struct bt {
	const char *program;	/* NULL: read from a file */
	struct bt_source source;
	struct bt_session bt;
	bool emit;
	int status;		/* bpftrace's exit status */
	int sig;
	struct session session;
	struct event_loop events;
};

static bool tick(void *ctx)
{
	struct bt *b = ctx;

	if (bt_run_started(&b->bt.run))
		bt_run_serve(&b->bt.run, 0);
	return !bt_run_ended(&b->bt.run);
}

static void operands(void *ctx, int argc, char **argv, int first)
{
	struct bt *b = ctx;

	opt_no_operands(argc, argv, first + !b->program);
	if (!b->program && first == argc)
		usage_error("missing program: FILE or -e PROGRAM");
	if (b->emit && (b->session.command || b->session.list))
		usage_error("--emit cannot be combined with --command or --list; -l names a file that CMD would use");
	b->source = b->program ? bt_source_text(b->program) : bt_source_file(argv[first]);
}

/* An emitted script may run in another directory.  Links are kept, as they follow an upgrade. */
static const char *absolute(const char *path)
{
	char *dir = *path == '/' ? NULL : getcwd(NULL, 0), *whole;

	if (*path == '/')
		return path;
	if (!dir)
		die(errno, "cannot find the directory of %s", path);
	whole = xprintf("%s/%s", strcmp(dir, "/") ? dir : "", path);
	free(dir);
	return whole;	/* until the end */
}

static void check(void *ctx)
{
	struct bt *b = ctx;

	if (b->emit && b->session.lib)
		b->session.lib = absolute(b->session.lib);

	bt_session_load(&b->bt, b->source);
	if (!b->emit && !b->session.list)
		bt_run_find();
}

static void prepare(void *ctx)
{
	struct bt *b = ctx;

	bt_session_prepare(&b->bt, &b->session);
}

static void start(void *ctx)
{
	struct bt *b = ctx;

	if (b->emit)
		bt_session_emit(&b->bt);
	if (!b->session.command)
		bt_session_start(&b->bt);
}

static int stop(void *ctx, int sig)
{
	struct bt *b = ctx;

	b->sig = sig;
	b->status = bt_run_started(&b->bt.run) ? bt_run_finish(&b->bt.run) : 0;
	if (b->status)
		warning(0, "bpftrace exited with status %d; --emit prints the script that it was given", b->status);
	return b->status && !sig ? SIGTERM : sig;
}

static int finish(void *ctx, int status)
{
	struct bt *b = ctx;
	const struct session *t = &b->session;

	if (t->command && !bt_run_started(&b->bt.run) && !t->list && t->probes.nfiles && !b->sig)
		warning(0, "the command used none of the functions: nothing to trace");
	bt_session_free(&b->bt);
	return b->status ? b->status : status;
}

int main(int argc, char **argv)
{
	struct bt bt = { .session = SESSION_INIT, .events = { .tick = tick, .ctx = &bt } };
	const struct opt opts[] = {
		OPT_STR('e', "program", "PROGRAM", &bt.program, "the program text"),
		OPT_FLAG(0, "emit", &bt.emit, "print the program passed to bpftrace and exit"),
		OPT_WHICH(&bt.session),
		OPT_RUN(&bt.session),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &bt.session, .events = &bt.events,
		.source = &bt.bt.functions, .ctx = &bt, .operands = operands, .check = check,
		.prepare = prepare, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
