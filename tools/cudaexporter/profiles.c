/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "abi/cudaexporter.h"
#include "cudaexporter/profiles.h"
#include "model/launches.h"
#include "session/session.h"
#include "sym/syms.h"

/* Bytes of the samples of a window. */
enum { WINDOW = 8 << 20 };

/* How long the samples of a process outlive it: longer than scrapers' intervals. */
static const unsigned long long KEPT_NS = 300 * 1000000000ull;

static const struct profile_kind held = {
	.values = { { "held", "bytes" }, { "allocations", "count" } }, .leaf = "memory",
};
static const struct profile_kind launched = { .values = { { "launches", "count" } }, .leaf = "kernel" };
static const struct profile_kind waited = { .values = { { "wait", "nanoseconds" }, { "waits", "count" } } };

static void begin(struct profile *profile, const struct profile_kind *kind, struct session *session)
{
	*profile = (struct profile)PROFILE_INIT(kind, &session->processes);
	profile->path = "/debug/pprof";
	profile_begin(profile);
}

void profiles_open(struct profiles *p, struct session *session)
{
	if (!p->wanted)
		return;
	p->session = session;
	p->memory = (struct memory)MEMORY_INIT;
	p->memory.table = &session->processes;
	begin(&p->launches, &launched, session);
	begin(&p->waits, &waited, session);
}

void profiles_free(struct profiles *p)
{
	if (!p->wanted)
		return;
	memory_free(&p->memory);
	profile_free(&p->launches);
	profile_free(&p->waits);
	for (int i = 0; i < WEB_LATER; i++)
		profile_free(&p->windows[i].profile);
}

static void add_to_all(struct profiles *p, struct profile *to, enum web_what what, const struct profile_event *e)
{
	profile_add(to, e);
	for (int i = 0; i < WEB_LATER; i++)
		if (p->windows[i].what == what)
			profile_add(&p->windows[i].profile, e);
}

bool profiles_record(struct profiles *p, const void *record)
{
	const struct export_wait *w = record;

	if (w->head.kind != EXPORT_WAIT)
		return false;
	add_to_all(p, &p->waits, WEB_PROFILE_WAITS, &(struct profile_event){
		.pid = w->head.pid, .comm = w->comm, .leaf = cuda_fns[w->id].name,
		.stack = stack_get(p->session->syms, w->head.pid, w->stack, w->head.frames), .values = { w->ns, 1 },
	});
	return true;
}

void profiles_memory(struct profiles *p, const struct memory_event *e)
{
	if (p->wanted)
		memory_apply(&p->memory, e, stack_get(p->session->syms, e->head.pid, e->stack, e->head.frames));
}

void profiles_launched(struct profiles *p, const struct launch_row *r)
{
	char address[32];
	char *leaf;

	if (!r->last.launches)
		return;
	snprintf(address, sizeof(address), "0x%llx", r->func);
	leaf = xprintf("%s%s", r->kind == LAUNCH_GRAPH ? "[graph] " : "", r->kernel ? r->kernel->brief : address);
	add_to_all(p, &p->launches, WEB_PROFILE_LAUNCHES, &(struct profile_event){
		.pid = r->pid, .comm = r->comm, .leaf = leaf, .stack = r->stack, .device = r->device,
		.values = { r->last.launches },
	});
	free(leaf);
}

void profiles_forget(struct profiles *p, int pid)
{
	struct mem_process *process;

	HASH_FIND_INT(p->memory.processes, &pid, process);
	memory_forget(process);
}

void profiles_sweep(struct profiles *p)
{
	profile_sweep(&p->launches, KEPT_NS);
	profile_sweep(&p->waits, KEPT_NS);
}

static void add_held(struct profile *to, const struct mem_process *process)
{
	char leaf[32];

	for (const struct mem_site *g = process->groups.all; g; g = g->hh.next) {
		if (!g->held.count)
			continue;
		snprintf(leaf, sizeof(leaf), "[%s]", memory_name(g->key.memory));
		profile_add(to, &(struct profile_event){
			.pid = process->pid, .comm = process->comm, .leaf = leaf, .stack = g->key.stack,
			.device = g->key.device, .values = { g->held.bytes, g->held.count },
		});
	}
}

static bool write_held(struct profiles *p, FILE *f)
{
	struct profile now;
	bool ok;

	begin(&now, &held, p->session);
	for (const struct mem_process *process = p->memory.processes; process; process = process->hh.next)
		add_held(&now, process);
	ok = pprof_write(&now, f);
	profile_free(&now);
	return ok;
}

static bool end_window(struct profile_window *w, FILE *f)
{
	bool ok = pprof_write(&w->profile, f);

	profile_free(&w->profile);
	*w = (struct profile_window){ 0 };
	return ok;
}

bool profiles_page(struct profiles *p, const struct web_request *r, FILE *f)
{
	struct profile_window *w = &p->windows[r->window];

	if (!p->wanted)
		return false;
	if (r->what == WEB_PROFILE_HELD)
		return write_held(p, f);
	if (!r->seconds)
		return pprof_write(r->what == WEB_PROFILE_WAITS ? &p->waits : &p->launches, f);
	if (!r->begins)
		return end_window(w, f);
	begin(&w->profile, r->what == WEB_PROFILE_WAITS ? &waited : &launched, p->session);
	w->profile.quota.limit = WINDOW;
	w->what = r->what;
	return true;
}
