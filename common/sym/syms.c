/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "abi/record.h"
#include "base/die.h"
#include "elf/cfi.h"
#include "elf/elf.h"
#include "proc/vm_read.h"
#include "python/python.h"
#include "python/walk.h"
#include "sym/frames.h"
#include "sym/goroutine.h"
#include "sym/jit.h"
#include "sym/lines.h"
#include "sym/mappings.h"
#include "sym/syms.h"
#include "unwind/unwind.h"

/* Limits on what programs can make the tool keep: bytes. */
enum { MAX_RANGES = 64 << 20, MAX_STACKS = 32 << 20 };

struct syms *syms_new(struct helper_pool *helpers, const struct stack_config *config, struct stack_losses *losses)
{
	struct syms *s = xcalloc(1, sizeof(*s));

	s->config = *config;
	s->losses = losses;
	modules_init(&s->modules, helpers);
	s->jit = jit_maps_new(helpers, &s->modules.symbols);
	s->ranges_quota = (struct quota){
		.limit = MAX_RANGES, .what = "memory for mappings",
		.loss = "some functions of its processes have no names",
	};
	s->stacks_quota = (struct quota){
		.limit = MAX_STACKS, .what = "memory for call stacks",
		.loss = "further ones of its processes are dropped",
	};
	return s;
}

void syms_show_lines(struct syms *s)
{
	if (!s->lines)
		s->lines = lines_new(s->modules.helpers);
}

struct lines *syms_lines(const struct syms *s)
{
	return s ? s->lines : NULL;
}

struct helper_pool *syms_looks(const struct syms *s)
{
	return s ? s->modules.helpers : NULL;
}

void syms_free(struct syms *s)
{
	struct mappings *p, *next_process;

	if (!s)
		return;
	HASH_ITER(hh, s->processes, p, next_process)
		mappings_forget(s, p);
	HASH_FREE(s->stacks);
	unwinder_free(s->unwinder);
	python_free(s->python);
	jit_maps_free(s->jit);
	lines_free(s->lines);
	modules_free(&s->modules);
	quota_free(&s->ranges_quota);
	quota_free(&s->stacks_quota);
	free(s);
}

void syms_refresh(struct syms *s, int pid)
{
	if (s)
		mappings_refresh(s, pid);
}

void syms_changed(struct syms *s, int pid)
{
	struct mappings *p = s ? mappings_find(s, pid) : NULL;

	if (!p)
		return;
	p->changed = true;
	unwinder_changed(s->unwinder, pid);
}

void syms_tick(struct syms *s)
{
	if (!s)
		return;
	modules_read_ahead(&s->modules);
	python_tick(s->python);
}

void syms_each(const struct syms *s, void (*fn)(void *ctx, int pid), void *ctx)
{
	for (struct mappings *p = s ? s->processes : NULL; p; p = p->hh.next)
		fn(ctx, p->pid);
}

void syms_forget(struct syms *s, int pid)
{
	struct mappings *p = s ? mappings_find(s, pid) : NULL;

	if (p)
		mappings_forget(s, p);
}

/* Return true if the process has UNWIND_TRAMPOLINE there. */
static bool is_trampoline(const struct syms *s, int pid, unsigned long long addr)
{
	unsigned long long at = (addr + 3) & ~3ull, word = 0;	/* addr may be 1 less than that of an instruction */

	return UNWIND_TRAMPOLINE && !vm_read_words(s->modules.helpers, pid, &at, 1, &word) && word == UNWIND_TRAMPOLINE;
}

/* For the unwinder. */
static void find_code(void *ctx, int pid, unsigned long long addr, struct unwind_code *code)
{
	struct syms *s = ctx;
	struct mappings *p = mappings_of(s, pid);
	struct module *module = mappings_module(s, p, addr, &code->offset);

	code->in_file = module;
	code->is_go = module && module_go(module)->is;
	code->sure = module ? module_cfi(module, code->offset, &code->cfi) : p->read;
	if (!module && is_trampoline(s, pid, addr))
		*code = (struct unwind_code){ .cfi = cfi_trampoline(), .sure = true };
}

void syms_open(struct syms *s, const struct bpf_object *obj)
{
	if (!s)
		return;
	if (s->config.python)
		s->python = python_new(s->modules.helpers, obj);
	if (!s->config.dwarf || !s->config.native)
		return;
	s->unwinder = unwinder_new(obj, find_code, s);
	if (!s->unwinder)
		die(errno, "cannot open the maps for call stacks");
}

void syms_record(struct syms *s, const void *data, size_t size)
{
	const struct record *r = data;

	if (!s)
		return;
	if (r->kind == RECORD_CODE)
		python_record(s->python, data, size);
	else if (size >= sizeof(struct stack_copy))
		unwinder_copy(s->unwinder, data, size, mappings_of(s, r->pid)->user);
}

int syms_python(struct syms *s, int pid, unsigned long long self, unsigned long long *frames)
{
	struct walk_frames walked;

	if (!s || !s->python)
		return 0;
	mappings_of(s, pid);	/* finds the interpreter */
	if (!python_frames(s->python, pid, self, &walked))
		return 0;
	memcpy(frames, walked.frame, walked.n * sizeof(*frames));
	return walked.n;
}

int syms_goroutine(struct syms *s, int pid, unsigned long long self, unsigned long long *frames)
{
	const struct elf_go *go = s ? mappings_go(mappings_of(s, pid)) : NULL;

	return go ? goroutine_frames(s->modules.helpers, pid, go, self, frames) : 0;
}

const char *syms_function(struct syms *s, int pid, unsigned long long addr)
{
	unsigned long long at, off = 0;
	struct module *module;
	const char *name;

	if (!s)
		return NULL;
	module = mappings_module(s, mappings_of(s, pid), addr, &at);
	name = module ? module_symbol(module, at, &off) : NULL;
	return off ? NULL : name;
}

unsigned long long syms_address(struct syms *s, int pid, const struct module *m, unsigned long long offset)
{
	const struct mappings *p = mappings_of(s, pid);

	for (size_t i = 0; i < p->n; i++) {
		const struct range *r = &p->ranges[i];

		if (r->module == m && offset >= r->offset && offset - r->offset < r->end - r->start)
			return r->start + (offset - r->offset);
	}
	return 0;
}

static void each_variable(const struct range *r, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct elf_symbols *variables = r->module ? module_variables(r->module, end) : NULL;
	unsigned long long at, addr;
	const char *name;

	if (!variables || !elf_symbols_address(variables, r->offset, &at))
		return;
	for (size_t i = 0; (name = elf_symbols_get(variables, i, &addr)); i++)
		fn(ctx, name, addr - at + r->start);
}

void syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct mappings *p = s ? mappings_of(s, pid) : NULL;

	for (size_t i = 0; p && i < p->n; i++)
		if (!i || p->ranges[i - 1].module != p->ranges[i].module)
			each_variable(&p->ranges[i], end, fn, ctx);
}
