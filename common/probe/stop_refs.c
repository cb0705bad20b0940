/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "probe/stop_refs.h"
#include "proc/living.h"
#include "proc/proc.h"

/* A tool that holds a process looks at it for at most HELPER_STOPPED ms (proc/helper_pool.h). */
static const unsigned long long CHECK_NS = 1000000000ull, LIMIT_NS = 10 * 1000000000ull;

struct deferred {
	int pid, fd;
	unsigned long long since, checked;	/* ns */
};

bool process_is_stopped(int pid)
{
	char line[128], *text = proc_status(proc_living(pid), "State", line, sizeof(line));

	return !text || strchr("TZX", text[1]);	/* "\tR (running)" */
}

static bool read_info(int fd, struct bpf_map_info *info)
{
	unsigned size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !bpf_obj_get_info_by_fd(fd, info, &size);
}

void stop_refs_open(struct stop_refs *h, int map)
{
	struct bpf_map_info info;

	h->map = map;
	h->own = read_info(map, &info) ? info.id : 0;
}

void stop_refs_free(struct stop_refs *h)
{
	for (int i = 0; i < h->ndeferred; i++)
		close(h->deferred[i].fd);
	free(h->others);
	free(h->deferred);
	*h = (struct stop_refs){ 0 };
}

/* Keeps its id, not a descriptor: that would keep the map when its tool is gone. */
static void note_map(struct stop_refs *h, unsigned id)
{
	int fd = bpf_map_get_fd_by_id(id);
	struct bpf_map_info info;

	if (fd < 0)
		return;
	if (id != h->own && read_info(fd, &info) && !strcmp(info.name, HOLDS_MAP) &&
	    info.type == BPF_MAP_TYPE_HASH && info.key_size == sizeof(int) && info.value_size == 1) {
		h->others = xrealloc(h->others, h->nothers + 1, sizeof(*h->others));
		h->others[h->nothers++] = id;
	}
	close(fd);
}

/* The kernel numbers maps upwards. */
static void find_others(struct stop_refs *h)
{
	unsigned id = h->last;

	while (!bpf_map_get_next_id(id, &id)) {
		h->last = id;
		note_map(h, id);
	}
}

/* Return true if another tool that runs holds the process. */
static bool stopped_by_other(struct stop_refs *h, int pid)
{
	bool held = false;
	int kept = 0;

	find_others(h);
	for (int i = 0; i < h->nothers; i++) {
		int fd = bpf_map_get_fd_by_id(h->others[i]);
		char yes;

		if (fd < 0)	/* its tool has ended */
			continue;
		h->others[kept++] = h->others[i];
		held |= !bpf_map_lookup_elem(fd, &pid, &yes);
		close(fd);
	}
	h->nothers = kept;
	return held;
}

static int open_process(int pid)
{
	return syscall(SYS_pidfd_open, pid, 0);
}

static void close_process(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* fd: of open_process().  If there was no descriptor left, by its number: no process must stay stopped. */
static void send(int fd, int pid, int sig)
{
	if (fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	else
		kill(pid, sig);
}

/* In this order: a process leaves the map before another can get its number. */
void stop_ref_signal(int map, int pid, int sig)
{
	int fd = open_process(pid);
	char yes;

	if (!bpf_map_lookup_elem(map, &pid, &yes))
		send(fd, pid, sig);
	close_process(fd);
}

void stop_ref_put(struct stop_refs *h, int pid)
{
	int fd = open_process(pid);
	/* first: of two tools that do this at the same time, at least one finds that no other holds it */
	bool held = !bpf_map_delete_elem(h->map, &pid);

	if (held && fd >= 0 && stopped_by_other(h, pid)) {
		h->deferred = xrealloc(h->deferred, h->ndeferred + 1, sizeof(*h->deferred));
		h->deferred[h->ndeferred++] = (struct deferred){ pid, fd, clock_ns(), clock_ns() };
		return;
	}
	if (held)
		send(fd, pid, SIGCONT);
	close_process(fd);
}

/* Return true if the process is to be checked again. */
static bool check(struct stop_refs *h, struct deferred *d, unsigned long long now)
{
	char yes;

	if (now - d->checked < CHECK_NS)
		return true;
	d->checked = now;
	if (!process_is_stopped(d->pid) || !bpf_map_lookup_elem(h->map, &d->pid, &yes))
		return false;
	if (stopped_by_other(h, d->pid) && now - d->since < LIMIT_NS)
		return true;
	send(d->fd, d->pid, SIGCONT);
	return false;
}

void stop_refs_tick(struct stop_refs *h)
{
	unsigned long long now = h->ndeferred ? clock_ns() : 0;
	int kept = 0;

	for (int i = 0; i < h->ndeferred; i++)
		if (check(h, &h->deferred[i], now))
			h->deferred[kept++] = h->deferred[i];
		else
			close(h->deferred[i].fd);
	h->ndeferred = kept;
}

/* Processes that bpf/watch.bpf.c has stopped, and a child process of ours that resumes them if
 * the tool is killed. */

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
