/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records what a tool gets to see of a command, and gives it that again without the command, privileges, BPF or CUDA.
 * A tool's objects are linked with this file, which stands between its parts (-Wl,--wrap): build/tests/replay/TOOL.
 *
 *   REPLAY_RECORD=FILE TOOL OPTIONS -c COMMAND	runs it with --attach inject, and writes FILE
 *   REPLAY=FILE TOOL OPTIONS -c COMMAND	the same again, whatever the options print; the command does not run
 *
 * FILE has, in order, the records that were handled, the processes whose mappings were read, and the tool's maps before
 * each of the tool's steps that reads them: a replay has them so from the one before on.  Beside them is
 * what was asked of /proc, of helpers and of the clock.  It belongs to this build
 * of the tool.  Options that change the maps or what is probed must be those of the recording. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "base/util.h"
#include "gputime/gpu_process.h"
#include "gputime/gpu_time.h"
#include "proc/cgroup.h"
#include "proc/command.h"
#include "proc/helper_pool.h"
#include "proc/process_table.h"
#include "session/attach_inject.h"
#include "session/backend.h"
#include "session/event_loop.h"
#include "session/session.h"
#include "shmmap/create.h"
#include "sym/syms.h"

enum kind {
	/* in their order */
	RECORD,		/* bytes */
	SCAN,		/* key: pid */
	MAPS,		/* as they are now; MEMORY follows */
	TICK,		/* the first one after any of the above */
	REPORT, END,
	/* a map that has changed; key: its name; struct extent and bytes, again and again */
	MEMORY,
	/* by key */
	START, STATUS, PROBES, HELPER, RUN, USER, REAL_USER, COMM, ARGUMENTS, CONTAINER, IDENTITY,
	/* by process, each is taken once: what is found in the memory of libcudagputime.so */
	GPU_FOUND, GPU_STATE, GPU_RECORDS, GPU_NEXT, GPU_STOPS,
};

struct entry {
	unsigned kind, key_size, size;
	int rc;
	unsigned long long clock;
};

enum { PAGE = 4096, RECORDING_MAX = 16 << 20 };
struct extent { unsigned long long at, size; };	/* at most a page */

/* An entry that was read. */
struct item {
	struct entry e;
	const char *key, *value;
	bool taken;
};

static struct {
	FILE *to;		/* NULL: nothing is recorded */
	size_t written;
	struct item *items;	/* NULL: nothing is replayed */
	size_t n;
	char *bytes;
	unsigned long long now;	/* in a recording: or 0, the clock goes on.  It stands while the tool handles something */
	unsigned long long wall;
	struct session *session;
	int (*record)(void *ctx, void *data, size_t size);
	void (*report)(void *ctx);
	bool (*tick)(void *ctx);
	bool happened;		/* since the last tick */
	bool gpu_time;		/* is measured: ticks read more than what has happened */
	bool ended;
} replay;

/* ---- The file */

unsigned long long __real_clock_ns(void);
unsigned long long __wrap_clock_ns(void);
unsigned long long __wrap_clock_ns(void)
{
	return replay.now ?: __real_clock_ns();
}

unsigned long long __real_clock_wall_ns(void);
unsigned long long __wrap_clock_wall_ns(void);
unsigned long long __wrap_clock_wall_ns(void)
{
	return replay.now ? replay.wall + replay.now : __real_clock_wall_ns();
}

static void put(enum kind kind, const void *key, size_t key_size, const void *value, size_t size, int rc)
{
	const struct entry e = { kind, key_size, size, rc, __real_clock_ns() };

	if (!replay.to)
		return;
	if (kind <= END || kind == START)
		replay.now = e.clock;
	replay.happened |= kind <= SCAN;
	replay.written += sizeof(e) + key_size + size;
	if (replay.written > RECORDING_MAX)
		die(0, "recording: larger than %u MiB (trace this command live)", RECORDING_MAX >> 20);
	fwrite(&e, sizeof(e), 1, replay.to);
	fwrite(key, 1, key_size, replay.to);
	fwrite(value, 1, size, replay.to);
}

static void resume(void)
{
	if (replay.to)
		replay.now = 0;
}

static void read_items(const char *path)
{
	FILE *f = fopen(path, "re");
	long size, at = 0;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		die(errno, "cannot read %s", path);
	rewind(f);
	replay.bytes = xcalloc(1, size + 1);
	if (fread(replay.bytes, 1, size, f) != (size_t)size)
		die(errno, "cannot read %s", path);
	fclose(f);
	replay.items = xcalloc(size / sizeof(struct entry) + 1, sizeof(*replay.items));
	while (at + (long)sizeof(struct entry) <= size) {
		struct item *i = &replay.items[replay.n];

		memcpy(&i->e, replay.bytes + at, sizeof(i->e));
		i->key = replay.bytes + at + sizeof(i->e);
		i->value = i->key + i->e.key_size;
		at = i->value + i->e.size - replay.bytes;
		if (at <= size)
			replay.n++;
	}
	if (at != size)
		die(0, "%s ends within an entry", path);
}

/* Returns the entry whose key of this size begins so that was the first one from now on, or the last one; NULL: there is none. */
static const struct item *find_begun(enum kind kind, const void *key, size_t key_size, size_t all)
{
	const struct item *found = NULL;

	for (size_t n = 0; n < replay.n && (!found || found->e.clock < replay.now); n++) {
		const struct item *i = &replay.items[n];

		if (i->e.kind == kind && i->e.key_size == all && !memcmp(i->key, key, key_size))
			found = i;
	}
	return found;
}

static const struct item *find(enum kind kind, const void *key, size_t key_size)
{
	return find_begun(kind, key, key_size, key_size);
}

/* Gets the value that was; returns false, and zeros, if there was none, or nothing is replayed. */
static bool known(enum kind kind, const void *key, size_t key_size, void *value, size_t size)
{
	const struct item *i = find(kind, key, key_size);

	memset(value, 0, size);
	if (i && i->e.size == size)
		memcpy(value, i->value, size);
	return i && i->e.rc;
}

static void __attribute__((constructor)) begin(void)
{
	const char *to = getenv("REPLAY_RECORD"), *from = getenv("REPLAY");

	/* what helpers are asked may have addresses */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) && personality(ADDR_NO_RANDOMIZE) >= 0) {
		char *argv[256] = { 0 }, *all = NULL;
		size_t size = 0, n = 0;
		FILE *f = fopen("/proc/self/cmdline", "re");

		if (f && getdelim(&all, &size, EOF, f) > 0)
			for (char *at = all; *at && n < 255; at += strlen(at) + 1)
				argv[n++] = at;
		execv("/proc/self/exe", argv);
		die(errno, "cannot execute itself");
	}
	if (to) {
		replay.to = fopen(to, "we");
		if (!replay.to)
			die(errno, "cannot write to %s", to);
	} else if (from) {
		read_items(from);
	} else {
		die(0, "set REPLAY_RECORD or REPLAY");
	}
	unsetenv("REPLAY_RECORD");
}

/* ---- What is asked of processes */

/* Returns the user, of either kind: what real says, now or then. */
static unsigned user_of(enum kind kind, int pid, unsigned (*real)(int pid))
{
	unsigned user;

	if (known(kind, &pid, sizeof(pid), &user, sizeof(user)))
		return user;
	user = real(pid);
	put(kind, &pid, sizeof(pid), &user, sizeof(user), 1);
	return user;
}

unsigned __real_proc_user(int pid);
unsigned __wrap_proc_user(int pid);
unsigned __wrap_proc_user(int pid)
{
	return user_of(USER, pid, __real_proc_user);
}

unsigned __real_proc_real_user(int pid);
unsigned __wrap_proc_real_user(int pid);
unsigned __wrap_proc_real_user(int pid)
{
	return user_of(REAL_USER, pid, __real_proc_real_user);
}

bool __real_proc_comm(int pid, char *comm);
bool __wrap_proc_comm(int pid, char *comm);
bool __wrap_proc_comm(int pid, char *comm)
{
	bool ok;

	if (replay.items)
		return known(COMM, &pid, sizeof(pid), comm, 16);
	ok = __real_proc_comm(pid, comm);
	put(COMM, &pid, sizeof(pid), comm, ok ? 16 : 0, ok);
	return ok;
}

bool __real_proc_arguments(int pid, unsigned long long *start, unsigned long long *end);
bool __wrap_proc_arguments(int pid, unsigned long long *start, unsigned long long *end);
bool __wrap_proc_arguments(int pid, unsigned long long *start, unsigned long long *end)
{
	unsigned long long range[2] = { 0 };
	bool ok;

	if (replay.items) {
		ok = known(ARGUMENTS, &pid, sizeof(pid), range, sizeof(range));
		*start = range[0];
		*end = range[1];
		return ok;
	}
	ok = __real_proc_arguments(pid, start, end);
	range[0] = ok ? *start : 0;
	range[1] = ok ? *end : 0;
	put(ARGUMENTS, &pid, sizeof(pid), range, ok ? sizeof(range) : 0, ok);
	return ok;
}

bool __real_cgroup_container(int pid, char id[CONTAINER_ID]);
bool __wrap_cgroup_container(int pid, char id[CONTAINER_ID]);
bool __wrap_cgroup_container(int pid, char id[CONTAINER_ID])
{
	bool ok;

	if (replay.items)
		return known(CONTAINER, &pid, sizeof(pid), id, CONTAINER_ID);
	ok = __real_cgroup_container(pid, id);
	put(CONTAINER, &pid, sizeof(pid), id, ok ? CONTAINER_ID : 0, ok);
	return ok;
}

struct proc_identity __real_proc_identity(int pid);
struct proc_identity __wrap_proc_identity(int pid);
struct proc_identity __wrap_proc_identity(int pid)
{
	struct proc_identity is;

	if (replay.items) {
		known(IDENTITY, &pid, sizeof(pid), &is, sizeof(is));
		return is;
	}
	is = __real_proc_identity(pid);
	put(IDENTITY, &pid, sizeof(pid), &is, sizeof(is), 1);
	return is;
}

int __real_helper_call(struct helper_pool *l, const struct helper_request *r, struct helper_answer *a);
int __wrap_helper_call(struct helper_pool *l, const struct helper_request *r, struct helper_answer *a);

/* Files are still there: they are only opened through the process. */
int __wrap_helper_call(struct helper_pool *l, const struct helper_request *r, struct helper_answer *a)
{
	const size_t head = sizeof(r->pid) + sizeof(r->fn), key_size = head + r->size;
	char *key, link[64], path[4096] = "", *value;
	const struct item *i;
	int rc;

	if (r->fd >= 0)
		return __real_helper_call(l, r, a);
	key = xcalloc(1, key_size);
	memcpy(key, &r->pid, sizeof(r->pid));
	memcpy(key + sizeof(r->pid), &r->fn, sizeof(r->fn));
	memcpy(key + head, r->in, r->size);
	if (replay.items) {
		i = find(HELPER, key, key_size) ?:
		    find_begun(HELPER, key, head, key_size);	/* in may have padding */
		free(key);
		*a = (struct helper_answer){ .fd = -1 };
		if (!i)
			return -ESRCH;
		if (*i->value) {
			a->fd = open(i->value, O_PATH | O_CLOEXEC);
			if (a->fd < 0)
				die(errno, "cannot open %s, which was read", i->value);
		}
		a->size = i->e.size - strlen(i->value) - 1;
		a->bytes = a->size ? xcalloc(1, a->size) : NULL;
		if (a->size)
			memcpy(a->bytes, i->value + strlen(i->value) + 1, a->size);
		return i->e.rc;
	}
	rc = __real_helper_call(l, r, a);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", a->fd);
	if (!rc && a->fd >= 0 && readlink(link, path, sizeof(path) - 1) < 0)
		die(errno, "cannot read %s", link);
	value = xcalloc(1, strlen(path) + 1 + (rc ? 0 : a->size));
	strcpy(value, path);
	if (!rc && a->size)
		memcpy(value + strlen(path) + 1, a->bytes, a->size);
	put(HELPER, key, key_size, value, strlen(path) + 1 + (rc ? 0 : a->size), rc);
	free(value);
	free(key);
	return rc;
}

void *__real_bmaps_run(const char *program, size_t size, size_t *n);
void *__wrap_bmaps_run(const char *program, size_t size, size_t *n);
void *__wrap_bmaps_run(const char *program, size_t size, size_t *n)
{
	const struct item *i;
	void *bytes;

	if (replay.items) {
		i = find(RUN, program, strlen(program));
		*n = i ? i->e.size : 0;
		bytes = *n ? xcalloc(1, *n) : NULL;
		return bytes ? memcpy(bytes, i->value, *n) : NULL;
	}
	bytes = __real_bmaps_run(program, size, n);
	put(RUN, program, strlen(program), bytes, bytes ? *n : 0, 0);
	return bytes;
}

void __real_bmaps_settle(void);
void __wrap_bmaps_settle(void);
void __wrap_bmaps_settle(void)
{
	if (!replay.items)
		__real_bmaps_settle();
}

/* ---- The command */

int __real_command_prepare(const char *text, char **argv, const struct command_user *user);
int __wrap_command_prepare(const char *text, char **argv, const struct command_user *user);
int __wrap_command_prepare(const char *text, char **argv, const struct command_user *user)
{
	unsigned long long wall;
	const struct item *i;
	int pid;

	if (replay.items) {
		i = find(START, "", 0);
		if (!i || i->e.size != sizeof(wall))
			die(0, "the recording does not begin");
		memcpy(&wall, i->value, sizeof(wall));
		replay.now = i->e.clock;
		replay.wall = wall - replay.now;
		return i->e.rc;
	}
	pid = __real_command_prepare(text, argv, user);
	wall = __real_clock_wall_ns();
	put(START, "", 0, &wall, sizeof(wall), pid);
	replay.wall = wall - replay.now;
	return pid;
}

void __real_command_go(void);
void __wrap_command_go(void);
void __wrap_command_go(void)
{
	if (!replay.items)
		__real_command_go();
}

bool __real_command_ended(void);
bool __wrap_command_ended(void);
bool __wrap_command_ended(void)
{
	return replay.items || __real_command_ended();
}

bool __real_command_killed(void);
bool __wrap_command_killed(void);
bool __wrap_command_killed(void)
{
	return !replay.items && __real_command_killed();
}

int __real_command_finish(void);
int __wrap_command_finish(void);
int __wrap_command_finish(void)
{
	const struct item *i = find(STATUS, "", 0);
	int status;

	if (replay.items)
		return i ? i->e.rc : 0;
	status = __real_command_finish();
	put(STATUS, "", 0, NULL, 0, status);
	return status;
}

void __real_inject_begin(struct session *t);
void __wrap_inject_begin(struct session *t);
void __wrap_inject_begin(struct session *t)
{
	if (!replay.items)
		__real_inject_begin(t);
}

void __real_inject_detach(struct session *t, int sig, long ms);
void __wrap_inject_detach(struct session *t, int sig, long ms);
void __wrap_inject_detach(struct session *t, int sig, long ms)
{
	if (replay.items)
		kernel_detach(t, sig, ms);
	else
		__real_inject_detach(t, sig, ms);
}

void __real_session_choose_backend(struct session *t);
void __wrap_session_choose_backend(struct session *t);
void __wrap_session_choose_backend(struct session *t)
{
	replay.session = t;
	t->attach = ATTACH_INJECT;
	__real_session_choose_backend(t);
}

/* ---- GPU time */

struct gpu_state { struct gpu_losses lost; struct gputime_control control; bool serves; };

static int gpu_pid(const struct gpu_memory *m)
{
	return ((const struct gpu_process *)((const char *)m - offsetof(struct gpu_process, memory)))->pid;
}

/* Takes the process's next entry of the kind, and copies its value; zeros, if there is none.  Returns its rc. */
static int gpu_take(enum kind kind, int pid, void *to, size_t size)
{
	memset(to, 0, size);
	for (size_t n = 0; n < replay.n; n++) {
		struct item *i = &replay.items[n];

		if (i->e.kind != kind || i->taken || memcmp(i->key, &pid, sizeof(pid)))
			continue;
		i->taken = true;
		memcpy(to, i->value, i->e.size < size ? i->e.size : size);
		return i->e.rc;
	}
	return 0;
}

void __real_gpu_time_open(struct gpu_time *g, struct process_table *processes);
void __wrap_gpu_time_open(struct gpu_time *g, struct process_table *processes);
void __wrap_gpu_time_open(struct gpu_time *g, struct process_table *processes)
{
	replay.gpu_time = true;
	__real_gpu_time_open(g, processes);
}

void __real_command_setenv(const char *name, const char *value);
void __wrap_command_setenv(const char *name, const char *value);
void __wrap_command_setenv(const char *name, const char *value)
{
	if (!replay.items)
		__real_command_setenv(name, value);
}

enum gpu_memory_found __real_gpu_memory_find(struct gpu_memory *m, int pid, long long mount, const struct gpu_wish *wish);
enum gpu_memory_found __wrap_gpu_memory_find(struct gpu_memory *m, int pid, long long mount, const struct gpu_wish *wish);
enum gpu_memory_found __wrap_gpu_memory_find(struct gpu_memory *m, int pid, long long mount, const struct gpu_wish *wish)
{
	struct gputime_control control;
	int found;

	if (replay.items) {
		found = gpu_take(GPU_FOUND, pid, &control, sizeof(control));
		if (found == GPU_MEMORY_READY) {
			m->control = xcalloc(1, sizeof(control));
			*m->control = control;
		}
		return found;
	}
	found = __real_gpu_memory_find(m, pid, mount, wish);
	put(GPU_FOUND, &pid, sizeof(pid), m->control, m->control ? sizeof(*m->control) : 0, found);
	return found;
}

unsigned long long __real_gpu_memory_records(struct gpu_memory *m);
unsigned long long __wrap_gpu_memory_records(struct gpu_memory *m);
unsigned long long __wrap_gpu_memory_records(struct gpu_memory *m)
{
	const int pid = gpu_pid(m);
	unsigned long long n;

	if (replay.items) {
		gpu_take(GPU_RECORDS, pid, &n, sizeof(n));
		return n;
	}
	n = __real_gpu_memory_records(m);
	put(GPU_RECORDS, &pid, sizeof(pid), &n, sizeof(n), 0);
	return n;
}

void __real_gpu_memory_next(struct gpu_memory *m, struct gputime_record *r);
void __wrap_gpu_memory_next(struct gpu_memory *m, struct gputime_record *r);
void __wrap_gpu_memory_next(struct gpu_memory *m, struct gputime_record *r)
{
	const int pid = gpu_pid(m);

	if (replay.items) {
		gpu_take(GPU_NEXT, pid, r, sizeof(*r));
		return;
	}
	__real_gpu_memory_next(m, r);
	put(GPU_NEXT, &pid, sizeof(pid), r, sizeof(*r), 0);
}

void __real_gpu_memory_losses(struct gpu_memory *m, struct gpu_losses *to);
void __wrap_gpu_memory_losses(struct gpu_memory *m, struct gpu_losses *to);
void __wrap_gpu_memory_losses(struct gpu_memory *m, struct gpu_losses *to)
{
	struct gpu_state is = { .lost.dropped = 0 };
	const int pid = gpu_pid(m);

	if (replay.items) {
		gpu_take(GPU_STATE, pid, &is, sizeof(is));
		*m->control = is.control;
		m->serves = is.serves;
	} else {
		__real_gpu_memory_losses(m, &is.lost);
		is.control = *m->control;
		is.serves = m->serves;
		put(GPU_STATE, &pid, sizeof(pid), &is, sizeof(is), 0);
	}
	to->dropped += is.lost.dropped;
	to->unknown += is.lost.unknown;
	to->untimed += is.lost.untimed;
}

#define GPU_MEMORY_LIVE(real, wrapped)		\
void real(struct gpu_memory *m);		\
void wrapped(struct gpu_memory *m);		\
void wrapped(struct gpu_memory *m)		\
{						\
	if (!replay.items)			\
		real(m);			\
}
GPU_MEMORY_LIVE(__real_gpu_memory_release, __wrap_gpu_memory_release)
GPU_MEMORY_LIVE(__real_gpu_memory_stop, __wrap_gpu_memory_stop)
GPU_MEMORY_LIVE(__real_gpu_memory_close, __wrap_gpu_memory_close)

bool __real_gpu_memory_stops(const struct gpu_memory *m);
bool __wrap_gpu_memory_stops(const struct gpu_memory *m);
bool __wrap_gpu_memory_stops(const struct gpu_memory *m)
{
	const int pid = gpu_pid(m);
	bool stops;

	if (replay.items)
		return gpu_take(GPU_STOPS, pid, &stops, 0);
	stops = __real_gpu_memory_stops(m);
	put(GPU_STOPS, &pid, sizeof(pid), NULL, 0, stops);
	return stops;
}

/* ---- What comes in an order */

void __real_session_scan_new(struct session *t, int pid);
void __wrap_session_scan_new(struct session *t, int pid);
void __wrap_session_scan_new(struct session *t, int pid)
{
	put(SCAN, &pid, sizeof(pid), NULL, 0, 0);
	__real_session_scan_new(t, pid);
	resume();
}

void __real_syms_record(struct syms *s, const void *data, size_t size);
void __wrap_syms_record(struct syms *s, const void *data, size_t size);
void __wrap_syms_record(struct syms *s, const void *data, size_t size)
{
	put(RECORD, NULL, 0, data, size, 0);
	__real_syms_record(s, data, size);
	resume();
}

static int on_record(void *ctx, void *data, size_t size)
{
	int err;

	put(RECORD, NULL, 0, data, size, 0);
	err = replay.record(ctx, data, size);
	resume();
	return err;
}

/* Returns the pages of a map that have something, as struct extent and bytes.  The caller frees them. */
static char *map_bytes(const struct shmmap_memory *memory, const struct shmmap_map *m, size_t *size)
{
	static const char zero[PAGE];
	off_t begin = m->at - memory->shm.base, end = begin + m->bytes, at = begin, hole;
	char *bytes = NULL;
	FILE *f = open_memstream(&bytes, size);

	if (!f)
		die(errno, "a map");
	while ((at = lseek(memory->fd, at, SEEK_DATA)) >= 0 && at < end) {
		hole = lseek(memory->fd, at, SEEK_HOLE);
		for (; at < end && at < hole; at += PAGE) {
			struct extent e = { at - begin, end - at < PAGE ? end - at : PAGE };

			if (!memcmp(m->at + e.at, zero, e.size))
				continue;
			fwrite(&e, sizeof(e), 1, f);
			fwrite(m->at + e.at, 1, e.size, f);
		}
	}
	fclose(f);
	return bytes;
}

static void put_maps(void)
{
	static struct { char *bytes; size_t size; } last[INJECT_MAPS];
	const struct shmmap_memory *memory = replay.session->inject ? replay.session->inject->memory.memory : NULL;

	if (!replay.to || !memory)
		return;
	put(MAPS, NULL, 0, NULL, 0, 0);
	for (unsigned i = 0; i < memory->shm.maps; i++) {
		const struct shmmap_map *m = &memory->shm.map[i];
		size_t size;
		char *bytes;

		if (m->type == BPF_MAP_TYPE_RINGBUF || m->fixed)
			continue;
		bytes = map_bytes(memory, m, &size);
		if (!last[i].bytes || last[i].size != size || memcmp(last[i].bytes, bytes, size))
			put(MEMORY, m->name, strlen(m->name), bytes, size, 0);
		free(last[i].bytes);
		last[i].bytes = bytes;
		last[i].size = size;
	}
}

void __real_process_ended(struct process_table *t, const struct process_event *event);
void __wrap_process_ended(struct process_table *t, const struct process_event *event);
void __wrap_process_ended(struct process_table *t, const struct process_event *event)
{
	put_maps();
	put(RECORD, NULL, 0, event, sizeof(*event), 0);
	__real_process_ended(t, event);
	resume();
}

static void get_map(struct shmmap *s, const struct item *i)
{
	char name[INJECT_MAP_NAME] = "";
	struct shmmap_map *m;
	struct extent e;

	memcpy(name, i->key, i->e.key_size < sizeof(name) ? i->e.key_size : sizeof(name) - 1);
	m = shmmap_find(s, name);
	if (!m)
		die(0, "the recording has a map %s, the tool not: record it with the same options", name);
	if (madvise(m->at, m->bytes, MADV_REMOVE))
		die(errno, "map %s", name);
	for (const char *at = i->value, *end = at + i->e.size; at < end; at += e.size) {
		memcpy(&e, at, sizeof(e));
		at += sizeof(e);
		if (e.at > m->bytes || e.size > m->bytes - e.at)
			die(0, "map %s is larger in the recording: record it with the same options", name);
		memcpy(m->at + e.at, at, e.size);
	}
}

/* What the probes are told by the tool's options: what they record. */
static void check_same(const char *name, const void *bytes, size_t size)
{
	const struct item *i;

	put(PROBES, name, strlen(name), bytes, size, 0);
	if (!replay.items)
		return;
	i = find(PROBES, name, strlen(name));
	if (!i || i->e.size != size || memcmp(i->value, bytes, size))
		die(0, "%s: not what was recorded: record it with these options", name);
}

static void check_probes(const struct shmmap *s)
{
	for (unsigned i = 0; i < s->maps; i++)
		if (s->map[i].fixed)
			check_same(s->map[i].name, s->map[i].at, s->map[i].bytes);
	check_same("the list of functions", s->function, s->functions * sizeof(*s->function));
}

/* The maps as they are after what begins with entry n. */
static void get_maps(size_t n)
{
	struct shmmap *s = &replay.session->inject->memory.memory->shm;

	while (n < replay.n && replay.items[n].e.kind != MAPS)
		n++;
	for (n++; n < replay.n && replay.items[n].e.kind == MEMORY; n++)
		get_map(s, &replay.items[n]);
}

static void on_report(void *ctx)
{
	if (replay.ended) {
		replay.report(ctx);
		return;
	}
	put_maps();
	put(REPORT, NULL, 0, NULL, 0, 0);
	replay.report(ctx);
	resume();
}

static bool on_tick(void *ctx)
{
	bool more;

	if (replay.happened)
		put_maps();
	if (replay.happened || replay.gpu_time)
		put(TICK, NULL, 0, NULL, 0, 0);
	replay.happened = false;
	more = replay.tick(ctx);
	resume();
	return more;
}

void __real_event_loop_open(struct event_loop *e, struct session *t);
void __wrap_event_loop_open(struct event_loop *e, struct session *t);
void __wrap_event_loop_open(struct event_loop *e, struct session *t)
{
	replay.record = e->record;
	replay.report = e->report;
	replay.tick = e->tick;
	if (replay.to) {
		e->record = on_record;
		e->report = e->report ? on_report : NULL;
		e->tick = e->tick ? on_tick : NULL;
	}
	__real_event_loop_open(e, t);
}

/* Returns true if that was the last report. */
static bool report(struct event_loop *e, long *reports)
{
	if (!e->interval_ns)
		return false;
	e->report(e->ctx);
	e->counted_out = ++*reports == e->count;
	return e->counted_out;
}

static void replay_all(struct event_loop *e)
{
	struct session *t = e->session;
	long left, reports = 0;
	bool maps_read = false;	/* by what this entry is about */

	get_maps(0);
	for (size_t n = 0; n < replay.n; n++) {
		const struct item *i = &replay.items[n];
		int pid;

		maps_read |= i->e.kind == MAPS;
		if (i->e.kind > END || i->e.kind == MAPS)
			continue;
		replay.now = i->e.clock;
		left = 0;
		if (i->e.kind == RECORD) {
			record_queue_put(e->queue, i->value, i->e.size);
			record_queue_handle(e->queue, &left);
		} else if (i->e.kind == SCAN) {
			memcpy(&pid, i->key, sizeof(pid));
			session_scan_new(t, pid);
		} else if (i->e.kind == TICK ? !e->tick(e->ctx) : i->e.kind == END || report(e, &reports)) {
			return;
		}
		if (maps_read)
			get_maps(n + 1);
		maps_read = false;
	}
	die(0, "the recording has no end");
}

int __real_event_loop_run(struct event_loop *e);
int __wrap_event_loop_run(struct event_loop *e);
int __wrap_event_loop_run(struct event_loop *e)
{
	int sig;

	if (!replay.items) {
		check_probes(&e->session->inject->memory.memory->shm);
		resume();
		sig = __real_event_loop_run(e);
		put_maps();
		put(END, NULL, 0, NULL, 0, 0);
		replay.ended = true;
		return sig;
	}
	check_probes(&e->session->inject->memory.memory->shm);
	replay_all(e);
	if (e->lost) {
		memcpy(e->lost_then, e->lost, sizeof(e->lost_then));
		losses_read(&e->losses, e->lost_by);
	}
	return 0;
}
