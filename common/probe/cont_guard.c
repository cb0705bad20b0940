/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "probe/stop_refs.h"
#include "probe/cont_guard.h"
#include "proc/proc.h"

static void each_watched(int map, void (*fn)(int map, int pid, void *ctx), void *ctx)
{
	unsigned int pid = 0, next;
	void *prev = NULL;

	while (!bpf_map_get_next_key(map, prev, &next)) {
		pid = next;
		prev = &pid;
		fn(map, pid, ctx);
	}
}

static void continue_stopped(int map, int pid, void *stop_refs)
{
	if (process_is_stopped(pid) && !stopped_by_other(stop_refs, pid))
		stop_ref_signal(map, pid, SIGCONT);
}

struct signal { int number, group; };

static void send_signal(int map, int pid, void *ctx)
{
	const struct signal *sig = ctx;

	if (!proc_in_group(pid, sig->group))
		stop_ref_signal(map, pid, sig->number);
}

void cont_guard_signal(int map, int sig, int group)
{
	each_watched(map, send_signal, &(struct signal){ sig, group });
}

/* The child keeps checking for a while: the probes may briefly outlive the tool. */
void cont_guard_start(struct cont_guard *r, int map, const struct stop_refs *stop_refs)
{
	struct stop_refs ours = { .own = stop_refs->own };
	const struct timespec pause = { 0, 20000000 };
	int fds[2];
	char c;

	if (pipe2(fds, O_CLOEXEC))
		return;
	r->pid = fork();
	if (r->pid) {
		close(fds[0]);
		r->fd = fds[1];	/* closed when the tool ends */
		return;
	}
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	dup2(fds[0], 0);
	dup2(map, 1);
	close_range(2, ~0u, 0);
	if (read(0, &c, 1) == 0)
		for (int i = 0; i < 100; i++) {
			each_watched(1, continue_stopped, &ours);
			nanosleep(&pause, NULL);
		}
	_exit(0);
}

void cont_guard_end(struct cont_guard *r)
{
	if (r->pid > 0 && write(r->fd, "", 1) == 1)
		waitpid(r->pid, NULL, 0);
	r->pid = 0;
}
