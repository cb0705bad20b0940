/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include "abi/bpf_names.h"
#include "abi/watch_event.h"
#include "base/die.h"
#include "probe/bindings.h"
#include "probe/probes.h"

static struct bpf_map *generations(const struct probes *p)
{
	return bpf_object__find_map_by_name(p->attacher.obj, MAP_LINK_GENERATIONS);
}

static unsigned *renewed(const struct probes *p)
{
	struct bpf_map *map = bpf_object__find_map_by_name(p->attacher.obj, SECTION_LINK_RENEWED);
	size_t size;

	return (unsigned *)bpf_map__initial_value(map, &size);
}

static struct binding *bindings_find(const struct bindings *b, int pid)
{
	struct binding *one;

	HASH_FIND_INT(b->all, &pid, one);
	return one;
}

const struct binding *binding_find(const struct bindings *b, int pid)
{
	return bindings_find(b, pid);
}

const struct binding *binding_next(struct bindings *b, int pid, bool everywhere)
{
	struct binding *one = bindings_find(b, pid);

	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->pid = pid;
		HASH_ADD_INT(b->all, pid, one);
	}
	b->last = b->last < GENERATION_LAST ? b->last + 1 : 0;
	if (b->last <= GENERATION_FIRST)
		b->last = GENERATION_FIRST + 1;
	one->generation = b->last;
	one->everywhere = everywhere;
	return one;
}

bool binding_publish(const struct probes *p, const struct bindings *b, int pid)
{
	const struct binding *one = bindings_find(b, pid);
	const unsigned now = one->generation;

	/* first: programs that do not look into the map yet would count both generations */
	__atomic_store_n(renewed(p), HASH_COUNT(b->all), __ATOMIC_RELEASE);
	return !bpf_map__update_elem(generations(p), &pid, sizeof(pid), &now, sizeof(now), 0);
}

int binding_ended(const struct bindings *b)
{
	const struct binding *one = b->all;

	while (one && (!one->everywhere || !kill(one->pid, 0) || errno != ESRCH))
		one = one->hh.next;
	return one ? one->pid : 0;
}

void binding_drop(const struct probes *p, struct bindings *b, int pid)
{
	struct binding *one, *next;

	HASH_ITER(hh, b->all, one, next) {
		if (pid >= 0 && one->pid != pid)
			continue;
		bpf_map__delete_elem(generations(p), &one->pid, sizeof(one->pid), 0);
		HASH_DEL(b->all, one);
		free(one);
	}
	if (b->last)
		__atomic_store_n(renewed(p), HASH_COUNT(b->all), __ATOMIC_RELEASE);
}
