/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/process.h"
#include "abi/record.h"
#include "abi/shares.h"
#include "abi/slot.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/failure.h"
#include "bpf/map_backend.h"
#include "inject/inject_command.h"
#include "inject/resident_search.h"
#include "probe/scan.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/cgroup.h"
#include "proc/command.h"
#include "proc/privileges.h"
#include "proc/proc.h"
#include "proc/signals.h"
#include "proc/vm_read.h"
#include "session/attach_inject.h"
#include "session/backend.h"
#include "session/record_queue.h"
#include "session/session.h"
#include "session/session_attach.h"
#include "shmmap/create.h"
#include "sym/syms.h"

static void events_open(struct inject_events *e, const struct bpf_object *obj, struct record_queue *queue)
{
	struct bpf_map *shares = bpf_object__find_map_by_name(obj, SECTION_PROCESSES);
	size_t size = 0;

	*e = (struct inject_events){
		.processes = bpf_object__find_map_by_name(obj, MAP_PROCESSES), .queue = queue,
		.shares = shares ? (struct shares *)bpf_map__initial_value(shares, &size) : NULL,
		.exec_stays = bpf_object__find_program_by_name(obj, PROG_TRACE_EXEC),
	};
	if (!e->shares || bpf_map__value_size(e->processes) != sizeof(struct process))
		e->processes = NULL;
}

static bool find(const struct inject_events *e, unsigned pid, struct process *p)
{
	return e->processes && !bmap_lookup(e->processes, &pid, p);
}

static void drop(struct inject_events *e, unsigned pid, const struct process *p)
{
	if (!bmap_delete(e->processes, &pid))
		shares_give_back(e->shares, p->share);
}

/* The child's share is its parent's user's. */
static bool attach_inject_add(struct inject_events *e, unsigned pid, unsigned long long program, unsigned share)
{
	struct process p = { .program = program, .share = share % SHARES_USERS };

	if (bmap_update(e->processes, &pid, &p, BPF_NOEXIST))
		return false;
	__atomic_fetch_add(&e->shares->used, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->shares->of[p.share], 1, __ATOMIC_RELAXED);
	return true;
}

/* comm_of: the process whose name goes into the record, if it still has one. */
static void put(struct inject_events *e, struct process_event *event, int comm_of)
{
	event->time = clock_ns();
	if (!proc_comm(comm_of, event->comm))
		memset(event->comm, 0, sizeof(event->comm));
	record_queue_put(e->queue, event, sizeof(*event));
}

static void events_forked(struct inject_events *e, int pid, int parent)
{
	struct process_event event = { .head = { pid, RECORD_FORK, 0 }, .parent = parent };
	struct process from, stale;

	if (!find(e, parent, &from))
		return;
	if (find(e, pid, &stale))
		drop(e, pid, &stale);
	event.program = clock_ns();
	event.parent_program = from.program;
	if (attach_inject_add(e, pid, event.program, from.share))
		put(e, &event, parent);
	else
		e->lost++;
}

static void events_execed(struct inject_events *e, int pid)
{
	struct process_event event = { .head = { pid, RECORD_EXEC, 0 } };
	struct process was, now;
	unsigned key = pid;

	if (!find(e, pid, &was))
		return;
	now = was;
	now.program = clock_ns();
	if (!e->exec_stays || bmap_update(e->processes, &key, &now, BPF_EXIST))
		drop(e, pid, &was);
	event.program = was.program;
	put(e, &event, pid);
}

static void events_exited(struct inject_events *e, int pid)
{
	struct process_event event = { .head = { pid, RECORD_EXIT, 0 } };
	struct process was;

	if (!find(e, pid, &was))
		return;
	drop(e, pid, &was);
	event.program = was.program;
	put(e, &event, pid);
}

/* RING: bytes; the tool looks every 10 ms, and two threads write 5 million records a second.  QUEUED: what of it may be in
 * the queue before a process's end is reported.  MESSAGES: of programs, printed at most. */
enum { RING = 64 << 20, QUEUED = 4 * RING, MESSAGES = 16 };

/* How long programs are awaited that make no call yet; how often running ones are looked for, if there are more to look at. */
enum { CONNECT_MS = 300, BUSY_MS = 10 };

/* Work without a request is done at most this often: thousands of processes that start together wait for answers. */
static const unsigned long long TURN_NS = 10 * 1000000ull;

/* How often threads are checked for having ended, which pthread_exit() does not report, and for their names. */
static const unsigned long long ENDED_NS = 20 * 1000000ull, NAMED_NS = 100 * 1000000ull;

/* Makes t->inject, which has the library. */
static void create(struct session *t, char *library, struct resident *resident)
{
	t->inject = xcalloc(1, sizeof(*t->inject));
	t->inject->session = t;
	t->inject->library = library;
	t->inject->resident = resident;
	t->helpers.by_name = true;
	bmaps_use_lanes(libbpf_num_possible_cpus() + SLOT_OWN_LANES);
}

bool inject_suits(const struct backend *b, const struct session *t)
{
	return !t->gpuprobe && t->command && (!t->attach || t->attach == (int)b->kind);
}

/* Returns why the command cannot be traced so; or NULL, and the library in *library. */
static char *command_refusal(struct session *t, char **library)
{
	char *why;

	t->helpers.limit = HELPER_START;	/* the command has not begun */
	why = inject_command_refusal(&t->helpers, t->command, t->argv, t->traced_user);
	if (!why)
		*library = inject_library_find(&why);
	if (why || !inject_library_is_used(*library))
		return why;
	free(*library);
	*library = NULL;
	return xstrdup("this tool is part of a command that the same tool traces already with --attach inject: leave out one of "
		       "them");
}

void inject_refuse(const struct backend *b, struct session *t, struct failure *f)
{
	char *library = NULL, *why = command_refusal(t, &library);

	(void)b;
	if (why)
		failure_set(f, EXIT_FAILURE, 0, "%s", why);
	else
		create(t, library, NULL);
	free(why);
}

bool resident_suits(const struct backend *b, const struct session *t)
{
	if (t->gpuprobe || t->command)
		return false;
	return t->attach ? t->attach == (int)b->kind : t->pid_list && !t->needs_kernel && !t->lib && !t->list;
}

/* The same of the running programs of -p, which are then in *resident. */
static char *pids_refusal(const struct session *t, char **library, struct resident **resident)
{
	char *why;

	*library = inject_library_find(&why);
	if (*library)
		why = resident_open(resident, t->opened.pids);
	if (!why && !t->attach && !(*resident)->processes.runtime) {
		why = xstrdup("the CUDA runtime is linked in, and would not be seen");
		resident_close(*resident);
		*resident = NULL;
	}
	if (!why)
		return NULL;
	free(*library);
	*library = NULL;
	return why;
}

/* The same of all running programs of a user, --uid's or the tool's, and of those that it starts later. */
static char *all_refusal(const struct session *t, char **library, struct resident **resident)
{
	struct filter f;
	char *why;

	*library = inject_library_find(&why);
	if (!*library)
		return why;
	free(filter_read(&t->filter, &f));	/* filter_prepare() says why */
	*resident = resident_open_all(f.by_uid ? f.uid : geteuid(), f.cgroup);
	return NULL;
}

void resident_refuse(const struct backend *b, struct session *t, struct failure *f)
{
	struct resident *resident = NULL;
	char *library = NULL, *why;

	(void)b;
	if (t->lib || t->list) {
		failure_set(f, EXIT_USAGE, 0, "running processes are traced without --%s", t->lib ? "lib" : "list");
		return;
	}
	why = t->pid_list ? pids_refusal(t, &library, &resident) : all_refusal(t, &library, &resident);
	if (why) {
		failure_set(f, EXIT_FAILURE, 0, "%s", why);
	} else {
		create(t, library, resident);
		t->traced_user = resident->processes.user;
	}
	free(why);
}

static void attach_inject_make_room(struct bpf_object *obj)
{
	struct bpf_map *ring = bpf_object__find_map_by_name(obj, MAP_EVENTS);
	struct bpf_map *size = bpf_object__find_map_by_name(obj, SECTION_RECORDS);
	unsigned int bytes = RING;

	if (!ring || !size || bpf_map__max_entries(ring) <= (unsigned)getpagesize())	/* a tool that sends few */
		return;
	bpf_map__set_max_entries(ring, bytes);
	bpf_map__set_initial_value(size, &bytes, sizeof(bytes));
}

static void toggle(void *ctx, bool on)
{
	struct inject *in = ctx;

	inject_memory_toggle(&in->memory, &in->session->probes, on);
}

static const char *program(const struct bpf_object *obj, const char *name)
{
	return bpf_object__find_program_by_name(obj, name) ? name : NULL;
}

void inject_load(struct session *t, struct bpf_object_skeleton *skel)
{
	struct inject *in = t->inject;
	struct bpf_object *obj = *skel->obj;
	struct attacher *a = &t->probes.attacher;

	if (t->probes.usdt)
		die(0, "--attach inject cannot place USDT probes: omit --tensors or --usdt");
	attach_inject_make_room(obj);
	inject_memory_open(&in->memory, obj, &t->probes, in->library);
	in->ended = program(obj, PROG_TRACE_EXIT);
	in->left = in->ended ?: program(obj, PROG_THREAD_EXIT);
	a->toggle = toggle;
	a->ctx = in;
}

/* A process's records are not completed once it has ended. */
static bool is_dead(void *ctx, unsigned pid)
{
	const struct inject *in = ctx;

	return !inject_peers_has(&in->peers, pid);
}

void inject_open(struct session *t, const struct bpf_map *ring)
{
	struct inject *in = t->inject;

	in->queue = &t->records;
	in->memory.each.helper.idle = t->helpers.helper.idle;
	in->memory.each.helper.ctx = t->helpers.helper.ctx;
	record_queue_share(in->queue, ring ? shmmap_of(in->memory.memory, ring) : NULL, is_dead, in);
}

/* A process's records come before those about it. */
static void drain(struct inject *in)
{
	if (record_queue_bytes(in->queue) < QUEUED)
		record_queue_fill(in->queue, in->queue->tail + RING);
}

static void on_ended(void *ctx, int pid)
{
	struct inject *in = ctx;
	size_t n;

	if (in->ended)
		free(inject_each_run(&in->memory.each, in->ended, pid, 0, 0, &n));
	drain(in);
	events_exited(&in->events, pid);
	inject_memory_drop(&in->memory, pid);
	uprobes_detach(&in->session->probes, pid);
	if (in->resident)
		resident_processes_ended(&in->resident->processes, pid);
}

static void print_message(struct inject *in, int pid, const char *text)
{
	if (in->printed++ < MESSAGES)
		warning(0, "process %d: %s", pid, text);
}

static void on_execed(void *ctx, int pid)
{
	struct inject *in = ctx;

	if (in->resident && !in->resident->processes.all)
		print_message(in, pid, "it has executed another program, which is not traced");
	drain(in);
	events_execed(&in->events, pid);
	inject_memory_drop(&in->memory, pid);
	uprobes_detach(&in->session->probes, pid);
	if (in->resident)
		resident_processes_executed(&in->resident->processes, pid);
}

static void on_came(void *ctx, int pid)
{
	const struct inject *in = ctx;

	if (!in->session->finishing)
		resident_came(in->resident, pid);
}

static const struct python_process *python_of(void *ctx, int pid)
{
	const struct inject *in = ctx;

	return inject_memory_python(&in->memory, pid);
}

static void on_marked(void *ctx, int pid, unsigned mark)
{
	struct inject *in = ctx;

	inject_memory_mark(&in->memory, pid, mark);
	print_message(in, pid, mark == INJECT_OTHER_USER ? "runs as another user now: its calls are no longer traced" :
	    "has a seccomp filter now: libraries that it loads and processes that it forks are not traced");
}

/* Call once everything is there that is loaded with the first CUDA library. */
static void note_static_runtime(struct inject *in, int pid)
{
	const char *path = static_runtime(&in->session->probes, pid);

	if (path)
		note("%s: the CUDA runtime is linked in: --attach inject sees only the driver calls that it makes", path);
}

/* Warns before a name is missing. */
static void warn_unread(struct inject *in, int pid)
{
	char *why;

	if (in->read || !in->session->syms)
		return;
	in->read = true;
	if (!vm_read_forbidden(&in->session->helpers, pid))
		return;
	why = privilege_own_memory();
	warning(0, "cannot read the memory of process %d (%s): names of Python functions and of some kernels will be missing",
		pid, why);
	free(why);
}

/* Stacks in the queue are of the mappings before, and other records drop those of a process.  In ask() the tool does not print
 * yet: they wait. */
static void handle_records(struct inject *in)
{
	if (!in->asks)
		record_queue_handle_some(in->queue);
}

static void rescan(struct inject *in, int pid)
{
	handle_records(in);
	if (!in->session->finishing)
		session_scan_new(in->session, pid);
}

static bool on_message(void *ctx, int pid, const struct inject_message *m)
{
	struct inject *in = ctx;
	struct resident_processes *running = in->resident ? &in->resident->processes : NULL;

	if (in->resident && !resident_takes(in->resident, pid, m->head.kind == INJECT_FORKED ? m->head.parent : 0))
		return false;
	if (in->session->selected.cgroup && !cgroup_has(in->session->selected.cgroup, pid))
		return false;	/* the programs cannot check it */
	if (m->head.kind == INJECT_SAYS) {
		print_message(in, pid, m->text);
		return true;
	}
	if (m->head.kind == INJECT_FORKED && inject_peers_has(&in->peers, m->head.parent)) {
		drain(in);
		events_forked(&in->events, pid, m->head.parent);
	}
	if (running && m->head.kind == INJECT_FORKED)
		resident_processes_connected(running, pid);
	if (m->head.kind == INJECT_FORKED) {	/* it has its parent's files: they are read again for their names only */
		if (in->session->syms)
			rescan(in, pid);
		return true;
	}
	handle_records(in);
	if (in->session->finishing || m->head.kind == INJECT_HELLO)	/* more is being loaded */
		return true;
	if (m->head.kind == INJECT_CHANGED) {
		syms_refresh(in->session->syms, pid);
		return true;
	}
	if (running && running->all && !m->head.functions && !resident_processes_is_complete(running, pid))
		process_set_preexisting(&in->session->processes, pid);
	session_scan_new(in->session, pid);
	if (running && m->head.kind == INJECT_BOUND && !m->head.functions)
		resident_processes_connected(running, pid);
	if (m->head.kind == INJECT_BOUND && !m->head.functions) {
		note_static_runtime(in, pid);
		warn_unread(in, pid);
	}
	return true;
}

/* Programs that make no call for so long connect later. */
static void ask(struct inject *in)
{
	const struct timespec pause = { 0, 1000000 };

	in->asks = true;
	resident_ask(in->resident, in->library, &in->peers);
	for (int ms = 0; ms < CONNECT_MS && in->resident->processes.waits && !signal_caught() && !session_ended(in->session); ms++) {
		inject_memory_tick(&in->memory);
		inject_peers_serve(&in->peers);
		resident_tick(in->resident);
		nanosleep(&pause, NULL);
	}
	in->asks = false;
	if (in->session->verbose && in->resident->processes.waits)
		note("%d of the processes make no CUDA calls: they connect with the next one", in->resident->processes.waits);
}

/* The programs report what they load. */
void inject_attach(struct session *t)
{
	session_watch_new(t);
	t->watching = true;
	session_attach_named(t);
}

void inject_begin(struct session *t)
{
	struct inject *in = t->inject;

	events_open(&in->events, t->probes.attacher.obj, in->queue);
	in->peers.peers.user = in->session->traced_user;
	inject_memory_fix(&in->memory);
	in->peers.memory[INJECT_SHARED] = in->memory.memory->fd;
	in->peers.memory[INJECT_READ] = in->memory.memory->read;
	in->peers.memory[INJECT_FIXED] = in->memory.memory->fixed;
	in->peers.leave = privilege_needs_leave();
	in->peers.bytes = in->memory.memory->shm.bytes;
	in->peers.message = on_message;
	in->peers.came = on_came;
	in->peers.ended = on_ended;
	in->peers.execed = on_execed;
	in->peers.marked = on_marked;
	in->peers.python = python_of;
	in->peers.ctx = in;
	inject_peers_open(&in->peers);
	if (in->resident)
		ask(in);
	else
		inject_library_set(in->library, in->peers.peers.name);
}

/* A thread that ends with its process is left to on_ended(). */
static bool thread_has_ended(void *ctx, unsigned pid, unsigned tid)
{
	const struct inject *in = ctx;

	return inject_peers_sees(&in->peers, pid) && syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH &&
	       inject_peers_lives(&in->peers, pid);
}

static bool is_seen(void *ctx, unsigned pid)
{
	const struct inject *in = ctx;

	return inject_peers_sees(&in->peers, pid);
}

static void serve(struct inject *in)
{
	bool again;

	inject_memory_tick(&in->memory);
	inject_peers_serve(&in->peers);
	if (in->resident)
		resident_tick(in->resident);
	if (clock_ns() - in->turned < TURN_NS)
		return;
	in->turned = clock_ns();
	again = clock_ns() - in->named >= NAMED_NS;
	inject_memory_names(&in->memory, is_seen, in, again);
	if (again)
		in->named = clock_ns();
	if (clock_ns() - in->looked >= ENDED_NS &&
	    inject_memory_left(&in->memory, thread_has_ended, in, in->left))
		in->looked = clock_ns();
}

int inject_serve(struct session *t, const struct backend_wait *w)
{
	struct inject *in = t->inject;
	bool busy = in->resident && resident_is_scanning(in->resident);
	int got = watch_poll(t->probes.watch, in->peers.epoll, w->wake, busy && w->ms > BUSY_MS ? BUSY_MS : w->ms);

	serve(in);
	return got;
}

static void signal_peers(const struct inject *in, int sig)
{
	inject_peers_signal(&in->peers, command_ended() ? 0 : in->session->probes.pids[0], sig, command_has_signal());
}

void inject_signal(const struct session *t, int sig)
{
	signal_peers(t->inject, sig);
}

/* The probes do nothing any more. */
static void end(struct inject *in, int sig)
{
	inject_memory_end(&in->memory, in->resident);
	resident_close(in->resident);
	in->resident = NULL;
	if (sig && in->session->command)
		signal_peers(in, sig);
	inject_peers_close(&in->peers);
	if (in->peers.late)
		warning(0, "%lu process%s not traced: the tool answered too late", in->peers.late,
			in->peers.late == 1 ? " was" : "es were");
	if (in->peers.strangers)
		warning(0, "refused %lu process%s of other users: --attach inject traces processes of the command's user only",
			in->peers.strangers, in->peers.strangers == 1 ? "" : "es");
	if (in->events.lost)
		warning(0, "%lu process%s not followed: too many of them", in->events.lost,
			in->events.lost == 1 ? " was" : "es were");
}

void inject_detach(struct session *t, int sig, long ms)
{
	end(t->inject, sig);
	kernel_detach(t, sig, ms);
}

void inject_free(struct inject *in)
{
	if (!in)
		return;
	inject_memory_close(&in->memory);
	resident_close(in->resident);
	free(in->library);
	free(in);
}
