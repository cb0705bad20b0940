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

/* How old a comm may be. */
enum { COMM_NS = 10000, LEADER_COMM_NS = 1000000 };

static void fill(struct task_struct *task, struct audit_thread *thread)
{
	struct shm *s = audit_now.shm;

	task->thread = thread;
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
	struct audit_thread *t = shm_thread_take(audit_now.shm, of->tgid, tid, NULL, NULL);

	leader.task = *of;
	leader.task.group_leader = &leader.task;
	leader.task.thread = t;
	if (!t)
		return;
	t->parent = of->parent;
	t->uid = of->uid;
	leader.task.index = t - audit_now.shm->threads;
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

void native_first(void)
{
	fill(&native.task, audit_now.thread);
	native.other = audit_now.other;	/* what thread's tid says, any program may have written */
	native.comm_read = native.leader_comm_read = 0;
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

const char *native_comm(void)
{
	__u64 now = native.now ?: audit_clock_ns();

	if (now - native.comm_read > COMM_NS && !native.other) {
		native_syscall(__NR_prctl, 16 /* PR_GET_NAME */, (long)native.task.comm, 0, 0);
		native_copy(native.task.thread->comm, native.task.comm, sizeof(native.task.comm));
		native.comm_read = now;
	}
	return native.task.comm;
}

/* The kernel has it in a file: nothing else tells it of another thread. */
static void read_leader_comm(void)
{
	long fd = native_syscall(__NR_open, (long)"/proc/self/comm", 02000000 /* O_CLOEXEC */, 0, 0), n;
	char comm[17] = {};

	if (fd < 0)
		return;
	n = native_syscall(__NR_read, fd, (long)comm, 16, 0);
	native_syscall(__NR_close, fd, 0, 0, 0);
	if (n > 0 && n <= 16)
		comm[n - 1] = 0;	/* in place of a newline */
	native_copy(native.leader_comm, comm, sizeof(native.leader_comm));
}

const char *native_leader_comm(void)
{
	__u64 now = native.now ?: audit_clock_ns();

	if (native.other || native.task.pid == native_syscall(__NR_getpid, 0, 0, 0, 0))
		return native_comm();
	if (now - native.leader_comm_read > LEADER_COMM_NS) {
		read_leader_comm();
		native.leader_comm_read = now;
	}
	return native.leader_comm;
}

int native_each(struct audit_each *each, int (*program)(struct bpf_iter__task *))
{
	struct bpf_iter_meta meta = { .seq = each };
	struct bpf_iter__task ctx = { .meta = &meta, .task = &native.task };

	native_begin((__u64)__builtin_frame_address(0));
	return program(&ctx);
}
