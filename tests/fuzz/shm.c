/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the memory that a tool shares with programs: they write anything into it, also while the tool reads.  Each map
 * stands between pages that nobody can access. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <pthread.h>
#include <sys/mman.h>
#include "fuzz.h"
#include "shmmap/shmmap.h"

enum { LANES = 3, MAPS = 5, RECORD = 256, THREADS_BYTES = INJECT_THREADS * sizeof(struct inject_thread) };

static const struct inject_map kinds[MAPS] = {
	{ "hash", BPF_MAP_TYPE_HASH, 5, 12, 100, 0, 0, 0 },
	{ "per_cpu", BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 64, 0, 0, 0 },
	{ "array", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 20, 10, 0, 0, 0 },
	{ "storage", BPF_MAP_TYPE_TASK_STORAGE, 4, 100, 0, 0, 0, 0 },
	{ "ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 8192, 0, 0, 0 },
};

static struct shmmap shm;		/* of these maps, wherever they are */
static struct shmmap_reader reader;
static volatile unsigned long long busy;	/* not 0: the other thread writes, too */

/* Returns bytes of 0, in whole pages, with one that cannot be accessed at either end. */
static char *guarded(size_t bytes)
{
	char *at = mmap(NULL, bytes + 2 * INJECT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(at != MAP_FAILED && !mprotect(at + INJECT_PAGE, bytes, PROT_READ | PROT_WRITE));
	return at + INJECT_PAGE;
}

static void *write_anything(void *arg)
{
	unsigned long long state = 1;

	(void)arg;
	for (;;) {
		const struct shmmap_map *m;

		while (!busy)
			;
		state = state * 6364136223846793005ull + busy;
		m = &shm.map[(state >> 60) % MAPS];
		/* mostly where all begins: heads, links, positions */
		*(volatile unsigned long long *)(m->at + (state >> 33) % (state & 1 << 30 ? m->bytes : 1024) / 8 * 8) =
			state & 1 << 29 ? state >> 50 : state >> 35 & 1 ? state : 0;
	}
	return NULL;
}

static int see(void *ctx, void *record, __u64 size)
{
	unsigned char *sum = ctx;

	CHECK(size <= RECORD && record == reader.copy);
	for (__u64 i = 0; i < size; i++)
		*sum ^= ((unsigned char *)record)[i];
	return *sum % 64 ? 0 : -1;
}

static bool is_dead(void *ctx, __u32 self)
{
	(void)ctx;
	return self % 2;
}

static bool has_ended(__u32 tid)
{
	return is_dead(NULL, tid);
}

/* Once. */
static void make(void)
{
	static unsigned char sum;
	pthread_t thread;

	shm.lanes = LANES;
	shm.maps = MAPS;
	shm.head = (struct inject_head *)guarded(2 * INJECT_PAGE);
	shm.threads = (struct inject_thread *)guarded(THREADS_BYTES);
	for (int i = 0; i < MAPS; i++) {
		struct shmmap_map *m = &shm.map[i];

		m->type = kinds[i].type;
		m->key_size = kinds[i].key_size;
		m->value_size = kinds[i].value_size;
		m->max_entries = kinds[i].max_entries;
		m->bytes = shmmap_map_layout(m, LANES);
		CHECK(m->bytes);
		m->at = guarded(m->bytes);
	}
	reader = (struct shmmap_reader){
		.map = &shm.map[4], .copy = malloc(RECORD), .most = RECORD, .fn = see, .is_dead = is_dead, .ctx = &sum,
	};
	CHECK(!pthread_create(&thread, NULL, write_anything, NULL));
}

/* As it is at first.  The tool's own position stays: it may be any. */
static void clear(void)
{
	for (int i = 0; i < MAPS; i++)
		madvise(shm.map[i].at, shm.map[i].bytes, MADV_DONTNEED);
	madvise(shm.head, 2 * INJECT_PAGE, MADV_DONTNEED);
	madvise(shm.threads, THREADS_BYTES, MADV_DONTNEED);
	reader.at = reader.dropped = 0;
}

/* A head that says anything: if it is accepted, all is inside. */
static void view(struct input *in)
{
	struct shmmap *s = malloc(sizeof(*s));
	struct inject_head *head;
	__u64 bytes = 16 << 20, at = INJECT_PAGE * 2;
	static char *base;

	base = base ? base : guarded(bytes);
	head = (struct inject_head *)base;
	*head = (struct inject_head){ .version = INJECT_VERSION, .lanes = LANES, .bytes = bytes, .threads_at = at };
	head->functions_at = head->names_at = sizeof(*head);
	at += THREADS_BYTES;
	for (int i = 0; i < MAPS; i++) {
		head->map[i] = kinds[i];
		head->map[i].at = at;
		head->map[i].bytes = shm.map[i].bytes;
		at += shm.map[i].bytes;
	}
	head->maps = MAPS;
	CHECK(at <= bytes && shmmap_view(s, base, base, bytes));
	for (int n = take(in, 1) % 8; n; n--) {
		size_t to = take(in, 2) % sizeof(*head), size = 1 + take(in, 1) % 8;
		unsigned long long value = take(in, size);

		memcpy((char *)head + to, &value, size < sizeof(*head) - to ? size : sizeof(*head) - to);
	}
	if (shmmap_view(s, base, base, bytes)) {
		CHECK(s->maps <= INJECT_MAPS && s->functions <= INJECT_FUNCTIONS);
		CHECK((char *)s->threads >= base && (char *)(s->threads + INJECT_THREADS) <= base + bytes);
		CHECK((char *)s->function >= base && (char *)(s->function + s->functions) <= base + bytes);
		CHECK(s->names >= base && s->names + s->names_bytes <= base + bytes);
		for (__u32 i = 0; i < s->maps; i++) {
			CHECK(s->map[i].at >= base && s->map[i].at + s->map[i].bytes <= base + bytes);
			CHECK(s->map[i].bytes == shmmap_map_layout(&s->map[i], s->lanes));
			CHECK(strnlen(s->map[i].name, INJECT_MAP_NAME) < INJECT_MAP_NAME);
		}
	}
	free(s);
}

/* A program writes. */
static void mangle(struct input *in)
{
	const struct shmmap_map *m = &shm.map[take(in, 1) % MAPS];
	size_t at = take(in, 3), size = 1 + take(in, 1) % 8;
	unsigned long long value = take(in, size);

	at = at & 1 ? at / 2 % 2048 * 8 : at / 2;
	memcpy(m->at + at % (m->bytes - 8), &value, size);
	if (m->type == BPF_MAP_TYPE_TASK_STORAGE) {
		memcpy((char *)shm.threads + at % (THREADS_BYTES - 8), &value, size);
		shm.head->threads_used = value >> 8;
	}
}

static void use_hash(struct shmmap_map *m, struct input *in)
{
	char *key = calloc(1, m->key_size), *next = malloc(m->key_size), *value = calloc(1, m->value_size);
	char *values = malloc(m->lanes * ((m->value_size + 7) & ~7));
	__u32 lane = take(in, 1), n = 0;

	key[0] = take(in, 1) % 32;
	shmmap_update(m, key, value, lane % 4, lane);
	shmmap_read(m, key, values);
	for (void *prev = NULL; !shmmap_next(m, prev, next); prev = next)
		n += 1 + !!shmmap_read(m, next, values);
	CHECK(n <= 2 * m->max_entries);
	if (lane & 64)
		shmmap_delete(m, key);
	free(key);
	free(next);
	free(value);
	free(values);
}

static void use_threads(struct input *in)
{
	struct inject_thread *t = shmmap_thread_take(&shm, 1 + take(in, 1) % 4, 1 + take(in, 1), 8, has_ended, NULL);
	char *at = t ? shmmap_storage(&shm, &shm.map[3], t, true) : NULL;

	CHECK(!t || (at >= shm.map[3].at && at + shm.map[3].value_size <= shm.map[3].at + shm.map[3].bytes));
	if (t && take(in, 1) & 1)
		shmmap_thread_free(&shm, t);
}

static void use_ring(struct input *in)
{
	__u64 size = take(in, 2) % (RECORD + 16), at = reader.at;
	char *record = shmmap_ring_reserve(reader.map, size, 1 + (size & 1));

	if (record) {
		CHECK(record >= shm.map[4].at && record + size <= shm.map[4].at + shm.map[4].bytes);
		memset(record, size, size);
		(size & 2 ? shmmap_ring_submit : shmmap_ring_discard)(record);
	}
	shmmap_ring_read(&reader);
	CHECK(reader.at % 8 == 0 && reader.at - at <= 2 * reader.map->max_entries);
	for (int what = 0; what < 4; what++)
		shmmap_ring_query(reader.map, what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (!reader.map)
		make();
	view(&in);
	busy = take(&in, 1) % 4 ? 0 : take(&in, 8) | 1;
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			use_hash(&shm.map[take(&in, 1) % 2], &in);
			break;
		case 1:
			use_hash(&shm.map[2], &in);	/* an array has fewer functions */
			break;
		case 2:
			use_threads(&in);
			break;
		case 3:
		case 4:
			use_ring(&in);
			break;
		default:
			mangle(&in);
		}
	}
	busy = 0;
	clear();
	return 0;
}
