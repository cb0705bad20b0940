/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/progress.h"
#include "machine/library_dirs.h"
#include "probe/dso.h"
#include "probe/launch_gates.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "probe/scan.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/helper_files.h"
#include "proc/privileges.h"

/* Runtimes that are linked into programs and libraries: the dynamic linker does not know their functions. */

struct search {
	struct probes *p;
	int pid;
	struct dso *named, *nameless;	/* nameless: has kernels, and no names of a runtime */
	bool shared;			/* a runtime is mapped as a library */
};

static bool has_names(const struct probes *p, const struct dso *d)
{
	for (int i = 0; i < d->scan.n; i++)
		if (!d->scan.probes[i].exported && p->source->get(p, d->scan.probes[i].id).lib == CUDA_RT)
			return true;
	return false;
}

static bool scan_find(void *ctx, const struct mapping *m)
{
	struct search *s = ctx;
	struct dso *d = dso_of_mapping(s->p, s->pid, m);

	s->shared |= d->scan.runtime;
	if (!s->named && has_names(s->p, d))
		s->named = d;
	if (!s->nameless && d->scan.fatbin && !d->scan.functions)
		s->nameless = d;
	return helper_pool_poll(s->p->helpers);
}

const char *static_runtime(struct probes *p, int pid)
{
	struct search s = { .p = p, .pid = pid };
	struct dso *d;

	if (p->layer == CUDA_DRV)
		return NULL;
	helper_mappings(p->helpers, pid, true, scan_find, &s);
	/* NVIDIA's own libraries, such as cuBLAS, have a runtime beside the program's */
	d = s.named ? s.named : s.shared ? NULL : s.nameless;
	if (!d || d->linked_in)
		return NULL;
	d->linked_in = true;
	return d->path;
}

/* Limit on one scan: a program with more mappings would keep us from tracing the others. */
static const unsigned long long LONGEST_NS = 20 * 1000000000ull;

struct scan {
	struct probes *p;
	int pid, found;
	int how;		/* WATCH_OWN, WATCH_SHARED: less what was not possible */
	int err;		/* why something could not be read */
	unsigned long long began;
	/* Probed last: the driver's call inside a call of the runtime that is not probed yet would count as one of
	 * its own. */
	struct dso *drivers[4];
	int ndrivers;
};

/* A missing privilege is an error for good. */
static void not_permitted(struct probes *p, const struct dso *d, int err)
{
	char *why = privilege_missing(p->attacher.kind == ATTACH_PERF ? PRIVILEGE_UPROBES : PRIVILEGE_BPF);

	failure_set(&p->failure, EXIT_FAILURE, err, "cannot probe %s (%s)", d->path, why);
	free(why);
}

static void cannot_probe(struct probes *p, struct dso *d, int err)
{
	bool again = err == d->said;

	if (err == -ECANCELED)	/* the tool is to end */
		return;
	d->said = err;
	probes_lack(p, err);
	if (!p->nprobes && (err == -EACCES || err == -EPERM))
		not_permitted(p, d, err);
	else if (!again)
		warning(err, "cannot probe %s", d->path);
}

/* Other errors are those of processes that end or change. */
static bool is_lasting(int err)
{
	return err == -EACCES || err == -EPERM || err_is_transient(err);
}

/* The time is the kernel's, not the process's: perf events wait for each other. */
static int scan_attach(struct scan *s, struct dso *d)
{
	unsigned long long before = clock_ns();
	int err = 0;

	if (s->how & WATCH_SHARED && !uprobes_share(s->p, d))
		s->how &= ~WATCH_SHARED;
	if (s->how & WATCH_OWN)
		err = uprobes_attach(s->p, d, s->p->pids ? s->pid : 0);
	if (!err && s->p->split.on)
		err = uprobes_attach_own(s->p, d, s->pid);
	s->began += clock_ns() - before;
	return err;
}

static bool uses_cuda(const struct dso *d)
{
	return d->scan.functions || d->scan.fatbin || d->scan.runtime || scan_is_cuda(d->path);
}

static bool is_driver(const struct probes *p, const struct dso *d)
{
	return d->scan.n && p->source->get(p, d->scan.probes[0].id).lib == CUDA_DRV;
}

/* Puts off the file until all others are probed; false if it is none of the driver's, or one of many. */
static bool put_off(struct scan *s, struct dso *d)
{
	if (!is_driver(s->p, d) || s->ndrivers == sizeof(s->drivers) / sizeof(*s->drivers))
		return false;
	s->drivers[s->ndrivers++] = d;
	return true;
}

static void attach_file_of(struct scan *s, struct dso *d)
{
	int err = scan_attach(s, d);

	if (err == -EAGAIN)
		s->err = err;
	else if (err && err != -ESRCH)	/* ESRCH: the process has ended */
		cannot_probe(s->p, d, err);
}

static bool attach_mapping(void *ctx, const struct mapping *m)
{
	struct scan *s = ctx;
	struct dso *d = dso_of_mapping(s->p, s->pid, m);

	s->found += dso_shows(s->p, d) || d->scan.fatbin;
	s->p->cuda |= uses_cuda(d);
	if (is_lasting(dso_fd(d)))
		s->err = dso_fd(d);
	if (dso_fd(d) == -ETIME)	/* one such wait is enough */
		s->p->helpers->limit = HELPER_QUICK;
	if (!put_off(s, d))
		attach_file_of(s, d);
	if (s->p->failure.text || !helper_pool_poll(s->p->helpers))
		return false;
	if (clock_ns() - s->began < LONGEST_NS)
		return true;
	warning(0, "process %d: scan of its mappings stopped after 20 s", s->pid);
	return false;
}

static void unread(struct probes *p, int pid)
{
	if (p->on_unread && !p->failure.text)
		p->on_unread(p->session, pid);
}

/* Leaves in *how what was possible in all files. */
static int scan(struct probes *p, int pid, int *how)
{
	struct scan s = { .p = p, .pid = pid, .how = *how, .began = clock_ns() };
	long limit = p->helpers->limit;
	int err = helper_mappings(p->helpers, pid, true, attach_mapping, &s);

	for (int i = 0; i < s.ndrivers && !p->failure.text; i++)
		attach_file_of(&s, s.drivers[i]);
	p->helpers->limit = limit;
	if (p->split.on && uprobes_has_own(p, pid))
		p->split.crowded |= !launch_gate_own(p, pid);
	if (s.found && p->on_process && !p->failure.text)
		p->on_process(p->session, pid);
	if (is_lasting(err))
		s.err = err;
	if (err == -EMFILE || err == -ENFILE) {
		if (!p->incomplete)
			warning(err, "cannot read the mappings of process %d for now", pid);
		probes_lack(p, err);
	}
	if (err_is_transient(s.err))
		watch_again(p->watch, pid);
	if (s.err && !s.found)
		unread(p, pid);
	*how = s.how & (s.err ? WATCH_OWN : s.how);
	return s.found ? s.found : s.err;
}

int scan_process(struct probes *p, int pid)
{
	int how = share_choose(p, pid), err = scan(p, pid, &how);

	if (!how) {
		how = WATCH_OWN;
		err = scan(p, pid, &how);
	}
	share_scanned(p, pid, how);
	return err;
}

static enum privilege needed(int err)
{
	return err == -EACCES ? PRIVILEGE_PTRACE : PRIVILEGE_CHECKPOINT;
}

struct runtime {
	struct probes *p;
	int pid, version;
};

static bool find_runtime(void *ctx, const struct mapping *m)
{
	struct runtime *r = ctx;

	r->version = dso_of_mapping(r->p, r->pid, m)->runtime;
	return !r->version && helper_pool_poll(r->p->helpers);
}

int scan_runtime(struct probes *p, int pid)
{
	struct runtime r = { .p = p, .pid = pid };

	helper_mappings(p->helpers, pid, true, find_runtime, &r);
	return r.version;
}

char *scan_refusal(int err)
{
	return privilege_missing(needed(err));
}

bool scan_is_cuda(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return watch_is_cuda(name);
}

static bool find_cuda(void *ctx, const struct mapping *m)
{
	*(bool *)ctx = scan_is_cuda(m->path);
	return !*(bool *)ctx;
}

static bool is_refusal(int err)
{
	return (err == -EACCES || err == -EPERM) && privilege_lacks(needed(err));
}

static void say_refused(struct probes *p, int pid, int err)
{
	char *why;

	if (p->failure.text || p->refused || !is_refusal(err) || proc_is_ending(pid))
		return;
	why = scan_refusal(err);
	warning(0, "not permitted to inspect process %d and possibly others: %s", pid, why);
	free(why);
	p->refused = true;
}

static void fail_command(struct probes *p, int err)
{
	char *why = scan_refusal(err);

	failure_set(&p->failure, EXIT_FAILURE, 0, "not permitted to inspect the command's process: %s",
		    why);
	free(why);
}

void scan_watched(struct probes *p, int pid)
{
	int err = scan_process(p, pid);

	if (p->tree && pid == p->pids[0] && p->attacher.kind != ATTACH_INJECT && is_refusal(err))
		fail_command(p, err);
	else
		say_refused(p, pid, err);
}

struct processes {
	struct probes *p;
	int n;			/* scanned so far */
};

static void scan_if_cuda(void *ctx, int pid)
{
	struct processes *all = ctx;
	struct probes *p = all->p;
	bool cuda = false;
	int err = 0;

	if (p->failure.text)
		return;
	progress_set(p->helpers->progress, "scanning processes: %d so far", all->n++);
	progress_tick(p->helpers->progress);
	if (pid != getpid())
		err = helper_mappings(p->helpers, pid, false, find_cuda, &cuda);
	if (cuda || err_is_transient(err))
		err = scan_process(p, pid);
	else if (is_lasting(err))
		unread(p, pid);
	say_refused(p, pid, err);
}

void scan_all(struct probes *p)
{
	proc_each(scan_if_cuda, &(struct processes){ .p = p });
}

/* Probes a file in the processes of -p, or in all; with -c, it is probed once it is mapped. */
static int attach_everywhere(struct probes *p, struct dso *d)
{
	int err = 0;

	if (!p->pids || (p->tree && p->on_dso))
		return uprobes_attach(p, d, 0);
	if (p->share.listed) {	/* if that is impossible, those that map it get links of their own */
		uprobes_share(p, d);
		return 0;
	}
	for (int i = 0; !err && !p->tree && p->pids[i]; i++)
		err = uprobes_attach(p, d, p->pids[i]);
	return err;
}

static const char *const dirs[] = {
	MACHINE_LIBRARY_DIRS, "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
	"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/lib64", MACHINE_CUDA_DIRS,
	"/run/opengl-driver/lib",
};

char *scan_installed_driver(void)
{
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		char *path = xprintf("%s/libcuda.so.1", dirs[i]);

		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

void scan_installed(struct probes *p)
{
	/* the driver last: what the runtime calls is not to be taken for the program's own calls */
	static const char *const names[] = { "libcudart.so.11.0", "libcudart.so.12",
					     "libcudart.so.13", "libcuda.so.1" };
	const size_t n = sizeof(dirs) / sizeof(*dirs);
	struct dso *d;

	/* a running process has mapped its runtime already, or brings its own */
	for (size_t i = p->pids ? 3 * n : 0; i < 4 * n; i++) {
		char *path = xprintf("%s/%s", dirs[i % n], names[i / n]);
		char *real = realpath(path, NULL);

		d = real ? dso_of_file(p, real) : NULL;
		if (d)		/* errors are reported when a process maps it */
			attach_everywhere(p, d);
		free(path);
		free(real);
	}
}

bool scan_lib(struct probes *p, const char *path)
{
	struct dso *d = dso_of_file(p, path);
	struct failure *f = &p->failure;
	int err;

	if (!d && errno == EINVAL)
		failure_set(f, EXIT_FAILURE, 0, "%s is not a regular file", path);
	else if (!d)
		failure_set(f, EXIT_FAILURE, errno, "cannot open %s", path);
	else if (d->scan.error)
		failure_set(f, EXIT_FAILURE, 0, "%s: %s", path, d->scan.error);
	else if (!dso_shows(p, d))
		failure_set(f, EXIT_NOTHING, 0, "%s defines none of the CUDA functions that this tool "
			    "traces", path);
	if (f->text)
		return false;
	err = attach_everywhere(p, d);
	if (err)
		cannot_probe(p, d, err);
	return !err;
}
