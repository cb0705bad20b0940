/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* unwind-table OBJECT OTHER - the rules of common/unwind/unwind_table.h, in maps that are memory: what is in the table, and what is
 * counted, after rules were set, replaced and forgotten.  OBJECT: a tool's, which has the maps; OTHER: one that has not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "bpf/map_backend.h"
#include "unwind/unwind_table.h"

enum { USER = 65534, OTHER = 65533, PID = 1009, SECOND = 1013, RULE = UNWIND_END };

static struct unwind_set sets[UNWIND_SETS];
static unsigned owners[SECOND + 1];	/* by process, as the programs are told; 0: not */

static int update(void *ctx, const struct bpf_map *map, const void *key, const void *value, unsigned long long flags)
{
	(void)ctx, (void)flags;
	if (!map || strcmp(bpf_map__name(map), MAP_UNWIND_PROCESSES))
		return -EINVAL;
	owners[*(const int *)key] = ((const struct unwind_process *)value)->owner;
	return 0;
}

static int drop(void *ctx, const struct bpf_map *map, const void *key)
{
	(void)ctx, (void)map;
	owners[*(const int *)key] = 0;
	return 0;
}

static void *elements(void *ctx, const struct bpf_map *map)
{
	(void)ctx, (void)map;
	return sets;
}

/* The slots with a rule of this process. */
static size_t slots_of(int pid)
{
	size_t n = 0;

	for (size_t i = 0; i < UNWIND_SETS * UNWIND_WAYS; i++) {
		const struct unwind_slot *s = &sets[i / UNWIND_WAYS].slots[i % UNWIND_WAYS];

		n += s->rule && s->rule >> 32 == owners[pid];
	}
	return n;
}

static unsigned long long rule_at(int pid, unsigned long long pc)
{
	const struct unwind_set *set = &sets[unwind_place(owners[pid], pc)];

	for (int i = 0; i < UNWIND_WAYS; i++)
		if (set->slots[i].pc == pc && set->slots[i].rule >> 32 == owners[pid])
			return (unsigned)set->slots[i].rule;
	return 0;
}

static void tell(const struct unwind_table *t, const char *what)
{
	printf("%s: %zu and %zu slots, %zu used, %u processes\n", what, owners[PID] ? slots_of(PID) : 0,
	       owners[SECOND] ? slots_of(SECOND) : 0, t->quota.used, HASH_COUNT(t->owners));
}

/* Addresses whose rules have the same set, for a process that has a number. */
static int same_set(int pid, unsigned long long *pcs, int n)
{
	int found = 0;

	for (unsigned long long pc = 0x5000; found < n; pc += 16)
		if (unwind_place(owners[pid], pc) == unwind_place(owners[pid], 0x4000))
			pcs[found++] = pc;
	return found;
}

int main(int argc, char **argv)
{
	static const struct maps maps = { .update = update, .remove = drop, .elements = elements };
	unsigned long long pcs[UNWIND_WAYS + 3];
	struct bpf_object *obj = argc == 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_object *other = argc == 3 ? bpf_object__open_file(argv[2], NULL) : NULL;
	struct unwind_table t = { 0 };
	size_t n;

	unwind_table_set(&t, PID, USER, 0x4000, RULE);	/* a table without maps */
	unwind_table_close(&t);
	bmaps_use(&maps);
	if (!obj || !other || unwind_table_open(&t, other) || errno != ENOENT || !unwind_table_open(&t, obj))
		return 1;
	unwind_table_set(&t, PID, USER, 0x4000, RULE);
	unwind_table_set(&t, PID, USER, 0x4000, unwind_rule(0, UNWIND_COPY, 3, 0));
	printf("%llx after %x\n", rule_at(PID, 0x4000), RULE);
	unwind_table_set(&t, SECOND, OTHER, 0x4000, RULE);
	unwind_table_set(&t, SECOND, OTHER, 0x4010, RULE);
	tell(&t, "set");

	n = same_set(PID, pcs, UNWIND_WAYS + 3);
	for (size_t i = 0; i < n; i++)
		unwind_table_set(&t, PID, USER, pcs[i], RULE + i % 2);
	printf("the last is %s\n", rule_at(PID, pcs[n - 1]) == RULE + (n - 1) % 2 ? "there" : "not there");
	tell(&t, "a full set");

	unwind_table_forget(&t, PID);
	tell(&t, "forgotten");
	unwind_table_forget(&t, PID);
	unwind_table_forget(&t, SECOND);
	tell(&t, "both");

	t.numbers = ~0u;	/* as after four thousand million processes */
	unwind_table_set(&t, PID, USER, 0x4000, RULE);
	printf("the number is %u\n", owners[PID]);

	for (unsigned long long pc = 0x100000; pc < 0x100000 + 16 * 1000003ull; pc += 16)
		unwind_table_set(&t, PID, USER, pc, RULE);
	n = slots_of(PID);
	printf("one user has %s\n", n == t.quota.used && n > UNWIND_SETS && n <= UNWIND_SETS * UNWIND_WAYS / 2 ?
	       "as many as are counted, and no more than half" : "another number");
	unwind_table_close(&t);
	bpf_object__close(obj);
	bpf_object__close(other);
	return 0;
}
