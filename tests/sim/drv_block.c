/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Address spaces, and a table of everything that is allocated in them.
 * The memory is reserved, never committed: the kernel backs what is touched.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "drv.h"

struct size_class {
	size_t room;
	struct block *free;
	struct size_class *next;
};

struct space {
	uint64_t base, end, fresh;
	struct size_class *classes[64];
};

static struct space spaces[NUM_SPACES];
static struct block **table;
static size_t buckets, blocks;
static size_t used[MAX_DEVICES];
uint64_t blocks_generation;

pthread_mutex_t drv_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
	pthread_mutex_lock(&drv_lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&drv_lock);
}

static void __attribute__((constructor)) survive_fork(void)
{
	pthread_atfork(lock, unlock, unlock);
}

size_t drv_used(int dev)
{
	return used[dev];
}

int space_holds(int space, uint64_t addr)
{
	return addr >= spaces[space].base && addr < spaces[space].end;
}

static int space_open(struct space *s)
{
	size_t size;
	void *p;

	/* Less where a tool like Valgrind has less to give. */
	for (size = 1ULL << 40; size >= 1ULL << 30; size >>= 2) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			continue;
		/* A core dump would walk all of it. */
		madvise(p, size, MADV_DONTDUMP);
		s->base = ((uint64_t)(uintptr_t)p + (2 << 20)) & ~((2ULL << 20) - 1);
		s->fresh = s->base;
		s->end = (uint64_t)(uintptr_t)p + size;
		return 1;
	}
	return 0;
}

static size_t round_room(int space, size_t size)
{
	size_t unit = space == VMM_SPACE ? 2 << 20 : 512;

	while (space != VMM_SPACE && size > 16 * unit && unit < 2 << 20)
		unit *= 2;
	return (size + unit - 1) / unit * unit;
}

static struct size_class *class_of(struct space *s, size_t room)
{
	struct size_class **p = &s->classes[room / 512 % 64], *c;

	for (; *p; p = &(*p)->next)
		if ((*p)->room == room)
			return *p;
	c = calloc(1, sizeof(*c));
	if (c)
		c->room = room;
	return *p = c;
}

/* Addresses end in zeros: take the product's upper half. */
static size_t bucket_of(uint64_t key, size_t count)
{
	return (key * 0x9e3779b97f4a7c15ULL >> 32) % count;
}

static void table_add(struct block *b)
{
	struct block **p;

	if (blocks >= buckets) {
		size_t want = buckets ? buckets * 2 : 1024, i;
		struct block **grown = calloc(want, sizeof(*grown)), *x;

		if (!grown)
			abort();
		for (i = 0; i < buckets; i++)
			while ((x = table[i])) {
				table[i] = x->next;
				p = &grown[bucket_of(x->key, want)];
				x->next = *p;
				*p = x;
			}
		free(table);
		table = grown;
		buckets = want;
	}
	p = &table[bucket_of(b->key, buckets)];
	b->next = *p;
	*p = b;
	blocks++;
	blocks_generation++;
}

static struct block **table_slot(uint64_t key, unsigned kinds)
{
	struct block **p;

	if (!buckets)
		return NULL;
	p = &table[bucket_of(key, buckets)];
	for (; *p; p = &(*p)->next)
		if ((*p)->key == key && ((*p)->kind & kinds))
			return p;
	return NULL;
}

struct block *block_find(uint64_t key, unsigned kinds)
{
	struct block **p = table_slot(key, kinds);

	return p ? *p : NULL;
}

/* The block an address inside it belongs to; slow, hence the look at spaces. */
struct block *block_around(uint64_t addr, unsigned kinds)
{
	struct block *b = block_find(addr, kinds);
	size_t i;

	for (i = 0; !b && i < buckets; i++)
		for (b = table[i]; b; b = b->next)
			if ((b->kind & kinds) && addr - b->addr < b->size)
				break;
	return b;
}

struct block *block_like(unsigned kinds, int (*like)(const struct block *b, const void *what),
			 const void *what)
{
	struct block *b;
	size_t i;

	for (i = 0; i < buckets; i++)
		for (b = table[i]; b; b = b->next)
			if ((b->kind & kinds) && like(b, what))
				return b;
	return NULL;
}

void blocks_each(unsigned kinds, void (*each)(const struct block *b, void *arg), void *arg)
{
	struct block *b;
	size_t i;

	for (i = 0; i < buckets; i++)
		for (b = table[i]; b; b = b->next)
			if (b->kind & kinds)
				each(b, arg);
}

/* A block over memory or a handle that is somebody else's. */
struct block *block_wrap(enum kind kind, uint64_t key, size_t size)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->key = key ? key : (uint64_t)(uintptr_t)b;
	b->addr = key;
	b->size = size;
	b->kind = kind;
	b->charged = -1;
	b->refs = 1;
	b->ctx = drv_current();
	table_add(b);
	return b;
}

/* Takes size bytes from a space; last freed of its size, first reused. */
struct block *block_new(enum kind kind, int space, int charged, size_t size)
{
	struct space *s = &spaces[space];
	struct size_class *c;
	struct block *b;
	size_t room;

	if (kind != K_RANGE && size > drv_memory)
		return NULL;
	if (charged >= 0 && size > drv_memory - used[charged])
		return NULL;
	if (!s->base && !space_open(s))
		return NULL;
	room = round_room(space, size);
	c = class_of(s, room);
	b = c ? c->free : NULL;
	if (b) {
		c->free = b->next;
	} else {
		if (room > s->end - s->fresh)
			return NULL;
		b = calloc(1, sizeof(*b));
		if (!b)
			return NULL;
		b->addr = s->fresh;
		s->fresh += room;
	}
	*b = (struct block) {
		.key = b->addr, .addr = b->addr, .size = size, .room = room,
		.kind = kind, .space = space, .charged = charged, .refs = 1,
		.ctx = drv_current(),
	};
	if (charged >= 0)
		used[charged] += size;
	table_add(b);
	return b;
}

void block_free(struct block *b)
{
	struct block **p = table_slot(b->key, b->kind);
	struct size_class *c;

	*p = b->next;
	blocks--;
	blocks_generation++;
	if (b->charged >= 0)
		used[b->charged] -= b->size;
	if (b->pool)
		pool_put(b->pool);
	free(b->extra);
	if (!b->room) {
		free(b);
		return;
	}
	if (b->room >= 1 << 20)
		madvise((void *)(uintptr_t)b->addr, b->room, MADV_DONTNEED);
	b->extra = NULL;
	b->key = 0;
	c = class_of(&spaces[b->space], b->room);
	b->next = c->free;
	c->free = b;
}

void blocks_of_context_free(CUcontext ctx)
{
	struct block *b, *next;
	size_t i;

	for (i = 0; i < buckets; i++)
		for (b = table[i]; b; b = next) {
			next = b->next;
			/* cuda.h: not what cuMemCreate and the pools have made */
			if (b->ctx == ctx && !b->pool && !(b->kind & (K_RANGE | K_HANDLE | K_MAP)))
				block_free(b);
		}
}
