/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/opt.h"
#include "cudatop/top_account.h"
#include "proc/installed.h"
#include "session/event_loop.h"
#include "session/session.h"

static void top_account_check(const struct session *s)
{
	const struct filter_options none = { 0 };

	if (s->command || s->argv || s->pid_list || s->user || s->lib || s->list || s->layer != SESSION_LAYER_ALL || s->attach ||
	    s->probes.seccomp_force || memcmp(&s->filter, &none, sizeof(none)))
		usage_error("--memory can only be combined with --batch, --once, --duration, --json, --quiet and --verbose");
}

void account_run(const struct session *s, const struct event_loop *e, const char *pids)
{
	char *why, *path = beside_find("", "cudaleak", "--memory", "", &why);
	const char *args[16];
	int n = 0;

	top_account_check(s);
	if (!path)
		die(0, "cannot run cudaleak: %s", why);
	args[n++] = program_invocation_short_name;	/* in its messages */
	args[n++] = "--account";
	args[n++] = "--batch";
	args[n++] = xprintf("--pid=%s", pids);
	if (s->json)
		args[n++] = "--json";
	if (s->quiet)
		args[n++] = "--quiet";
	if (s->verbose)
		args[n++] = "--verbose";
	if (s->duration_ns)
		args[n++] = xprintf("--duration=%ldns", s->duration_ns);
	if (e->interval_ns)
		args[n++] = xprintf("%ldns", e->interval_ns);
	if (e->count)
		args[n++] = xprintf("%ld", e->count);
	args[n] = NULL;
	execv(path, (char **)args);
	die(errno, "cannot run %s", path);
}
