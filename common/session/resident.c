/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/inject.h"
#include "abi/resident.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/util.h"
#include "elf/elf_file.h"
#include "proc/cgroup.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"
#include "session/beside.h"
#include "session/inject_peers.h"
#include "session/process_memfd.h"
#include "session/resident.h"
#include "session/signals.h"

/* How often the seccomp filters of processes that have not connected are read. */
static const unsigned long long LOOK_NS = 50 * 1000000ull, LOOK_ALL_NS = 250 * 1000000ull;

/* How often processes are looked for, all of a user's; one that has no memory yet less often the longer it has been there, at
 * least every SELDOM_NS. */
static const unsigned long long SCAN_NS = 500 * 1000000ull, SELDOM_NS = 5 * 1000000000ull;

/* A process that connects and has no memory is not looked at again for so long. */
static const unsigned long long HASTE_NS = 50 * 1000000ull;

/* How long one turn may take, and the first: a user may have thousands of processes with thousands of descriptors each. */
static const unsigned long long TURN_NS = 3 * 1000000ull, FIRST_TURN_NS = 1000 * 1000000ull;

/* MOST: processes.  WARNINGS: of processes that refuse.  TRIES: to ask one again, the first time after AGAIN_NS. */
enum { MOST = 16384, WARNINGS = 16, TRIES = 4 };
static const unsigned long long AGAIN_NS = 1000 * 1000000ull;

struct resident_memory {
	struct resident_control *control;
	int fd;			/* with the lock */
	ino_t ino;
	unsigned generation;	/* of our request */
	int users;		/* processes that have it */
};

struct resident_net {
	ino_t ino;
	int ns, socket;		/* ns: the namespace, until it is listened in; -1: none */
	int users;		/* processes that are in it */
};

struct resident_process {
	int pid;
	struct proc_identity is;
	ino_t memory, net;	/* net 0: the tool's */
	bool connected, refused;
	int tries;
	unsigned long long again;	/* when it is asked again, ns; 0: need not be */
};

/* A process of the user's that is not one of them. */
struct resident_candidate {
	int pid;
	unsigned long long first, looked, came;	/* came: it connected; ns */
	unsigned scan;		/* the last one that saw it */
	bool warned;		/* why it cannot be asked */
	UT_hash_handle hh;
};

/* ---- which processes can be asked */

/* Returns the number of a namespace of the process (of the tool: pid 0); 0: not known. */
static ino_t namespace_of(int pid, const char *kind)
{
	char path[40];
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	else
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &st) ? 0 : st.st_ino;
}

static char *no_memory(int pid)
{
	char *why, *library = beside_find("/inject", "resident.so", "LD_AUDIT", ":$", &why), *text;

	text = xprintf("process %d: no resident library: start it with LD_AUDIT=%s, and use CUDA", pid,
		       library ?: "/usr/lib/cuda-bpf-tools/inject/resident.so");
	free(library);
	free(why);
	return text;
}

static bool is_valid(const struct resident_control *c)
{
	return !memcmp(c->magic, RESIDENT_MAGIC, sizeof(c->magic)) && c->version == RESIDENT_VERSION && c->bytes == sizeof(*c);
}

static bool lock(int fd, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &byte);
}

static struct resident_process *find(const struct resident *r, int pid)
{
	for (int i = 0; i < r->n; i++)
		if (r->processes[i].pid == pid)
			return &r->processes[i];
	return NULL;
}

static struct resident_memory *memory_find(const struct resident *r, ino_t ino)
{
	for (int i = 0; i < r->memories_n; i++)
		if (r->memories[i].ino == ino)
			return &r->memories[i];
	return NULL;
}

static struct resident_net *net_find(const struct resident *r, ino_t ino)
{
	for (int i = 0; i < r->nets_n; i++)
		if (r->nets[i].ino == ino)
			return &r->nets[i];
	return NULL;
}

/* Takes over fd, or closes it.  Every memfd is in one file system. */
static char *memory_add(struct resident *r, int pid, int fd, struct resident_memory **memory)
{
	struct resident_control *c;
	char *why = NULL;
	struct stat st;

	if (fstat(fd, &st)) {
		close(fd);
		return no_memory(pid);
	}
	*memory = memory_find(r, st.st_ino);
	if (*memory) {
		close(fd);
		return NULL;
	}
	c = mmap(NULL, RESIDENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		why = no_memory(pid);
	else if (madvise(c, RESIDENT_BYTES, MADV_DONTFORK))	/* a helper's mapping would keep the lock after our end */
		why = xprintf("process %d: cannot map its memory: %s", pid, strerror(errno));
	else if (!is_valid(c))
		why = xprintf("process %d: its resident library is of another version: restart it", pid);
	else if (!lock(fd, F_WRLCK))
		why = xprintf("process %d: another tool traces it with --attach inject", pid);
	if (why) {
		if (c != MAP_FAILED)
			munmap(c, RESIDENT_BYTES);
		close(fd);
		return why;
	}
	r->memories = xrealloc(r->memories, r->memories_n + 1, sizeof(*r->memories));
	*memory = &r->memories[r->memories_n++];
	**memory = (struct resident_memory){ .control = c, .fd = fd, .ino = st.st_ino };
	return NULL;
}

static void memory_release(struct resident *r, struct resident_memory *m)
{
	if (m->users)
		return;
	lock(m->fd, F_UNLCK);	/* a helper process may have a copy of the descriptor */
	close(m->fd);
	munmap(m->control, RESIDENT_BYTES);
	*m = r->memories[--r->memories_n];
}

static char *check_user(const struct resident *r, int pid, const struct proc_rights *rights)
{
	if (r->n && !r->all && rights->uid != r->user)
		return xprintf("process %d: it is another user's than process %d: trace one user's processes", pid, r->processes[0].pid);
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

static bool net_listen(const struct resident *r, struct resident_net *net)
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
static char *net_add(struct resident *r, int pid, ino_t *ino)
{
	struct resident_net net = { .ino = namespace_of(pid, "net"), .socket = -1, .ns = -1 };
	char path[40];

	*ino = net.ino == namespace_of(0, "net") ? 0 : net.ino;
	if (!*ino || net_find(r, *ino))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	net.ns = open(path, O_RDONLY | O_CLOEXEC);
	if (net.ns < 0 || (r->peers && !net_listen(r, &net)))
		return net_refusal(pid);
	r->nets = xrealloc(r->nets, r->nets_n + 1, sizeof(*r->nets));
	r->nets[r->nets_n++] = net;
	return NULL;
}

/* A socket keeps the namespace of a container that has ended. */
static void net_release(struct resident *r, struct resident_net *net)
{
	if (net->users)
		return;
	if (net->socket >= 0)
		inject_peers_unlisten(r->peers, net->socket);
	if (net->ns >= 0)
		close(net->ns);
	*net = r->nets[--r->nets_n];
}

static void add(struct resident *r, int pid, struct proc_identity is, ino_t memory, ino_t net)
{
	r->processes = xrealloc(r->processes, r->n + 1, sizeof(*r->processes));
	r->processes[r->n++] = (struct resident_process){ .pid = pid, .is = is, .memory = memory, .net = net };
	memory_find(r, memory)->users++;
	if (net)
		net_find(r, net)->users++;
	r->waits++;
}

static void drop(struct resident *r, struct resident_process *p)
{
	struct resident_memory *memory = memory_find(r, p->memory);
	struct resident_net *net = net_find(r, p->net);

	r->waits -= !p->connected && !p->refused;
	*p = r->processes[--r->n];
	memory->users--;
	memory_release(r, memory);
	if (!net)
		return;
	net->users--;
	net_release(r, net);
}

/* Returns NULL, or why the process cannot be asked; *has: it has memory. */
static char *process_add(struct resident *r, int pid, bool *has)
{
	struct proc_identity is = proc_identity(pid);	/* first: it may execute another program meanwhile */
	struct resident_memory *memory = NULL;
	struct proc_rights rights;
	char *why = NULL;
	ino_t net;
	int fd;

	*has = false;
	if (!proc_rights(pid, &rights) || (r->all && (rights.uid != r->user || (r->cgroup && !cgroup_has(r->cgroup, pid)))))
		return xprintf("process %d: it has ended, or is not selected", pid);
	why = check_user(r, pid, &rights);
	if (why)
		return why;
	fd = process_memfd_open(pid, r->mount, RESIDENT_NAME, RESIDENT_BYTES);
	if (fd < 0)
		return no_memory(pid);
	*has = true;
	why = memory_add(r, pid, fd, &memory);
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
	add(r, pid, is, memory->ino, net);
	return NULL;
}

static void candidate_drop(struct resident *r, struct resident_candidate *c)
{
	HASH_DEL(r->candidates, c);
	free(c);
}

static void forget(struct resident *r)
{
	struct resident_candidate *c, *next;

	while (r->n)
		drop(r, &r->processes[0]);
	HASH_ITER(hh, r->candidates, c, next)
		candidate_drop(r, c);
	free(r->pids);
	free(r->memories);
	free(r->nets);
	free(r->processes);
	free(r->object);
	free(r);
}

static struct resident *make(void)
{
	struct resident *r = xcalloc(1, sizeof(*r));

	r->runtime = true;
	r->mount = process_memfd_mount();
	return r;
}

char *resident_open(struct resident **result, const int *pids)
{
	struct resident *r = make();
	char *why = NULL;
	bool has;

	for (int i = 0; pids[i] && !why; i++)
		why = process_add(r, pids[i], &has);
	if (why)
		forget(r);
	else
		*result = r;
	return why;
}

/* ---- requests */

static unsigned long long stamp_of(const char *library)
{
	int fd = proc_open_file(library);
	const Elf64_Phdr *load;
	struct elf_file f;
	unsigned long long stamp = 0;
	void *segment;

	if (fd < 0 || elf_file_open(&f, fd))
		die(0, "cannot read %s", library);
	load = elf_file_segment(&f, PT_LOAD);
	segment = load ? elf_bytes_part(&f.bytes, load->p_offset, load->p_filesz) : NULL;
	if (segment)
		stamp = resident_stamp(segment, load->p_filesz);
	free(segment);
	elf_file_close(&f);
	close(fd);
	return stamp;
}

/* The stubs read flags first. */
static void change(struct resident_memory *m, bool wanted, bool asks)
{
	struct resident_control *c = m->control;

	__atomic_store_n(&c->wanted, wanted, __ATOMIC_RELAXED);
	m->generation = __atomic_load_n(&c->generation, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&c->generation, m->generation, __ATOMIC_RELEASE);
	__atomic_store_n(&c->flags, asks ? 0 : INJECT_OFF, __ATOMIC_RELEASE);
}

static void ask(struct resident *r, struct resident_memory *m)
{
	struct resident_control *c = m->control;

	c->stamp = r->stamp;
	snprintf(c->object, sizeof(c->object), "%s", r->object);
	snprintf(c->socket, sizeof(c->socket), "%s", r->peers->peers.name);
	change(m, true, true);
}

/* It cannot be entered: its processes cannot connect. */
static void net_drop(struct resident *r, ino_t ino)
{
	char *why = xstrdup(strerror(errno));

	for (int i = r->n - 1; i >= 0; i--) {
		if (r->processes[i].net != ino)
			continue;
		if (!r->all)
			die(0, "process %d: cannot listen in its network namespace: %s", r->processes[i].pid, why);
		warning(0, "process %d is not traced: cannot listen in its network namespace: %s", r->processes[i].pid, why);
		drop(r, &r->processes[i]);
	}
	free(why);
}

/* Others may have the name: another tool, or a user who does harm. */
static void await(struct resident *r)
{
	char name[40] = "";
	bool taken;

	if (!r->all || r->peers->awaits)
		return;
	resident_awaits(name, r->user);
	taken = !inject_peers_await(r->peers, name);
	if (taken && !r->name_taken)
		warning(0, "another process listens for programs that start: they are found within seconds, and their first calls are missed");
	r->name_taken |= taken;
}

void resident_ask(struct resident *r, const char *library, struct inject_peers *peers)
{
	const char *object = strrchr(library, '/') + 1;

	r->peers = peers;
	r->stamp = stamp_of(library);
	r->object = xprintf("%.*s", (int)strcspn(object, "."), object);
	for (int i = r->nets_n - 1; i >= 0; i--)
		if (!net_listen(r, &r->nets[i]))
			net_drop(r, r->nets[i].ino);
	for (int i = 0; i < r->memories_n; i++)
		ask(r, &r->memories[i]);
	await(r);
}

/* Processes that forked and are not ours cost less when nothing is asked any more. */
void resident_connected(struct resident *r, int pid)
{
	struct resident_process *p = find(r, pid);

	if (!p || p->connected)
		return;
	p->connected = true;
	r->waits -= !p->refused;
	if (r->waits || r->all)
		return;
	for (int i = 0; i < r->memories_n; i++)
		__atomic_store_n(&r->memories[i].control->flags, INJECT_OFF, __ATOMIC_RELEASE);
}

/* Return true if the process runs another program now, or has ended. */
static bool is_gone(const struct resident_process *p)
{
	struct proc_identity now = proc_identity(p->pid);

	return !now.started || !proc_identity_is(p->is, now);
}

/* Its pid may be another's by now, which has come already. */
void resident_ended(struct resident *r, int pid)
{
	struct resident_process *p = r->all ? find(r, pid) : NULL;

	if (p && (is_gone(p) || proc_is_ending(pid)))
		drop(r, p);
}

void resident_executed(struct resident *r, int pid)
{
	struct resident_process *p = r->all ? find(r, pid) : NULL;

	if (p && is_gone(p))
		drop(r, p);
}

static const char *refusal(unsigned why)
{
	switch (why) {
	case RESIDENT_FILTERED:
		return "it has a seccomp filter, under which it cannot connect";
	case RESIDENT_NO_LIBRARY:
		return "its resident library is of another build than this tool: restart it with this one's";
	default:
		return "it could not connect to the tool";
	}
}

static bool has_refused(const struct resident_process *p, const struct resident_memory *m)
{
	const struct resident_control *c = m->control;

	return __atomic_load_n(&c->refused_generation, __ATOMIC_ACQUIRE) == m->generation && c->refused_pid == pid_in_namespace(p->pid);
}

static void warn(struct resident *r, int pid, const char *why)
{
	if (r->warned++ < WARNINGS)
		warning(0, "process %d is not traced: %s (--attach auto, session, multi or perf uses kernel probes)", pid, why);
	else
		r->untold++;
}

static void warn_refused(struct resident *r, struct resident_process *p, unsigned why)
{
	warn(r, p->pid, refusal(why));
	p->refused = true;
	r->waits--;
}

/* A busy tool answers too late: it asks again, at each time a little later. */
static void refused(struct resident *r, struct resident_process *p, unsigned why)
{
	if (!r->all || why != RESIDENT_NOT_TRUSTED || p->tries == TRIES || memory_find(r, p->memory)->users > 1)
		warn_refused(r, p, why);
	else
		p->again = clock_ns() + (AGAIN_NS << 2 * p->tries++);
}

/* A process that makes no call may get a filter before it has connected. */
static void look_at(struct resident *r, struct resident_process *p)
{
	struct resident_memory *m = memory_find(r, p->memory);
	struct proc_rights rights;

	if (p->again && clock_ns() > p->again) {
		p->again = 0;
		change(m, true, true);
	}
	if (!proc_rights(p->pid, &rights)) {
		resident_ended(r, p->pid);
	} else if (!p->refused && rights.filters > m->control->filters) {
		if (m->users == 1)	/* others have the memory, too */
			change(m, false, false);
		warn_refused(r, p, RESIDENT_FILTERED);
	}
}

/* Goes on where the last turn ended. */
static void look(struct resident *r)
{
	unsigned long long now = clock_ns(), end = now + TURN_NS;

	if (r->look >= r->n && now - r->looked < (r->all ? LOOK_ALL_NS : LOOK_NS))
		return;
	if (r->look >= r->n)
		r->look = 0;
	for (; r->look < r->n && clock_ns() < end; r->look++) {
		struct resident_process *p = &r->processes[r->look];
		const struct resident_memory *m = memory_find(r, p->memory);

		if (p->connected)
			continue;
		if (!p->refused && !p->again && has_refused(p, m))
			refused(r, p, m->control->refused);
		else
			look_at(r, p);
	}
	r->looked = now;
}

/* ---- all processes of a user */

static struct resident_candidate *candidate(struct resident *r, int pid)
{
	struct resident_candidate *c;

	HASH_FIND_INT(r->candidates, &pid, c);
	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->pid = pid;
	c->first = clock_ns();
	HASH_ADD_INT(r->candidates, pid, c);
	return c;
}

/* A parent's memory has been asked for all its children. */
static void join(struct resident *r, struct resident_candidate *c)
{
	struct resident_memory *m = memory_find(r, find(r, c->pid)->memory);

	if (r->peers && m->users == 1)
		ask(r, m);
	candidate_drop(r, c);
}

static void try(struct resident *r, struct resident_candidate *c)
{
	bool has;
	char *why = process_add(r, c->pid, &has);

	c->looked = clock_ns();
	if (!why) {
		join(r, c);
		return;
	}
	if (has && !c->warned) {
		warn(r, c->pid, strchr(why, ':') + 2);
		c->warned = true;
	}
	free(why);
}

/* Of those that have connected, the peers tell. */
static void scan_process(struct resident *r, int pid)
{
	struct resident_process *p = find(r, pid);
	struct resident_candidate *c;
	unsigned long long now = clock_ns(), wait;

	if (p && (p->connected || !is_gone(p)))
		return;
	if (p)
		drop(r, p);
	if (r->n >= MOST)
		return;
	c = candidate(r, pid);
	c->scan = r->scans;
	wait = (c->looked - c->first) / 4;
	if (!c->looked || now - c->looked >= (wait < SELDOM_NS ? wait : SELDOM_NS))
		try(r, c);
}

static void list(void *ctx, int pid)
{
	struct resident *r = ctx;

	r->pids = xrealloc(r->pids, r->pids_n + 1, sizeof(*r->pids));
	r->pids[r->pids_n++] = pid;
}

static void scan_begin(struct resident *r)
{
	if (r->peers)
		await(r);
	r->scanned = clock_ns();
	r->scans++;
	r->pids_n = r->pids_at = 0;
	proc_each(list, r);
}

/* Goes on with those that were listed, for so long. */
static void scan(struct resident *r, unsigned long long ns)
{
	struct resident_candidate *c, *next;
	unsigned long long end = clock_ns() + ns;

	while (r->pids_at < r->pids_n && clock_ns() < end && !signal_caught())
		scan_process(r, r->pids[r->pids_at++]);
	if (r->pids_at < r->pids_n)
		return;
	HASH_ITER(hh, r->candidates, c, next)
		if (c->scan != r->scans)
			candidate_drop(r, c);
}

struct resident *resident_open_all(uid_t user, unsigned long long cgroup)
{
	struct resident *r = make();

	r->all = true;
	r->user = user;
	r->cgroup = cgroup;
	scan_begin(r);
	scan(r, FIRST_TURN_NS);
	return r;
}

static void come(struct resident *r, int pid)
{
	struct resident_candidate *c = candidate(r, pid);
	unsigned long long now = clock_ns();

	if (c->came && now - c->came < HASTE_NS)
		return;
	c->came = now;
	try(r, c);
}

bool resident_takes(struct resident *r, int pid, int parent)
{
	struct resident_process *from = r->all && parent ? find(r, parent) : NULL;

	if (!r->all)
		return !parent && find(r, pid);
	if (find(r, pid))
		return true;
	if (r->n >= MOST)
		return false;
	if (from)
		add(r, pid, proc_identity(pid), from->memory, from->net);
	else
		come(r, pid);
	return find(r, pid);
}

void resident_came(struct resident *r, int pid)
{
	resident_executed(r, pid);
	if (!find(r, pid) && r->n < MOST)
		come(r, pid);
}

bool resident_is_complete(const struct resident *r, int pid)
{
	const struct resident_process *p = find(r, pid);
	const struct resident_memory *m = p ? memory_find(r, p->memory) : NULL;

	return m && m->control->first_generation == m->generation;
}

bool resident_is_scanning(const struct resident *r)
{
	return r->pids_at < r->pids_n;
}

void resident_tick(struct resident *r)
{
	if (r->waits || r->all)
		look(r);
	if (r->all && !resident_is_scanning(r) && clock_ns() - r->scanned >= SCAN_NS)
		scan_begin(r);
	if (resident_is_scanning(r))
		scan(r, TURN_NS);
}

void resident_close(struct resident *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->memories_n; i++)
		change(&r->memories[i], false, false);
	if (r->untold)
		warning(0, "%u further processes were not traced, nor named", r->untold);
	forget(r);
}
