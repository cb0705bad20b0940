/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "shmmap/create.h"

static __u64 create_up(__u64 n, __u64 to)
{
	return (n + to - 1) / to * to;
}

/* A section has only its own name: libbpf prefixes some with the object's. */
static void name_map(char *to, const struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strchr(name, '.');

	if (bpf_map__is_internal(map) && dot)
		name = dot;
	memcpy(to, name, strnlen(name, INJECT_MAP_NAME - 1));
}

static bool is_fixed(const struct bpf_map *map)
{
	return bpf_map__map_flags(map) & BPF_F_RDONLY_PROG || (bpf_map__is_internal(map) && strstr(bpf_map__name(map), ".rodata"));
}

/* Adds the map to the head.  Returns false if there is no room. */
static bool add_map(struct shmmap_memory *m, struct inject_head *head, const struct bpf_map *map)
{
	struct shmmap_map one = { .type = bpf_map__type(map), .key_size = bpf_map__key_size(map) };
	struct inject_map *to = &head->map[head->maps];
	__u64 bytes;

	one.value_size = bpf_map__value_size(map);
	one.max_entries = bpf_map__max_entries(map);
	bytes = bpf_map__autocreate(map) ? shmmap_map_layout(&one, head->lanes) : 0;
	if (!bytes)
		return true;
	if (head->maps == INJECT_MAPS)
		return false;
	name_map(to->name, map);
	to->type = one.type;
	to->key_size = one.key_size;
	to->value_size = one.value_size;
	to->max_entries = one.max_entries;
	to->at = head->bytes;
	to->bytes = bytes;
	to->fixed = is_fixed(map);
	head->bytes += bytes;
	m->of[head->maps++] = map;
	return true;
}

/* Computes the layout. */
static bool place_all(struct shmmap_memory *m, struct inject_head *head, struct bpf_object *obj,
		      const struct shmmap_function *functions, int n)
{
	struct bpf_map *map;

	head->version = INJECT_VERSION;
	head->lanes = libbpf_num_possible_cpus();
	head->functions = n;
	head->functions_at = create_up(sizeof(*head), 64);
	head->names_at = head->functions_at + n * sizeof(struct inject_function);
	for (int i = 0; i < n; i++)
		head->names_bytes += strlen(functions[i].name) + 1;
	head->threads_at = create_up(head->names_at + head->names_bytes, INJECT_PAGE);
	head->bytes = create_up(head->threads_at + INJECT_THREADS * sizeof(struct inject_thread), INJECT_PAGE);
	bpf_object__for_each_map(map, obj)
		if (!add_map(m, head, map))
			return false;
	return true;
}

static int compare_names(const void *a, const void *b)
{
	const struct shmmap_function *const *p = a, *const *q = b;

	return strcmp((*p)->name, (*q)->name);
}

static bool write_functions(const struct inject_head *head, char *base, const struct shmmap_function *functions, int n)
{
	struct inject_function *to = (struct inject_function *)(base + head->functions_at);
	const struct shmmap_function **sorted = calloc(n + 1, sizeof(*sorted));
	char *names = base + head->names_at;
	__u32 at = 0;

	if (!sorted)
		return false;
	for (int i = 0; i < n; i++)
		sorted[i] = &functions[i];
	qsort(sorted, n, sizeof(*sorted), compare_names);
	for (int i = 0; i < n; i++) {
		const struct shmmap_function *f = sorted[i];

		to[i] = (struct inject_function){ .name = at, .id = f->id, .lib = f->lib, .flags = f->flags };
		strcpy(names + at, f->name);
		at += strlen(f->name) + 1;
	}
	free(sorted);
	return true;
}

/* Copies the sections to the memory.  Writable ones are then mapped from it at the tool's addresses; read-only ones stay, so
 * that the tool keeps its values, whatever programs write. */
static bool share_sections(struct shmmap_memory *m)
{
	for (__u32 i = 0; i < m->shm.maps; i++) {
		const struct shmmap_map *map = &m->shm.map[i];
		size_t size;
		/* it changes nothing: only its parameter is not const */
		void *at = (void *)bpf_map__initial_value((struct bpf_map *)m->of[i], &size);

		if (!at || !bpf_map__is_internal(m->of[i]))
			continue;
		memcpy(map->at, at, map->value_size);
		if (map->fixed)
			continue;
		/* not all of map->bytes: libbpf has mapped the kernel's pages */
		if (mmap(at, create_up(size, getpagesize()), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->fd,
			 map->at - m->shm.base) == MAP_FAILED)
			return false;
	}
	return true;
}

/* Makes the memory, of that many bytes.  Programs must not be able to shrink it under the tool. */
static char *make(struct shmmap_memory *m, __u64 bytes)
{
	char *base;

	m->fd = memfd_create("cuda-bpf-tools", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0 || ftruncate(m->fd, bytes) ||
	    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return NULL;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	m->shm.base = base;
	m->shm.bytes = bytes;
	return base;
}

struct shmmap_memory *shmmap_create(struct bpf_object *obj, const struct shmmap_function *functions, int n)
{
	struct shmmap_memory *m = calloc(1, sizeof(*m));
	struct inject_head head = { 0 };
	char *base;

	if (!m)
		return NULL;
	m->fd = m->read = m->fixed = -1;
	errno = E2BIG;
	if (n <= INJECT_FUNCTIONS && place_all(m, &head, obj, functions, n) && (base = make(m, head.bytes)) &&
	    write_functions(&head, base, functions, n)) {
		memcpy(base, &head, sizeof(head));
		errno = EINVAL;
		if (shmmap_view(&m->shm, base, base, head.bytes) && share_sections(m))
			return m;
	}
	shmmap_destroy(m);
	return NULL;
}

static bool copy_fixed(struct shmmap_memory *m, __u64 at, __u64 bytes)
{
	return pwrite(m->fixed, m->shm.base + at, bytes, at) == (ssize_t)bytes;
}

bool shmmap_fix(struct shmmap_memory *m)
{
	const struct inject_head *head = m->shm.head;

	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", m->fd);
	m->read = open(path, O_RDONLY | O_CLOEXEC);
	m->fixed = memfd_create("cuda-bpf-tools", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->read < 0 || m->fixed < 0 || ftruncate(m->fixed, m->shm.bytes) || !copy_fixed(m, 0, head->threads_at))
		return false;
	for (__u32 i = 0; i < head->maps; i++)
		if (head->map[i].fixed && !copy_fixed(m, head->map[i].at, head->map[i].bytes))
			return false;
	return !fcntl(m->fixed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

void shmmap_destroy(struct shmmap_memory *m)
{
	int err = errno;

	if (m && m->shm.base)
		munmap(m->shm.base, m->shm.bytes);
	if (m && m->fd >= 0)
		close(m->fd);
	if (m && m->read >= 0)
		close(m->read);
	if (m && m->fixed >= 0)
		close(m->fixed);
	free(m);
	errno = err;
}

struct shmmap_map *shmmap_of(struct shmmap_memory *m, const struct bpf_map *map)
{
	for (__u32 i = 0; i < m->shm.maps; i++)
		if (m->of[i] == map)
			return &m->shm.map[i];
	return NULL;
}
