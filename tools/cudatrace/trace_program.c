/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "sym/kernels.h"
#include "proc/proc.h"
#include "cudatrace/trace_program.h"

/* How often to look for the kernel of an address: its variable may not be filled in yet. */
enum { MAX_LOOKS = 4, MAX_UNKNOWN = 1 << 16 };

/* An address that has no name. */
struct unknown {
	unsigned long long addr;
	int looks;
	UT_hash_handle hh;
};

/* One execution of a program. */
struct program {
	int pid, children;
	int version;		/* of its runtime, as CUDA_VERSION has it; 0: not looked for yet */
	bool ended;		/* it stays while it has children: they look here */
	struct program *parent;
	struct kernels *kernels;
	struct unknown *unknown;
	UT_hash_handle hh;
};

static struct program *programs;	/* those that have not ended */

static enum cuda_class class_of(const struct cuda_proto *proto)
{
	const struct cuda_fn *role = trace_role(proto);

	return role ? role->class : CUDA_CLASS_MAX;
}

bool trace_names_kernels(const struct cuda_proto *proto)
{
	return class_of(proto) == CUDA_NAME;
}

bool trace_is_launch(const struct cuda_proto *proto)
{
	return class_of(proto) == CUDA_LAUNCH;
}

bool trace_is_wait(const struct cuda_proto *proto)
{
	return class_of(proto) == CUDA_SYNC;
}

static struct program *program_new(int pid, struct program *parent)
{
	struct program *p = xcalloc(1, sizeof(*p));

	p->pid = pid;
	p->parent = parent;
	p->version = parent ? parent->version : 0;
	p->kernels = kernels_new(pid, parent ? parent->kernels : NULL);
	HASH_ADD_INT(programs, pid, p);
	return p;
}

static struct program *program_of(int pid)
{
	struct program *p;

	HASH_FIND_INT(programs, &pid, p);
	return p ? p : program_new(pid, NULL);
}

static void program_free(struct program *p)
{
	struct program *parent = p->parent;
	struct unknown *u, *next;

	if (!p->ended || p->children)
		return;
	HASH_ITER(hh, p->unknown, u, next) {
		HASH_DEL(p->unknown, u);
		free(u);
	}
	kernels_free(p->kernels);
	free(p);
	if (parent) {
		parent->children--;
		program_free(parent);
	}
}

void trace_program_forget(int pid)
{
	struct program *p;

	HASH_FIND_INT(programs, &pid, p);
	if (!p)
		return;
	HASH_DEL(programs, p);
	p->ended = true;
	program_free(p);
}

void trace_program_fork(int parent, int child)
{
	struct program *p;

	HASH_FIND_INT(programs, &parent, p);
	trace_program_forget(child);
	if (!p)
		return;
	p->children++;
	program_new(child, p);
}

/* libcudart.so.12.4.127 is of CUDA 12.4; libcudart.so.12 of any 12. */
static bool find_runtime(void *ctx, const struct mapping *m)
{
	const char *slash = strrchr(m->path, '/');
	int major, minor, n;

	n = sscanf(slash ? slash + 1 : m->path, "libcudart.so.%d.%d.", &major, &minor);
	if (n < 1 || major < 1 || major > 1000 || (n == 2 && (minor < 0 || minor > 99)))
		return true;
	/* the library of every 11 is libcudart.so.11.0 */
	*(int *)ctx = major * 1000 + (n == 1 || (major == 11 && !minor) ? 999 : minor * 10);
	return false;
}

/* 0 if it has no library of that name: linked in, perhaps. */
static int runtime_of(int pid)
{
	int version = 0;

	proc_mappings(pid, find_runtime, &version);
	return version;
}

/* One that is not known is the newest. */
static int version_of(struct program *p)
{
	if (!p->version)
		p->version = runtime_of(p->pid);
	if (!p->version)
		p->version = INT_MAX;
	return p->version;
}

void trace_program_mapped(struct target *t, int pid)
{
	int version = runtime_of(pid);

	(void)t;
	if (version)
		program_of(pid)->version = version;
}

void trace_program_look(int pid)
{
	kernels_resolve_handles(program_of(pid)->kernels);
}

/* What was read at the address in an argument, or NULL. */
static const char *read_at(const struct trace_call *call, unsigned char place)
{
	for (int i = 0; place && i < call->function->nreads; i++)
		if (call->function->reads[i].word == place - 1)
			return call->read[i];
	return NULL;
}

/* A name that was not paged in, or was longer than a record: the process has it. */
static void learn_name(struct kernels *k, int pid, unsigned long long addr, const char *name,
		       unsigned long long at)
{
	char text[2 * TRACE_LONG_STRING];

	if (!name || strlen(name) + 1 >= TRACE_LONG_STRING)
		if (at && kernels_read_string(pid, at, text, sizeof(text)))
			name = text;
	if (name && *name)
		kernels_name(k, addr, kernel_named(name));
}

static void learn(const struct trace_call *call, const struct cuda_args *row)
{
	struct kernels *k = program_of(call->event->head.pid)->kernels;
	unsigned long long out = 0, subject = trace_word(call, row->stub ? row->stub : row->func > 1 ?
						       row->func : row->handle > 1 ? row->handle : 0);
	const char *name = read_at(call, row->name);

	if (row->module == 1 || row->library == 1 || call->failed)
		return;
	if (row->out && row->name != 1) {
		if (!read_at(call, 1))
			return;
		memcpy(&out, read_at(call, 1), sizeof(out));
		if (!row->name)
			kernels_alias(k, out, subject);
		subject = out;
	}
	if (row->name)
		learn_name(k, call->event->head.pid, subject, name,
			   row->name == 1 ? 0 : trace_word(call, row->name));
}

static const struct kernel *kernel_of(struct program *p, unsigned long long addr)
{
	const struct kernel *found = kernels_find(p->kernels, addr);
	struct unknown *u;

	if (found)
		return found;
	HASH_FIND(hh, p->unknown, &addr, sizeof(addr), u);
	if (!u && HASH_COUNT(p->unknown) >= MAX_UNKNOWN)
		return NULL;
	if (!u) {
		u = xcalloc(1, sizeof(*u));
		u->addr = addr;
		HASH_ADD(hh, p->unknown, addr, sizeof(addr), u);
	}
	if (u->looks++ < MAX_LOOKS)
		kernels_resolve(p->kernels, addr);
	return kernels_find(p->kernels, addr);
}

void trace_program_call(struct trace_call *call)
{
	const struct cuda_fn *role = trace_role(call->proto);
	unsigned long long func;

	if (call->proto->lib == CUDA_RT)
		call->proto = cuda_proto_in(call->event->id, version_of(program_of(call->event->head.pid)));
	if (!role)
		return;
	if (role->class == CUDA_NAME && call->event->head.kind == TRACE_CALL)
		learn(call, &role->args);
	func = role->class == CUDA_LAUNCH ? trace_word(call, role->args.func) : 0;
	if (func)
		call->kernel = kernel_of(program_of(call->event->head.pid), func);
}
