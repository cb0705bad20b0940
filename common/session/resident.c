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
#include "base/util.h"
#include "elf/elf_file.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"
#include "session/beside.h"
#include "session/peers.h"
#include "session/process_memfd.h"
#include "session/resident.h"

/* How often the seccomp filters of processes that have not connected are read. */
static const unsigned long long LOOK_NS = 50 * 1000000ull;

struct resident_memory {
	struct resident_control *control;
	int fd;			/* with the lock */
	dev_t dev;
	ino_t ino;
	unsigned generation;	/* of our request */
};

struct resident_process {
	int pid;
	struct resident_memory *memory;
	bool connected;		/* or refused, and warned */
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

static struct resident_memory *known(const struct resident *r, const struct stat *st)
{
	for (int i = 0; i < r->memories_n; i++)
		if (r->memories[i].ino == st->st_ino && r->memories[i].dev == st->st_dev)
			return &r->memories[i];
	return NULL;
}

/* Takes over fd, or closes it. */
static char *memory_add(struct resident *r, int pid, int fd, struct resident_memory **memory)
{
	struct resident_control *c;
	char *why = NULL;
	struct stat st;

	if (fstat(fd, &st)) {
		close(fd);
		return no_memory(pid);
	}
	*memory = known(r, &st);
	if (*memory) {
		close(fd);
		return NULL;
	}
	c = mmap(NULL, RESIDENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		why = no_memory(pid);
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
	*memory = &r->memories[r->memories_n++];
	**memory = (struct resident_memory){ .control = c, .fd = fd, .dev = st.st_dev, .ino = st.st_ino };
	return NULL;
}

static char *check_user(struct resident *r, int pid, const struct proc_rights *rights)
{
	if (rights->uid != rights->effective)
		return xprintf("process %d: it runs with another user's rights", pid);
	if (geteuid() && geteuid() != rights->uid)
		return xprintf("process %d: it is another user's: run as root or as that user", pid);
	if (namespace_of(pid, "user") != namespace_of(0, "user"))
		return xprintf("process %d: it is in another user namespace, and believes no tool outside of it", pid);
	if (!r->n)
		r->user = rights->uid;
	else if (rights->uid != r->user)
		return xprintf("process %d: it is another user's than process %d: trace one user's processes", pid, r->processes[0].pid);
	return NULL;
}

/* Abstract sockets are those of a network namespace. */
static char *check_net(struct resident *r, int pid)
{
	ino_t net = namespace_of(pid, "net"), first = namespace_of(r->n ? r->processes[0].pid : 0, "net");
	char path[40];
	int own;

	if (net == first)
		return NULL;
	if (r->n)
		return xprintf("process %d: it is in another network namespace than process %d: trace one container's", pid,
			       r->processes[0].pid);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	r->net = open(path, O_RDONLY | O_CLOEXEC);
	own = r->net >= 0 ? peers_enter_net(r->net) : -1;
	if (own < 0)
		return xprintf("process %d: cannot enter its network namespace: %s", pid, strerror(errno));
	peers_leave_net(own);
	return NULL;
}

static char *process_add(struct resident *r, int pid, long long mount)
{
	struct resident_memory *memory = NULL;
	struct proc_rights rights;
	char *why = NULL;
	int fd;

	if (!proc_rights(pid, &rights))
		return xprintf("process %d: it has ended", pid);
	why = check_user(r, pid, &rights);
	if (why)
		return why;
	fd = process_memfd_open(pid, mount, RESIDENT_NAME, RESIDENT_BYTES);
	if (fd < 0)
		return no_memory(pid);
	why = memory_add(r, pid, fd, &memory);
	if (!why && rights.filters > memory->control->filters)
		why = xprintf("process %d: it has a seccomp filter, under which it cannot connect", pid);
	why = why ?: check_net(r, pid);
	if (!why)
		r->runtime &= memory->control->runtime != 0;
	if (!why)
		r->processes[r->n++] = (struct resident_process){ .pid = pid, .memory = memory };
	return why;
}

static void drop(struct resident *r)
{
	for (int i = 0; i < r->memories_n; i++) {
		lock(r->memories[i].fd, F_UNLCK);	/* a helper process may have a copy of the descriptor */
		close(r->memories[i].fd);
		munmap(r->memories[i].control, RESIDENT_BYTES);
	}
	if (r->net > 0)
		close(r->net);
	free(r->memories);
	free(r->processes);
	free(r);
}

char *resident_open(struct resident **result, const int *pids)
{
	struct resident *r = xcalloc(1, sizeof(*r));
	long long mount = process_memfd_mount();
	char *why = NULL;
	int n = 0;

	r->runtime = true;
	while (pids[n])
		n++;
	r->processes = xcalloc(n + 1, sizeof(*r->processes));
	r->memories = xcalloc(n + 1, sizeof(*r->memories));
	for (int i = 0; i < n && !why; i++)
		why = process_add(r, pids[i], mount);
	r->waits = r->n;
	if (why)
		drop(r);
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

void resident_ask(struct resident *r, const char *library, const char *socket)
{
	const char *object = strrchr(library, '/') + 1;
	unsigned long long stamp = stamp_of(library);

	for (int i = 0; i < r->memories_n; i++) {
		struct resident_control *c = r->memories[i].control;

		c->stamp = stamp;
		snprintf(c->object, sizeof(c->object), "%.*s", (int)strcspn(object, "."), object);
		snprintf(c->socket, sizeof(c->socket), "%s", socket);
		change(&r->memories[i], true, true);
	}
}

static struct resident_process *find(const struct resident *r, int pid)
{
	for (int i = 0; i < r->n; i++)
		if (r->processes[i].pid == pid)
			return &r->processes[i];
	return NULL;
}

bool resident_has(const struct resident *r, int pid)
{
	return find(r, pid);
}

/* Processes that forked and are not ours cost less when nothing is asked any more. */
void resident_connected(struct resident *r, int pid)
{
	struct resident_process *p = find(r, pid);

	if (!p || p->connected)
		return;
	p->connected = true;
	if (--r->waits)
		return;
	for (int i = 0; i < r->memories_n; i++)
		__atomic_store_n(&r->memories[i].control->flags, INJECT_OFF, __ATOMIC_RELEASE);
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

static bool has_refused(const struct resident_process *p)
{
	const struct resident_control *c = p->memory->control;

	return __atomic_load_n(&c->refused_generation, __ATOMIC_ACQUIRE) == p->memory->generation &&
	       c->refused_pid == pid_in_namespace(p->pid);
}

static void warn_refused(struct resident *r, struct resident_process *p, unsigned why)
{
	warning(0, "process %d is not traced: %s (--attach auto, session, multi or perf uses kernel probes)", p->pid, refusal(why));
	p->connected = true;
	r->waits--;
}

/* A process that makes no call may get a filter before it has connected. */
void resident_tick(struct resident *r)
{
	bool look = r->waits && clock_ns() - r->looked >= LOOK_NS;

	for (int i = 0; r->waits && i < r->n; i++) {
		struct resident_process *p = &r->processes[i];
		struct resident_memory *m = p->memory;
		struct proc_rights rights;

		if (p->connected)
			continue;
		if (has_refused(p))
			warn_refused(r, p, m->control->refused);
		else if (look && proc_rights(p->pid, &rights) && rights.filters > m->control->filters) {
			change(m, false, false);
			warn_refused(r, p, RESIDENT_FILTERED);
		}
	}
	if (look)
		r->looked = clock_ns();
}

void resident_close(struct resident *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->memories_n; i++)
		change(&r->memories[i], false, false);
	drop(r);
}
