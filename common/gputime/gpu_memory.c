/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "gputime/gpu_memory.h"
#include "proc/pid_ns.h"
#include "proc/process_memfd.h"

/* Between two reads: more are a number that the program has made up. */
static const unsigned long long LOSSES_MAX = 1ull << 32;

/* ---- A place in it */

/* type: F_WRLCK or F_UNLCK.  The kernel drops the lock with the last descriptor and mapping. */
static bool set_lock(int fd, int place, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &byte);
}

/* Returns -1 if others have all. */
static int take_place(int fd, bool is_command)
{
	if (is_command)
		return set_lock(fd, 0, F_WRLCK) ? 0 : -1;
	for (int i = 1; i < GPUTIME_TOOLS; i++)
		if (set_lock(fd, i, F_WRLCK))
			return i;
	return -1;
}

static bool is_known_version(const struct gputime_control *c)
{
	return !memcmp(c->magic, GPUTIME_MAGIC, sizeof(c->magic)) && c->bytes == sizeof(*c) && c->slots == GPUTIME_SLOTS;
}

/* The process's own library must have made it: another process may have passed its memory. */
static enum gpu_memory_found map(struct gpu_memory *m, int pid, int fd, bool is_command)
{
	struct gputime_control *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	enum gpu_memory_found found = GPU_MEMORY_NONE;
	void *ring = MAP_FAILED;
	int place = -1;

	if (c == MAP_FAILED)
		return found;
	if (c->pid == pid_in_namespace(pid))
		found = is_known_version(c) ? GPU_MEMORY_IN_USE : GPU_MEMORY_OTHER;
	if (found == GPU_MEMORY_IN_USE)
		place = take_place(fd, is_command);
	if (place >= 0)
		ring = mmap(NULL, GPUTIME_RING, PROT_READ, MAP_SHARED, fd, GPUTIME_FIRST + place * GPUTIME_RING);
	if (ring == MAP_FAILED) {
		munmap(c, sizeof(*c));
		return place >= 0 ? GPU_MEMORY_NONE : found;
	}
	*m = (struct gpu_memory){ .control = c, .ring = ring, .fd = fd, .place = place };
	return GPU_MEMORY_READY;
}

static void ring_bell(struct gputime_control *c)
{
	__atomic_fetch_add(&c->bell, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &c->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static struct gputime_tool *tool_of(const struct gpu_memory *m)
{
	return &m->control->tools[m->place];
}

/* The place of a command is taken a second time if the end of the program before, which had the pid, was seen late. */
static void ask(struct gpu_memory *m, const struct gpu_wish *wish)
{
	struct gputime_tool *t = tool_of(m);

	m->is_first = !m->place && !__atomic_load_n(&t->read, __ATOMIC_RELAXED);
	if (!m->is_first)
		__atomic_store_n(&t->want, 0, __ATOMIC_RELEASE);	/* it may be that of a tool that was killed */
	t->run_ns = wish->run_ns;
	t->of_ns = wish->of_ns;
	t->read = m->is_first ? 0 : __atomic_load_n(&t->written, __ATOMIC_ACQUIRE);
	m->generation = m->is_first ? 1 : __atomic_load_n(&t->generation, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&t->generation, m->generation, __ATOMIC_RELEASE);
	__atomic_store_n(&t->want, wish->want, __ATOMIC_RELEASE);
	ring_bell(m->control);
}

enum gpu_memory_found gpu_memory_find(struct gpu_memory *m, int pid, long long mount, const struct gpu_wish *wish)
{
	int fd = process_memfd_open(pid, mount, GPUTIME_NAME, GPUTIME_BYTES);
	enum gpu_memory_found found = fd >= 0 ? map(m, pid, fd, wish->is_command) : GPU_MEMORY_NONE;

	if (found == GPU_MEMORY_READY)
		ask(m, wish);
	else if (fd >= 0)
		close(fd);
	return found;
}

void gpu_memory_stop(struct gpu_memory *m)
{
	__atomic_store_n(&tool_of(m)->want, 0, __ATOMIC_RELEASE);
	ring_bell(m->control);
}

bool gpu_memory_stops(const struct gpu_memory *m)
{
	return m->serves && __atomic_load_n(&tool_of(m)->serves, __ATOMIC_ACQUIRE);
}

/* The library is told when the lock is gone: then it gives the ring's memory back.  A helper process may have a copy of the
 * descriptor, and control is mapped yet: neither may keep the lock. */
void gpu_memory_close(struct gpu_memory *m)
{
	munmap((void *)m->ring, GPUTIME_RING);
	set_lock(m->fd, m->place, F_UNLCK);
	close(m->fd);
	ring_bell(m->control);
	munmap(m->control, sizeof(*m->control));
	m->control = NULL;
}

/* ---- What is there */

/* From now on what is lost is lost to us; of our own command, also what was before. */
static void begin(struct gpu_memory *m)
{
	const struct gputime_control *c = m->control;
	const struct gputime_tool *t = tool_of(m);

	m->serves = true;
	m->read = m->is_first ? 0 : t->first;
	if (m->is_first)
		return;
	m->dropped[0] = c->dropped;
	m->dropped[1] = t->dropped;
	m->unknown = c->unknown;
	m->untimed = c->untimed;
}

unsigned long long gpu_memory_records(struct gpu_memory *m)
{
	const struct gputime_tool *t = tool_of(m);
	unsigned long long written;

	if (!m->serves && __atomic_load_n(&t->serving, __ATOMIC_ACQUIRE) == m->generation)
		begin(m);
	if (!m->serves)
		return 0;
	written = __atomic_load_n(&t->written, __ATOMIC_ACQUIRE);
	if (written - m->read > GPUTIME_SLOTS) {
		m->malformed++;
		m->read = written;
	}
	return written - m->read;
}

void gpu_memory_next(struct gpu_memory *m, struct gputime_record *r)
{
	memcpy(r, &m->ring[m->read++ % GPUTIME_SLOTS], sizeof(*r));
	__asm__ volatile("" : "+m"(*r));	/* what is checked is what is used */
}

void gpu_memory_release(struct gpu_memory *m)
{
	__atomic_store_n(&tool_of(m)->read, m->read, __ATOMIC_RELEASE);
}

static void add_losses(unsigned long long *to, unsigned long long *last, const unsigned long long *at)
{
	const unsigned long long now = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (now - *last <= LOSSES_MAX)
		*to += now - *last;
	*last = now;
}

void gpu_memory_losses(struct gpu_memory *m, struct gpu_losses *to)
{
	const struct gputime_control *c = m->control;

	if (!m->serves)
		return;
	add_losses(&to->dropped, &m->dropped[0], &c->dropped);
	add_losses(&to->dropped, &m->dropped[1], &tool_of(m)->dropped);
	add_losses(&to->unknown, &m->unknown, &c->unknown);
	add_losses(&to->untimed, &m->untimed, &c->untimed);
	to->unknown += m->malformed;
	m->malformed = 0;
}
