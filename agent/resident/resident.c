/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Called by the dynamic linker and by the stubs. */
#define _GNU_SOURCE
#include <stddef.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/membarrier.h>
#include <linux/time_types.h>
#include <time.h>
#include "agent/resident/resident.h"
#include "machine/regs_user.h"
#include "machine/stub_frame.h"

/* LOOK: calls of a thread between two looks whether the tool lives.  TURNS: how long a thread that leaves a tool waits for the
 * others, which are in programs of less than a microsecond. */
enum { LOOK = 1024, TURNS = 1000 };

/* After a request that was refused no other one is acted upon for so long, whatever the control
 * says. */
static const __u64 AGAIN_NS = 1000 * 1000000ull;

/* In stub_why(): the generation of the instance is above the reasons. */
enum { GENERATION = 8 };

#define YAMA_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

struct injected injected;
struct resident_state resident;
__thread struct resident_here resident_here;

/* ---- one thread at a time */

static __u64 now_ns(void)
{
	struct __kernel_timespec t = { 0 };

	sys3(__NR_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&t, 0);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}

static bool take(struct resident_page *p, __u32 by, __u32 *has)
{
	*has = 0;
	return __atomic_compare_exchange_n(&p->by, has, by, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Returns false if this thread has it, and was interrupted, or one that will not give it back;
 * or once that one has acted upon the request with this number, unless 0. */
static bool may_wait(const struct resident_state *r, __u32 request, __u32 by, __u32 has)
{
	__u64 since = __atomic_load_n(&r->page->since, __ATOMIC_RELAXED);

	if (has == by || (since && now_ns() - since > ABANDONED_NS))
		return false;
	return !request || __atomic_load_n(&r->handled, __ATOMIC_ACQUIRE) != request;
}

static void unlock(struct resident_page *p)
{
	__atomic_store_n(&p->since, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->by, 0, __ATOMIC_RELEASE);
}

/* Takes the lock, and blocks all signals, of which *signals were blocked before: not while
 * another thread has it. */
static bool begin(const struct resident_state *r, __u32 request, __u64 *signals)
{
	struct resident_page *p = r->page;
	__u32 by = (__u32)sys3(__NR_gettid, 0, 0, 0), has;

	for (;;) {
		*signals = signals_block();
		if (take(p, by, &has))
			break;
		signals_restore(*signals);
		if (!may_wait(r, request, by, has))
			return false;
		sys3(__NR_sched_yield, 0, 0, 0);
	}
	__atomic_store_n(&p->since, now_ns(), __ATOMIC_RELAXED);
	return true;
}

static void end(const struct resident_state *r, __u64 signals)
{
	unlock(r->page);
	signals_restore(signals);
}

/* ---- an instance: a tool's library that the stubs lead to */

/* A thread notes that it is inside, and then reads r->in; one that ends the instance clears r->in, and then reads who is inside.
 * One of the two must see what the other has written, which takes an atomic operation at each call, as long as a hundred other
 * instructions: or, if only one thread writes a cell, one membarrier(2) by the thread that ends the instance. */
static struct resident_cell *cell(const struct resident_state *r)
{
	return &r->page->cell[thread_pointer() * 0x9e3779b97f4a7c15ULL >> (64 - CELL_BITS)];
}

/* Return true if only this thread writes its cell.  A thread that has ended leaves it to one with the same pointer. */
static inline bool is_own(const struct resident_state *r, struct resident_cell *c)
{
	__u64 owner = __atomic_load_n(&c->owner, __ATOMIC_RELAXED), self = thread_pointer();

	return LIKELY(owner == self) || (r->barrier && !owner &&
		__atomic_compare_exchange_n(&c->owner, &owner, self, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* Returns what inside_end() needs. */
static inline bool inside_begin(const struct resident_state *r, struct resident_cell *c)
{
	bool own = is_own(r, c);

	if (LIKELY(own))
		add_own(&c->inside, 1);
	else
		__atomic_fetch_add(&c->others, 1, __ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return own;
}

/* In the child of a fork in a signal handler the cell is zero. */
static inline void inside_end(struct resident_cell *c, bool own)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (LIKELY(own && c->inside))
		add_own(&c->inside, -1ull);
	else if (!own && __atomic_load_n(&c->others, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&c->others, 1, __ATOMIC_RELAXED);
}

/* Return true once all threads see that the instance has ended, and what they have written is seen.  To register costs the
 * program a few milliseconds the first time. */
static bool barrier(const struct resident_state *r)
{
	return !r->barrier || (!sys3(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
			       !sys3(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
}

/* Returns the first cell from there on with a thread inside; CELLS if there is none. */
static int inside_from(const struct resident_state *r, int i)
{
	while (i < CELLS && !__atomic_load_n(&r->page->cell[i].inside, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&r->page->cell[i].others, __ATOMIC_SEQ_CST))
		i++;
	return i;
}

static bool any_old(const struct resident_state *r)
{
	for (int i = 0; i < OLD; i++)
		if (r->old[i].is)
			return true;
	return false;
}

/* The thread's memory is that of an earlier instance. */
static void here_clear(__u32 generation)
{
	memset(resident_here.tls, 0, sizeof(resident_here.tls));
	resident_here.generation = generation;
}

static __attribute__((noinline, cold)) void here_begin(__u32 generation)
{
	__u64 before = signals_block();

	here_clear(generation);
	signals_restore(before);
}

/* The functions that no tool wants have the control's flags: a tool that asks is seen at all. */
static void stubs_idle(void)
{
	for (__u32 i = 0; i < injected.stubs; i++)
		if (!injected.stub[i].gives)
			__atomic_store_n(&injected.stub[i].flags, injected.idle, __ATOMIC_RELEASE);
}

static void stub_lead(const struct resident_state *r, __u32 number)
{
	const __u32 *flags = r->in->flags(number);

	if (flags && !injected.stub[number].gives)
		__atomic_store_n(&injected.stub[number].flags, flags, __ATOMIC_RELEASE);
}

static void old_drop(struct resident_state *r)
{
	int at = 0;

	if (!any_old(r) || !barrier(r))
		return;
	for (int i = 0; (at = inside_from(r, at)) < CELLS; i++) {
		if (i == TURNS)
			return;
		sys3(__NR_sched_yield, 0, 0, 0);
	}
	for (int i = 0; i < OLD; i++) {
		if (!r->old[i].is)
			continue;
		r->old[i].is->leave(false);
		load_drop(&r->old[i]);
	}
}

/* No thread enters the instance any more.  It stays mapped while one may be in it: if that has left by longjmp(), for good. */
static void in_end(struct resident_state *r)
{
	stubs_idle();
	__atomic_store_n(&r->in, NULL, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->generation, 1, __ATOMIC_SEQ_CST);
	injected.settled = false;
}

static void leave(struct resident_state *r)
{
	int i = 0;

	in_end(r);
	if (!r->now.is)
		return;
	resident_window_clear(r);
	while (i < OLD - 1 && r->old[i].is)
		i++;
	r->old[i] = r->now;
	r->now = (struct loaded){ 0 };
	old_drop(r);
	if (r->old[i].is)
		r->old[i].is->leave(true);
}

/* ---- a tool */

/* Returns false if the program has closed the descriptor. */
static bool is_ours(const struct resident_state *r, struct stat *st)
{
	return r->fd >= 0 && !sys3(__NR_fstat, r->fd, (long)st, 0) &&
	       st->st_ino == r->ino && st->st_dev == r->dev;
}

/* Return true if a tool has its lock, which takes a descriptor to write: an open file
 * description lock. */
static bool is_locked(const struct resident_state *r)
{
	struct flock one = { .l_type = F_WRLCK, .l_whence = 0, .l_start = 0, .l_len = 1 };

	return sys3(__NR_fcntl, r->fd, F_OFD_GETLK, (long)&one) ||
	       (one.l_type == F_WRLCK && one.l_pid == -1);
}

/* Unknown, if the program has closed the descriptor: then yes. */
static bool tool_lives(const struct resident_state *r)
{
	struct stat st;

	return !is_ours(r, &st) || is_locked(r);
}

static bool is_user(__u32 uid)
{
	return uid == (__u32)sys3(__NR_geteuid, 0, 0, 0);
}

/* The owner of the control alone, and root, can have asked: not for a process that has another
 * user by now. */
static bool tool_asks(const struct resident_state *r)
{
	struct stat st;

	return is_ours(r, &st) && is_user(st.st_uid) && is_locked(r);
}

static void refuse(const struct resident_state *r, __u32 generation, enum resident_refusal why)
{
	__u32 pid = (__u32)sys3(__NR_getpid, 0, 0, 0);

	control_put(r, offsetof(struct resident_control, refused), why);
	control_put(r, offsetof(struct resident_control, refused_pid), pid);
	control_put(r, offsetof(struct resident_control, refused_generation), generation);
}

/* Copies a text that another process may change.  Returns false if it is empty or does not end. */
static bool copy(char *to, const char *from, int size)
{
	for (int i = 0; i < size; i++)
		if (!(to[i] = *(const volatile char *)&from[i]))
			return i;
	return false;
}

/* Maps OBJECT.so of the folder. */
static bool load(struct resident_state *r)
{
	char file[RESIDENT_OBJECT + sizeof(".so")];
	int n = 0, fd;
	bool ok;

	if (!copy(file, r->control->object, RESIDENT_OBJECT))
		return false;
	for (; file[n]; n++)
		if (file[n] < 'a' || file[n] > 'z')
			return false;
	memcpy(file + n, ".so", sizeof(".so"));
	fd = home_open(&r->home, file);
	if (fd < 0)
		return false;
	ok = load_instance(&r->now, fd, r->control->stamp);
	sys3(__NR_close, fd, 0, 0);
	return ok;
}

/* With Yama a process may read another one's memory only if it is root's or an ancestor: a tool
 * that could be made to connect would read more. */
static bool has_yama(void)
{
	char scope[8] = { 0 };

	return sys_read_file(YAMA_SCOPE, scope, sizeof(scope) - 1) && scope[0] != '0';
}

static struct resident description(struct resident_state *r, __u64 signals)
{
	const struct injected *a = &injected;

	return (struct resident){
		.stub = a->stub, .named = (const __u16 (*)[STUB_NAMES])a->named, .names = a->shm.function, .text = a->shm.names,
		.stubs = a->stubs, .filters = a->filters, .users = a->users, .started = a->started,
		.ahead = a->ahead, .page_size = a->page_size, .stack = a->stack,
		.vdso = r->vdso, .signals = signals, .window = r->window, .patience = &r->patience,
	};
}

/* From the moment that in is set all threads' calls go to the tool; those that came since it has asked wait until handled is. */
static enum resident_refusal attach(struct resident_state *r, __u32 generation, __u64 signals)
{
	struct resident is = description(r, signals);

	if (!home_is_root(&r->home))	/* /proc may be another's, too */
		return RESIDENT_MOVED;
	if (environment_filters(r->text) > injected.filters)
		return RESIDENT_FILTERED;
	is.ancestors = has_yama();
	old_drop(r);
	if (!copy(is.socket, r->control->socket, sizeof(is.socket)) || !load(r))
		return RESIDENT_NO_LIBRARY;
	here_clear(r->generation);
	if (!r->now.is->attach(&is)) {
		r->now.is->leave(false);
		load_drop(&r->now);
		resident_window_clear(r);
		__atomic_fetch_add(&r->generation, 1, __ATOMIC_SEQ_CST);
		return RESIDENT_NOT_TRUSTED;
	}
	__atomic_store_n(&r->in, r->now.is, __ATOMIC_SEQ_CST);
	injected.settled = true;
	for (__u32 i = 0; i < injected.stubs; i++)
		stub_lead(r, i);
	__atomic_store_n(&r->handled, generation, __ATOMIC_RELEASE);	/* other threads do not wait for the tool's answer */
	r->in->ready();
	return 0;
}

static void request_handle(struct resident_state *r, __u32 generation, __u64 signals)
{
	enum resident_refusal why = 0;

	leave(r);
	if (__atomic_load_n(&r->control->wanted, __ATOMIC_ACQUIRE) && tool_asks(r))
		why = attach(r, generation, signals);
	if (why) {
		refuse(r, generation, why);
		r->again = now_ns() + AGAIN_NS;
	}
	__atomic_store_n(&r->handled, generation, __ATOMIC_RELEASE);
}

static void resident_look(struct resident_state *r)
{
	bool lives = tool_lives(r);

	if (r->in && (!lives || r->in->is_out()))
		leave(r);
	if (!lives)
		control_put(r, offsetof(struct resident_control, flags), INJECT_OFF);
}

/* A child that has another user than its parent gets a control of its own: its parent's is for
 * others. */
static bool is_apart(const struct resident_state *r)
{
	struct stat st;

	return !r->page->own && is_ours(r, &st) && !is_user(st.st_uid);
}

static void part(struct resident_state *r)
{
	const int parents = r->fd;

	leave(r);
	control_make(r);
	sys3(__NR_close, parents, 0, 0);
}

/* Under a filter of its own that the program has by now, a system call may end it: the memory stays mapped. */
static void handle_filtered(struct resident_state *r, __u32 generation)
{
	__u32 has;

	if (generation == r->handled || !take(r->page, ~0u, &has))
		return;
	in_end(r);
	r->now = (struct loaded){ 0 };
	__atomic_store_n(&r->handled, generation, __ATOMIC_RELEASE);
	unlock(r->page);
}

/* Call when a tool asks, or has ended, and now and then. */
static __attribute__((noinline, cold)) void serve(struct resident_state *r)
{
	const struct instance *in;
	__u32 generation = __atomic_load_n(&r->control->generation, __ATOMIC_ACQUIRE);
	struct resident_cell *c = cell(r);
	bool own = inside_begin(r, c), filtered;
	__u64 before;

	in = __atomic_load_n(&r->in, __ATOMIC_SEQ_CST);
	filtered = in && in->is_filtered();
	inside_end(c, own);
	if (filtered)
		return handle_filtered(r, generation);
	if (generation == r->handled && __atomic_load_n(&r->page->by, __ATOMIC_RELAXED))
		return;	/* another thread acts upon it, or asks the tool */
	if (generation != r->handled && r->again && now_ns() < r->again)
		return;
	if (!begin(r, generation == r->handled ? 0 : generation, &before))
		return;
	if (is_apart(r))
		part(r);
	generation = __atomic_load_n(&r->control->generation, __ATOMIC_ACQUIRE);
	if (generation != r->handled)
		request_handle(r, generation, before);
	else
		resident_look(r);
	end(r, before);
}

/* ---- the stubs */

/* Returns the instance, and sets *generation to its own: that changes after r->in. */
static inline const struct instance *instance_here(const struct resident_state *r, __u32 *generation)
{
	const struct instance *in = __atomic_load_n(&r->in, __ATOMIC_SEQ_CST);

	*generation = __atomic_load_n(&r->generation, __ATOMIC_ACQUIRE);
	return LIKELY(__atomic_load_n(&r->in, __ATOMIC_RELAXED) == in) ? in : NULL;
}

static __u64 enter(struct resident_state *r, struct stub_frame *f, __u32 number, struct entered *e)
{
	struct resident_cell *c = cell(r);
	bool own = inside_begin(r, c);
	struct entered got = { 0 };
	__u32 generation;
	const struct instance *in = instance_here(r, &generation);

	if (in && resident_here.generation != generation)
		here_begin(generation);
	if (in)
		got = in->entered(f, number);
	inside_end(c, own);
	if (!got.wanted)
		return 0;
	e->wanted = got.wanted;
	return FOR_PROGRAM | (__u64)generation << GENERATION;
}

struct entered inject_entered(struct stub_frame *f, const struct stub *s)
{
	struct resident_state *r = &resident;
	struct entered e = { s->real, 0 };
	__u64 why = 0;

	if (!LIKELY(__atomic_load_n(&r->control->generation, __ATOMIC_ACQUIRE) == __atomic_load_n(&r->handled, __ATOMIC_ACQUIRE) &&
		    ++resident_here.calls % LOOK))
		serve(r);
	if (__atomic_load_n(&r->in, __ATOMIC_RELAXED))
		why = enter(r, f, (__u32)(s - injected.stub), &e);
	if (s->gives) {
		why |= FOR_ADDRESS;
		e.wanted = e.wanted ?: 1;
	}
	*stub_why(f) = why;
	return e;
}

static void leave_call(struct resident_state *r, struct stub_frame *f, __u32 number, __u32 generation)
{
	struct resident_cell *c = cell(r);
	bool own = inside_begin(r, c);
	const struct instance *in;

	in = __atomic_load_n(&r->in, __ATOMIC_SEQ_CST);
	*stub_why(f) = FOR_PROGRAM;
	if (in && r->generation == generation && resident_here.generation == generation)
		in->returned(f, number);
	inside_end(c, own);
}

void inject_returned(struct stub_frame *f, const struct stub *s)
{
	__u64 why = *stub_why(f);

	if (why & FOR_ADDRESS)
		stub_address_given(&injected, f);
	if (why & FOR_PROGRAM)
		leave_call(&resident, f, (__u32)(s - injected.stub), (__u32)(why >> GENERATION));
}

/* ---- in place of a connection to a tool: agent/inject/connect.c */

/* Called by bind_object() for the first CUDA library. */
bool connect_hello(struct injected *a)
{
	a->connection = resident_make(&resident, a) ? CONNECTED : REFUSED;
	return a->connection == CONNECTED;
}

void connect_bound(struct injected *a, const char *path, __u32 functions)
{
	if (resident.in)
		resident.in->bound(path, functions);
}

/* A function without a stub is not traced by any tool. */
void connect_says(struct injected *a, const char *name, const char *why)
{
}

/* ---- the dynamic linker */

EXPORTED unsigned la_version(unsigned version)
{
	struct resident_state *r = &resident;

	return environment_process(&injected, &r->vdso) && home_note(&r->home) ? version : 0;
}

/* A tool that is given no kind to attach by leaves programs whose runtime is linked in to kernel probes. */
static void runtime_note(struct resident_state *r, __u32 number)
{
	const struct injected *a = &injected;

	for (int i = 0; i < STUB_NAMES && a->named[number][i]; i++)
		if (same(a->shm.names + a->shm.function[a->named[number][i] - 1].name, "cudaLaunchKernel"))
			control_put(r, offsetof(struct resident_control, runtime), 1);
}

static void bind(struct resident_state *r, const struct link_map *map)
{
	__u32 n = injected.stubs;

	bind_object(&injected, map);
	for (; r->control && n < injected.stubs; n++)
		runtime_note(r, n);
}

static void object_add(struct resident_state *r, const struct link_map *map)
{
	struct resident is;

	if (r->in)
		r->in->noted(map->l_name);
	bind(r, map);
	is = description(r, 0);
	for (__u32 i = 0; r->in && i < injected.stubs; i++) {
		if (injected.stub[i].object != (__u64)map)
			continue;
		r->in->add(&is, i);
		stub_lead(r, i);
	}
}

/* Before the first CUDA library there is no lock. */
EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	struct resident_state *r = &resident;
	__u64 before;

	*cookie = (uintptr_t)map;
	static_tls_note(&injected, map);
	if (injected.connection == REFUSED)
		return 0;
	if (!r->control) {
		bind(r, map);
		return 0;
	}
	if (begin(r, 0, &before)) {
		object_add(r, map);
		end(r, before);
	}
	return 0;
}

EXPORTED void la_preinit(uintptr_t *cookie)
{
	static_tls_started(&injected, (const struct link_map *)*cookie);
}

EXPORTED void la_activity(uintptr_t *cookie, unsigned flag)
{
	struct resident_state *r = &resident;
	__u64 before;

	if (flag != LA_ACT_CONSISTENT || !r->control)
		return;
	if (r->control->first_generation && !r->handled)	/* before the first call */
		serve(r);
	if (!__atomic_load_n(&r->in, __ATOMIC_RELAXED))
		return;
	if (begin(r, 0, &before)) {
		if (r->in)
			r->in->consistent();
		end(r, before);
	}
}

EXPORTED unsigned la_objclose(uintptr_t *cookie)
{
	struct resident_state *r = &resident;
	__u64 before;

	stubs_close(&injected, *cookie);
	if (!__atomic_load_n(&r->in, __ATOMIC_RELAXED))
		return 0;
	if (begin(r, 0, &before)) {
		if (r->in)
			r->in->closed();
		end(r, before);
	}
	return 0;
}
