/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include "api/cuda_fn.h"
#include "probe/probe_source.h"
#include "probe/probes.h"

static int find(const void *ctx, const char *symbol)
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

static struct function get(const struct probes *p, int id)
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
	.find = find, .get = get, .form = cuda_fn_form, .n = CUDA_ID_MAX, .find_usdt = find_usdt,
};
