/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/agent_resident.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "inject/inject_peers.h"
#include "inject/resident_processes.h"
#include "proc/cgroup.h"
#include "proc/living.h"
#include "proc/process_memfd.h"

/* How often the seccomp filters of processes that have not connected are read. */
static const unsigned long long LOOK_NS = 50 * 1000000ull, LOOK_ALL_NS = 250 * 1000000ull;

/* WARNINGS: of processes that refuse.  TRIES: to ask one again, the first time after AGAIN_NS. */
enum { WARNINGS = 16, TRIES = 4 };
static const unsigned long long AGAIN_NS = 1000 * 1000000ull;

struct resident_net {
	ino_t ino;
	int ns, socket;		/* ns: the namespace, until it is listened in; -1: none */
	int users;		/* processes that are in it */
};

/* ---- which processes can be asked */

/* Returns the number of a namespace of the process (of the tool: pid 0); 0: not known. */
static ino_t namespace_of(int pid, const char *kind)
{
	char path[40];
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", proc_living(pid), kind);
	else
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &st) ? 0 : st.st_ino;
}

struct resident_process *resident_processes_find(const struct resident_processes *r, int pid)
{
	for (int i = 0; i < r->n; i++)
		if (r->list[i].pid == pid)
			return &r->list[i];
	return NULL;
}

static struct resident_memory *memory_find(const struct resident_processes *r, ino_t ino)
{
	for (int i = 0; i < r->memories_n; i++)
		if (r->memories[i].ino == ino)
			return &r->memories[i];
	return NULL;
}

static struct resident_net *net_find(const struct resident_processes *r, ino_t ino)
{
	for (int i = 0; i < r->nets_n; i++)
		if (r->nets[i].ino == ino)
			return &r->nets[i];
	return NULL;
}

static char *memory_add(struct resident_processes *r, int pid, struct resident_memory **memory, bool *has)
{
	struct resident_memory m;
	char *why = resident_memory_open(&m, pid, r->mount);

	*has = !why;
	if (why)
		return why;
	*memory = memory_find(r, m.ino);
	if (*memory) {
		resident_memory_close(&m);
		return NULL;
	}
	why = resident_memory_lock(&m, pid);
	if (why)
		return why;
	r->memories = xrealloc(r->memories, r->memories_n + 1, sizeof(*r->memories));
	*memory = &r->memories[r->memories_n++];
	**memory = m;
	return NULL;
}

static void memory_release(struct resident_processes *r, struct resident_memory *m)
{
	if (m->users)
		return;
	resident_memory_close(m);
	*m = r->memories[--r->memories_n];
}

static char *check_user(const struct resident_processes *r, int pid, const struct proc_rights *rights)
{
	if (r->n && !r->all && rights->uid != r->user)
		return xprintf("process %d: it is another user's than process %d: trace one user's processes", pid, r->list[0].pid);
	if (rights->uid != rights->effective)
		return xprintf("process %d: it runs with another user's rights", pid);
	if (geteuid() && geteuid() != rights->uid)
		return xprintf("process %d: it is another user's: run as root or as that user", pid);
	if (namespace_of(pid, "user") != namespace_of(0, "user"))
		return xprintf("process %d: it is in another user namespace, and believes no tool outside of it", pid);
	return NULL;
}

static char *net_refusal(int pid)
{
	return xprintf("process %d: cannot enter its network namespace: %s", pid, strerror(errno));
}

static bool net_listen(const struct resident_processes *r, struct resident_net *net)
{
	int err;

	net->socket = inject_peers_listen(r->peers, net->ns);
	err = errno;
	close(net->ns);
	net->ns = -1;
	errno = err;
	return net->socket >= 0;
}

/* Abstract sockets are those of a network namespace.  Sets *ino, 0: the tool's own one. */
static char *net_add(struct resident_processes *r, int pid, ino_t *ino)
{
	struct resident_net net = { .ino = namespace_of(pid, "net"), .socket = -1, .ns = -1 };
	char path[40];

	*ino = net.ino == namespace_of(0, "net") ? 0 : net.ino;
	if (!*ino || net_find(r, *ino))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", proc_living(pid));
	net.ns = open(path, O_RDONLY | O_CLOEXEC);
	if (net.ns < 0 || (r->peers && !net_listen(r, &net)))
		return net_refusal(pid);
	r->nets = xrealloc(r->nets, r->nets_n + 1, sizeof(*r->nets));
	r->nets[r->nets_n++] = net;
	return NULL;
}

/* A socket keeps the namespace of a container that has ended. */
static void net_release(struct resident_processes *r, struct resident_net *net)
{
	if (net->users)
		return;
	if (net->socket >= 0)
		inject_peers_unlisten(r->peers, net->socket);
	if (net->ns >= 0)
		close(net->ns);
	*net = r->nets[--r->nets_n];
}

static void resident_process_new(struct resident_processes *r, int pid, struct proc_identity is, ino_t memory, ino_t net)
{
	r->list = xrealloc(r->list, r->n + 1, sizeof(*r->list));
	r->list[r->n++] = (struct resident_process){ .pid = pid, .is = is, .memory = memory, .net = net };
	memory_find(r, memory)->users++;
	if (net)
		net_find(r, net)->users++;
	r->waits++;
}

static void resident_processes_drop(struct resident_processes *r, struct resident_process *p)
{
	struct resident_memory *memory = memory_find(r, p->memory);
	struct resident_net *net = net_find(r, p->net);

	r->waits -= !p->connected && !p->refused;
	*p = r->list[--r->n];
	memory->users--;
	memory_release(r, memory);
	if (!net)
		return;
	net->users--;
	net_release(r, net);
}

void resident_processes_open(struct resident_processes *r)
{
	r->runtime = true;
	r->mount = process_memfd_mount();
}

char *resident_processes_add(struct resident_processes *r, int pid, bool *has)
{
	struct proc_identity is = proc_identity(pid);	/* first: it may execute another program meanwhile */
	struct resident_memory *memory = NULL;
	struct proc_rights rights;
	char *why = NULL;
	ino_t net;

	*has = false;
	if (!proc_rights(pid, &rights) || (r->all && (rights.uid != r->user || (r->cgroup && !cgroup_has(r->cgroup, pid)))))
		return xprintf("process %d: it has ended, or is not selected", pid);
	why = check_user(r, pid, &rights);
	if (why)
		return why;
	why = memory_add(r, pid, &memory, has);
	if (why)
		return why;
	if (rights.filters > memory->control->filters)
		why = xprintf("process %d: it has a seccomp filter, under which it cannot connect", pid);
	why = why ?: net_add(r, pid, &net);
	if (why) {
		memory_release(r, memory);
		return why;
	}
	r->runtime &= memory->control->runtime != 0;
	if (!r->all)
		r->user = rights.uid;
	resident_process_new(r, pid, is, memory->ino, net);
	if (r->peers && memory->users == 1)	/* a parent's has been asked for all its children */
		resident_memory_ask(memory, &r->request);
	return NULL;
}

void resident_processes_add_child(struct resident_processes *r, int pid, const struct resident_process *parent)
{
	resident_process_new(r, pid, proc_identity(pid), parent->memory, parent->net);
}

/* ---- requests, and who refuses */

void resident_processes_warn(struct resident_processes *r, int pid, const char *why)
{
	if (r->warned++ < WARNINGS)
		warning(0, "process %d is not traced: %s (--attach auto, session, multi or perf uses kernel probes)", pid, why);
	else
		r->unwarned++;
}

/* It cannot be entered: its processes cannot connect. */
static void net_drop(struct resident_processes *r, ino_t ino)
{
	char *why = xprintf("cannot listen in its network namespace: %s", strerror(errno));

	for (int i = r->n - 1; i >= 0; i--) {
		if (r->list[i].net != ino)
			continue;
		if (!r->all)
			die(0, "process %d: %s", r->list[i].pid, why);
		resident_processes_warn(r, r->list[i].pid, why);
		resident_processes_drop(r, &r->list[i]);
	}
	free(why);
}

void resident_processes_ask(struct resident_processes *r, const char *library, struct inject_peers *peers)
{
	r->peers = peers;
	r->request = (struct resident_request){
		.library = library, .socket = peers->peers.name, .stamp = resident_library_stamp(library)
	};
	for (int i = r->nets_n - 1; i >= 0; i--)
		if (!net_listen(r, &r->nets[i]))
			net_drop(r, r->nets[i].ino);
	for (int i = 0; i < r->memories_n; i++)
		resident_memory_ask(&r->memories[i], &r->request);
}

bool resident_processes_is_complete(const struct resident_processes *r, int pid)
{
	const struct resident_process *p = resident_processes_find(r, pid);
	const struct resident_memory *m = p ? memory_find(r, p->memory) : NULL;

	return m && resident_memory_is_complete(m);
}

/* Processes that forked and are not ours cost less when nothing is asked any more. */
void resident_processes_connected(struct resident_processes *r, int pid)
{
	struct resident_process *p = resident_processes_find(r, pid);

	if (!p || p->connected)
		return;
	p->connected = true;
	r->waits -= !p->refused;
	if (r->waits || r->all)
		return;
	for (int i = 0; i < r->memories_n; i++)
		resident_memory_pause(&r->memories[i]);
}

/* Return true if the process runs another program now, or has ended. */
static bool is_gone(const struct resident_process *p)
{
	struct proc_identity now = proc_identity(p->pid);

	return !now.started || !proc_identity_is(p->is, now);
}

/* Its pid may be another's by now, which has come already. */
void resident_processes_ended(struct resident_processes *r, int pid)
{
	struct resident_process *p = r->all ? resident_processes_find(r, pid) : NULL;

	if (p && (is_gone(p) || proc_is_ending(pid)))
		resident_processes_drop(r, p);
}

void resident_processes_executed(struct resident_processes *r, int pid)
{
	struct resident_process *p = r->all ? resident_processes_find(r, pid) : NULL;

	if (p && is_gone(p))
		resident_processes_drop(r, p);
}

static const char *refusal(unsigned why)
{
	switch (why) {
	case RESIDENT_FILTERED:
		return "it has a seccomp filter, under which it cannot connect";
	case RESIDENT_NO_LIBRARY:
		return "its resident library is of another build than this tool, or its folder has "
		       "changed: restart it with this one's";
	case RESIDENT_MOVED:
		return "it has another root directory than when it started";
	default:
		return "it could not connect to the tool";
	}
}

static void warn_refused(struct resident_processes *r, struct resident_process *p, unsigned why)
{
	resident_processes_warn(r, p->pid, refusal(why));
	p->refused = true;
	r->waits--;
}

/* A busy tool answers too late: it asks again, at each time a little later. */
static void refused(struct resident_processes *r, struct resident_process *p, unsigned why)
{
	if (!r->all || why != RESIDENT_NOT_TRUSTED || p->tries == TRIES || memory_find(r, p->memory)->users > 1)
		warn_refused(r, p, why);
	else
		p->again = clock_ns() + (AGAIN_NS << 2 * p->tries++);
}

/* A process that makes no call may get a filter before it has connected. */
static void look_at(struct resident_processes *r, struct resident_process *p)
{
	struct resident_memory *m = memory_find(r, p->memory);
	struct proc_rights rights;

	if (p->again && clock_ns() > p->again) {
		p->again = 0;
		resident_memory_ask_again(m);
	}
	if (!proc_rights(p->pid, &rights)) {
		resident_processes_ended(r, p->pid);
	} else if (!p->refused && rights.filters > m->control->filters) {
		if (m->users == 1)	/* others have the memory, too */
			resident_memory_end(m);
		warn_refused(r, p, RESIDENT_FILTERED);
	}
}

/* Goes on where the last turn ended. */
static void look(struct resident_processes *r)
{
	unsigned long long now = clock_ns(), end = now + RESIDENT_TURN_NS;

	if (r->look >= r->n && now - r->looked < (r->all ? LOOK_ALL_NS : LOOK_NS))
		return;
	if (r->look >= r->n)
		r->look = 0;
	for (; r->look < r->n && clock_ns() < end; r->look++) {
		struct resident_process *p = &r->list[r->look];
		unsigned why;

		if (p->connected)
			continue;
		if (!p->refused && !p->again && resident_memory_refused(memory_find(r, p->memory), p->pid, &why))
			refused(r, p, why);
		else
			look_at(r, p);
	}
	r->looked = now;
}

void resident_processes_tick(struct resident_processes *r)
{
	if (r->waits || r->all)
		look(r);
}

void resident_processes_end(struct resident_processes *r)
{
	for (int i = 0; i < r->memories_n; i++)
		resident_memory_end(&r->memories[i]);
	if (r->unwarned)
		warning(0, "%u further processes were not traced, nor named", r->unwarned);
}

void resident_processes_close(struct resident_processes *r)
{
	while (r->n)
		resident_processes_drop(r, &r->list[0]);
	free(r->memories);
	free(r->nets);
	free(r->list);
}
