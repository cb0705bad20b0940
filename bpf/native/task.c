/* SPDX-License-Identifier: GPL-2.0 */
#include <asm/unistd.h>
#include <stddef.h>
#include "native/native.h"
#include "lib/running_task.bpf.h"

__thread struct native native;

/* The process, made by the first of its threads that gets there.  state: its id as the tool sees it, and below that
 * whether it is being made or is made; a forked process has that of another. */
static struct { __u64 state; struct task_struct task; } leader;
enum { LEADER_BEGUN = 1, LEADER_MADE = 2 };
__u32 audit_process;

static void fill(struct task_struct *task, struct audit_thread *thread)
{
	struct shm *s = audit_now.shm;

	task->thread = thread;
	task->own = audit_now.own;
	task->used = 0;
	task->index = thread - s->threads;
	task->lane = s->lanes ? task->index % s->lanes : 0;
	task->pid = thread->tid & ~AUDIT_LEFT;
	task->tgid = thread->pid;
	task->parent = thread->parent;
	task->uid = thread->uid;
	/* all its calls were seen: whenever tracing began, it began later */
	task->start_time = ~0ull - 1;
	native_copy(task->comm, thread->comm, sizeof(task->comm));
}

static void make_leader(const struct task_struct *of)
{
	__u32 tid = native_syscall(__NR_getpid, 0, 0, 0, 0) | AUDIT_OF_PROCESS;
	struct audit_thread *t = shm_thread_take(audit_now.shm, of->tgid, tid, 0, NULL, NULL);

	leader.task = *of;
	leader.task.group_leader = &leader.task;
	leader.task.thread = t;
	leader.task.own = t ? audit_own(t - audit_now.shm->threads) : NULL;
	leader.task.used = 0;
	if (!leader.task.own)
		leader.task.thread = NULL;
	if (!leader.task.thread)
		return;
	t->parent = of->parent;
	t->uid = of->uid;
	native_copy(t->comm, audit_now.comm, sizeof(t->comm));
	leader.task.index = t - audit_now.shm->threads;
	audit_process = leader.task.index + 1;
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
		__builtin_ia32_pause();
	}
	make_leader(task);
	__atomic_store_n(&leader.state, pid | LEADER_MADE, __ATOMIC_RELEASE);
	return &leader.task;
}

/* The element of the process whose thread this is; the thread's own if it has none. */
static struct audit_thread *process_of(const struct audit_thread *thread)
{
	struct shm *s = audit_now.shm;
	__u32 n = s->head->threads_used;

	for (__u32 i = 0; i < n && i < AUDIT_THREADS; i++)
		if (s->threads[i].pid == thread->pid && s->threads[i].tid & AUDIT_OF_PROCESS)
			return &s->threads[i];
	return (struct audit_thread *)thread;
}

/* Of a thread of another process, which may have ended. */
static struct task_struct *other_leader(const struct task_struct *task)
{
	fill(&leader.task, process_of(task->thread));
	leader.task.group_leader = &leader.task;
	return &leader.task;
}

void *native_storage(const struct shm_map *m, struct task_struct *task, bool make)
{
	void *shared = shm_storage(audit_now.shm, m, task->thread, make);

	if (!task->own || !make)
		return task->own ? NULL : shared;
	__builtin_memset(task->own + m->own, 0, m->stride);
	__atomic_fetch_or(&task->used, 1u << m->storage, __ATOMIC_RELEASE);
	return shared ? task->own + m->own : NULL;
}

void native_first(void)
{
	fill(&native.task, audit_now.thread);
	native.other = audit_now.other;	/* what thread's tid says, any program may have written */
	native.random = (__builtin_ia32_rdtsc() ^ (__u64)native.task.pid << 32) | 1;
	native.task.group_leader = native.other && !audit_now.here ? other_leader(&native.task) : leader_of(&native.task);
	native.stack_low = native.stack_top = native.stack_tries = 0;
	audit_now.task = &native.task;
}

__attribute__((cold)) void native_begin_slowly(__u64 here)
{
	if (!audit_now.task)
		native_first();
	native.stack = here & -4096ull;
	native.stack_end = native.other ? 0 : here >= native.stack_low && here < native.stack_top ? native.stack_top : native_stack_end(here);
	native.pages = 0;
	native.now = 0;
}

__u32 native_random(void)
{
	__u64 x = native.random;	/* xorshift64* (Marsaglia, Vigna) */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	native.random = x;
	return x * 0x2545f4914f6cdd1d >> 32;
}

/* The tool writes it there: to ask the kernel may end a program that is under a seccomp filter. */
const char *native_comm(void)
{
	return native.task.thread && !native.other ? native.task.thread->comm : native.task.comm;
}

const char *native_leader_comm(void)
{
	const struct audit_thread *process = native.task.group_leader->thread;

	return process ? process->comm : audit_now.comm;
}

int native_each(struct audit_each *each, int (*program)(struct bpf_iter__task *))
{
	struct bpf_iter_meta meta = { .seq = each };
	struct bpf_iter__task ctx = { .meta = &meta, .task = &native.task };

	native_begin((__u64)__builtin_frame_address(0));
	return program(&ctx);
}
