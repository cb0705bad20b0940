/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "abi/device.h"
#include "abi/record.h"
#include "api/cuda_api.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/opt.h"
#include "cli/value.h"
#include "gputime/gpu_time.h"
#include "kernels/kernel_name.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"
#include "proc/process_table.h"
#include "proc/user.h"
#include "session/beside.h"
#include "session/command.h"
#include "session/signals.h"

/* How often processes without the library are looked at again, at first and later; after how long one counts as such. */
static const unsigned long long LOOK_NS = 100000000, LOOK_MOST_NS = 5000000000, PATIENCE_NS = 3000000000;

/* How often processes whose end has no record are looked for. */
static const unsigned long long CHECK_NS = 5000000000;

/* How long a tick may look for memory. */
static const unsigned long long LOOKING_NS = 20000000;

/* How long the end waits for what CUPTI has, in all processes. */
static const unsigned long long STOP_NS = 200000000;

/* In a process: descriptors that are looked at, those of them with our name, names of kernels, and tallies. */
enum { DESCRIPTORS = 4096, CANDIDATES = 8, NAMES = 8192, TALLIES = 16384 };

/* A run or a copy is not longer.  A program could make sums overflow. */
static const unsigned long long RUN_MAX = 3600000000000;

/* More than any GPU has: sums are shared. */
static const unsigned long long BYTES_MAX = 1ull << 48;

/* Between two reads: more are a number that the program has made up. */
static const unsigned long long LOSSES_MAX = 1ull << 32;


struct gpu_process {
	int pid;
	unsigned user;
	unsigned long long seen, looked, wait;	/* when it was first seen, and looked at; how long until it is again, ns */
	unsigned looks;
	char comm[16];
	struct gputime_control *control;	/* NULL: none was found */
	int fd;				/* with the lock */
	const struct gputime_record *slots;
	unsigned long long read;	/* records so far */
	unsigned long long malformed;	/* records */
	unsigned long long lost;	/* records that were not read at its end, or for which there was no tally */
	unsigned long long dropped, unknown, untimed;	/* of the control, when last read */
	struct proc_identity is;
	unsigned long long program;	/* when it has ended: as in struct process_event */
	struct gpu_tally *tallies;
	const struct kernel **names;	/* by number - 1 */
	unsigned nnames;
	char *text;			/* a name of which parts have come; GPUTIME_NAME_MAX + 1 */
	unsigned text_at;
	bool told, shown;		/* shown: since it has ended */
	bool found, failed;		/* its memory was; and cannot be used */
	bool measured;			/* it was on */
	bool gone;			/* at the last check */
	struct gpu_process *next;	/* of those that have ended */
	UT_hash_handle hh;
};

enum { TALLY_COST = sizeof(struct gpu_tally) + 64, PROCESS_COST = sizeof(struct gpu_process) + 64 };

/* ---- The memory of a process */

/* Returns the number of the mount that a descriptor of ours is in, which a process's own file system does not share with
 * memfds; -1: not known.  Unlike fstat(2), this asks no file system: it could be the process's own, and never answer. */
static long long mount_of(int fd)
{
	char path[40], line[128];
	long long id = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "mnt_id: %lld", &id) != 1)
		;
	if (f)
		fclose(f);
	return id;
}

/* Return true if a memfd is the process's user's, of the right size, and stays so. */
static bool is_safe(int fd, const struct proc_rights *rights)
{
	const int must = F_SEAL_SHRINK | F_SEAL_GROW, not = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	struct stat st;
	int seals;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != GPUTIME_BYTES)
		return false;
	seals = fcntl(fd, F_GET_SEALS);
	return (st.st_uid == rights->uid || st.st_uid == rights->effective) && seals >= 0 && (seals & must) == must && !(seals & not);
}

/* A descriptor of a process; is a memfd of ours by its name. */
static bool is_named(int dir, const char *name)
{
	static const char is[] = "/memfd:" GPUTIME_NAME " (deleted)";
	char link[sizeof(is) + 1];
	ssize_t n = readlinkat(dir, name, link, sizeof(link));

	return n == sizeof(is) - 1 && !memcmp(link, is, n);
}

/* Opens it, if it is one; -1: it is not.  Another kind of file is not opened: it could wait. */
static int open_memory(const struct gpu_time *g, int dir, const char *name, const struct proc_rights *rights)
{
	int path = openat(dir, name, O_PATH | O_CLOEXEC), fd = -1;
	char self[32];

	if (path >= 0 && g->mount >= 0 && mount_of(path) == g->mount) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
		fd = open(self, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (path >= 0)
		close(path);
	if (fd < 0 || is_safe(fd, rights))
		return fd;
	close(fd);
	return -1;
}

static int find_memory(struct gpu_time *g, struct gpu_process *p)
{
	unsigned long long now = clock_ns();
	struct proc_rights rights;
	int fd = -1, candidates = 0;
	struct dirent *d;
	char *path;
	DIR *dir;

	if (!budget_left(&g->budget, p->user, now) || !proc_rights(p->pid, &rights))
		return -1;
	path = xprintf("/proc/%d/fd", p->pid);
	dir = opendir(path);
	free(path);
	if (!dir)
		return -1;
	for (int i = 0; fd < 0 && i < DESCRIPTORS && candidates < CANDIDATES && !signal_caught() && (d = readdir(dir)); i++) {
		if (!is_named(dirfd(dir), d->d_name))
			continue;
		candidates++;
		fd = open_memory(g, dirfd(dir), d->d_name, &rights);
	}
	closedir(dir);
	budget_charge(&g->budget, p->user, clock_ns() - now);
	return fd;
}

static void wake(const struct gpu_process *p)
{
	syscall(SYS_futex, &p->control->want, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void tell(struct gpu_process *p, const char *why)
{
	if (!p->told)
		warning(0, "pid %d: no GPU time: %s", p->pid, why);
	p->told = true;
}

/* The kernel drops the lock with the descriptor. */
static bool lock(int fd)
{
	struct flock first = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &first);
}

/* Return true if the process's own library has made it: another process may have passed its memory. */
static bool is_own(const struct gputime_control *c, int pid)
{
	return c->pid == pid_in_namespace(pid);
}

static bool is_known_version(const struct gputime_control *c)
{
	return !memcmp(c->magic, GPUTIME_MAGIC, sizeof(c->magic)) && c->bytes == sizeof(*c) && c->slots == GPUTIME_SLOTS;
}

/* Returns the memory, to which nobody else writes as a tool; NULL if it cannot be used, perhaps later. */
static struct gputime_control *map_memory(struct gpu_time *g, struct gpu_process *p, int fd)
{
	struct gputime_control *c;

	if (!quota_take(&g->quota, p->user, p->pid, GPUTIME_BYTES))
		return NULL;
	c = mmap(NULL, GPUTIME_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c != MAP_FAILED && is_own(c, p->pid) && is_known_version(c) && lock(fd))
		return c;
	if (c != MAP_FAILED && is_own(c, p->pid) && is_known_version(c)) {
		tell(p, "another tool measures it");
	} else if (c != MAP_FAILED && is_own(c, p->pid)) {
		tell(p, "libcudagputime.so: version mismatch");
		p->failed = true;
	}
	if (c != MAP_FAILED)
		munmap(c, GPUTIME_BYTES);
	quota_give(&g->quota, p->user, GPUTIME_BYTES);
	return NULL;
}

static void start(struct gpu_time *g, struct gpu_process *p, int fd)
{
	struct gputime_control *c = map_memory(g, p, fd);
	bool first;

	p->found |= c || p->told;
	if (!c) {
		close(fd);
		return;
	}
	p->fd = fd;
	p->control = c;
	p->slots = (const void *)((char *)c + GPUTIME_FIRST);
	/* what it has for another tool is of no use; but the library of a command has begun for us */
	first = !__atomic_fetch_add(&c->tools, 1, __ATOMIC_ACQ_REL);
	p->read = first ? 0 : __atomic_load_n(&c->written, __ATOMIC_ACQUIRE);
	p->dropped = first ? 0 : c->dropped;
	p->unknown = first ? 0 : c->unknown;
	p->untimed = first ? 0 : c->untimed;
	__atomic_store_n(&c->read, p->read, __ATOMIC_RELEASE);
	c->run_ns = g->run_ns;
	c->of_ns = g->of_ns;
	__atomic_store_n(&c->want, g->want, __ATOMIC_RELEASE);
	wake(p);
}

/* ---- Records: the program may have written anything */

static void add_up(unsigned long long *to, unsigned long long n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = ~0ull;
}

static void add(struct gpu_sum *to, unsigned long long ns, unsigned long long bytes)
{
	add_up(&to->bytes, bytes);
	to->least = to->n && to->least < ns ? to->least : ns;
	to->most = to->most > ns ? to->most : ns;
	to->n++;
	add_up(&to->ns, ns);
	to->slots[hist_slot(ns)]++;
}

void gpu_sum_add(struct gpu_sum *to, const struct gpu_sum *from)
{
	if (!from->n)
		return;
	to->least = to->n && to->least < from->least ? to->least : from->least;
	to->most = to->most > from->most ? to->most : from->most;
	to->n += from->n;
	add_up(&to->ns, from->ns);
	add_up(&to->bytes, from->bytes);
	for (int i = 0; i < HIST_SLOTS; i++)
		to->slots[i] += from->slots[i];
}

static struct gpu_tally *tally_of(struct gpu_time *g, struct gpu_process *p, const struct gpu_tally_key *key)
{
	struct gpu_tally *t;

	HASH_FIND(hh, p->tallies, key, sizeof(*key), t);
	if (t || HASH_COUNT(p->tallies) == TALLIES || !quota_take(&g->quota, p->user, p->pid, TALLY_COST))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->key = *key;
	t->pid = p->pid;
	t->user = p->user;
	t->comm = p->comm;
	kernel_get(key->kernel);
	HASH_ADD(hh, p->tallies, key, sizeof(t->key), t);
	return t;
}

/* copy: a CUpti_ActivityMemcpyKind (cupti_activity.h). */
static unsigned direction_of(unsigned copy)
{
	static const unsigned char directions[] = {
		[1] = CUDA_HTOD, [2] = CUDA_DTOH, [3] = CUDA_HTOD /* to an array */, [4] = CUDA_DTOH, [5] = CUDA_DTOD,
		[6] = CUDA_DTOD, [7] = CUDA_DTOD, [8] = CUDA_DTOD, [9] = CUDA_HTOH, [10] = CUDA_PTOP,
	};

	return copy < sizeof(directions) && directions[copy] ? directions[copy] : CUDA_DEFAULT;
}

static void on_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	struct gpu_tally_key key = { .kind = r->kind, .device = r->device < DEVICES ? r->device + 1 : 0 };
	struct gpu_tally *t;

	if (r->name)
		key.kernel = p->names[r->name - 1];
	if (r->kind == GPUTIME_GRAPH)
		key.graph = r->graph;
	if (r->kind == GPUTIME_COPY)
		key.direction = direction_of(r->copy);
	if (g->on_run) {
		g->on_run(g->ctx, &(struct gpu_run){
			.kernel = key.kernel, .kind = key.kind, .device = key.device, .graph = key.graph, .direction = key.direction,
			.context = r->context, .stream = r->stream, .correlation = r->correlation, .pid = p->pid,
			.start = r->start + p->control->clock, .end = r->end + p->control->clock, .bytes = r->bytes,
		});
		return;
	}
	t = tally_of(g, p, &key);
	if (t)
		add(&t->pending, r->end - r->start, r->bytes < BYTES_MAX ? r->bytes : BYTES_MAX);
	else
		p->lost++;
}

static void on_text(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	const unsigned size = r->text.size, at = r->text.at;

	if (!at)
		p->text_at = 0;
	if (r->name != p->nnames + 1 || p->nnames == NAMES || !size || size > GPUTIME_NAME_MAX || at != p->text_at || at >= size) {
		p->malformed++;
		return;
	}
	if (!p->text)
		p->text = xcalloc(1, GPUTIME_NAME_MAX + GPUTIME_PART + 1);
	memcpy(p->text + at, r->text.part, GPUTIME_PART);
	p->text_at = at + GPUTIME_PART;
	if (p->text_at < size)
		return;
	p->text[size] = '\0';
	p->text_at = 0;
	p->names = p->names ?: xcalloc(NAMES, sizeof(*p->names));
	p->names[p->nnames++] = kernel_get(kernel_named(g->names, p->user, p->pid, p->text));
}

static void handle(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	if (r->kind == GPUTIME_TEXT)
		on_text(g, p, r);
	else if (r->kind && r->kind < GPUTIME_TEXT && r->end >= r->start && r->end - r->start <= RUN_MAX && r->start &&
		 r->name <= p->nnames)
		on_run(g, p, r);
	else
		p->malformed++;
}

/* Adds what the program says that it lost since the last time. */
static void add_losses(unsigned long long *to, unsigned long long *last, const unsigned long long *at)
{
	const unsigned long long now = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (now - *last <= LOSSES_MAX)
		*to += now - *last;
	*last = now;
}

static void read_losses(struct gpu_time *g, struct gpu_process *p)
{
	add_losses(&g->dropped, &p->dropped, &p->control->dropped);
	add_losses(&g->unknown, &p->unknown, &p->control->unknown);
	add_losses(&g->untimed, &p->untimed, &p->control->untimed);
	g->unknown += p->malformed;
	g->dropped += p->lost;
	p->malformed = p->lost = 0;
}

static void read_records(struct gpu_time *g, struct gpu_process *p)
{
	unsigned long long written = __atomic_load_n(&p->control->written, __ATOMIC_ACQUIRE), now = clock_ns();

	if (written - p->read > GPUTIME_SLOTS) {
		p->malformed++;
		p->read = written;
	}
	/* else they stay there: the library counts those for which there is no room then */
	if (!budget_left(&g->budget, p->user, now))
		return;
	p->measured |= written != p->read;
	for (; p->read != written; p->read++) {
		struct gputime_record r;

		memcpy(&r, &p->slots[p->read % GPUTIME_SLOTS], sizeof(r));
		__asm__ volatile("" : "+m"(r));	/* what is checked is what is used */
		handle(g, p, &r);
	}
	__atomic_store_n(&p->control->read, p->read, __ATOMIC_RELEASE);
	read_losses(g, p);
	budget_charge(&g->budget, p->user, clock_ns() - now);
}

static void tell_state(struct gpu_process *p)
{
	const struct gputime_control *c = p->control;
	char why[160];

	switch (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE)) {
	case GPUTIME_IS_ON:
		p->measured = true;
		break;
	case GPUTIME_NO_CUPTI:
		if (c->version)
			snprintf(why, sizeof(why), "CUPTI: unknown version %u", c->version);
		else
			snprintf(why, sizeof(why), "libcupti: not found (it is in the CUDA Toolkit and in the wheel nvidia-cuda-cupti)");
		tell(p, why);
		break;
	case GPUTIME_IN_USE:
		tell(p, "another profiler in the process uses CUPTI");
		break;
	case GPUTIME_REFUSED:
		snprintf(why, sizeof(why), "CUPTI: error %d%s", c->error,
			 c->error == 35 ? " (NVIDIA's driver lets only root profile: NVreg_RestrictProfilingToAdminUsers=0)" : "");
		tell(p, why);
		break;
	case GPUTIME_NO_THREAD:
		tell(p, "libcudagputime.so: cannot start a thread");
		break;
	case GPUTIME_CLOSED:
		tell(p, "the program has closed the descriptor of libcudagputime.so");
		break;
	}
}

/* ---- Processes */

static void unmap(struct gpu_time *g, struct gpu_process *p)
{
	if (!p->control)
		return;
	read_records(g, p);
	g->dropped += __atomic_load_n(&p->control->written, __ATOMIC_ACQUIRE) - p->read <= GPUTIME_SLOTS ?
		      p->control->written - p->read : 0;
	for (unsigned i = 0; i < p->nnames; i++)
		kernel_put(p->names[i]);
	free(p->names);
	free(p->text);
	p->names = NULL;
	p->text = NULL;
	p->nnames = 0;
	munmap(p->control, GPUTIME_BYTES);
	close(p->fd);
	quota_give(&g->quota, p->user, GPUTIME_BYTES);
	p->control = NULL;
}

static struct gpu_process *find(const struct gpu_time *g, int pid)
{
	struct gpu_process *p;

	HASH_FIND_INT(g->all, &pid, p);
	return p;
}

static void tell_missing(struct gpu_time *g, struct gpu_process *p)
{
	if (!g->told && !p->found)
		tell(p, "libcudagputime.so is not loaded (see cudalaunchtop(8)); said only once");
	g->told |= !p->found;
}

static void look_for(struct gpu_time *g, int pid)
{
	struct gpu_process *p = find(g, pid);
	unsigned long long now = clock_ns();
	int fd;

	if (!p) {
		unsigned user = proc_user(pid);

		if (!quota_take(&g->quota, user, pid, PROCESS_COST))
			return;
		p = xcalloc(1, sizeof(*p));
		p->pid = pid;
		p->user = user;
		p->is = proc_identity(pid);
		proc_comm(pid, p->comm);
		p->seen = now;
		HASH_ADD_INT(g->all, pid, p);
	}
	if (p->control || p->failed || now - p->looked < p->wait)
		return;
	p->looked = now;
	p->wait = g->is_command ? LOOK_NS : p->wait < LOOK_MOST_NS ? 2 * p->wait + LOOK_NS / 2 : p->wait;
	p->looks++;
	fd = find_memory(g, p);
	if (fd >= 0)
		start(g, p, fd);
	else if (now - p->seen > PATIENCE_NS && !g->is_command)	/* a command's has yet to call cuInit() */
		tell_missing(g, p);
}

void gpu_time_sample(struct gpu_time *g, const char *text)
{
	const char *slash = strchr(text, '/');
	char *run = slash ? xprintf("%.*s", (int)(slash - text), text) : NULL;
	long run_ns, of_ns;

	if (!run || !value_time(run, VALUE_S, &run_ns) || !value_time(slash + 1, VALUE_S, &of_ns) || run_ns < VALUE_MS || run_ns >= of_ns)
		usage_error("--sample: '%s' is not a time of 1 ms or more and a longer one, such as 100ms/1s", text);
	free(run);
	g->run_ns = run_ns;
	g->of_ns = of_ns;
}

void gpu_time_open(struct gpu_time *g, struct process_table *processes)
{
	int fd = memfd_create("", MFD_CLOEXEC);

	if (fd < 0)
		die(errno, "memfd_create");
	g->mount = mount_of(fd);
	close(fd);
	g->processes = processes;
	g->names = kernel_names_new();
	g->quota = (struct quota){
		.limit = 2ull << 30, .what = "GPU time", .loss = "that of its further processes and kernels is not measured",
	};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat p, q;

	return !stat(a, &p) && !stat(b, &q) && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

void gpu_time_begin(struct gpu_time *g)
{
	char *why, *library = beside_find("", "libcudagputime.so", "CUDA_INJECTION64_PATH", "", &why), on[32];
	const char *was = getenv("CUDA_INJECTION64_PATH");

	if (!library)
		die(0, "--gpu-time: %s", why);
	g->is_command = true;
	snprintf(on, sizeof(on), "%u:%d", g->want, getpid());
	if (was && *was && !is_same_file(was, library))
		command_setenv(GPUTIME_NEXT, was);
	command_setenv("CUDA_INJECTION64_PATH", library);
	command_setenv(GPUTIME_ON, on);
	free(library);
}

static void drop_tally(struct gpu_time *g, struct gpu_process *p, struct gpu_tally *t)
{
	HASH_DEL(p->tallies, t);
	kernel_put(t->key.kernel);
	quota_give(&g->quota, p->user, TALLY_COST);
	free(t);
}

static void free_process(struct gpu_time *g, struct gpu_process *p)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next)
		drop_tally(g, p, t);
	quota_give(&g->quota, p->user, PROCESS_COST);
	free(p);
}

/* What it ran is shown once more. */
static void end_process(struct gpu_time *g, struct gpu_process *p, unsigned long long program)
{
	unmap(g, p);
	HASH_DEL(g->all, p);
	p->program = program;
	p->next = g->ended;
	g->ended = p;
}

/* A process that made no traced call ends without a record.  Others' may still be to come: it is gone at two checks. */
static void check_processes(struct gpu_time *g)
{
	struct gpu_process *p, *next;

	HASH_ITER(hh, g->all, p, next) {
		const struct proc_identity now = proc_identity(p->pid);
		const bool before = p->gone;

		p->gone = !now.started || now.started != p->is.started || (now.stack && now.stack != p->is.stack);
		if (before && p->gone)
			end_process(g, p, 0);
	}
}

void gpu_time_tick(struct gpu_time *g)
{
	unsigned long long now = clock_ns();

	if (!g->processes)
		return;
	if (now - g->checked >= CHECK_NS) {
		g->checked = now;
		check_processes(g);
	}
	if (now - g->looked >= LOOK_NS) {
		g->looked = now;
		/* those that were not reached were looked at longer ago than the others: they are due before them */
		for (const struct process_entry *e = g->processes->all; e && clock_ns() - now < LOOKING_NS; e = e->hh.next)
			if (!e->ended)
				look_for(g, e->pid);
	}
	for (struct gpu_process *p = g->all; p; p = p->hh.next) {
		if (!p->control)
			continue;
		read_records(g, p);
		tell_state(p);
	}
}

/* CUPTI then delivers what it has. */
void gpu_time_stop(struct gpu_time *g)
{
	const unsigned long long end = clock_ns() + STOP_NS;
	const struct timespec pause = { .tv_nsec = 1000000 };
	bool some = true;

	for (struct gpu_process *p = g->all; p; p = p->hh.next) {
		if (!p->control)
			continue;
		__atomic_store_n(&p->control->want, 0, __ATOMIC_RELEASE);
		wake(p);
	}
	while (some && clock_ns() < end) {
		some = false;
		for (struct gpu_process *p = g->all; p; p = p->hh.next)
			some |= p->control && __atomic_load_n(&p->control->state, __ATOMIC_ACQUIRE) == GPUTIME_IS_ON;
		if (some)
			nanosleep(&pause, NULL);
		for (struct gpu_process *p = g->all; p; p = p->hh.next)
			if (p->control)
				read_records(g, p);
	}
}

bool gpu_time_measured(const struct gpu_time *g, int pid)
{
	const struct gpu_process *p = find(g, pid);

	for (const struct gpu_process *e = g->ended; e && !(p && p->measured); e = e->next)
		if (e->pid == pid)
			p = e;
	return p && p->measured;
}

void gpu_time_expect(struct gpu_time *g, int pid)
{
	struct gpu_process *p = find(g, pid);

	if (p)
		p->looked = p->wait = 0;
}

void gpu_time_ended(void *ctx, const struct process_event *event)
{
	struct gpu_time *g = ctx;
	struct gpu_process *p = find(g, event->head.pid);

	if (!p)
		return;
	if (p->looks > 3)
		tell_missing(g, p);
	end_process(g, p, event->program);
}

static void end_interval(struct gpu_process *p)
{
	for (struct gpu_tally *t = p->tallies; t; t = t->hh.next) {
		t->last = t->pending;
		gpu_sum_add(&t->total, &t->pending);
		t->pending = (struct gpu_sum){ 0 };
	}
}

void gpu_time_count(struct gpu_time *g)
{
	struct gpu_process **at = &g->ended, *p;

	while ((p = *at)) {
		if (p->shown && !g->keep) {
			*at = p->next;
			free_process(g, p);
			continue;
		}
		end_interval(p);
		p->shown = true;
		at = &p->next;
	}
	for (p = g->all; p; p = p->hh.next)
		end_interval(p);
}

static void take_of(struct gpu_time *g, struct gpu_process *p, bool ended, gpu_take_fn *fn, void *ctx)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next) {
		t->program = p->program;
		t->ended = ended;
		if (!t->pending.n || fn(ctx, t))
			drop_tally(g, p, t);
	}
}

void gpu_time_take(struct gpu_time *g, gpu_take_fn *fn, void *ctx)
{
	struct gpu_process **at = &g->ended, *p;

	for (p = g->all; p; p = p->hh.next)
		take_of(g, p, false, fn, ctx);
	while ((p = *at)) {
		take_of(g, p, true, fn, ctx);
		if (p->tallies) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free_process(g, p);
	}
}

static void each_of(const struct gpu_process *p, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_tally *t = p->tallies; t; t = t->hh.next)
		fn(ctx, t);
}

void gpu_time_each(const struct gpu_time *g, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_process *p = g->all; p; p = p->hh.next)
		each_of(p, fn, ctx);
	for (const struct gpu_process *p = g->ended; p; p = p->next)
		each_of(p, fn, ctx);
}

void gpu_time_close(struct gpu_time *g)
{
	struct gpu_process *p, *next;

	HASH_ITER(hh, g->all, p, next) {
		unmap(g, p);
		HASH_DEL(g->all, p);
		free_process(g, p);
	}
	while ((p = g->ended)) {
		g->ended = p->next;
		free_process(g, p);
	}
	if (g->dropped)
		warning(0, "lost %llu records of GPU time", g->dropped);
	if (g->unknown)
		warning(0, "ignored %llu malformed records of GPU time", g->unknown);
	if (g->untimed)
		warning(0, "%llu runs on the GPU have no time: CUPTI had none when it was switched off", g->untimed);
	if (g->names)
		kernel_names_free(g->names);
	quota_free(&g->quota);
	budget_free(&g->budget);
}
