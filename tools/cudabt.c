// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabt - bpftrace with the types of CUDA */
#include <signal.h>
#include <stdio.h>
#include "cudabt/bt_session.h"
#include "cudabt/bt_output.h"
#include "cudabt/bt_run.h"
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
	(void)ctx;
	bt_output_copy();
	return !bt_run_ended();
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
	struct event_loop events = { .tick = goes_on };
	int first = opt_parse(argc, argv, opts, &usage), sig, status, command;
	struct bt_source source;

	opt_no_operands(argc, argv, first + !program);
	if (!program && first == argc)
		usage_error("a program is needed: FILE, or -e PROGRAM");
	if (print && (target.command || target.list))
		usage_error("--emit excludes --command and --list; -l names a file that CMD would use");
	source = program ? bt_source_text(program) : bt_source_file(argv[first]);
	bt_session_check(&source);
	if (!print && !target.list)
		bt_run_find();
	target_init(&target);
	bt_session_prepare(&target);
	target_attach_functions(&target, &bt_session_source);
	if (print)
		bt_session_print();
	if (!target.command)
		bt_session_start(&target);
	sig = event_loop_run(&target, &events);
	status = bt_run_started() ? bt_run_finish() : 0;
	if (status)
		warning(0, "bpftrace ended with status %d; --emit prints the script that it was given", status);
	command = target_finish(&target, status && !sig ? SIGTERM : sig);
	if (target.command && !bt_run_started() && !target.list && target.probes.nfiles && !sig)
		warning(0, "the command used none of the functions: there was nothing to trace");
	return status ? status : command;
}
