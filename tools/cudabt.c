// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabt - bpftrace with the types of CUDA */
#include <signal.h>
#include <stdio.h>
#include "cudabt/bt_session.h"
#include "base/die.h"
#include "session/event_loop.h"

static const struct usage usage = {
	.args = "FILE | -e PROGRAM",
	.what = "Run a bpftrace program with CUDA's functions as probes, cuda:FUNC and cudaret:FUNC, and\n"
		"their arguments by name and type, args.NAME.",
	.examples =
	"  cudabt -e 'cuda:cudaMalloc { @[comm] = sum(args.size); }' -d 1\n"
	"  cudabt -e 'cudaret:cuda*Alloc /retval/ { @[func, errname(retval)] = count(); }' -p 181 -d 1\n"
	"  cudabt failures.bt -c './train 10'  # a program that comes with this one\n"
	"  cudabt launch-config.bt --emit      # for a machine that has only bpftrace\n",
};

static bool goes_on(void *ctx)
{
	struct bt_session *s = ctx;

	bt_output_copy(&s->run.output);
	return !bt_run_ended(&s->run);
}

int main(int argc, char **argv)
{
	struct target target = TARGET_INIT;
	const char *program = NULL;
	bool print = false;
	const struct opt opts[] = {
		OPT_STR('e', "program", "PROGRAM", &program, "the program itself"),
		OPT_FLAG(0, "emit", &print, "print what bpftrace would be given, and exit"),
		OPT_WHICH(&target),
		OPT_RUN(&target),
		OPT_END
	};
	struct bt_session session = {};
	struct event_loop events = { .tick = goes_on, .ctx = &session };
	int first = opt_parse(argc, argv, opts, &usage), sig, status, command;

	opt_no_operands(argc, argv, first + !program);
	if (!program && first == argc)
		usage_error("a program is needed: FILE, or -e PROGRAM");
	if (print && (target.command || target.list))
		usage_error("--emit excludes --command and --list; -l names a file that CMD would use");
	bt_session_check(&session, program ? bt_source_text(program) : bt_source_file(argv[first]));
	if (!print && !target.list)
		bt_run_find();
	target_init(&target);
	bt_session_prepare(&session, &target);
	target_attach_functions(&target, &session.functions);
	if (print)
		bt_session_print(&session);
	if (!target.command)
		bt_session_start(&session);
	sig = event_loop_run(&target, &events);
	status = bt_run_started(&session.run) ? bt_run_finish(&session.run) : 0;
	if (status)
		warning(0, "bpftrace ended with status %d; --emit prints the script that it was given", status);
	command = target_finish(&target, status && !sig ? SIGTERM : sig);
	if (target.command && !bt_run_started(&session.run) && !target.list && target.nfiles && !sig)
		warning(0, "the command used none of the functions: there was nothing to trace");
	bt_session_free(&session);
	return status ? status : command;
}
