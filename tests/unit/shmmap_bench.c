/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What it costs, in nanoseconds. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "shmmap.h"

enum { ROUNDS = 5000000, RECORD = 64, KEYS = 1000 };

struct writer {
	struct shmmap *s;
	double period;		/* of a record; 0: as fast as it can */
	__u64 refused;
	__u32 self;
	pthread_t thread;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int nothing(void *ctx, void *record, __u64 size)
{
	(void)record, (void)size;
	++*(__u64 *)ctx;
	return 0;
}

static bool nobody(void *ctx, __u32 self)
{
	(void)ctx, (void)self;
	return false;
}

static void *write_records(void *arg)
{
	struct writer *w = arg;
	double start = now();

	for (int i = 0; i < ROUNDS; i++) {
		char *record;

		while (i % 100 == 0 && now() - start < i * w->period)
			;
		record = shmmap_ring_reserve(&w->s->map[0], RECORD, w->self);
		if (!record) {
			w->refused++;
			continue;
		}
		memset(record, i, RECORD);
		shmmap_ring_submit(record);
	}
	return NULL;
}

/* Records from so many threads, a period each, read every 10 ms as a tool does. */
static void records(int writers, double period)
{
	const struct inject_map maps[] = { { "ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 64 << 20, 0, 0, 0 }, { .type = 0 } };
	struct writer all[8];
	__u64 n = 0, refused = 0;
	struct shmmap_reader r = { .copy = (char[RECORD]){ 0 }, .most = RECORD, .fn = nothing, .is_dead = nobody, .ctx = &n };
	struct shmmap s;
	double start;

	shmmap_make(&s, maps, 1);
	r.map = s.map;
	start = now();
	for (int i = 0; i < writers; i++) {
		all[i] = (struct writer){ &s, period, 0, i + 1, 0 };
		CHECK(!pthread_create(&all[i].thread, NULL, write_records, &all[i]));
	}
	while (now() - start < 1e10 && n + refused < (__u64)writers * ROUNDS) {
		usleep(10000);
		shmmap_ring_read(&r);
		for (int i = refused = 0; i < writers; i++)
			refused += *(volatile __u64 *)&all[i].refused;
	}
	start = now() - start;
	for (int i = 0; i < writers; i++)
		pthread_join(all[i].thread, NULL);
	printf("records of %d threads: %.1f ns each, %.1f M/s, %llu of %llu refused\n", writers,
	       start / ROUNDS, writers * ROUNDS * 1e3 / start, (unsigned long long)refused,
	       (unsigned long long)writers * ROUNDS);
	shmmap_unmake(&s);
}

/* The thread that writes also reads: what reading costs is not in it. */
static void uncontended(void)
{
	const struct inject_map maps[] = { { "ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 64 << 20, 0, 0, 0 }, { .type = 0 } };
	double write = 0, read = 0, start = 0;
	__u64 n = 0;
	struct shmmap_reader r = { .copy = (char[RECORD]){ 0 }, .most = RECORD, .fn = nothing, .is_dead = nobody, .ctx = &n };
	struct shmmap s;

	shmmap_make(&s, maps, 1);
	r.map = s.map;
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 10000 == 0) {
			start = now();
			shmmap_ring_read(&r);
			read += now() - start;
			start = now();
		}
		shmmap_ring_submit(shmmap_ring_reserve(s.map, RECORD, 1));
		if (i % 10000 == 9999)
			write += now() - start;
	}
	printf("a record alone: %.1f ns, and %.1f to read it\n", write / ROUNDS, read / ROUNDS);
	shmmap_unmake(&s);
}

static void hashes(__u32 key_size)
{
	const struct inject_map maps[] = { { "hash", BPF_MAP_TYPE_HASH, key_size, 64, 4096, 0, 0, 0 }, { .type = 0 } };
	char key[256] = { 0 }, value[64] = { 0 };
	double ns[3] = { 0 }, start;
	struct shmmap s;

	shmmap_make(&s, maps, 1);
	memset(s.map->at, 0, s.map->bytes);	/* the first time it is touched is another matter */
	for (int round = 0; round < 1000; round++)
		for (int what = 0; what < 3; what++) {
			start = now();
			for (__u32 i = 0; i < KEYS; i++) {
				*(__u32 *)key = i;
				if (what == 0)
					CHECK(!shmmap_update(s.map, key, value, BPF_NOEXIST, 0));
				else if (what == 1)
					CHECK(shmmap_lookup(s.map, key, 0));
				else
					CHECK(!shmmap_delete(s.map, key));
			}
			ns[what] += (now() - start) / KEYS / 1000;
		}
	printf("a hash's key of %u bytes: insert %.1f, lookup %.1f, delete %.1f ns\n", key_size, ns[0], ns[1], ns[2]);
	shmmap_unmake(&s);
}

void bench(void)
{
	uncontended();
	records(1, 0);
	records(2, 0);
	records(2, 2e9 / 5e6);
	hashes(4);
	hashes(32);
	hashes(128);
}
