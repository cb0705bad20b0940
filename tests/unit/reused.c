/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whether a process gets a signal that has the number of one that has ended.  Prints a line for each way to send one. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/die.h"
#include "probe/stop_refs.h"
#include "proc/command.h"

enum { SETTLE = 100000 /* microseconds */ };

/* A stopped process; pid: its number, 0: any. */
static int stopped(int pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = pid ? (uintptr_t)&pid : 0, .set_tid_size = !!pid };
	int child = syscall(SYS_clone3, &args, sizeof(args));

	if (child < 0)
		die(errno, "no process with the number %d", pid);
	if (!child) {
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	waitpid(child, NULL, WUNTRACED);
	return child;
}

static void tell(const char *how, int pid)
{
	int status = 0, got;

	usleep(SETTLE);
	got = waitpid(pid, &status, WNOHANG | WCONTINUED);
	printf("%s: %s\n", how, !got ? "nothing" : WIFCONTINUED(status) ? "continued" : "ended");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void try_held(int map, const char *how, bool watched, bool release)
{
	struct stop_refs h = { .map = map };
	int pid = stopped(0);
	char yes = 1;

	if (watched)
		bpf_map_update_elem(map, &pid, &yes, BPF_ANY);
	if (release)
		stop_ref_put(&h, pid);
	else
		stop_ref_signal(map, pid, SIGCONT);
	tell(how, pid);
	stop_refs_free(&h);
}

static void try_command(uid_t uid, const char *how)
{
	char *argv[] = { "true", NULL };
	struct command_user user = { .other = uid, .uid = uid, .gid = uid };
	int pid = command_prepare(NULL, argv, &user);

	command_go();
	while (!command_ended())
		usleep(1000);
	stopped(pid);
	command_signal(SIGCONT);
	tell(how, pid);
}

int main(int argc, char **argv)
{
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "reused", sizeof(int), 1, 16, NULL);

	log_init(false, false);
	if (map < 0)
		die(errno, "no map");
	try_held(map, "released", true, true);
	try_held(map, "released, ended before", false, true);
	try_held(map, "signalled", true, false);
	try_held(map, "signalled, ended before", false, false);
	try_command(argc > 1 ? atoi(argv[1]) : 0, "command, ended before");
	return 0;
}
