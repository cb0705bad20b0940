/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "probe/dso.h"
#include "base/die.h"
#include "proc/privileges.h"
#include "probe/scan.h"
#include "sym/syms.h"
#include "session/target.h"

/* A program that maps more than can be looked into in this time keeps us from our work. */
static const unsigned long long LONGEST_NS = 20 * 1000000000ull;

struct scan {
	struct target *t;
	int pid, found, refused;
	unsigned long long began;
};

/* What is forbidden now is forbidden every time. */
static void cannot_probe(const struct target *t, const struct dso *c, int err)
{
	if (!t->nprobes && (err == -EACCES || err == -EPERM))
		die(err, "cannot probe %s (%s)", c->path,
		    privilege_missing(t->kind == ATTACH_PERF ? PRIVILEGE_UPROBES : PRIVILEGE_BPF));
	warning(err, "cannot probe %s", c->path);
}

static bool attach_mapping(void *ctx, const struct mapping *m)
{
	struct scan *s = ctx;
	struct dso *c = dso_of_mapping(s->t, s->pid, m);
	int err;

	s->found += c->scan.n > 0 || c->scan.fatbin;
	if (dso_fd(c) == -EACCES || dso_fd(c) == -EPERM)
		s->refused = dso_fd(c);
	err = uprobes_attach(s->t, c, s->t->pids ? s->pid : 0);
	if (err && err != -ESRCH)	/* not: it ended meanwhile */
		cannot_probe(s->t, c, err);
	if (clock_ns() - s->began < LONGEST_NS)
		return true;
	warning(0, "process %d: scan of its mappings stopped after 20 s", s->pid);
	return false;
}

int scan_process(struct target *t, int pid)
{
	struct scan s = { .t = t, .pid = pid, .began = clock_ns() };
	int err = proc_mappings(pid, attach_mapping, &s);

	if (s.found)
		syms_refresh(pid);
	if (err == -EACCES)
		s.refused = err;
	return s.found ? s.found : s.refused;
}

static enum privilege needed(int err)
{
	return err == -EACCES ? PRIVILEGE_PTRACE : PRIVILEGE_CHECKPOINT;
}

const char *scan_refusal(int err)
{
	return privilege_missing(needed(err));
}

bool scan_is_cuda(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!strncmp(name, "memfd:", 6))
		name += 6;
	return !strncmp(name, "libcuda.so", 10) || !strncmp(name, "libcudart", 9);
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

static void say_refused(struct target *t, int pid, int err)
{
	if (t->refused || !is_refusal(err))
		return;
	warning(0, "not permitted to inspect process %d and possibly others: %s", pid,
		scan_refusal(err));
	t->refused = true;
}

void scan_watched(struct target *t, int pid)
{
	int err = scan_process(t, pid);

	if (t->command && pid == t->pids[0] && is_refusal(err))
		die(0, "not permitted to inspect the command's process: %s", scan_refusal(err));
	say_refused(t, pid, err);
}

static void scan_if_cuda(void *ctx, int pid)
{
	bool cuda = false;
	int err = 0;

	if (pid != getpid())
		err = proc_mappings(pid, find_cuda, &cuda);
	if (cuda)
		err = scan_process(ctx, pid);
	say_refused(ctx, pid, err);
}

void scan_all(struct target *t)
{
	proc_each(scan_if_cuda, t);
}

/* Probes a file in the processes of -p, or in all; with -c, where it will be mapped. */
static int attach_everywhere(struct target *t, struct dso *c)
{
	int err = 0;

	if (!t->pids || (t->command && t->on_dso))
		return uprobes_attach(t, c, 0);
	for (int i = 0; !err && t->pidfds && t->pids[i]; i++)
		err = uprobes_attach(t, c, t->pids[i]);
	return err;
}

void scan_installed(struct target *t)
{
	static const char *const dirs[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
		"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/lib64",
		"/run/opengl-driver/lib",
	};
	static const char *const names[] = { "libcuda.so.1", "libcudart.so.11.0",
					     "libcudart.so.12", "libcudart.so.13" };
	struct dso *c;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) * 4; i++) {
		char *path, *real;

		/* a process that runs has its runtime already, or brings its own */
		if (t->pids && i % 4)
			continue;
		path = xprintf("%s/%s", dirs[i / 4], names[i % 4]);
		real = realpath(path, NULL);
		c = real ? dso_of_file(t, real) : NULL;
		if (c)
			attach_everywhere(t, c);
		free(path);
		free(real);
	}
}

void scan_lib(struct target *t, const char *path)
{
	struct dso *c = dso_of_file(t, path);
	int err;

	if (!c && errno == EINVAL)
		die(0, "%s is not a regular file", path);
	if (!c)
		die(errno, "cannot open %s", path);
	if (c->scan.error)
		die(0, "%s: %s", path, c->scan.error);
	if (!c->scan.n)
		die_status(EXIT_NOTHING, 0, "%s defines none of the CUDA functions that this tool "
			   "traces", path);
	err = attach_everywhere(t, c);
	if (err) {
		cannot_probe(t, c, err);
		exit(EXIT_FAILURE);
	}
}
