/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <linux/bpf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "bpf/bpf_mmap.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "unwind/unwind_table.h"

bool unwind_table_open(struct unwind_table *t, const struct bpf_object *obj)
{
	const struct bpf_map *processes = bpf_object__find_map_by_name(obj, MAP_UNWIND_PROCESSES);

	*t = (struct unwind_table){ .map = bpf_object__find_map_by_name(obj, MAP_UNWIND_TABLE) };
	if (!t->map || !processes) {
		errno = ENOENT;
		return false;
	}
	t->processes = processes;
	t->sets = bpf_mmap_elements(t->map);
	if (!t->sets)
		return false;
	t->holders = xcalloc(UNWIND_SETS * UNWIND_WAYS, sizeof(*t->holders));
	t->quota = (struct quota){
		.limit = UNWIND_SETS * UNWIND_WAYS, .what = "unwind rules",
		.loss = "stacks of its processes cost more",
	};
	return true;
}

void unwind_table_close(struct unwind_table *t)
{
	if (!t->sets)
		return;
	HASH_FREE(t->owners);
	bpf_munmap_elements(t->map, t->sets);
	free(t->holders);
	quota_free(&t->quota);
}

static struct unwind_owner *find(const struct unwind_table *t, int pid)
{
	struct unwind_owner *o;

	HASH_FIND_INT(t->owners, &pid, o);
	return o;
}

static struct unwind_owner *find_or_add(struct unwind_table *t, int pid, unsigned user)
{
	struct unwind_owner *o = find(t, pid);

	if (o)
		return o;
	o = xcalloc(1, sizeof(*o));
	o->pid = pid;
	o->user = user;
	HASH_ADD_INT(t->owners, pid, o);
	return o;
}

/* Without an element every stack is copied, and no goroutine is found. */
static void publish(struct unwind_table *t, const struct unwind_owner *o)
{
	bmap_update(t->processes, &o->pid, &o->is, BPF_ANY);
}

static struct unwind_owner *owner_of(struct unwind_table *t, int pid, unsigned user)
{
	struct unwind_owner *o = find_or_add(t, pid, user);

	if (o->is.owner)
		return o;
	o->is.owner = ++t->numbers ?: ++t->numbers;
	publish(t, o);
	return o;
}

/* The number of the slot for a rule: that of its address, one that is free, else any.  The slots are not read:
 * with --attach inject programs can write there. */
static size_t slot_for(const struct unwind_table *t, const struct unwind_owner *o, unsigned long long pc)
{
	size_t set = (size_t)unwind_place(o->is.owner, pc) * UNWIND_WAYS, found = set + (pc >> 4) % UNWIND_WAYS;

	for (size_t i = set; i < set + UNWIND_WAYS; i++) {
		if (t->holders[i].owner == o && t->holders[i].pc == pc)
			return i;
		if (!t->holders[i].owner)
			found = i;
	}
	return found;
}

/* The programs read the address, the rule, and the address again. */
static void write_slot(struct unwind_slot *s, unsigned long long pc, unsigned long long rule)
{
	__atomic_store_n(&s->rule, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->pc, pc, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->rule, rule, __ATOMIC_SEQ_CST);
}

static void empty_slot(struct unwind_table *t, size_t i)
{
	struct unwind_owner *o = t->holders[i].owner;

	write_slot(&t->sets[0].slots[i], 0, 0);
	t->holders[i] = (struct unwind_holder){ 0 };
	quota_give(&t->quota, o->user, 1);
	o->rules--;
}

void unwind_table_set(struct unwind_table *t, int pid, unsigned user, unsigned long long pc,
		      unsigned long long rule)
{
	struct unwind_owner *o;
	size_t i;

	if (!t->sets)
		return;
	o = owner_of(t, pid, user);
	i = slot_for(t, o, pc);
	if (t->holders[i].owner)
		empty_slot(t, i);
	if (!quota_take(&t->quota, user, pid, 1))
		return;
	t->holders[i] = (struct unwind_holder){ o, pc };
	o->rules++;
	write_slot(&t->sets[0].slots[i], pc, rule | (unsigned long long)o->is.owner << 32);
}

static void drop_slots(struct unwind_table *t, const struct unwind_owner *o)
{
	for (size_t i = 0; o->rules && i < (size_t)UNWIND_SETS * UNWIND_WAYS; i++)
		if (t->holders[i].owner == o)
			empty_slot(t, i);
}

void unwind_table_go(struct unwind_table *t, int pid, unsigned user, enum go_loss go, long long place)
{
	struct unwind_owner *o;

	if (!t->sets)
		return;
	o = find_or_add(t, pid, user);
	if (o->is.go == go && o->is.place == place)
		return;
	o->is.go = go;
	o->is.place = place;
	publish(t, o);
}

void unwind_table_drop(struct unwind_table *t, int pid)
{
	struct unwind_owner *o = find(t, pid);

	if (!o || !o->is.owner)
		return;
	o->is.owner = 0;
	publish(t, o);
	drop_slots(t, o);
}

void unwind_table_forget(struct unwind_table *t, int pid)
{
	struct unwind_owner *o = find(t, pid);

	if (!o)
		return;
	bmap_delete(t->processes, &pid);
	drop_slots(t, o);
	HASH_DEL(t->owners, o);
	free(o);
}
