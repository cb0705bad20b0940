/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "base/clock.h"
#include "cudaexporter/labelled_processes.h"
#include "proc/user.h"

enum { LEFT_OUT = 65536, CHECKS = 1024 };

/* How long the record of a program's first call may take to arrive. */
static const unsigned long long RECORD_NS = 2 * 1000000000ull;

struct left_out { int pid; UT_hash_handle hh; };

struct process_text {
	enum metric metric;
	char *labels;
};

void processes_init(struct processes *c, void (*ended)(void *ctx, int pid), void *ctx)
{
	c->ended = ended;
	c->ctx = ctx;
}

static struct label_set *join(struct processes *c, const struct cuda_process *process)
{
	return label_sets_join(&c->sets, process->key.pid, process->user, &process->is);
}

static void enter(struct processes *c, struct cuda_process *process)
{
	process->set = join(c, process);
	HASH_ADD(hh, c->all, key, sizeof(process->key), process);
	HASH_ADD(hh_pid, c->by_pid, key.pid, sizeof(process->key.pid), process);
}

/* Reads /proc. */
static struct cuda_process *process_new(int pid, unsigned long long program)
{
	struct cuda_process *process = xcalloc(1, sizeof(*process));

	process->key.pid = pid;
	process->key.program = program;
	identity_read(pid, &process->is);
	process->proc = proc_identity(pid);
	process->user = proc_user(pid);
	process->made = clock_ns();
	return process;
}

struct cuda_process *processes_find(const struct processes *c, int pid)
{
	struct cuda_process *process;

	HASH_FIND(hh_pid, c->by_pid, &pid, sizeof(pid), process);
	return process;
}

void processes_end(struct processes *c, struct cuda_process *process)
{
	if (process->over)
		return;
	process->over = true;
	c->over++;
	HASH_DELETE(hh_pid, c->by_pid, process);
	label_sets_end(process->set);
	c->ended(c->ctx, process->key.pid);
}

/* Return true if another process has the pid, or the process runs another program. */
static bool has_changed(const struct cuda_process *process)
{
	struct proc_identity now = proc_identity(process->key.pid);

	return now.started && !proc_identity_is(process->proc, now);
}

struct cuda_process *processes_mapped(struct processes *c, int pid)
{
	struct cuda_process *process = processes_find(c, pid);

	if (process && has_changed(process)) {
		processes_end(c, process);
		process = NULL;
	}
	if (!process) {
		process = process_new(pid, 0);
		enter(c, process);
	}
	return process;
}

/* Removes their series first: later labels may have the same address. */
static void free_texts(struct cuda_process *process)
{
	for (unsigned i = 0; i < process->ntexts; i++) {
		series_remove(process->set, process->texts[i].metric, metric_text(process->texts[i].labels));
		free(process->texts[i].labels);
	}
	free(process->texts);
	process->texts = NULL;
	process->ntexts = 0;
}

/* Only for a process that has counted nothing under its former name. */
static void rename_process(struct processes *c, struct cuda_process *process, const char comm[16])
{
	if (process->set == c->sets.other)
		return;
	free_texts(process);
	label_sets_take_back(&c->sets, process->set);
	memcpy(process->is.comm, comm, sizeof(process->is.comm) - 1);
	process->set = join(c, process);
}

/* Sets the program of a process that has made its first call. */
static struct cuda_process *adopt(struct processes *c, struct cuda_process *process, unsigned long long program)
{
	HASH_DELETE(hh, c->all, process);
	process->key.program = program;
	HASH_ADD(hh, c->all, key, sizeof(process->key), process);
	return process;
}

struct cuda_process *processes_seen(struct processes *c, const struct export_seen *seen)
{
	struct cuda_process *process = processes_find(c, seen->head.pid);
	unsigned long long program = seen->program;
	const char *comm = seen->comm;

	if (process && process->key.program == program)
		return process;
	if (process && !process->key.program && !has_changed(process)) {
		if (*comm && strncmp(process->is.comm, comm, sizeof(process->is.comm) - 1))
			rename_process(c, process, comm);
		return adopt(c, process, program);
	}
	if (process)
		processes_end(c, process);
	process = process_new(seen->head.pid, program);
	if (*comm)	/* by now it may run another program */
		memcpy(process->is.comm, comm, sizeof(process->is.comm) - 1);
	if (process->is.uid == USER_UNKNOWN)
		process->is.uid = seen->uid;
	if (process->user == USER_UNKNOWN)
		process->user = seen->user;
	enter(c, process);
	return process;
}

static struct cuda_process *counted_now(struct processes *c, struct cuda_process *before, struct cuda_process *now)
{
	if (!*now->is.comm && clock_ns() - now->key.program < RECORD_NS) {
		free(now);	/* it has ended; its name is in the record that is still to come */
		return NULL;
	}
	if (before)
		processes_end(c, before);
	enter(c, now);
	return now;
}

struct cuda_process *processes_known(const struct processes *c, int pid, unsigned long long program)
{
	const struct cuda_process_key key = { program, pid, 0 };
	struct cuda_process *known;

	HASH_FIND(hh, c->all, &key, sizeof(key), known);
	return known;
}

struct cuda_process *processes_admit(struct processes *c, int pid, unsigned long long program)
{
	struct cuda_process *process = processes_find(c, pid), *known = processes_known(c, pid, program);

	if (known)
		return known;
	if (process && !process->key.program && *process->is.comm && !has_changed(process))
		return adopt(c, process, program);
	if (process && process->key.program && program > process->key.program)
		return NULL;	/* a newer program, whose record is still to come */
	known = process_new(pid, program);
	if (!process || !process->key.program)
		return counted_now(c, process, known);
	known->over = true;	/* a newer program has the pid: /proc describes that one */
	known->is = (struct identity){ .uid = USER_UNKNOWN };
	c->over++;
	known->set = join(c, known);
	HASH_ADD(hh, c->all, key, sizeof(known->key), known);
	label_sets_end(known->set);
	return known;
}

/* There is no record of the end of a process that made no call.  The record of its first call may still be to come, so
 * it must be gone at two checks. */
static bool is_gone(struct cuda_process *process)
{
	bool before = process->gone;

	if (has_changed(process))
		return true;
	process->gone = kill(process->key.pid, 0) && errno == ESRCH;
	return before && process->gone;
}

static void check_left_out(struct processes *c)
{
	struct left_out *l, *next;

	HASH_ITER(hh, c->left_out, l, next) {
		if (!kill(l->pid, 0) || errno != ESRCH)
			continue;
		HASH_DEL(c->left_out, l);
		free(l);
	}
}

void processes_check(struct processes *c, bool thorough)
{
	struct cuda_process *process, *next;
	int left = CHECKS;

	HASH_ITER(hh_pid, c->by_pid, process, next)
		if ((thorough || (!process->key.program && left-- > 0)) && is_gone(process))
			processes_end(c, process);
	if (thorough)
		check_left_out(c);
}

void processes_leave_out(struct processes *c, int pid)
{
	struct left_out *l;

	HASH_FIND_INT(c->left_out, &pid, l);
	if (l || HASH_COUNT(c->left_out) >= LEFT_OUT)
		return;
	l = xcalloc(1, sizeof(*l));
	l->pid = pid;
	HASH_ADD_INT(c->left_out, pid, l);
}

unsigned processes_left_out(const struct processes *c)
{
	return HASH_COUNT(c->left_out);
}

void processes_reap(struct processes *c)
{
	struct cuda_process *process, *next;

	if (!c->over)
		return;
	HASH_ITER(hh, c->all, process, next) {
		if (!process->over)
			continue;
		HASH_DELETE(hh, c->all, process);
		free_texts(process);
		label_sets_leave(process->set);
		free(process->env);
		free(process);
	}
	c->over = 0;
}

void processes_free(struct processes *c)
{
	struct cuda_process *process, *next;

	HASH_ITER(hh_pid, c->by_pid, process, next)
		processes_end(c, process);
	processes_reap(c);
	HASH_FREE(c->left_out);
}

static struct process_text *add_text(struct cuda_process *process, enum metric m, char *labels)
{
	struct process_text *text;

	for (unsigned i = 0; i < process->ntexts; i++) {
		text = &process->texts[i];
		if (text->metric == m && !strcmp(text->labels, labels)) {
			free(labels);
			return text;
		}
	}
	process->texts = xrealloc(process->texts, process->ntexts + 1, sizeof(*process->texts));
	text = &process->texts[process->ntexts++];
	*text = (struct process_text){ m, labels };
	return text;
}

void process_show(struct cuda_process *process, enum metric m, char *labels)
{
	labels = add_text(process, m, labels)->labels;
	series_max(process->set, m, metric_text(labels), 1);
}

bool process_shown(struct cuda_process *process, enum metric m)
{
	bool any = false;

	for (unsigned i = 0; i < process->ntexts; i++)
		if (process->texts[i].metric == m) {
			series_max(process->set, m, metric_text(process->texts[i].labels), 1);
			any = true;
		}
	return any;
}
