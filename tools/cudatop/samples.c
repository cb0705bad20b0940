/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include "abi/call_sample.h"
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "base/die.h"
#include "cudatop/samples.h"
#include "cudatop/top_processes.h"
#include "proc/helper_files.h"
#include "sym/export_jump.h"
#include "sym/stack.h"
#include "sym/syms.h"

void top_samples_begin(struct top_samples *s, const struct bpf_program *program)
{
	const int err = cpu_samples_begin(&s->cpus, program, CALL_SAMPLE_NS);

	if (err)
		warning(err, "cannot sample%s: time in calls lacks functions without probes", s->cpus.n ? " all CPUs" : "");
}

void top_samples_end(struct top_samples *s)
{
	cpu_samples_end(&s->cpus);
}

/* ---- Where the libraries are */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_cuda_file(const char *path)
{
	const char *name = file_name(path);

	return !strncmp(name, "libcuda.so", 10) || !strncmp(name, "libcudart", 9);
}

/* Compilers that are no calls of CUDA or NVRTC, in libraries of their own. */
static bool is_compiler(const char *path)
{
	static const char *const names[] = { "libnvvm.so", "libnvJitLink.so", "libllvmlite.so", "libtriton.so" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(file_name(path), names[i], strlen(names[i])))
			return true;
	return false;
}

/* Functions between the API and the kernel. */
static bool is_below_cuda(const char *path)
{
	const char *name = file_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) || !strncmp(name, "libpthread", 10);
}

static bool add_range(void *ctx, const struct mapping *m)
{
	struct call_code *c = ctx;

	if (!is_cuda_file(m->path) && !is_compiler(m->path) && !is_below_cuda(m->path))
		return true;
	c->range[c->n].from = m->start;
	c->range[c->n].to = m->end;
	return ++c->n < CALL_CODE_RANGES;
}

void top_samples_process(struct top_samples *s, int pid)
{
	struct call_code code = { 0 };

	if (!s->cpus.n || helper_mappings(s->helpers, pid, false, add_range, &code))
		return;
	bpf_map_update_elem(bpf_map__fd(s->code), &pid, &code, BPF_ANY);
}

void top_samples_ended(struct top_samples *s, int pid)
{
	if (s->cpus.n)
		bpf_map_delete_elem(bpf_map__fd(s->code), &pid);
}

/* ---- Samples */

/* Returns the static name of a function of CUDA, or NULL. */
static const char *static_name(const char *name)
{
	const int id = cuda_fn_find(name), proto = id >= 0 ? -1 : cuda_proto_find(name);

	if (id >= 0)
		return cuda_fns[id].lib < CUDA_LIB_MAX ? cuda_fns[id].name : NULL;
	return proto >= 0 && cuda_protos[proto].lib < CUDA_LIB_MAX ? cuda_protos[proto].name : NULL;
}

static bool is_function(const void *ctx, const char *name)
{
	(void)ctx;
	return static_name(name);
}

static const char *function_at(const struct stack *stack, int pid, int i)
{
	struct frame_view v;
	const char *name = stack_view(stack, i, &v) && v.kind == FRAME_KIND_NATIVE && v.name ? static_name(v.name) : NULL;

	if (!name) {
		name = export_jump(stack, pid, i, is_function, NULL);
		name = name ? static_name(name) : NULL;
	}
	return name;
}

static const char NO_FUNCTION[] = "[unknown]", COMPILER[] = "[compiler]";

/* Returns the function of CUDA that the caller of its libraries has called: the outermost one up to the first frame in another
 * file, COMPILER if that is the first one, in a compiler; NULL if the thread is in no call.  Frames beyond are not looked at: their symbols need not be read. */
static const char *called(const struct stack *stack, int pid)
{
	const char *name = NULL, *file;
	bool in = false;

	for (int i = 0; (file = stack_file(stack, i)); i++) {
		if (!in && is_compiler(file))
			return COMPILER;
		if (!is_cuda_file(file) && (in || (*file && !is_below_cuda(file))))
			break;
		if (!is_cuda_file(file))
			continue;
		in = true;
		name = function_at(stack, pid, i) ?: name;
	}
	return name ?: in ? NO_FUNCTION : NULL;
}

static const char *samples_function_of(struct top_samples *s, const struct call_sample *r)
{
	const struct stack *stack;

	if (r->id < CUDA_ID_MAX)
		return cuda_fns[r->id].name;
	stack = stack_get(s->syms, r->head.pid, r->stack, r->head.frames);
	return stack && !stack_is_missing(stack) ? called(stack, r->head.pid) : NULL;
}

bool top_samples_record(struct top_samples *s, const void *data, size_t size)
{
	const struct call_sample *r = data;
	struct top_process *p;
	const char *name;

	if (r->head.kind != CALL_SAMPLE)
		return false;
	if (r->head.frames > STACK_FRAMES || !record_is_whole(&r->head, size, offsetof(struct call_sample, stack)))
		return true;
	p = top_process_find(s->processes, r->head.pid);
	name = p ? samples_function_of(s, r) : NULL;
	if (name == COMPILER)
		top_process_compiles(p, CALL_SAMPLE_NS);
	else if (name)
		top_process_sample(p, name, CALL_SAMPLE_NS);
	return true;
}
