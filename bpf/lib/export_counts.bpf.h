/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of each process for cudaexporter: launches, copies and waits; errors; with --exemplars, the last call of each
 * bucket; with --kernels, launches by kernel.  User space reads it at each scrape, and deletes it when the program has
 * ended. */
#ifndef LIB_EXPORT_COUNTS_BPF_H
#define LIB_EXPORT_COUNTS_BPF_H
#ifndef THREAD_DATA
#error "define THREAD_DATA before this"
#endif
#include "lib/kernel_calls.bpf.h"
#include "lib/launch_counts.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/slots.bpf.h"
#include "lib/task.bpf.h"
#include "abi/cuda_sticky.h"
#include "abi/cudaexporter.h"

/* For keys whose slot is taken.  One value for all CPUs: with hundreds of CPUs, a value for each would take a
 * gigabyte. */
enum { EXPORT_COUNTS = 16384 };

BPF_HASH(export_counts, struct export_key, struct export_entry, EXPORT_COUNTS)

/* Of export_counts; user space gives back the shares of entries that it deletes. */
struct shares export_shares SEC(".data.export_shares");

/* Calls by enum export_group: a cache line for each lane of one thread, and for each CPU. */
struct { __u64 n[8]; } export_hits[EXPORT_HITS] SEC(".data.export_hits");

/* Returns the number of binary digits of v - 1; 0 for 0. */
static __always_inline __u32 digits_below(__u64 v)
{
	return v < 2 ? 0 : highest_bit(v - 1) + 1;
}

static __always_inline bool export_same(const struct export_key *a, const struct export_key *b)
{
	return a->program == b->program && a->pid == b->pid && a->id == b->id && a->device == b->device &&
	       a->what == b->what && a->detail == b->detail;
}

static __always_inline __u32 export_place(const struct export_key *key)
{
	__u64 mixed = key->program ^ (__u64)key->id << 40 ^ (__u64)key->device << 24 ^
		      (__u64)key->detail << 8 ^ (__u64)key->what << 4;

	return mixed * 0x9e3779b97f4a7c15 >> (64 - EXPORT_SLOT_BITS);
}

SLOT_TABLE(export_slots, EXPORT_SLOTS, struct export_slot, struct export_key, export_place, export_same)

static __always_inline struct export_values *export_in_map(const struct export_key *key)
{
	struct export_entry *e = bpf_map_lookup_elem(&export_counts, key);

	return e ? &e->values : NULL;
}

/* Adds the key to the map, unless the user has too many.  Not static, so that the verifier checks it once. */
__noinline int export_new(const struct export_key *key)
{
	static const struct export_entry none;	/* not on the stack, of which its callers have much */
	struct export_entry *e;
	struct export_key k;
	__u32 number;

	if (!key)
		return 0;
	k = *key;		/* a key must be on the stack (before Linux 6.2) */
	if (!share_add(&export_counts, &k, &none, &number, &export_shares, EXPORT_COUNTS))
		return 1;
	e = bpf_map_lookup_elem(&export_counts, &k);
	if (e)
		e->share = number;
	return 1;
}

/* Sets *own: see slot_add(). */
static __always_inline struct export_values *export_values_of(const struct export_key *key, bool *own)
{
	struct export_slot *q = export_slots_at(key);
	struct export_values *v = q ? &q->values : NULL;

	*own = q && slot_is_own();
	if (!v)
		v = export_in_map(key);
	if (!v) {
		export_new(key);
		v = export_in_map(key);	/* another thread may have added it */
	}
	if (!v)
		lose(LOST_GROUP);
	return v;
}

/* Reports the first call of a program in a process.  Not static, as above. */
__noinline int export_report(__u64 program)
{
	struct export_seen *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(LOST_RECORD);
		return 0;
	}
	e->head.pid = thread_pid();
	e->head.kind = EXPORT_SEEN;
	e->head.frames = 0;
	e->program = program;
	e->uid = process_real_user();
	e->user = share_user();
	process_comm(e->comm);
	bpf_ringbuf_submit(e, records_wakeup(sizeof(*e), true));
	return 1;
}

COLD_IN_USER void export_tell(const struct export_key *key)
{
	struct process *p = bpf_map_lookup_elem(&processes, &key->pid);

	if (p && !p->told) {
		p->told = 1;
		export_report(key->program);
	}
}

/* Sets program and pid of the key, and reports the program if this is its first call: it may be in the table before
 * that.  Returns false if there are too many processes.  reported is the thread's. */
static __always_inline bool export_known(struct thread *t, __u64 *reported, struct export_key *key)
{
	__u32 pid = thread_pid();
	bool first;

	if (!process_known(t, pid, &first))
		return false;
	key->program = t->program;
	key->pid = pid;
	if (*reported != t->program) {
		*reported = t->program;
		export_tell(key);
	}
	return true;
}

static __always_inline void export_hit(unsigned char class)
{
	__u32 group = class == CUDA_LAUNCH ? EXPORT_GROUP_LAUNCH : class == CUDA_COPY ? EXPORT_GROUP_COPY :
		      class == CUDA_SYNC ? EXPORT_GROUP_SYNC : class == CUDA_LOAD ? EXPORT_GROUP_LOAD : EXPORT_GROUP_ALLOC;
	__u32 lane = bpf_get_smp_processor_id();
	bool own = slot_is_own();

	lane = own ? lane & (SLOT_OWN_LANES - 1) : SLOT_OWN_LANES + (lane & 63);
	slot_add(own, &export_hits[lane].n[group], 1);
}

/* ---- Calls that returned an error, by function and error */

enum { EXPORT_ERRORS = 8192 };

BPF_HASH(export_errors, struct export_error, struct export_error_count, EXPORT_ERRORS)

/* Of export_errors. */
struct shares export_error_shares SEC(".data.export_error_shares");

static volatile bool export_any_stuck;

/* Not static, as above. */
__noinline int export_count_error(__u64 program, __u32 pid, __u32 id, int ret)
{
	struct export_error key = { .program = program, .pid = pid, .id = id, .ret = ret };
	struct export_error_count *c = bpf_map_lookup_elem(&export_errors, &key), none = {};

	if (!c) {
		share_add(&export_errors, &key, &none, &none.share, &export_error_shares, EXPORT_ERRORS);
		c = bpf_map_lookup_elem(&export_errors, &key);
	}
	if (c)
		__sync_fetch_and_add(&c->n, 1);
	else
		lose(LOST_GROUP);
	return 0;
}

/* Returns the key's process; NULL if it runs another program now. */
static __always_inline struct process *export_process(const struct export_key *key)
{
	struct process *p = bpf_map_lookup_elem(&processes, &key->pid);

	return p && p->program == key->program ? p : NULL;
}

/* Call at the return of a call that failed.  A sticky error counts where it is first reported, because every later call
 * may report it again. */
COLD_IN_USER void export_failed(const struct export_key *key, __u64 id, int ret)
{
	struct process *p;

	export_count_error(key->program, key->pid, id, ret);
	if (!cuda_error_is_sticky(ret))
		return;
	p = export_process(key);
	if (!p || !__sync_bool_compare_and_swap(&p->stuck, 0, 1))
		return;
	export_any_stuck = true;
	export_count_error(key->program, key->pid, EXPORT_STICKY + cuda_libs[bounded(id, CUDA_ID_MAX - 1)], ret);
}

/* Call where a launch or a wait succeeds. */
static __always_inline void export_recovered(const struct export_key *key)
{
	struct process *p = export_any_stuck ? export_process(key) : NULL;

	if (p)
		p->stuck = 0;
}

/* ---- The last call of each bucket */

/* Set by the tool. */
const volatile bool export_exemplars;

enum { EXEMPLARS = 16384 };

BPF_HASH(exemplars, struct export_key, struct export_exemplar, EXEMPLARS)

/* Of exemplars. */
struct shares exemplar_shares SEC(".data.exemplar_shares");

/* Keeps a call that fell into a bucket of the key, if there is room.  Replaces the entire entry, because a reader or
 * another CPU may use the old one.  Not static, as above. */
__noinline int export_keep(const struct export_key *key, __u32 bucket, __u32 id, __u64 value)
{
	struct export_exemplar e = {}, *was;
	struct export_key k;

	if (!key)		/* for the verifier */
		return 0;
	k = *key;
	k.bucket = bucket;
	was = bpf_map_lookup_elem(&exemplars, &k);
	e.share = was ? was->share : share_take(&exemplar_shares, EXEMPLARS);
	if (e.share >= SHARES_USERS)
		return 0;
	e.value = value;
	e.time = bpf_ktime_get_ns();
	e.tid = bpf_get_current_pid_tgid();
	e.id = id;
	if (bpf_map_update_elem(&exemplars, &k, &e, was ? BPF_EXIST : BPF_NOEXIST) && !was)
		share_give_back(&exemplar_shares, e.share);
	return 1;
}

static __always_inline void export_exemplar(const struct export_key *key, __u32 bucket, __u32 id, __u64 value)
{
	if (export_exemplars)
		export_keep(key, bucket, id, value);
}

/* ---- Launches by kernel */

/* Set by the tool. */
const volatile bool export_kernels;
const volatile bool export_stacks;	/* launches by call stack, and records with call stacks */

/* Call at the driver's launch inside the runtime's in flight: records its function. */
static __always_inline void export_launch_inside(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u64 first = CALL_ARG(ctx, 1), second = CALL_ARG(ctx, 2);

	/* reads both: the verifier rejects a variable source */
	barrier_var(first);
	barrier_var(second);
	if (!row->handle && !row->count)
		t->data.inside = row->func == 1 ? first : second;
}

/* Call when t->call, a launch, has succeeded; key is that of its count.  returns: at its return, where
 * there is room for what takes a call stack. */
NOINLINE_IN_USER void export_kernel(struct pt_regs *ctx, struct thread *t, const struct export_key *key, __u64 id, bool returns)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u64 capture = t->data.capture;
	struct launch_key k = { .program = key->program, .pid = key->pid, .kind = key->detail };
	struct shape none = {};
	struct launch_count *c;
	__u32 n = 0;

	k.func = row->count ? read_u64(cuda_arg(&t->call, row->params)) : cuda_arg(&t->call, row->handle ?: row->func);
	k.generation = generation_of(k.program, k.func)->n;
	if (capture) {
		graph_captured(&k, &none, capture);
		return;
	}
	if (export_stacks && returns) {
		n = stack_take(ctx, t->data.first.stack, 0);
		k.stack = stack_hash((void *)t->data.first.stack, n);
	}
	c = count_of(&t->data.first, &k, cuda_libs[id] == CUDA_DRV, stack_bytes(n));
	if (!c)
		return;
	__sync_fetch_and_add(&c->launches, t->call.data.ptr);
	if (c->paired || !t->data.inside)
		return;
	c->paired = 1;
	send_pair(k.pid, k.program, k.func, t->data.inside);
}

#endif
