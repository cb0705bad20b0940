/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The ring buffer: by one thread, by many, and by those who are killed. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shmmap.h"

enum { WRITERS = 6, RECORDS = 150000, LARGEST = 400, MOST_WRITERS = 512 };

struct item { __u32 writer, number; char rest[]; };

struct shared { __u64 refused[MOST_WRITERS]; __u32 ended; };

struct seen {
	__u64 records, next[MOST_WRITERS];
	bool dead[MOST_WRITERS];
	long stop;		/* fn returns it once */
};

static const struct inject_map maps[] = {
	{ "shared", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct shared), 1, 0, 0, 0 },
	{ "ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 65536, 0, 0, 0 }, { .type = 0 }
};

/* A record's bytes depend on its number. */
static __u32 size_of(__u32 number)
{
	return sizeof(struct item) + number * 7919 % (LARGEST - sizeof(struct item));
}

static int see(void *ctx, void *data, __u64 size)
{
	struct item *r = data;
	struct seen *seen = ctx;
	int ret = seen->stop;

	CHECK(size >= sizeof(*r) && r->writer < MOST_WRITERS && size == size_of(r->number));
	CHECK(r->number >= seen->next[r->writer]);	/* those between were refused */
	for (__u64 i = 0; i < size - sizeof(*r); i++)
		CHECK(r->rest[i] == (char)(r->number + i));
	seen->next[r->writer] = r->number + 1;
	seen->records++;
	seen->stop = 0;
	return ret;
}

static bool is_dead(void *ctx, __u32 self)
{
	CHECK(self && self <= MOST_WRITERS);
	return ((struct seen *)ctx)->dead[self - 1];
}

static struct shmmap_reader reader(struct shmmap *s, struct seen *seen)
{
	static char copy[LARGEST];

	memset(seen, 0, sizeof(*seen));
	return (struct shmmap_reader){
		.map = &s->map[1], .copy = copy, .most = sizeof(copy), .fn = see, .is_dead = is_dead, .ctx = seen,
	};
}

static void *begin(struct shmmap *s, __u32 writer, __u32 number)
{
	__u32 size = size_of(number);
	struct item *r = shmmap_ring_reserve(&s->map[1], size, writer + 1);

	if (!r)
		return NULL;
	*r = (struct item){ writer, number };
	for (__u32 i = 0; i < size - sizeof(*r); i++)
		r->rest[i] = number + i;
	return r;
}

static bool write_one(struct shmmap *s, __u32 writer, __u32 number)
{
	void *r = begin(s, writer, number);

	if (r)
		shmmap_ring_submit(r);
	return r;
}

static void order(struct shmmap *s, struct shmmap_reader *r, struct seen *seen)
{
	void *a = begin(s, 0, 0), *b = begin(s, 1, 0), *c = begin(s, 0, 1);

	shmmap_ring_submit(b);
	CHECK(!shmmap_ring_read(r) && !seen->records);
	shmmap_ring_discard(a);
	CHECK(shmmap_ring_read(r) == 1 && seen->next[1] == 1 && !seen->next[0]);
	shmmap_ring_submit(c);
	seen->stop = -77;
	CHECK(shmmap_ring_read(r) == -77 && seen->next[0] == 2 && !shmmap_ring_read(r));
	CHECK(!r->dropped && !shmmap_ring_query(&s->map[1], BPF_RB_AVAIL_DATA));
}

void test_ring(void)
{
	__u32 number = 2, written = 0;
	struct seen seen;
	struct shmmap s;
	struct shmmap_reader r;
	void *record;

	shmmap_make(&s, maps, 1);
	r = reader(&s, &seen);
	order(&s, &r, &seen);
	CHECK(!shmmap_ring_reserve(&s.map[1], 65536, 1) && !shmmap_ring_reserve(&s.map[1], ~0ull, 1));
	/* until it is full, over and over, so that each size comes at the end */
	for (int round = 0; round < 500; round++) {
		for (seen.records = written = 0; write_one(&s, 0, number); number++)
			written++;
		CHECK(shmmap_ring_query(&s.map[1], BPF_RB_AVAIL_DATA) > 65536 - 2 * LARGEST);
		CHECK(shmmap_ring_read(&r) == written && seen.records == written && seen.next[0] == number);
	}
	/* larger than a copy can be */
	record = shmmap_ring_reserve(&s.map[1], LARGEST + 1, 1);
	CHECK(record);
	shmmap_ring_submit(record);
	CHECK(write_one(&s, 0, number++) && shmmap_ring_read(&r) == 1 && r.dropped == 1);
	/* a position that makes no sense leaves no room; the tool sets it right */
	((__u64 *)s.map[1].at)[8] += 1 << 20;
	CHECK(!write_one(&s, 0, number) && !shmmap_ring_read(&r) && write_one(&s, 0, number++) && shmmap_ring_read(&r) == 1);
	((__u64 *)s.map[1].at)[0] += 12345;
	CHECK(!write_one(&s, 0, number) && !shmmap_ring_read(&r) && r.dropped == 2);
	CHECK(write_one(&s, 0, number++) && shmmap_ring_read(&r) == 1 && seen.next[0] == number);
	/* a header that makes no sense: what is written then is read */
	record = begin(&s, 0, number);
	shmmap_ring_submit(record);
	((__u64 *)record)[-1] = 1 << 24;
	CHECK(!shmmap_ring_read(&r) && r.dropped == 3);
	CHECK(write_one(&s, 0, number++) && shmmap_ring_read(&r) == 1 && seen.next[0] == number);
	shmmap_unmake(&s);
}

struct writer { struct shmmap *s; __u32 number; pthread_t thread; };

static void *write_all(void *arg)
{
	const struct writer *w = arg;
	struct shared *shared = (struct shared *)w->s->map[0].at;

	for (__u32 i = 0; i < RECORDS; i++) {
		int tries = 100;

		while (!write_one(w->s, w->number, i) && --tries)
			sched_yield();
		shared->refused[w->number] += !tries;
	}
	__atomic_fetch_add(&shared->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Half of the writers are threads of another process. */
void test_writers(void)
{
	struct writer all[WRITERS];
	struct shared *shared;
	struct shmmap_reader r;
	__u64 refused = 0;
	struct seen seen;
	struct shmmap s;
	int pid, status;
	bool over;

	shmmap_make(&s, maps, 1);
	shared = (struct shared *)s.map[0].at;
	r = reader(&s, &seen);
	pid = fork();
	for (int i = pid ? 0 : WRITERS / 2; i < (pid ? WRITERS / 2 : WRITERS); i++) {
		all[i] = (struct writer){ &s, i, 0 };
		CHECK(!pthread_create(&all[i].thread, NULL, write_all, &all[i]));
	}
	if (!pid) {
		for (int i = WRITERS / 2; i < WRITERS; i++)
			pthread_join(all[i].thread, NULL);
		_exit(0);
	}
	do {
		over = __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) == WRITERS;
		CHECK(shmmap_ring_read(&r) >= 0);
	} while (!over);
	for (int i = 0; i < WRITERS / 2; i++)
		pthread_join(all[i].thread, NULL);
	CHECK(wait(&status) == pid && !status);
	for (int i = 0; i < WRITERS; i++)
		refused += shared->refused[i];
	CHECK(seen.records + refused == (__u64)WRITERS * RECORDS && !r.dropped);
	printf("%llu records, %llu refused\n", (unsigned long long)seen.records, (unsigned long long)refused);
	shmmap_unmake(&s);
}

static int begin_child(struct shmmap *s, __u32 writer)
{
	int pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	for (__u32 i = 0;; i += write_one(s, writer, i))
		;
}

/* One writer is never killed: all of its records come, in spite of the others. */
void test_writers_killed(void)
{
	enum { CHILDREN = 3, KILLS = 150 };
	int pids[CHILDREN], own[CHILDREN], status;
	__u32 writer = 1, number = 0, state = 1;
	struct shmmap_reader r;
	struct seen seen;
	struct shmmap s;

	shmmap_make(&s, maps, 1);
	r = reader(&s, &seen);
	for (int i = 0; i < CHILDREN; i++)
		pids[i] = begin_child(&s, own[i] = writer++);
	for (int n = 0; n < KILLS; n++) {
		int i = n % CHILDREN;

		for (int k = draw(&state) % 20; k >= 0; k--) {
			CHECK(shmmap_ring_read(&r) >= 0);
			number += write_one(&s, 0, number);
			usleep(draw(&state) % 50);
		}
		CHECK(!kill(pids[i], SIGKILL) && waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status));
		seen.dead[own[i]] = true;
		pids[i] = begin_child(&s, own[i] = writer++);
	}
	for (int i = 0; i < CHILDREN; i++) {
		CHECK(!kill(pids[i], SIGKILL) && waitpid(pids[i], &status, 0) == pids[i]);
		seen.dead[own[i]] = true;
	}
	while (shmmap_ring_read(&r) > 0)
		;
	CHECK(seen.next[0] == number && r.dropped <= KILLS + CHILDREN);
	CHECK(!shmmap_ring_query(&s.map[1], BPF_RB_AVAIL_DATA));
	printf("%d killed: %llu records, %llu of those who were killed\n", KILLS + CHILDREN,
	       (unsigned long long)seen.records, (unsigned long long)r.dropped);
	shmmap_unmake(&s);
}
