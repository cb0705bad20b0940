/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "abi/bpf_names.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "probe/stop_refs.h"
#include "probe/watch.h"
#include "watch.skel.h"

/* Processes with new mappings, waiting to be scanned.  A program makes many mappings in a row, and
 * one scan covers all mappings of a process. */

static const unsigned long long LATER_NS = 100 * 1000000ull;

struct rescan_process {
	int pid;
	bool waits;
	unsigned long long next;	/* earliest time of the next scan, ns */
	UT_hash_handle hh;
};

static struct rescan_process *watch_get(struct rescan_queue *p, int pid)
{
	struct rescan_process *one;

	HASH_FIND_INT(p->processes, &pid, one);
	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->pid = pid;
		HASH_ADD_INT(p->processes, pid, one);
	}
	one->waits = true;
	return one;
}

/* pid 0: an unknown process.  rescan_later(): not before a tenth of a second has passed.  Both may be
 * called by helper_call(). */
static void rescan_add(struct rescan_queue *p, int pid)
{
	watch_get(p, pid);
}

static void rescan_later(struct rescan_queue *p, int pid)
{
	watch_get(p, pid)->next = clock_ns() + LATER_NS;
}

static void handle(struct rescan_process *one, unsigned long long now,
		   void (*look)(void *ctx, int pid), void *ctx)
{
	unsigned long long next;

	one->waits = false;	/* helper_call() may set it, and next */
	look(ctx, one->pid);
	next = clock_ns() + 4 * (clock_ns() - now);
	one->next = next > one->next ? next : one->next;
}

/* Calls look(ctx, pid) for each process that waits; delays one whose last scan took so long that
 * it would use more than a fifth of our time. */
static void rescan_handle(struct rescan_queue *p, void (*look)(void *ctx, int pid), void *ctx)
{
	unsigned long long now = clock_ns();
	struct rescan_process *one, *next;

	/* what helper_call() adds comes last, and is only moved in memory when this is done */
	HASH_ITER(hh, p->processes, one, next) {
		if (one->waits && now >= one->next) {
			handle(one, now, look, ctx);
			now = clock_ns();
		}
		if (!one->waits && now >= one->next) {
			HASH_DEL(p->processes, one);
			free(one);
		}
	}
}

static void rescan_free(struct rescan_queue *p)
{
	HASH_FREE(p->processes);
}

enum { MAPPING_PAGES = 64 };	/* per CPU: the kernel lets any user lock 128 */

/* Through the map of watched processes, 65,536 at most: begins anew where one has ended meanwhile. */
enum { MOST_STEPS = 2 * 65536 };

/* PERF_RECORD_MMAP2 of linux/perf_event.h */
struct mapped {
	struct perf_event_header head;
	__u32 pid, tid;
	__u64 addr, len, offset;
	__u32 major, minor;
	__u64 ino, generation;
	__u32 prot, flags;
	char path[];
};

struct dropped {		/* PERF_RECORD_LOST */
	struct perf_event_header head;
	__u64 id, n;
};

struct watch {
	struct attacher *attacher;
	watch_fn *fn;
	void *ctx;
	watch_wanted_fn *wanted;
	struct watch_bpf *skel, *ends;
	struct ring_buffer *events;	/* of watch_tree(), or watch_all() by names */
	struct perf_buffer *mappings;	/* of watch_all() otherwise */
	unsigned long long mappings_lost, lost_before;
	struct rescan_queue rescan;
	struct cont_guard cont_guard;
	struct stop_refs stop_refs;
	int *held, nheld;	/* stopped processes to resume */
};

struct watch *watch_new(struct attacher *attacher, watch_fn *fn, void *ctx)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->attacher = attacher;
	w->fn = fn;
	w->ctx = ctx;
	return w;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct watch *w = ctx;

	if (size >= sizeof(struct watch_event))
		w->fn(w->ctx, data);
	return 0;
}

static void tell_mapped(void *ctx, int pid)
{
	const struct watch_event e = { .head = { .pid = pid, .kind = WATCH_MAPPED } };
	struct watch *w = ctx;

	w->fn(w->ctx, &e);
}

static enum bpf_perf_event_ret on_mapping(void *ctx, int cpu, struct perf_event_header *head)
{
	const struct mapped *m = (void *)head;
	struct watch *w = ctx;

	(void)cpu;
	if (head->type == PERF_RECORD_LOST) {
		w->mappings_lost += ((const struct dropped *)head)->n;
		rescan_add(&w->rescan, 0);
	}
	if (head->type == PERF_RECORD_MMAP2 && head->size > sizeof(*m) &&
	    w->wanted(w->ctx, m->pid, m->path))
		rescan_add(&w->rescan, m->pid);
	return LIBBPF_PERF_EVENT_CONT;
}

static int use_watched(const struct watch *w, struct watch_bpf *skel)
{
	struct bpf_map *watched = bpf_object__find_map_by_name(w->attacher->obj, MAP_WATCHED);

	return watched ? bpf_map__reuse_fd(skel->maps.watched, bpf_map__fd(watched)) : 0;
}

static bool is_loaded(const struct watch *w, const struct bpf_program *p, bool tree, bool names)
{
	if (p == w->skel->progs.watch_mmap)
		return names;
	if (p == w->skel->progs.watch_execs)
		return !tree;	/* those of a tree are stopped by watch_exec() */
	return tree || p == w->skel->progs.watch_exec || p == w->skel->progs.watch_leader;
}

/* Programs that a kernel may refuse are loaded only where they are needed. */
static int load(struct watch *w, bool tree, bool names)
{
	struct bpf_program *p;

	w->skel = watch_bpf__open();
	if (!w->skel)
		return -errno;
	bpf_object__for_each_program(p, w->skel->obj)
		bpf_program__set_autoload(p, is_loaded(w, p, tree, names));
	w->skel->rodata->watch_is_tree = tree;
	w->attacher->other = w->skel->obj;
	if (tree && w->attacher->obj && use_watched(w, w->skel))
		return -errno;
	attach_prepare_one(w->skel->progs.watch_loaded, w->attacher->kind);
	return watch_bpf__load(w->skel);
}

/* Without this, children that fork and do not exec are probed with a delay. */
static void watch_births(struct watch_bpf *skel, int pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1, .inherit = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	skel->links.watch_birth = fd < 0 ? NULL :
				  bpf_program__attach_perf_event(skel->progs.watch_birth, fd);
	skel->bss->watch_births = skel->links.watch_birth != NULL;
	if (!skel->links.watch_birth)
		warning(errno, "probes reach forked children that do not exec with a delay");
	if (fd >= 0 && !skel->links.watch_birth)
		close(fd);
}

static int start_tree(struct watch *w, int pid)
{
	const unsigned char none = 0;
	int map, err = load(w, true, false);

	if (err)
		return err;
	map = bpf_map__fd(w->skel->maps.watched);
	stop_refs_open(&w->stop_refs, bpf_map__fd(w->skel->maps.cuda_bpf_held));
	cont_guard_start(&w->cont_guard, map, &w->stop_refs);	/* before there are links for it to hold */
	err = bpf_map_update_elem(map, &pid, &none, BPF_ANY);
	if (!err)
		err = watch_bpf__attach(w->skel);
	if (err)
		return err;
	watch_births(w->skel, pid);
	w->events = ring_buffer__new(bpf_map__fd(w->skel->maps.watch_events), on_event, w, NULL);
	return w->events ? 0 : -errno;
}

/* Resumes the processes that fn has handled, unless another tool holds them too.  SIGCONT cancels every SIGSTOP sent before
 * it, even one whose record has not been read yet; but a stopped process makes no more records. */
static int resume_stopped(struct watch *w)
{
	const struct timespec pause = { 0, 50000 };
	int n = 1;

	while (w->nheld && n > 0) {
		for (int i = 0; i < w->nheld; i++)
			for (int tries = 0; tries < 200 && !process_is_stopped(w->held[i]); tries++)
				nanosleep(&pause, NULL);
		n = ring_buffer__consume(w->events);
	}
	for (int i = 0; i < w->nheld; i++)
		stop_ref_put(&w->stop_refs, w->held[i]);
	w->nheld = 0;
	return n;
}

static void watch_stop(struct watch *w)
{
	if (w->events && ring_buffer__consume(w->events) >= 0)
		resume_stopped(w);
	cont_guard_end(&w->cont_guard);
	ring_buffer__free(w->events);
	perf_buffer__free(w->mappings);
	w->attacher->other = NULL;	/* attach_programs() would walk it */
	watch_bpf__destroy(w->skel);
	watch_bpf__destroy(w->ends);
	w->events = NULL;
	w->mappings = NULL;
	w->skel = w->ends = NULL;
}

int watch_tree(struct watch *w, int pid)
{
	int err = start_tree(w, pid);

	if (err)
		watch_stop(w);
	return err;
}

static int on_named(void *ctx, void *data, size_t size)
{
	const struct watch_event *e = data;
	struct watch *w = ctx;

	if (size < sizeof(*e) || (int)e->head.pid == getpid())
		return 0;
	if (e->head.kind == WATCH_MAPPED)
		rescan_add(&w->rescan, e->head.pid);
	else
		w->fn(w->ctx, e);
	return 0;
}

/* Of all processes.  Return false if that is not possible. */
static bool watch_leaders(struct watch *w)
{
	w->skel->links.watch_exec = bpf_program__attach(w->skel->progs.watch_exec);
	w->skel->links.watch_leader = bpf_program__attach(w->skel->progs.watch_leader);
	/* may fail: the kernel may lack it */
	w->skel->links.watch_execs = bpf_program__attach(w->skel->progs.watch_execs);
	w->events = ring_buffer__new(bpf_map__fd(w->skel->maps.watch_events), on_named, w, NULL);
	return w->events && w->skel->links.watch_exec && w->skel->links.watch_leader;
}

/* Returns false if this kernel cannot run programs at its functions: arm64 before 6.4. */
static bool watch_names(struct watch *w)
{
	if (libbpf_find_vmlinux_btf_id("perf_event_mmap", BPF_TRACE_FENTRY) <= 0)
		return false;
	if (!load(w, false, true))
		w->skel->links.watch_mmap = bpf_program__attach(w->skel->progs.watch_mmap);
	if (!w->skel || !w->skel->links.watch_mmap || !watch_leaders(w))
		watch_stop(w);
	return w->events;
}

int watch_all(struct watch *w, watch_wanted_fn *is_wanted, bool cuda_only)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.mmap = 1, .mmap2 = 1, .watermark = 1, .wakeup_watermark = 1,
	};
	int err;

	if (cuda_only && watch_names(w))
		return 0;
	err = load(w, false, false);
	w->wanted = is_wanted;
	if (!err)
		w->mappings = perf_buffer__new_raw(bpf_map__fd(w->skel->maps.watch_mappings),
						   MAPPING_PAGES, &attr, on_mapping, w, NULL);
	if (!err && (!w->mappings || !watch_leaders(w)))
		err = -errno;
	if (err)
		watch_stop(w);
	return err;
}

bool watch_selects(const struct watch *w)
{
	return w->skel && w->skel->links.watch_mmap;
}

bool watch_ends(struct watch *w)
{
	struct watch_bpf *skel = watch_bpf__open();
	struct bpf_program *p;

	if (!skel)
		return false;
	bpf_object__for_each_program(p, skel->obj)
		bpf_program__set_autoload(p, p == skel->progs.watch_exit);
	w->ends = skel;
	if (use_watched(w, skel) || watch_bpf__load(skel))
		return false;
	skel->links.watch_exit = bpf_program__attach(skel->progs.watch_exit);
	return skel->links.watch_exit;
}

struct attachment *watch_linker(struct watch *w, int fd, int pid, unsigned long long offset)
{
	return attach_one(w->attacher, w->skel->progs.watch_loaded, fd, pid, offset);
}

int watch_probed(const struct watch *w, int pid)
{
	unsigned char how;

	return w->events && !bpf_map_lookup_elem(bpf_map__fd(w->skel->maps.watched), &pid, &how) ? how : -1;
}

void watch_set_probed(struct watch *w, int pid, int how)
{
	const unsigned char value = how;

	bpf_map_update_elem(bpf_map__fd(w->skel->maps.watched), &pid, &value, BPF_EXIST);
}

/* Returns the process after this one in the map, or after 0 the first; 0: there are no more. */
static int next_watched(const struct watch *w, int pid)
{
	int next;

	return bpf_map_get_next_key(bpf_map__fd(w->skel->maps.watched), pid ? &pid : NULL, &next) ? 0 : next;
}

void watch_set_own(struct watch *w, int how)
{
	int pid = next_watched(w, 0);

	for (int n = 0; pid && n < MOST_STEPS; n++, pid = next_watched(w, pid)) {
		int was = watch_probed(w, pid);

		if (was > 0 && was & WATCH_OWN && was != how)
			watch_set_probed(w, pid, how);
	}
}

bool watch_all_own(const struct watch *w)
{
	int pid = next_watched(w, 0);

	for (int n = 0; pid && watch_probed(w, pid) & WATCH_OWN && n < MOST_STEPS; n++)
		pid = next_watched(w, pid);
	return !pid;
}

void watch_unshare(struct watch *w, bool set)
{
	w->skel->bss->watch_unshares = set;
}

void watch_continue(struct watch *w, const struct watch_event *e)
{
	for (int i = 0; i < w->nheld; i++)
		if (w->held[i] == (int)e->head.pid)
			return;
	if (!e->stopped)
		return;
	w->held = xrealloc(w->held, w->nheld + 1, sizeof(*w->held));
	w->held[w->nheld++] = e->head.pid;
}

int watch_poll(struct watch *w, int records, int wake, int ms)
{
	struct pollfd fds[] = {		/* poll() ignores negative descriptors */
		{ records, POLLIN, 0 },
		{ wake, POLLIN, 0 },
		{ w->events ? ring_buffer__epoll_fd(w->events) : -1, POLLIN, 0 },
		{ w->mappings ? perf_buffer__epoll_fd(w->mappings) : -1, POLLIN, 0 },
	};
	int n = poll(fds, sizeof(fds) / sizeof(*fds), ms), err;

	if (n < 0 && errno != EINTR)
		return -errno;
	err = w->mappings ? perf_buffer__consume(w->mappings) : 0;
	/* before scans: processes are stopped for these events, or execute a program */
	if (err >= 0 && w->events)
		err = ring_buffer__consume(w->events);
	if (err >= 0 && w->events)
		err = resume_stopped(w);
	if (watch_selects(w) && w->lost_before != w->skel->bss->watch_lost) {
		w->lost_before = w->skel->bss->watch_lost;
		rescan_add(&w->rescan, 0);
	}
	stop_refs_tick(&w->stop_refs);
	if (err >= 0)
		rescan_handle(&w->rescan, tell_mapped, w);
	if (err < 0 && err != -EINTR)
		return err;
	/* mappings that are not wanted are nothing: programs begin all the time, and the caller would never be calm */
	return fds[0].revents || fds[2].revents || w->rescan.processes;
}

void watch_collect(struct watch *w)
{
	if (w->mappings)
		perf_buffer__consume(w->mappings);
}

void watch_again(struct watch *w, int pid)
{
	rescan_later(&w->rescan, pid);
}

unsigned long long watch_lost(const struct watch *w)
{
	return w->mappings_lost + (w->skel ? w->skel->bss->watch_lost : 0);
}

void watch_signal(struct watch *w, int sig, int group)
{
	if (w->events)
		cont_guard_signal(bpf_map__fd(w->skel->maps.watched), sig, group);
}

void watch_detach(struct watch *w)
{
	if (w->skel)
		watch_bpf__detach(w->skel);
	if (w->ends)
		watch_bpf__detach(w->ends);
}

void watch_free(struct watch *w)
{
	watch_stop(w);
	rescan_free(&w->rescan);
	stop_refs_free(&w->stop_refs);
	free(w->held);
	free(w);
}
