/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "probe/bpf_mmap.h"
#include "model/aggregate.h"
#include "probe/process_progs.h"
#include "sym/syms.h"

static struct group *groups;
static struct bpf_map *quick;	/* of struct tally_quick; NULL: calls are sent, not counted */

void groups_prepare(struct bpf_object *obj, bool stacks)
{
	processes_prepare(obj, stacks);
	if (stacks)
		return;
	bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "events"), getpagesize());
	quick = bpf_object__find_map_by_name(obj, "tallies_quick");
	array_per_cpu(quick, TALLY_QUICK);
}

/* This membarrier is the kernel's synchronize_rcu(): it waits for every program that may have
 * read the old epoch.  Where it is not to be had (nohz_full), half a second has to do. */
unsigned int groups_flip(volatile unsigned int *epoch)
{
	const struct timespec pause = { 0, 500000000 };
	unsigned int old = *epoch;

	*epoch = old + 1;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&pause, NULL);
	return old;
}

void groups_drain(struct bpf_map *map, unsigned int epoch,
		  void (*fn)(const void *key, const void *value))
{
	bool each_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH;
	size_t cpus = each_cpu ? libbpf_num_possible_cpus() : 1, size = bpf_map__key_size(map);
	void *value = xcalloc(cpus, (bpf_map__value_size(map) + 7) / 8 * 8);
	char *keys = NULL, *prev = NULL;
	int fd = bpf_map__fd(map);
	size_t n = 0, room = 0;

	/* all of the keys first: to remove one would begin the walk anew */
	for (;;) {
		if (n == room) {
			room = room ? 2 * room : 64;
			keys = xrealloc(keys, room, size);
			prev = n ? keys + (n - 1) * size : NULL;
		}
		if (bpf_map_get_next_key(fd, prev, keys + n * size))
			break;
		prev = keys + n++ * size;
	}
	for (size_t i = 0; i < n; i++) {
		const char *key = keys + i * size;

		if (memcmp(key, &epoch, sizeof(epoch)) || bpf_map_lookup_elem(fd, key, value))
			continue;
		fn(key, value);
		bpf_map_delete_elem(fd, key);
	}
	free(keys);
	free(value);
}

static struct group *get(const struct stack *stack, const struct tally_key *k, unsigned int part,
			 const char *comm)
{
	struct group_key key;
	struct group *g;

	memset(&key, 0, sizeof(key));
	key.stack = stack;
	key.pid = k->pid;
	key.what = k->what;
	key.part = part;
	HASH_FIND(hh, groups, &key, sizeof(key), g);
	if (!g) {
		g = xcalloc(1, sizeof(*g));
		g->key = key;
		g->least = ~0ull;
		HASH_ADD(hh, groups, key, sizeof(g->key), g);
	}
	if (comm && !*g->comm)
		memcpy(g->comm, comm, sizeof(g->comm) - 1);
	return g;
}

static void add_tally(const struct tally_key *key, const struct tally *t)
{
	struct group *g = get(NULL, key, key->part, t->comm);

	g->count += t->count;
	g->failed += t->failed;
	g->sum += t->sum;
	g->ns += t->ns;
	if (t->count && ~t->least < g->least)
		g->least = ~t->least;
	if (t->most > g->most)
		g->most = t->most;
	for (int i = 0; i < TALLY_SLOTS; i++)
		g->slots[i] += t->slots[i];
}

static void collect_one(const void *key, const void *values)
{
	const struct tally *t = values;

	for (int cpus = libbpf_num_possible_cpus(); cpus--; t++)
		add_tally(key, t);
}

void groups_collect(struct bpf_map *tallies, unsigned int epoch)
{
	static struct tally_quick *q;

	if (quick && !q)
		q = array_elements(quick);
	for (size_t i = 0; q && i < bpf_map__max_entries(quick); i++) {
		if (q[i].state != TALLY_TAKEN || q[i].key.epoch != epoch)
			continue;
		add_tally(&q[i].key, &q[i].tally);
		memset(&q[i].tally, 0, sizeof(q[i].tally));
		__atomic_store_n(&q[i].state, TALLY_FREE, __ATOMIC_RELEASE);
	}
	groups_drain(tallies, epoch, collect_one);
}

struct group *group_of(const struct tally_record *r, unsigned int part)
{
	return get(stack_get(r->pid, r->stack, r->frames), &r->key, part, r->comm);
}

void group_add(struct group *g, unsigned long long value, unsigned long long ns,
	       unsigned long long shown)
{
	g->count++;
	g->sum += value;
	g->ns += ns;
	if (value < g->least)
		g->least = value;
	if (value > g->most)
		g->most = value;
	g->slots[shown ? 63 - __builtin_clzll(shown) : 0]++;
}

void groups_record(const struct tally_record *r)
{
	struct group *g;

	if (r->key.what == TALLY_GONE) {
		syms_forget(r->pid);
		return;
	}
	g = group_of(r, r->key.part);
	if (r->failed)
		g->failed++;
	else
		group_add(g, r->value, r->ns, r->shown);
}

static int by_key(const void *a, const void *b)
{
	const struct group_key *p = &(*(struct group *const *)a)->key;
	const struct group_key *q = &(*(struct group *const *)b)->key;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	return p->what < q->what ? -1 : p->what > q->what;
}

static int by_sum(const void *a, const void *b)
{
	const struct group *p = *(struct group *const *)a, *q = *(struct group *const *)b;

	if (p->sum != q->sum)
		return p->sum < q->sum ? 1 : -1;
	return by_key(a, b);
}

struct group **groups_sorted(bool largest_first, size_t *n)
{
	struct group **list = xcalloc(HASH_COUNT(groups) + 1, sizeof(*list)), *g;

	*n = 0;
	for (g = groups; g; g = g->hh.next)
		if (!g->key.part)
			list[(*n)++] = g;
	qsort(list, *n, sizeof(*list), largest_first ? by_sum : by_key);
	return list;
}

const struct group *group_part(const struct group *g, unsigned int part)
{
	struct group_key key = g->key;
	const struct group *other;

	key.part = part;
	HASH_FIND(hh, groups, &key, sizeof(key), other);
	return other;
}

void groups_clear(void)
{
	struct group *g, *next;

	HASH_ITER(hh, groups, g, next) {
		HASH_DEL(groups, g);
		free(g);
	}
}
