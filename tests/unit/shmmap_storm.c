/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Many threads of several processes at once. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shmmap.h"

enum { WORKERS = 12, PROCESSES = 4, SUMS = 31, OWN = 7, FOUGHT = 5 };

struct key { __u32 what, number, spare; };
enum what { SUM = 1, MINE, FOUGHT_FOR };

/* What all workers share: behind an array's only element. */
struct shared {
	__u64 added;		/* to all sums together */
	__s64 there[FOUGHT];	/* inserted less deleted */
	__u32 inserted, arrived;
};

struct worker {
	struct shmmap *s;
	int number, rounds;
	pthread_t thread;
};

static const struct inject_map maps[] = {
	{ "shared", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct shared), 1, 0, 0, 0 },
	/* no larger than it must be, so that elements change hands all the time: a worker can have one that it inserts and
	 * one that it has just taken out besides its own */
	{ "hash", BPF_MAP_TYPE_HASH, sizeof(struct key), 16, SUMS + WORKERS * 3 + FOUGHT, 0, 0, 0 },
	{ "ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 65536, 0, 0, 0 }, { .type = 0 }
};

static struct shared *shared_of(struct shmmap *s)
{
	return (struct shared *)s->map[0].at;
}

/* As a program counts: a key that is there stays. */
static void add(struct shmmap *s, unsigned int *state)
{
	const struct key key = { SUM, draw(state) % SUMS, 0 };
	const __u64 none[2] = { 0 };
	__u64 *at = shmmap_lookup(&s->map[1], &key, 0);
	int err = 0;

	if (!at) {
		err = shmmap_update(&s->map[1], &key, none, BPF_NOEXIST, 0);
		at = shmmap_lookup(&s->map[1], &key, 0);
	}
	CHECK(!err || err == -EEXIST);
	CHECK(at);
	__atomic_fetch_add(at, 3, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared_of(s)->added, 3, __ATOMIC_RELAXED);
}

/* Nobody else has these keys: all is as if the others were not there. */
static void own(struct shmmap *s, int number, unsigned int *state)
{
	const struct key key = { MINE, number * OWN + draw(state) % OWN, 0 };
	__u64 value[2] = { draw(state), number }, *at;

	CHECK(!shmmap_lookup(&s->map[1], &key, 0) && shmmap_delete(&s->map[1], &key) == -ENOENT);
	CHECK(!shmmap_update(&s->map[1], &key, value, BPF_NOEXIST, 0));
	CHECK(shmmap_update(&s->map[1], &key, value, BPF_NOEXIST, 0) == -EEXIST);
	at = shmmap_lookup(&s->map[1], &key, 0);
	CHECK(at && at[0] == value[0] && at[1] == value[1]);
	CHECK(!shmmap_delete(&s->map[1], &key) && !shmmap_lookup(&s->map[1], &key, 0));
}

/* Anybody inserts and deletes these. */
static void fight(struct shmmap *s, unsigned int *state)
{
	const struct key key = { FOUGHT_FOR, draw(state) % FOUGHT, 0 };
	bool insert = draw(state) % 2;
	const __u64 none[2] = { 0 };
	int err = insert ? shmmap_update(&s->map[1], &key, none, BPF_NOEXIST, 0) : shmmap_delete(&s->map[1], &key);

	CHECK(!err || err == (insert ? -EEXIST : -ENOENT));
	if (!err)
		__atomic_fetch_add(&shared_of(s)->there[key.number], insert ? 1 : -1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int state = w->number;

	for (int i = 0; i < w->rounds; i++) {
		add(w->s, &state);
		own(w->s, w->number, &state);
		fight(w->s, &state);
	}
	return NULL;
}

/* Runs fn in some threads and some processes. */
static void run(struct shmmap *s, void *(*fn)(void *), int rounds)
{
	struct worker all[WORKERS];
	int status;

	for (int i = 0; i < WORKERS; i++) {
		all[i] = (struct worker){ s, i, rounds, 0 };
		if (i < PROCESSES) {
			if (fork())
				continue;
			fn(&all[i]);
			_exit(0);
		}
		CHECK(!pthread_create(&all[i].thread, NULL, fn, &all[i]));
	}
	for (int i = PROCESSES; i < WORKERS; i++)
		pthread_join(all[i].thread, NULL);
	for (int i = 0; i < PROCESSES; i++)
		CHECK(wait(&status) > 0 && !status);
}

/* Elements that are in use, and those of them that are found. */
static void count(struct shmmap_map *m, __u32 *taken, __u32 *found)
{
	const __u64 *words = (const __u64 *)(m->at + 64);
	struct key key;

	*taken = *found = 0;
	for (__u32 i = 0; i < (m->max_entries + 63) / 64; i++)
		*taken += __builtin_popcountll(words[i]);
	for (void *prev = NULL; !shmmap_next(m, prev, &key); prev = &key)
		++*found;
}

static __u64 sum(struct shmmap *s)
{
	__u64 all = 0;

	for (__u32 i = 0; i < SUMS; i++) {
		const __u64 *at = shmmap_lookup(&s->map[1], &(struct key){ SUM, i, 0 }, 0);

		all += at ? *at : 0;
	}
	return all;
}

void test_storm(void)
{
	__u32 taken, found, fought = 0;
	struct shmmap s;

	shmmap_make(&s, maps, 1);
	run(&s, work, 100000);
	for (__u32 i = 0; i < FOUGHT; i++) {
		bool there = shmmap_lookup(&s.map[1], &(struct key){ FOUGHT_FOR, i, 0 }, 0);

		CHECK(shared_of(&s)->there[i] == there);
		fought += there;
	}
	CHECK(sum(&s) == shared_of(&s)->added && sum(&s) == 3ull * WORKERS * 100000);
	count(&s.map[1], &taken, &found);
	CHECK(found == SUMS + fought && taken == found);
	shmmap_unmake(&s);
}

/* All come together for each key. */
static void *insert_same(void *arg)
{
	struct worker *w = arg;
	struct shared *shared = shared_of(w->s);
	const __u64 none[2] = { 0 };

	for (int i = 0; i < w->rounds; i++) {
		const struct key key = { MINE, i, 0 };

		__atomic_fetch_add(&shared->arrived, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&shared->arrived, __ATOMIC_RELAXED) < (__u32)(i + 1) * WORKERS)
			usleep(0);
		if (!shmmap_update(&w->s->map[1], &key, none, BPF_NOEXIST, 0))
			__atomic_fetch_add(&shared->inserted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

void test_same(void)
{
	const struct inject_map large[] = { maps[0], { "hash", BPF_MAP_TYPE_HASH, sizeof(struct key), 16, 3000, 0, 0, 0 }, { .type = 0 } };
	__u32 taken, found;
	struct shmmap s;

	shmmap_make(&s, large, 1);
	run(&s, insert_same, 2000);
	count(&s.map[1], &taken, &found);
	CHECK(shared_of(&s)->inserted == 2000 && found == 2000 && taken == 2000);
	shmmap_unmake(&s);
}

/* A child that does all this until it is killed: what is its own stays as it is then. */
static int begin_child(struct shmmap *s, int number)
{
	struct worker w = { s, number, 1 << 30, 0 };
	int pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	work(&w);
	_exit(1);
}

void test_killed(void)
{
	enum { KILLS = 100 };
	const struct inject_map large[] = { maps[0], { "hash", BPF_MAP_TYPE_HASH, sizeof(struct key), 16, 4096, 0, 0, 0 }, { .type = 0 } };
	int pids[PROCESSES], status, number = 1;
	__u32 taken, found;
	unsigned int state = 1, own_state = 2;
	struct shmmap s;

	shmmap_make(&s, large, 1);
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = begin_child(&s, number++);
	for (int n = 0; n < KILLS; n++) {
		int i = n % PROCESSES;

		usleep(draw(&state) % 3000);
		for (int k = 0; k < 100; k++) {
			add(&s, &own_state);
			own(&s, 0, &own_state);
		}
		CHECK(!kill(pids[i], SIGKILL) && waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status));
		CHECK(WTERMSIG(status) == SIGKILL);
		pids[i] = begin_child(&s, number++);
	}
	for (int i = 0; i < PROCESSES; i++)
		CHECK(!kill(pids[i], SIGKILL) && waitpid(pids[i], &status, 0) == pids[i]);
	count(&s.map[1], &taken, &found);
	/* of each one its own key, and two elements that it had in hand */
	CHECK(taken <= SUMS + FOUGHT + 3 * (KILLS + PROCESSES) && found <= SUMS + FOUGHT + KILLS + PROCESSES);
	CHECK(found >= SUMS && shared_of(&s)->added <= sum(&s) && sum(&s) <= shared_of(&s)->added + 3 * (KILLS + PROCESSES));
	printf("%d killed: %u of %u elements in use are found\n", KILLS + PROCESSES, found, taken);
	shmmap_unmake(&s);
}

/* A handler has no other way to them. */
static struct shmmap *interrupted;
static unsigned int handled;

static void write_record(struct shmmap *s, __u32 number)
{
	__u32 *record = shmmap_ring_reserve(&s->map[2], sizeof(number), 1);

	if (record) {
		*record = number;
		shmmap_ring_submit(record);
	}
}

static void handle(int sig)
{
	static unsigned int state = 5;

	(void)sig;
	add(interrupted, &state);
	own(interrupted, 1, &state);
	fight(interrupted, &state);
	write_record(interrupted, 1);
	handled++;
}

static int take_record(void *ctx, void *record, __u64 size)
{
	CHECK(size == 4);
	((unsigned int *)ctx)[*(__u32 *)record]++;
	return 0;
}

static bool nobody(void *ctx, __u32 self)
{
	(void)ctx, (void)self;
	return false;
}

void test_signals(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	unsigned int state = 1, n[2] = { 0 }, rounds = 0;
	struct shmmap_reader r = { .copy = (char[8]){ 0 }, .most = 8, .fn = take_record, .is_dead = nobody, .ctx = n };
	struct shmmap s;

	shmmap_make(&s, maps, 1);
	interrupted = &s;
	r.map = &s.map[2];
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; __atomic_load_n(&handled, __ATOMIC_RELAXED) < 5000; rounds++) {
		add(&s, &state);
		own(&s, 0, &state);
		fight(&s, &state);
		write_record(&s, 0);
		if (rounds % 100 == 0)
			shmmap_ring_read(&r);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	shmmap_ring_read(&r);
	CHECK(sum(&s) == 3ull * (rounds + handled));
	CHECK(n[0] == rounds && n[1] == handled && !r.dropped);
	for (__u32 i = 0; i < FOUGHT; i++)
		CHECK(shared_of(&s)->there[i] == !!shmmap_lookup(&s.map[1], &(struct key){ FOUGHT_FOR, i, 0 }, 0));
	shmmap_unmake(&s);
}
