/* SPDX-License-Identifier: GPL-2.0 */
/* Counts calls in groups: without call stacks in the kernel, where nothing is sent; with them
 * by a record for each call, which user space adds up.  To be included after cuda.bpf.h by a
 * tool whose struct thread_data has a struct tally_state tally. */
#ifndef TALLY_BPF_H
#define TALLY_BPF_H
#include "tally.h"

/* Set by the tool. */
const volatile bool tally_stacks;	/* send records */
const volatile bool tally_pids;		/* groups are by process, too */

/* Changed by user space, which then has what was counted before to itself. */
volatile __u32 tally_epoch;

/* A program can be interrupted by another thread's on the same CPU: hence atomic operations,
 * which cost little where nobody else is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct tally_key);
	__type(value, struct tally);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} events SEC(".maps");

/* those that sent a record */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, char);
} processes SEC(".maps");

static const struct tally tally_none;

static __always_inline void tally_raise(__u64 *at, __u64 v)
{
	__u64 old = *(volatile __u64 *)at, seen;

	for (int i = 0; i < 16 && v > old; i++) {
		seen = __sync_val_compare_and_swap(at, old, v);
		if (seen == old)
			return;
		old = seen;
	}
}

/* The number of the highest bit that is set; 0 of 0, too. */
static __always_inline __u32 tally_slot(__u64 v)
{
	__u32 n = 0;

	for (int step = 32; step; step >>= 1)
		if (v >> step) {
			v >>= step;
			n += step;
		}
	return n & (TALLY_SLOTS - 1);
}

static __always_inline void tally_add(const struct tally_key *key, __u64 value, __u64 ns,
				      __u64 shown, bool failed)
{
	struct tally *s = bpf_map_lookup_elem(&tallies, key);

	if (!s) {	/* it may be there by now */
		bpf_map_update_elem(&tallies, key, &tally_none, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&tallies, key);
	}
	if (!s) {
		lose(LOST_GROUP);
		return;
	}
	if (!s->comm[0])
		bpf_get_current_comm(s->comm, sizeof(s->comm));
	if (failed) {
		__sync_fetch_and_add(&s->failed, 1);
		return;
	}
	__sync_fetch_and_add(&s->count, 1);
	__sync_fetch_and_add(&s->sum, value);
	__sync_fetch_and_add(&s->ns, ns);
	__sync_fetch_and_add(&s->slots[tally_slot(shown)], 1);
	tally_raise(&s->least, ~value);
	tally_raise(&s->most, value);
}

/* As in memory.bpf.h: the reader looks every 10 ms, and is woken when much has piled up. */
static __always_inline void tally_send(struct pt_regs *ctx, struct tally_state *state,
				       const struct tally_key *key, __u64 value, __u64 ns,
				       __u64 shown, bool failed)
{
	const __u64 head = offsetof(struct tally_record, stack);
	struct tally_record *r = &state->record;
	bool first = !state->known;
	__u64 flags = BPF_RB_NO_WAKEUP;
	long n;

	r->key = *key;
	r->value = value;
	r->ns = ns;
	r->shown = shown;
	r->pid = bpf_get_current_pid_tgid() >> 32;
	r->failed = failed;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	n = bpf_get_stack(ctx, r->stack, sizeof(r->stack), BPF_F_USER_STACK);
	if (n < 0 || n > (long)sizeof(r->stack))
		n = 0;
	r->frames = (__u64)n / 8;
	if (first) {
		char yes = 1;

		state->known = true;
		if (bpf_map_update_elem(&processes, &r->pid, &yes, BPF_ANY))
			lose(LOST_PROCESS);
	}
	if (first || bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > 64 * 1024)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&events, r, head + n, flags))
		lose(LOST_RECORD);
}

static __always_inline struct tally_key tally_key(__u32 what)
{
	struct tally_key key = { .epoch = tally_epoch, .what = what };

	if (tally_pids)
		key.pid = bpf_get_current_pid_tgid() >> 32;
	return key;
}

static __always_inline void tally_gone(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct tally_record *r;

	if (bpf_map_delete_elem(&processes, &pid))
		return;
	r = bpf_ringbuf_reserve(&events, offsetof(struct tally_record, stack), 0);
	if (!r) {
		lose(LOST_RECORD);
		return;
	}
	__builtin_memset(r, 0, offsetof(struct tally_record, stack));
	r->key.what = TALLY_GONE;
	r->pid = pid;
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/* These two are wanted with records only: stacks have their names from the mappings. */
SEC("raw_tp/sched_process_exit") int tally_exit(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	/* not each thread's end: the last one's */
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		tally_gone();
	return 0;
}

SEC("raw_tp/sched_process_exec") int tally_exec(void *ctx)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);

	if (t) {
		t->call.sp = 0;
		t->data.tally.known = false;
	}
	tally_gone();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
#endif
