/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A thread's element in the shared memory, and a process that was forked. */
#include <stddef.h>
#include <linux/mman.h>
#include "abi/lost.h"
#include "agent/inject/inject.h"

enum { NO_SUCH = 3 /* ESRCH */, ASKED = 8 };

void lost_call(struct injected *a, unsigned why)
{
	if (a->lost)
		__atomic_fetch_add(a->lost + why, 1, __ATOMIC_RELAXED);
}

/* A system call each: only if the tool, in another PID namespace, does not see which threads have ended. */
static bool is_dead(__u32 tid)
{
	return sys3(__NR_tgkill, injected.own, tid, 0) == -NO_SUCH;
}

/* The tool's marks of the process; in a child that has not connected, those of its parent. */
static __u32 process_marks(const struct injected *a)
{
	const struct inject_thread *t = inject_process_info && inject_process_info <= INJECT_THREADS ? &a->threads[inject_process_info - 1] : NULL;

	return t && t->tid & INJECT_OF_PROCESS && t->pid == (__u32)a->pid ? t->marks : 0;
}

/* The program has been forked since it connected. */
static void forked(struct injected *a)
{
	__s32 parent = a->pid;
	__u32 state = FORKED;

	environment_time(a);	/* before the clock is read: it never goes back */
	if (!__atomic_compare_exchange_n(&a->page->state, &state, CONNECTING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return;
	a->page->since = inject_clock_ns();
	a->page->by = (__u32)sys3(__NR_gettid, 0, 0, 0);
	__atomic_fetch_or(&a->marks, process_marks(a) & INJECT_FILTERED, __ATOMIC_RELAXED);
	if (!(a->marks & INJECT_FILTERED) && environment_filters(a->status) > a->filters)
		__atomic_fetch_or(&a->marks, INJECT_FILTERED, __ATOMIC_RELAXED);
	if (a->marks & INJECT_FILTERED) {
		__atomic_store_n(&a->page->state, WITHDRAWN, __ATOMIC_RELEASE);
		return;
	}
	if (!connect_forked(a, parent)) {
		a->page->ticks = __atomic_load_n(&a->head->ticks, __ATOMIC_RELAXED);
		__atomic_store_n(&a->page->state, a->silent ? UNANSWERED : LEFT_OUT, __ATOMIC_RELEASE);
		return;
	}
	a->parent = (__u32)parent;
	a->changes = false;	/* the tool has read all mappings of this process */
	__atomic_store_n(&a->page->epoch, ++a->epochs, __ATOMIC_RELEASE);
	__atomic_store_n(&a->page->state, READY, __ATOMIC_RELEASE);
}

/* Another thread of the process is connecting: waits a little.  Returns false if it is this thread, interrupted. */
static bool others_connect(struct injected *a)
{
	const __u64 signals = inject_here.signals;
	__u32 state = CONNECTING;

	if (a->page->since && inject_clock_ns() - a->page->since > ABANDONED_NS)
		__atomic_compare_exchange_n(&a->page->state, &state, FORKED, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	else if (a->page->by == (__u32)sys3(__NR_gettid, 0, 0, 0))
		return false;
	signals_restore(signals);
	sys3(__NR_sched_yield, 0, 0, 0);
	signals_block();
	inject_here.signals = signals;	/* a handler may have made calls */
	inject_here.blocked = true;
	return true;
}

/* Connects again once the tool runs: its clock has advanced. */
static void ask_again(struct injected *a)
{
	__u32 state = UNANSWERED;

	if (__atomic_load_n(&a->head->ticks, __ATOMIC_RELAXED) != a->page->ticks)
		__atomic_compare_exchange_n(&a->page->state, &state, FORKED, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

static bool process_ready(struct injected *a)
{
	__u32 state;

	if (!a->wiped && a->own != sys3(__NR_getpid, 0, 0, 0))
		*a->page = (struct fork_page){ 0 };
	if (__atomic_load_n(&a->page->state, __ATOMIC_ACQUIRE) == UNANSWERED)
		ask_again(a);
	while ((state = __atomic_load_n(&a->page->state, __ATOMIC_ACQUIRE)) == FORKED || state == CONNECTING)
		if (state == FORKED)
			forked(a);
		else if (!others_connect(a))
			break;
	if (state == WITHDRAWN)
		lost_call(a, LOST_WITHDRAWN);
	if (state == UNANSWERED || state == CONNECTING)
		lost_call(a, LOST_ANSWER);
	return state == READY;
}

/* The call in flight at the thread's end never returns: runs the program for it.  The tool does so if no other thread takes the
 * element. */
static void left(struct inject_thread *t)
{
	char rest[INJECT_REST] __attribute__((aligned(8)));

	if (!injected.left)
		return;
	inject_now = (struct inject_now){
		.shm = &injected.shm, .thread = t, .own = rest + sizeof(rest),
		.comm = injected.comm, .here = true, .other = true,
	};
	injected.left(NULL);
}

unsigned long own_bytes(const struct injected *a)
{
	return INJECT_REST + a->shm.own;
}

char *inject_own(__u32 index)
{
	struct injected *a = &injected;
	long p;

	if (index >= INJECT_THREADS)
		return NULL;
	if (!a->storages[index]) {
		p = sys6(__NR_mmap, 0, (long)own_bytes(a), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_failed(p))
			return NULL;
		a->storages[index] = (char *)p + INJECT_REST;
	}
	return a->storages[index];
}

static bool thread_take(struct injected *a)
{
	__u32 tid = (__u32)sys3(__NR_gettid, 0, 0, 0), epoch = a->page->epoch;
	struct inject_thread *t;

	if (inject_here.epoch == epoch)
		return true;
	t = shmmap_thread_take(&a->shm, (__u32)a->pid, tid, a->pid == a->own ? 0 : ASKED, is_dead, left);
	inject_now = (struct inject_now){ 0 };
	if (!t || !(inject_now.own = inject_own((__u32)(t - a->shm.threads)))) {
		lost_call(a, LOST_THREAD);
		return false;
	}
	t->start_time = inject_clock_ns();
	t->self = thread_pointer();
	t->parent = a->parent;
	t->busy = 0;
	t->uid = a->uid;
	__atomic_fetch_or(&t->marks, process_marks(a), __ATOMIC_RELAXED);
	memcpy(t->comm, a->comm, sizeof(t->comm));
	inject_now.comm = a->comm;
	inject_now.python = &a->python;
	inject_now.stack = tid == (__u32)a->own ? a->stack : 0;
	inject_now.shm = &a->shm;
	inject_now.thread = t;
	inject_here.outermost = 0;	/* after a fork it is the parent's */
	inject_here.epoch = epoch;
	return true;
}

void marks_take(struct injected *a)
{
	__u32 marks = __atomic_load_n(&inject_now.thread->marks, __ATOMIC_RELAXED) & ~a->marks;

	__atomic_fetch_or(&a->marks, marks, __ATOMIC_RELAXED);
	if (marks & INJECT_PYTHON)
		a->changes = true;	/* ask the tool */
	if (!(a->marks & INJECT_OTHER_USER))
		return;
	__atomic_store_n(&a->page->state, WITHDRAWN, __ATOMIC_RELEASE);
	__atomic_store_n(&a->page->epoch, 0, __ATOMIC_RELEASE);
	memory_leave(a);
}

/* No signal handler of the program may see incomplete state. */
bool thread_ready(struct injected *a)
{
	__u64 before;
	bool ok;

	if (a->wiped && a->page->state == LEFT_OUT)
		return false;
	before = signals_block();
	inject_here.signals = before;
	inject_here.blocked = true;
	ok = process_ready(a) && thread_take(a);
	inject_here.blocked = false;
	signals_restore(before);
	return ok;
}
