/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/die.h"
#include "probe/watch.h"
#include "watch.skel.h"

enum { MAPPING_PAGES = 64 };	/* of each processor: the kernel lets anybody lock 128 */

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

static struct watch_bpf *skel;
static struct ring_buffer *events;
static struct perf_buffer *mappings;
static enum attach_kind attach_kind;
static bool (*wanted)(int pid, const char *path);
static watch_fn *handler;
static void *handler_ctx;
static unsigned long long mappings_lost;
static int resumer, resumer_pid;
static int *held, nheld;	/* processes that wait to be let go */

/* A process that has mapped something; 0: some have, and it is not known which. */
struct pending {
	int pid;
	bool waits;
	unsigned long long next;	/* not to be told before, ns */
};

static struct pending *pending;
static int npending;

static int on_event(void *ctx, void *data, size_t size)
{
	(void)ctx;
	if (size >= sizeof(struct watch_event))
		handler(handler_ctx, data);
	return 0;
}

/* A program makes many mappings at once, and a look at a process is at all of them. */
static void add_pending(int pid)
{
	int i = 0;

	while (i < npending && pending[i].pid != pid)
		i++;
	if (i == npending) {
		pending = xrealloc(pending, ++npending, sizeof(*pending));
		pending[i] = (struct pending){ .pid = pid };
	}
	pending[i].waits = true;
}

/* Each process has a fifth of our time, at most. */
static void handle_pending(void)
{
	unsigned long long now = clock_ns();
	int kept = 0;

	for (int i = 0; i < npending; i++) {
		struct watch_event e = { .head = { .pid = pending[i].pid, .kind = WATCH_MAPPED } };

		if (pending[i].waits && now >= pending[i].next) {
			handler(handler_ctx, &e);
			pending[i].waits = false;
			pending[i].next = clock_ns() + 4 * (clock_ns() - now);
			now = clock_ns();
		}
		if (pending[i].waits || now < pending[i].next)
			pending[kept++] = pending[i];
	}
	npending = kept;
}

static enum bpf_perf_event_ret on_mapping(void *ctx, int cpu, struct perf_event_header *head)
{
	const struct mapped *m = (void *)head;

	(void)ctx, (void)cpu;
	if (head->type == PERF_RECORD_LOST) {
		mappings_lost += ((const struct dropped *)head)->n;
		add_pending(0);
	}
	if (head->type == PERF_RECORD_MMAP2 && head->size > sizeof(*m) && wanted(m->pid, m->path))
		add_pending(m->pid);
	return LIBBPF_PERF_EVENT_CONT;
}

static int fail(int err)
{
	watch_stop();
	return err;
}

/* Has SIGSTOP taken effect?  Yes also of a process that is gone. */
static bool is_stopped(int pid)
{
	char name[32], line[128], state = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "re");
	if (!f)
		return true;
	while (!state && fgets(line, sizeof(line), f))
		sscanf(line, "State: %c", &state);
	fclose(f);
	return strchr("TZX", state) != NULL;
}

static void each_watched(int map, void (*fn)(int pid, int sig), int sig)
{
	unsigned int pid = 0, next;
	void *prev = NULL;

	while (!bpf_map_get_next_key(map, prev, &next)) {
		pid = next;
		prev = &pid;
		fn(pid, sig);
	}
}

static void continue_stopped(int pid, int sig)
{
	if (is_stopped(pid))
		kill(pid, sig);
}

static void send_signal(int pid, int sig)
{
	kill(pid, sig);
}

/* A process of its own that, should the tool be killed, lets go whom it had stopped.  It
 * looks for a while: the probes may outlive the tool a little. */
static void start_resumer(int map)
{
	const struct timespec pause = { 0, 20000000 };
	int fds[2];
	char c;

	if (pipe2(fds, O_CLOEXEC))
		return;
	resumer_pid = fork();
	if (resumer_pid) {
		close(fds[0]);
		resumer = fds[1];	/* its end is the tool's end */
		return;
	}
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	dup2(fds[0], 0);
	dup2(map, 1);
	close_range(2, ~0u, 0);
	if (read(0, &c, 1) == 0)
		for (int i = 0; i < 100; i++) {
			each_watched(1, continue_stopped, SIGCONT);
			nanosleep(&pause, NULL);
		}
	_exit(0);
}

/* Programs that a kernel may refuse are loaded only where they are needed. */
static int load(bool tree, watch_fn *fn, void *ctx)
{
	struct bpf_program *p;

	handler = fn;
	handler_ctx = ctx;
	skel = watch_bpf__open();
	if (!skel)
		return -errno;
	bpf_object__for_each_program(p, skel->obj)
		bpf_program__set_autoload(p, tree);
	attach_prepare_one(skel->progs.watch_loaded, attach_kind);
	return watch_bpf__load(skel);
}

/* Without this a child that forks and does not exec is seen a little late. */
static void watch_births(int pid)
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
		warning(errno, "children that fork and do not exec will be seen a little late");
	if (fd >= 0 && !skel->links.watch_birth)
		close(fd);
}

int watch_tree(int pid, enum attach_kind kind, watch_fn *fn, void *ctx)
{
	const char yes = 1;
	int err;

	attach_kind = kind;
	err = load(true, fn, ctx);
	if (!err)	/* before there are links that it would hold */
		start_resumer(bpf_map__fd(skel->maps.watched));
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.watched), &pid, &yes, BPF_ANY);
	if (!err)
		err = watch_bpf__attach(skel);
	if (err)
		return fail(err);
	watch_births(pid);
	events = ring_buffer__new(bpf_map__fd(skel->maps.watch_events), on_event, NULL, NULL);
	return events ? 0 : fail(-errno);
}

int watch_all(bool (*is_wanted)(int pid, const char *path), watch_fn *fn, void *ctx)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.mmap = 1, .mmap2 = 1, .watermark = 1, .wakeup_watermark = 1,
	};
	int err = load(false, fn, ctx);

	if (err)
		return fail(err);
	wanted = is_wanted;
	mappings = perf_buffer__new_raw(bpf_map__fd(skel->maps.watch_mappings), MAPPING_PAGES, &attr,
					on_mapping, NULL, NULL);
	return mappings ? 0 : fail(-errno);
}

struct attachment *watch_linker(int fd, int pid, unsigned long long offset)
{
	return attach_one(skel->progs.watch_loaded, attach_kind, fd, pid, offset);
}

void watch_continue(const struct watch_event *e)
{
	for (int i = 0; i < nheld; i++)
		if (held[i] == (int)e->head.pid)
			return;
	if (!e->stopped)
		return;
	held = xrealloc(held, nheld + 1, sizeof(*held));
	held[nheld++] = e->head.pid;
}

/* Lets go whom fn has looked at.  SIGCONT undoes each SIGSTOP that came before it, also one
 * whose record is not read yet; but a process that has really stopped makes no more records. */
static int resume_stopped(void)
{
	const struct timespec pause = { 0, 50000 };
	int n = 1;

	while (nheld && n > 0) {
		for (int i = 0; i < nheld; i++)
			for (int tries = 0; tries < 200 && !is_stopped(held[i]); tries++)
				nanosleep(&pause, NULL);
		n = ring_buffer__consume(events);
	}
	for (int i = 0; i < nheld; i++)
		kill(held[i], SIGCONT);
	nheld = 0;
	return n;
}

int watch_poll(struct ring_buffer *rb, int ms)
{
	struct pollfd fds[] = {		/* negative ones are passed over */
		{ rb ? ring_buffer__epoll_fd(rb) : -1, POLLIN, 0 },
		{ events ? ring_buffer__epoll_fd(events) : -1, POLLIN, 0 },
		{ mappings ? perf_buffer__epoll_fd(mappings) : -1, POLLIN, 0 },
	};
	int err;

	if (poll(fds, 3, ms) < 0 && errno != EINTR)
		return -errno;
	/* first what a process waits for */
	err = events ? ring_buffer__consume(events) : 0;
	if (err >= 0 && events)
		err = resume_stopped();
	if (err >= 0 && mappings)
		err = perf_buffer__consume(mappings);
	if (err >= 0)
		handle_pending();
	/* poll alone would not see records whose writer woke nobody */
	if (err >= 0 && rb)
		err = ring_buffer__consume(rb);
	return err < 0 && err != -EINTR ? err : 0;
}

unsigned long long watch_lost(void)
{
	return mappings_lost + (skel ? skel->bss->watch_lost : 0);
}

void watch_signal(int sig)
{
	if (events)
		each_watched(bpf_map__fd(skel->maps.watched), send_signal, sig);
}

void watch_detach(void)
{
	if (skel)
		watch_bpf__detach(skel);
}

void watch_stop(void)
{
	if (events && ring_buffer__consume(events) >= 0)
		resume_stopped();
	if (resumer_pid > 0 && write(resumer, "", 1) == 1)
		waitpid(resumer_pid, NULL, 0);
	resumer_pid = 0;
	ring_buffer__free(events);
	perf_buffer__free(mappings);
	watch_bpf__destroy(skel);
	events = NULL;
	mappings = NULL;
	skel = NULL;
}
