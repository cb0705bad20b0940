/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that all programs share with the tool. */
#include <stddef.h>
#include <linux/mman.h>
#include "abi/bpf_names.h"
#include "agent/inject/inject.h"

/* Maps the memory over the programs' copy of each section. */
static bool sections_map(struct injected *a, int fd, int fixed)
{
	for (const struct inject_section *s = inject_sections; s->map; s++) {
		const struct shmmap_map *m = shmmap_find(&a->shm, s->map);

		if (!m || s->size > m->bytes)
			return false;
		if (sys_failed(sys6(__NR_mmap, (long)s->at, (long)s->size, m->fixed ? PROT_READ : PROT_READ | PROT_WRITE,
				    MAP_FIXED | (m->fixed ? MAP_PRIVATE : MAP_SHARED), m->fixed ? fixed : fd,
				    m->at - (m->fixed ? a->shm.fixed : a->shm.base))))
			return false;
	}
	return true;
}

static bool variables_set(struct injected *a)
{
	for (const struct inject_variable *v = inject_variables; v->map; v++) {
		struct shmmap_map *m = shmmap_find(&a->shm, v->map);

		if (!m)
			return false;
		*(struct shmmap_map **)v->at = m;
	}
	return true;
}

program_fn *program_find(const char *name)
{
	for (const struct inject_program *p = inject_programs; p->name; p++)
		if (same(p->name, name))
			return p->run;
	return NULL;
}

/* If the kernel is too old to wipe the page in a child, every call compares the pid: see thread.c. */
static bool page_make(struct injected *a)
{
	long p = sys6(__NR_mmap, 0, LARGEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(p))
		return false;
	a->page = (void *)p;
	a->wiped = !sys3(__NR_madvise, p, LARGEST_PAGE, MADV_WIPEONFORK);
	return true;
}

/* Hashes the names, whose offsets shmmap_view() has not checked. */
static bool names_hash(struct injected *a)
{
	const struct shmmap *m = &a->shm;

	if (m->functions > INJECT_FUNCTIONS || !m->names_bytes || m->names[m->names_bytes - 1])
		return false;
	for (__u32 i = 0; i < m->functions; i++) {
		if (m->function[i].name >= m->names_bytes)
			return false;
		a->hash[i] = object_hash(m->names + m->function[i].name);
	}
	return true;
}

/* Not inherited: a child may run as another user than its parent.  It asks the tool, which checks that. */
static void *map_shared(int fd, __u64 bytes)
{
	long p = sys6(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (sys_failed(p))
		return NULL;
	if (!sys3(__NR_madvise, p, (long)bytes, MADV_DONTFORK))
		return (void *)p;
	sys3(__NR_munmap, p, (long)bytes, 0);
	return NULL;
}

/* In place of zeros. */
static bool map_window(const struct injected *a, int fd, const struct inject_head *head)
{
	return head->threads_at <= INSTANCE_WINDOW &&
	       !sys_failed(sys6(__NR_mmap, (long)a->window, (long)head->threads_at, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
}

/* The part that a call reads before it checks for a fork: a child inherits it. */
static bool map_head(struct injected *a, int fd, const struct inject_head *head)
{
	long p = sys6(__NR_mmap, 0, (long)(head->threads_at + INJECT_THREADS * sizeof(*a->threads)), PROT_READ, MAP_SHARED, fd, 0);

	if (sys_failed(p) || (a->window && !map_window(a, fd, head)))
		return false;
	a->head = (const void *)p;
	a->toggle = (const void *)(p + (long)head->functions_at);
	a->threads = (const void *)(p + (long)head->threads_at);
	return true;
}

static __u64 *section(const char *name)
{
	for (const struct inject_section *s = inject_sections; s->map; s++)
		if (same(s->map, name))
			return (__u64 *)s->at;
	return NULL;
}

bool memory_map(struct injected *a, const int *memory, __u64 bytes)
{
	void *p = map_shared(memory[INJECT_SHARED], bytes);
	long q = sys6(__NR_mmap, 0, (long)bytes, PROT_READ, MAP_PRIVATE, memory[INJECT_FIXED], 0);

	if (!p || sys_failed(q) || !shmmap_view(&a->shm, p, (void *)q, bytes) || !map_head(a, memory[INJECT_READ], (void *)q) ||
	    !names_hash(a) || !page_make(a) || !sections_map(a, memory[INJECT_SHARED], memory[INJECT_FIXED]) || !variables_set(a))
		return false;
	a->left = program_find(PROG_TRACE_EXIT) ?: program_find(PROG_THREAD_EXIT);
	a->lost = section(SECTION_LOST);
	a->page->epoch = ++a->epochs;
	a->page->state = READY;
	return true;
}

bool memory_map_forked(struct injected *a, int fd, __u64 bytes)
{
	void *p = bytes == a->shm.bytes ? map_shared(fd, bytes) : NULL;

	return p && shmmap_view(&a->shm, p, a->shm.fixed, bytes);
}

void memory_leave(struct injected *a)
{
	sys6(__NR_mmap, (long)a->shm.base, (long)a->shm.bytes, PROT_READ | PROT_WRITE,
	     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void unmap(const void *at, __u64 bytes)
{
	if (at && !sys_failed((long)at))
		sys3(__NR_munmap, (long)at, (long)bytes, 0);
}

/* A child that has not connected has not inherited the memory: another mapping may be there. */
void memory_drop(struct injected *a, bool in_use)
{
	bool mine = !a->page || a->page->state == READY;

	if (in_use && mine)
		memory_leave(a);
	if (in_use)
		return;
	for (__u32 i = 0; i < INJECT_THREADS; i++)
		if (a->storages[i])
			unmap(a->storages[i] - INJECT_REST, own_bytes(a));
	if (mine)
		unmap(a->shm.base, a->shm.bytes);
	if (a->head)
		unmap(a->head, (__u64)((const char *)(a->threads + INJECT_THREADS) - (const char *)a->head));
	unmap(a->shm.fixed, a->shm.bytes);
	unmap(a->page, LARGEST_PAGE);
}
