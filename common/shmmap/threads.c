/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/bpf.h>
#include "shmmap/shmmap.h"

static bool threads_swap(__u32 *at, __u32 from, __u32 to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static struct inject_thread *own(struct inject_thread *t, __u32 pid, __u32 tid)
{
	t->parent = 0;
	t->used = 0;
	t->start_time = 0;
	__builtin_memset(t->comm, 0, sizeof(t->comm));
	t->uid = 0;
	t->busy = 0;
	t->named = 0;
	t->marks = 0;
	__atomic_store_n(&t->pid, pid, __ATOMIC_RELEASE);
	__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	return t;
}

bool shmmap_thread_claim(struct inject_thread *t, __u32 tid, __u64 since)
{
	if (!threads_swap(&t->tid, tid, tid | INJECT_LEFT))
		return false;
	if (t->start_time == since)
		return true;
	__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	return false;
}

/* How many elements are examined before a new one is taken: thousands of processes may start together. */
enum { NEAR = 256 };

/* A free element, or one with this tid: of a thread that has ended, or its own before exec.  Examines some of them from the
 * last freed one on. */
static struct inject_thread *find_free(struct shmmap *s, __u32 used, __u32 some, __u32 pid, __u32 tid)
{
	__u32 from = __atomic_load_n(&s->head->threads_free, __ATOMIC_RELAXED);

	for (__u32 n = 0; n < used && n < some; n++) {
		__u32 i = (from + n) % used;
		struct inject_thread *t = &s->threads[i];
		__u32 there = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

		if ((!there && threads_swap(&t->tid, 0, tid)) ||
		    (there == tid && __atomic_load_n(&t->pid, __ATOMIC_ACQUIRE) == pid && shmmap_thread_claim(t, tid, t->start_time))) {
			__atomic_store_n(&s->head->threads_free, (i + 1) % used, __ATOMIC_RELAXED);
			return t;
		}
	}
	return NULL;
}

/* An element of a thread of this process that has ended. */
static struct inject_thread *find_dead(struct shmmap *s, __u32 used, __u32 pid, __u32 tid, int asked, bool (*is_dead)(__u32))
{
	/* not always the same ones first */
	__u32 from = used ? tid % used : 0;

	for (__u32 n = 0; n < used && asked > 0; n++) {
		struct inject_thread *t = &s->threads[(from + n) % used];
		__u32 there = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
		__u64 since = t->start_time;

		if (!there || there & (INJECT_OF_PROCESS | INJECT_LEFT) || __atomic_load_n(&t->pid, __ATOMIC_ACQUIRE) != pid)
			continue;
		asked--;
		if (is_dead(there) && shmmap_thread_claim(t, there, since))
			return t;
	}
	return NULL;
}

/* The first element that no thread has had. */
static struct inject_thread *find_new(struct shmmap *s, __u32 used, __u32 tid)
{
	for (__u32 i = used; i < INJECT_THREADS; i++) {
		__u32 now = __atomic_load_n(&s->head->threads_used, __ATOMIC_ACQUIRE);

		if (!threads_swap(&s->threads[i].tid, 0, tid))
			continue;
		while (now <= i && !threads_swap(&s->head->threads_used, now, i + 1))
			now = __atomic_load_n(&s->head->threads_used, __ATOMIC_ACQUIRE);
		return &s->threads[i];
	}
	return NULL;
}

struct inject_thread *shmmap_thread_take(struct shmmap *s, __u32 pid, __u32 tid, int asked,
				     bool (*is_dead)(__u32 tid), void (*left)(struct inject_thread *t))
{
	__u32 used = __atomic_load_n(&s->head->threads_used, __ATOMIC_ACQUIRE);
	struct inject_thread *t;

	if (used > INJECT_THREADS)
		used = INJECT_THREADS;
	t = find_free(s, used, NEAR, pid, tid);
	if (!t)
		t = find_dead(s, used, pid, tid, asked, is_dead);
	if (!t)
		t = find_new(s, used, tid);
	if (!t)
		t = find_free(s, used, used, pid, tid);
	if (!t && is_dead)
		t = find_dead(s, INJECT_THREADS, pid, tid, INJECT_THREADS, is_dead);
	if (!t)
		return NULL;
	if (left && t->tid & INJECT_LEFT && t->used)
		left(t);
	return own(t, pid, tid);
}

void shmmap_thread_free(struct shmmap *s, struct inject_thread *t)
{
	__atomic_store_n(&s->head->threads_free, (__u32)(t - s->threads), __ATOMIC_RELAXED);
	t->busy = 0;
	/* pid first: the next thread's element must not be freed for this one's process */
	__atomic_store_n(&t->pid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
}

void *shmmap_storage(const struct shmmap *s, const struct shmmap_map *m, struct inject_thread *t, bool make)
{
	__u32 bit = 1u << m->storage, used = __atomic_load_n(&t->used, __ATOMIC_ACQUIRE);
	__u64 i = t - s->threads;
	char *at;

	if (m->type != BPF_MAP_TYPE_TASK_STORAGE || i >= INJECT_THREADS || (!make && !(used & bit)))
		return NULL;
	at = m->at + i * m->stride;
	if (!(used & bit)) {
		__builtin_memset(at, 0, m->stride);
		__atomic_fetch_or(&t->used, bit, __ATOMIC_RELEASE);
	}
	return at;
}
