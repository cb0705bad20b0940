/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "shmmap/create.h"
#include "shmmap.h"

enum { LANES = 5 };

static void array(struct shmmap *s)
{
	struct shmmap_map *one = shmmap_find(s, "array"), *per_cpu = shmmap_find(s, "per_cpu");
	__u64 values[LANES * 2];

	CHECK(one->stride == 16 && one->lanes == 1 && per_cpu->lanes == LANES && per_cpu->stride % 64 == 0);
	for (__u32 i = 0; i < 17; i++) {
		char value[12] = { i, 3, [11] = i };

		CHECK(!shmmap_update(one, &i, value, BPF_ANY, 0));
		CHECK(!shmmap_update(per_cpu, &i, value, BPF_EXIST, i % LANES));
	}
	for (__u32 i = 0; i < 17; i++) {
		const char *at = shmmap_lookup(one, &i, 0);

		CHECK(at == one->at + 16 * i && at[0] == (char)i && at[11] == (char)i);
		CHECK(shmmap_lookup(one, &i, 3) == at);
		at = shmmap_lookup(per_cpu, &i, i % LANES);
		CHECK(at == per_cpu->at + (i * LANES + i % LANES) * per_cpu->stride && at[11] == (char)i);
		CHECK(!shmmap_read(per_cpu, &i, values));
		for (int l = 0; l < LANES; l++)
			CHECK(((char *)&values[2 * l])[1] == (l == (int)i % LANES ? 3 : 0));
		CHECK(shmmap_update(one, &i, values, BPF_NOEXIST, 0) == -EEXIST);
	}
	CHECK(shmmap_update(one, &(__u32){ 17 }, values, BPF_ANY, 0) == -E2BIG);
	CHECK(!shmmap_lookup(one, &(__u32){ 17 }, 0) && shmmap_delete(one, &(__u32){ 1 }) == -EINVAL);
	CHECK(shmmap_next(one, NULL, values) == -ENOENT);
	CHECK(shmmap_update(one, &(__u32){ 1 }, values, 4, 0) == -EINVAL);
}

/* All of the hash's keys are numbers below n: each is given once. */
static __u32 count(struct shmmap_map *m, __u32 n)
{
	char *seen = calloc(n, 1), key[64];
	__u32 found = 0, i;

	for (void *prev = NULL; !shmmap_next(m, prev, key); prev = key, found++) {
		memcpy(&i, key, sizeof(i));
		CHECK(i < n && !seen[i]++);
	}
	free(seen);
	return found;
}

static void hash(struct shmmap_map *m)
{
	enum { MORE = 20 };
	__u32 n = m->max_entries + MORE;
	char key[64] = { 0 }, value[64] = { 0 }, values[64 * LANES];

	for (__u32 round = 0; round < 3; round++) {
		for (__u32 i = 0; i < n; i++) {
			memcpy(key, &i, sizeof(i));
			value[0] = i + round;
			CHECK(shmmap_update(m, key, value, BPF_EXIST, 0) == -ENOENT && shmmap_delete(m, key) == -ENOENT);
			CHECK(shmmap_update(m, key, value, BPF_NOEXIST, i) == (i < m->max_entries ? 0 : -E2BIG));
			CHECK(shmmap_update(m, key, value, BPF_NOEXIST, i) == (i < m->max_entries ? -EEXIST : -E2BIG));
		}
		CHECK(count(m, n) == m->max_entries);
		for (__u32 i = 0; i < n; i++) {
			const char *at;

			memcpy(key, &i, sizeof(i));
			at = shmmap_lookup(m, key, i);
			CHECK(i < m->max_entries ? at && *at == (char)(i + round) : !at);
			if (!at)
				continue;
			CHECK(!shmmap_read(m, key, values));
			/* what the element had of another key is gone */
			for (__u32 l = 0; l < m->lanes; l++)
				CHECK(values[l * ((m->value_size + 7) & ~7)] == (l == i % m->lanes ? *at : 0));
			value[0] = 77;
			CHECK(!shmmap_update(m, key, value, BPF_EXIST, i) && *at == 77);
			value[0] = 78;
			CHECK(!shmmap_update(m, key, value, BPF_ANY, i + 1) && *at == (m->lanes > 1 ? 77 : 78));
			CHECK(!shmmap_delete(m, key) && !shmmap_lookup(m, key, 0) && shmmap_read(m, key, values) == -ENOENT);
		}
		CHECK(!count(m, n));
	}
}

/* What is deleted on the way, and what comes meanwhile, does not end or repeat it. */
static void delete_on_the_way(struct shmmap_map *m)
{
	char key[64] = { 0 }, value[64] = { 0 };
	__u32 n = 0, i = 0;

	for (; i < m->max_entries; i++) {
		memcpy(key, &i, sizeof(i));
		CHECK(!shmmap_update(m, key, value, BPF_ANY, 0));
	}
	for (void *prev = NULL; !shmmap_next(m, prev, key); prev = key, n++)
		CHECK(!shmmap_delete(m, key));
	CHECK(n == m->max_entries && shmmap_next(m, NULL, key) == -ENOENT);
}

void test_types(void)
{
	const struct inject_map maps[] = {
		{ "array", BPF_MAP_TYPE_ARRAY, 4, 12, 17, 0, 0, 0 },
		{ "per_cpu", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 12, 17, 0, 0, 0 },
		{ "k4", BPF_MAP_TYPE_HASH, 4, 1, 1000, 0, 0, 0 },
		{ "k7", BPF_MAP_TYPE_HASH, 7, 8, 1, 0, 0, 0 },
		{ "k40", BPF_MAP_TYPE_HASH, 40, 13, 64, 0, 0, 0 },
		{ "p8", BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 63, 0, 0, 0 },
		{ "p33", BPF_MAP_TYPE_PERCPU_HASH, 33, 20, 65, 0, 0, 0 },
		{ .type = 0 }
	};
	struct shmmap s;

	shmmap_make(&s, maps, LANES);
	array(&s);
	for (int i = 2; i < 7; i++) {
		CHECK(shmmap_find(&s, maps[i].name) == &s.map[i]);
		hash(&s.map[i]);
		delete_on_the_way(&s.map[i]);
	}
	CHECK(!shmmap_find(&s, "k") && !shmmap_find(&s, "k77"));
	shmmap_unmake(&s);
}

static bool is_odd(__u32 tid)
{
	return tid % 2;
}

static bool is_never(__u32 tid)
{
	(void)tid;
	return false;
}

static unsigned left_by;	/* the sum of the threads that left something */

static void on_left(struct inject_thread *t)
{
	CHECK(t->tid & INJECT_LEFT && t->used);
	left_by += t->tid & ~INJECT_LEFT;
}

static void test_left(struct shmmap *s)
{
	struct inject_thread *t = shmmap_thread_take(s, 10, 15, 8, is_never, NULL);

	/* of a free one, or one that has kept nothing, nobody is told */
	shmmap_storage(s, &s->map[0], t, true);
	shmmap_thread_free(s, t);
	CHECK(shmmap_thread_take(s, 10, 15, 8, is_never, on_left) == t && !left_by);
	CHECK(shmmap_thread_take(s, 10, 15, 8, is_never, on_left) == t && !left_by);
	shmmap_storage(s, &s->map[0], t, true);
	CHECK(shmmap_thread_take(s, 10, 15, 8, is_never, on_left) == t && left_by == 15 && t->tid == 15 && !t->used);
	/* that somebody sees to */
	t->start_time = 7;
	CHECK(!shmmap_thread_claim(t, 15, 8) && t->tid == 15 && !shmmap_thread_claim(t, 16, 7));
	CHECK(shmmap_thread_claim(t, 15, 7) && !shmmap_thread_claim(t, 15, 7));
	CHECK(shmmap_thread_take(s, 10, 15, 8, is_odd, on_left) != t && left_by == 15);
}

void test_threads(void)
{
	const struct inject_map maps[] = {
		{ "a", BPF_MAP_TYPE_TASK_STORAGE, 4, 100, 0, 0, 0, 0 }, { "b", BPF_MAP_TYPE_TASK_STORAGE, 4, 8, 0, 0, 0, 0 },
		{ "c", BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0, 0, 0 }, { .type = 0 }
	};
	struct inject_thread *t, *other;
	struct shmmap s;
	char *at;

	shmmap_make(&s, maps, 1);
	t = shmmap_thread_take(&s, 10, 11, 8, is_never, NULL);
	other = shmmap_thread_take(&s, 10, 12, 8, is_never, NULL);
	CHECK(t && other && t != other && s.head->threads_used == 2 && t->tid == 11 && t->pid == 10);
	CHECK(!shmmap_storage(&s, &s.map[0], t, false) && !shmmap_storage(&s, &s.map[2], t, true));
	at = shmmap_storage(&s, &s.map[0], t, true);
	CHECK(at && !at[0] && !at[99] && !shmmap_storage(&s, &s.map[1], t, false));
	memset(at, 1, 100);
	CHECK(shmmap_storage(&s, &s.map[0], t, true) == at && at[50] == 1);
	CHECK(shmmap_storage(&s, &s.map[0], other, true) == at + s.map[0].stride && !at[s.map[0].stride]);
	/* exec: the same thread again */
	CHECK(shmmap_thread_take(&s, 10, 11, 8, is_never, NULL) == t && !shmmap_storage(&s, &s.map[0], t, false));
	CHECK(shmmap_storage(&s, &s.map[0], t, true) == at && !at[50]);
	shmmap_thread_free(&s, other);
	CHECK(!other->tid && shmmap_thread_take(&s, 13, 14, 8, is_never, NULL) == other);
	/* only the process's own threads are asked about */
	CHECK(shmmap_thread_take(&s, 10, 15, 8, is_odd, NULL) == t && shmmap_thread_take(&s, 20, 21, 8, is_odd, NULL) == &s.threads[2]);
	for (__u32 i = 3; i < INJECT_THREADS; i++)
		CHECK(shmmap_thread_take(&s, 30, 2 * i, 8, is_never, NULL) == &s.threads[i]);
	CHECK(!shmmap_thread_take(&s, 31, 7, 8, is_odd, NULL));
	t = &s.threads[INJECT_THREADS / 2];
	t->tid++;	/* now it is odd */
	CHECK(shmmap_thread_take(&s, 30, 100002, 8, is_odd, NULL) == t && !shmmap_thread_take(&s, 30, 100004, 8, is_odd, NULL));
	shmmap_unmake(&s);
	shmmap_make(&s, maps, 1);
	test_left(&s);
	shmmap_unmake(&s);
}

void test_object(const char *file)
{
	const struct shmmap_function functions[] = { { "zebra", 3, 1, INJECT_RETURNS }, { "ant", 7, 2, 0 } };
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map, *lost = NULL;
	struct shmmap_memory *m;
	struct shmmap_map *view;
	size_t size;
	__u64 *at;

	CHECK(obj);
	lost = bpf_object__find_map_by_name(obj, SECTION_LOST);
	at = (__u64 *)bpf_map__initial_value(lost, &size);
	at[0] = 1009;
	m = shmmap_create(obj, functions, 2);
	CHECK(m && m->shm.functions == 2);
	CHECK(!strcmp(m->shm.names + m->shm.function[0].name, "ant") && m->shm.function[0].id == 7);
	CHECK(!strcmp(m->shm.names + m->shm.function[1].name, "zebra") && m->shm.function[1].flags == INJECT_RETURNS);
	view = shmmap_of(m, lost);
	CHECK(view == shmmap_find(&m->shm, SECTION_LOST) && *(__u64 *)view->at == 1009);
	*(__u64 *)view->at = 1013;	/* a program has written it */
	CHECK(at[0] == 1013);
	view = shmmap_find(&m->shm, ".rodata");
	CHECK(view);
	bpf_object__for_each_map(map, obj) {
		void *value = (void *)bpf_map__initial_value(map, &size);

		CHECK(shmmap_of(m, map));
		if (!value)
			continue;
		CHECK(!memcmp(value, shmmap_of(m, map)->at, size));
		/* nor does a program change what the tool has set */
		shmmap_of(m, map)->at[size - 1] ^= 1;
		CHECK(!strncmp(shmmap_of(m, map)->name, ".rodata", 7) == !!memcmp(value, shmmap_of(m, map)->at, size));
	}
	shmmap_destroy(m);
	bpf_object__close(obj);
}

void test_large(const char *file)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);

	CHECK(obj && !shmmap_create(obj, NULL, 0) && errno == E2BIG);
	bpf_object__close(obj);
}

void test_section(const char *file)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct shmmap_memory *m = shmmap_create(obj, NULL, 0);
	struct bpf_map *data = bpf_object__next_map(obj, NULL);
	size_t size;
	__u64 *at = (__u64 *)bpf_map__initial_value(data, &size);

	CHECK(m && m->shm.maps == 1 && shmmap_of(m, data) == &m->shm.map[0] && *(__u64 *)m->shm.map[0].at == 1009);
	*(__u64 *)m->shm.map[0].at = 1013;
	CHECK(*at == 1013);
	shmmap_destroy(m);
	bpf_object__close(obj);
}

/* What a map cannot be. */
static void layouts(void)
{
	static const struct shmmap_map wrong[] = {
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 0, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 8, .value_size = 8, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_PERCPU_ARRAY, .key_size = 0, .value_size = 8, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 0 },
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = ~0u },
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = ~0u, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 1 << 26, .max_entries = 1 << 28 },
		{ .type = BPF_MAP_TYPE_HASH, .key_size = 0, .value_size = 8, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 0, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_HASH, .key_size = ~0u, .value_size = 8, .max_entries = 1 },
		{ .type = BPF_MAP_TYPE_RINGBUF, .max_entries = SMALLEST_PAGE / 2 },
		{ .type = BPF_MAP_TYPE_RINGBUF, .max_entries = 3 * INJECT_PAGE },
		{ .type = BPF_MAP_TYPE_STACK, .key_size = 4, .value_size = 8, .max_entries = 1 },
	};
	struct shmmap_map m = { .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct shmmap_map one = wrong[i];

		CHECK(!shmmap_map_layout(&one, 1));
	}
	CHECK(!shmmap_map_layout(&m, 0) && !shmmap_map_layout(&m, ~0u) && shmmap_map_layout(&m, 1) == INJECT_PAGE);
}

/* Nor does a head that makes no sense become a view. */
void test_view(void)
{
	static const struct inject_map maps[] = {
		{ "array", BPF_MAP_TYPE_ARRAY, 4, 12, 17, 0, 0, 0 }, { "hash", BPF_MAP_TYPE_PERCPU_HASH, 4, 1, 1000, 0, 0, 0 }, { .type = 0 }
	};
	struct inject_head *head, good;
	struct shmmap s, other;

	layouts();
	shmmap_make(&s, maps, LANES);
	head = (struct inject_head *)s.base;
	good = *head;
#define REFUSED(change)	do {						\
	change;								\
	CHECK(!shmmap_view(&other, s.base, s.base, s.bytes));			\
	*head = good;							\
	CHECK(shmmap_view(&other, s.base, s.base, s.bytes));			\
} while (0)
	REFUSED(head->version++);
	REFUSED(head->bytes += INJECT_PAGE);
	REFUSED(head->lanes++);		/* the maps have no room for so many */
	REFUSED(head->lanes = 0);
	REFUSED(head->maps = INJECT_MAPS + 1);
	REFUSED(head->maps++);
	REFUSED(head->functions = INJECT_FUNCTIONS + 1);
	REFUSED((head->functions = 1, head->functions_at = s.bytes - 8));
	REFUSED(head->functions_at += 4);
	REFUSED(head->names_at = s.bytes + 1);
	REFUSED(head->names_bytes = s.bytes);
	REFUSED(head->threads_at = s.bytes);
	REFUSED(head->threads_at += 8);
	REFUSED(head->map[0].at += 64);
	REFUSED(head->map[1].at = s.bytes);
	REFUSED(head->map[1].bytes += INJECT_PAGE);
	REFUSED(head->map[0].bytes = 0);
	REFUSED(head->map[1].type = 1 << 20);
	CHECK(!shmmap_view(&other, s.base + 8, s.base, s.bytes) && !shmmap_view(&other, s.base, s.base, sizeof(good) - 1));
	memset(head->map[0].name, 'x', sizeof(head->map[0].name));
	CHECK(shmmap_view(&other, s.base, s.base, s.bytes) && strlen(other.map[0].name) == sizeof(other.map[0].name) - 1);
	shmmap_unmake(&s);
}
