/* SPDX-License-Identifier: GPL-2.0 */
#include <asm/unistd.h>
#include <stddef.h>
#include "abi/slot.h"
#include "agent/bpf/task.h"
#include "machine/stub_frame.h"

__thread struct inject_self inject_self;

/* The process, made by the first of its threads to get there.  state: its id as the tool sees it, and in the low bits whether
 * it is being made or is made; a forked process has that of another. */
static struct { __u64 state; struct task_struct task; } leader;
enum { LEADER_BEGUN = 1, LEADER_MADE = 2 };
__u32 inject_process_info;

static void fill(struct task_struct *task, struct inject_thread *thread)
{
	struct shmmap *s = inject_now.shm;

	task->thread = thread;
	task->own = inject_now.other ? NULL : inject_now.own;
	task->used = 0;
	task->index = thread - s->threads;
	task->lane = s->lanes ? task->index % s->lanes : 0;
	task->own_slots = task->index < SLOT_OWN_LANES;
	task->slots = task->own_slots ? task->index : SLOT_OWN_LANES + task->lane;
	task->pid = thread->tid & ~INJECT_LEFT;
	task->tgid = thread->pid;
	task->parent = thread->parent;
	task->uid = thread->uid;
	task->comm = thread->comm;
	/* all its calls were seen: whenever tracing began, it began later */
	task->start_time = ~0ull - 1;
}

static void make_leader(const struct task_struct *of)
{
	__u32 tid = sys4(__NR_getpid, 0, 0, 0, 0) | INJECT_OF_PROCESS;
	struct inject_thread *t = shmmap_thread_take(inject_now.shm, of->tgid, tid, 0, NULL, NULL);

	leader.task = *of;
	leader.task.group_leader = &leader.task;
	leader.task.thread = t;
	leader.task.own = t ? inject_own(t - inject_now.shm->threads) : NULL;
	leader.task.used = 0;
	if (!leader.task.own)
		leader.task.thread = NULL;
	if (!leader.task.thread)
		return;
	t->parent = of->parent;
	t->uid = of->uid;
	inject_copy(t->comm, inject_now.comm, sizeof(t->comm));
	leader.task.index = t - inject_now.shm->threads;
	inject_process_info = leader.task.index + 1;
}

static struct task_struct *leader_of(const struct task_struct *task)
{
	const __u64 pid = (__u64)(__u32)task->tgid << 2;
	__u64 state;

	for (;;) {
		state = __atomic_load_n(&leader.state, __ATOMIC_ACQUIRE);
		if (state == (pid | LEADER_MADE))
			return &leader.task;
		if (state != (pid | LEADER_BEGUN) &&
		    __sync_bool_compare_and_swap(&leader.state, state, pid | LEADER_BEGUN))
			break;
		spin_pause();
	}
	make_leader(task);
	__atomic_store_n(&leader.state, pid | LEADER_MADE, __ATOMIC_RELEASE);
	return &leader.task;
}

/* The element of the thread's process; the thread's own if it has none. */
static struct inject_thread *process_of(const struct inject_thread *thread)
{
	struct shmmap *s = inject_now.shm;
	__u32 n = s->head->threads_used;

	for (__u32 i = 0; i < n && i < INJECT_THREADS; i++)
		if (__atomic_load_n(&s->threads[i].tid, __ATOMIC_ACQUIRE) & INJECT_OF_PROCESS && s->threads[i].pid == thread->pid)
			return &s->threads[i];
	return (struct inject_thread *)thread;
}

/* Of a thread of another process, which may have ended. */
static struct task_struct *other_leader(const struct task_struct *task)
{
	fill(&leader.task, process_of(task->thread));
	leader.task.group_leader = &leader.task;
	return &leader.task;
}

void *inject_storage(const struct shmmap_map *m, struct task_struct *task, bool make)
{
	void *shared = shmmap_storage(inject_now.shm, m, task->thread, make);

	if (!task->own || !make)
		return task->own ? NULL : shared;
	__builtin_memset(task->own + m->own, 0, m->stride);
	__atomic_fetch_or(&task->used, 1u << m->storage, __ATOMIC_RELEASE);
	return shared ? task->own + m->own : NULL;
}

void inject_first(void)
{
	struct inject_rest *r = inject_rest();

	_Static_assert(sizeof(*r) <= INJECT_REST, "INJECT_REST is too small");
	fill(&inject_self.task, inject_now.thread);
	r->random = (inject_clock_ns() ^ (__u64)inject_self.task.pid << 32) | 1;
	/* any program may have written thread's tid */
	if (inject_now.other && !inject_now.here)
		inject_self.task.group_leader = other_leader(&inject_self.task);
	else
		inject_self.task.group_leader = leader_of(&inject_self.task);
	inject_self.stack_low = inject_self.stack_top = r->stack_tries = 0;
	inject_now.begun = true;
}

__attribute__((cold)) void inject_begin_slowly(__u64 here)
{
	if (!inject_now.begun)
		inject_first();
	inject_self.stack = here & -(__u64)SMALLEST_PAGE;
	if (inject_now.other)
		inject_self.stack_end = 0;
	else if (here >= inject_self.stack_low && here < inject_self.stack_top)
		inject_self.stack_end = inject_self.stack_top;
	else
		inject_self.stack_end = inject_stack_end(here);
	inject_now.pages = 0;
	inject_self.now = 0;
}

bool inject_armed(__u64 entry, __u64 sp)
{
	if (!inject_now.begun || sp < inject_self.stack_low || sp >= entry ||
	    entry > inject_self.stack_top)
		return false;
	return *(const volatile __u64 *)(entry - STUB_MARK) == (INJECT_STUB_MAGIC ^ entry);
}

__u32 inject_random(void)
{
	__u64 x = inject_rest()->random;	/* xorshift64* (Marsaglia, Vigna) */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	inject_rest()->random = x;
	return x * 0x2545f4914f6cdd1d >> 32;
}

/* The tool writes it there: a system call may end a program under a seccomp filter. */
const char *inject_comm(void)
{
	return inject_self.task.comm;
}

const char *inject_leader_comm(void)
{
	const struct inject_thread *process = inject_self.task.group_leader->thread;

	return process ? process->comm : inject_now.comm;
}

int inject_each_thread(struct inject_each_call *each, int (*program)(struct bpf_iter__task *))
{
	struct bpf_iter_meta meta = { .seq = each };
	struct bpf_iter__task ctx = { .meta = &meta, .task = &inject_self.task };

	inject_begin((__u64)__builtin_frame_address(0));
	return program(&ctx);
}
