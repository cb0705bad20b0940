/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cli/out.h"
#include "session/command.h"
#include "session/command_user.h"
#include "session/gpuprobe_loop.h"
#include "session/gpuprobe_preload.h"
#include "session/gpuprobe_tool.h"

static void read_operands(const struct gpuprobe_tool *tool, int argc, char **argv, int first)
{
	struct gpuprobe_options *g = tool->options;

	if (tool->operands)
		tool->operands(tool->ctx, argc, argv, first);
	else if (tool->interval)
		opt_interval(argc, argv, first, &g->interval_ns, &g->count);
	else
		opt_no_operands(argc, argv, first);
}

static void check_command(const struct gpuprobe_options *g)
{
	if (g->command)
		return;
	if (g->user)
		usage_error("--user requires a command: --command or -- CMD");
	usage_error("a command is required, --command or -- CMD: modules that a process has loaded cannot be "
		    "changed, so there is no --pid");
}

/* Forks the command, which waits for command_go(). */
static int prepare_command(const struct gpuprobe_options *g, struct gpuprobe_peers *peers)
{
	struct gpuprobe_preload preload = { 0 };
	struct command_user user;
	int pid;

	gpuprobe_preload_find(&preload);
	command_user_choose(&user, g->user);
	peers->user = user.uid;
	gpuprobe_peers_open(peers);
	gpuprobe_preload_set(&preload, peers->name);
	pid = command_prepare(g->command, g->argv, &user);
	gpuprobe_preload_unset(&preload);
	gpuprobe_preload_free(&preload);
	command_user_free(&user);
	return pid;
}

static void configure(const struct gpuprobe_tool *tool, struct gpuprobe_peers *peers, struct gpuprobe_config *config)
{
	const char *probe;
	char *kernels;

	probe = tool->config(tool->ctx, config);
	kernels = gpuprobe_options_kernels(tool->options, &config->kernels_size);
	gpuprobe_peers_config(peers, config, kernels, probe);
	free(kernels);
}

static void say_start(const struct gpuprobe_options *g, int pid)
{
	if (g->argv)
		note("tracing '%s' (pid %d) and its children", g->command, pid);
	else	/* its pid is the shell's */
		note("tracing '%s' and its children", g->command);
}

static int run(const struct gpuprobe_tool *tool)
{
	struct gpuprobe_options *g = tool->options;
	struct gpuprobe_peers peers = { .frame = tool->frame, .ctx = tool->ctx };
	struct gpuprobe_loop loop = { .options = g, .report = tool->report, .ctx = tool->ctx, .peers = &peers };
	struct gpuprobe_config config = { 0 };
	int status;

	gpuprobe_options_config(g, &config);	/* a usage error comes before anything is started */
	loop.pid = prepare_command(g, &peers);
	if (g->output)
		out_to_file(g->output);
	log_init(g->verbose, g->quiet);
	out_init(g->json);
	configure(tool, &peers, &config);
	if (tool->start)
		tool->start(tool->ctx);
	say_start(g, loop.pid);
	gpuprobe_loop_run(&loop);
	if (tool->close)
		tool->close(tool->ctx, loop.signal, peers.n);
	gpuprobe_peers_close(&peers);
	status = gpuprobe_loop_status(&loop, g->command);
	if (!peers.greeted && !status && !loop.signal) {
		warning(0, "the command loaded no CUDA images");
		return EXIT_FAILURE;
	}
	return status;
}

int gpuprobe_tool_run(const struct gpuprobe_tool *tool, int argc, char **argv)
{
	char **command, *text = NULL;
	int first = opt_parse(&argc, argv, tool->opts, tool->usage, &command), status = 0;

	if (command)
		text = gpuprobe_options_command(tool->options, command);
	read_operands(tool, argc, argv, first);
	if (!tool->check || !tool->check(tool->ctx, &status)) {
		check_command(tool->options);
		status = run(tool);
	}
	free(text);
	return status;
}
