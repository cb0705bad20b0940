/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <stddef.h>
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "probe/probe_source.h"
#include "probe/probes.h"

static int probe_source_find(const void *ctx, const char *symbol)
{
	(void)ctx;
	return cuda_fn_find(symbol);
}

static int find_usdt(const void *ctx, const char *name)
{
	(void)ctx;
	return cuda_usdt_find(name);
}

/* Launches of graphs are few, and other calls are counted by them. */
static bool is_shed(const struct probes *p, const struct cuda_fn *fn)
{
	return p->sheds && fn->class == CUDA_LAUNCH && !fn->args.handle;
}

static struct function probe_source_get(const struct probes *p, int id)
{
	const struct cuda_fn *fn = &cuda_fns[id];

	return (struct function){
		.name = fn->name, .form = cuda_fn_form_name(id), .lib = fn->lib, .wanted = cuda_fn_in(fn, p->classes),
		.returns = fn->lib != CUDA_USDT && p->return_classes & 1u << fn->class, .attach_last = fn->class == CUDA_ALLOC,
		.helper_only = p->helper_classes & 1u << fn->class,
		.outermost = cuda_fn_in(fn, p->outermost_classes) && !cuda_fn_in(fn, CUDA_DEVICE_CLASSES) && !fn->args.loads,
		.detachable = (fn->lib == CUDA_RT && p->detachable_classes & 1u << fn->class) || cuda_fn_in(fn, p->late_classes) ||
			      is_shed(p, fn),
	};
}

const struct probe_source cuda_probe_source = {
	.find = probe_source_find, .get = probe_source_get, .form = cuda_fn_form, .n = CUDA_ID_MAX, .find_usdt = find_usdt,
};

/* ---- Errors */

/* Functions that programs may call for each launch or copy: a probe would cost them more than the call.  Where one fails, mostly a
 * launch or copy fails after it. */
static const char *const at_launches[] = {
	"cudaFuncSetAttribute", "cuFuncSetAttribute", "cuKernelSetAttribute", "cuTensorMap*", "cuStream*Value*", "cuStreamBatchMemOp*",
	"cudaStreamGet*", "cuStreamGet*", "cudaEventElapsedTime*", "cuEventElapsedTime*",
};

static bool is_frequent(const struct cuda_proto *proto)
{
	const int id = cuda_fn_find(proto->name);

	if (cuda_proto_is_chatter(proto) || (id >= 0 && (cuda_fns[id].class == CUDA_SET || cuda_fns[id].class == CUDA_QUERY)))
		return true;
	for (size_t i = 0; i < sizeof(at_launches) / sizeof(*at_launches); i++)
		if (!fnmatch(at_launches[i], proto->name, 0))
			return true;
	return false;
}

static int find_any(const void *ctx, const char *symbol)
{
	const int id = probe_source_find(ctx, symbol), proto = id < 0 ? cuda_proto_find(symbol) : -1;

	return proto < 0 ? id : CUDA_ID_MAX + proto;
}

static bool wants_errors(const struct probes *p)
{
	return p->errors && p->attacher.kind != ATTACH_PERF;
}

static bool only_errors(const struct probes *p, const struct cuda_proto *proto)
{
	return wants_errors(p) && (proto->lib == CUDA_RT || proto->lib == CUDA_DRV) &&
	       !is_frequent(proto) && proto->result.kind == CUDA_KIND_ENUM;
}

static struct function get_any(const struct probes *p, int id)
{
	struct function fn = id < CUDA_ID_MAX ? probe_source_get(p, id) : (struct function){ .name = cuda_protos[id - CUDA_ID_MAX].name,
										.lib = cuda_protos[id - CUDA_ID_MAX].lib };
	const int proto = id < CUDA_ID_MAX ? fn.wanted ? -1 : cuda_proto_find(fn.name) : id - CUDA_ID_MAX;

	if (fn.lib == CUDA_LIB ? !wants_errors(p) : proto < 0 || !only_errors(p, &cuda_protos[proto]))
		return fn;
	if (id >= CUDA_ID_MAX && cuda_fn_find(fn.name) >= 0)
		return fn;
	fn.wanted = fn.returns = fn.helper_only = fn.outermost = true;
	return fn;
}

static int form_any(int id, int major)
{
	return id < CUDA_ID_MAX ? cuda_fn_form(id, major) : id;
}

struct probe_source cuda_error_source(void)
{
	return (struct probe_source){
		.find = find_any, .get = get_any, .form = form_any, .n = CUDA_ID_MAX + cuda_protos_n, .find_usdt = find_usdt,
	};
}

const char *cuda_error_function(unsigned id, enum cuda_lib *lib)
{
	if (id >= CUDA_ID_MAX + (unsigned)cuda_protos_n)
		return NULL;
	*lib = id < CUDA_ID_MAX ? cuda_fns[id].lib : cuda_protos[id - CUDA_ID_MAX].lib;
	return id < CUDA_ID_MAX ? cuda_fns[id].name : cuda_protos[id - CUDA_ID_MAX].name;
}
