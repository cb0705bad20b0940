/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions that a tool can probe.  Their ids are the probes' cookies. */
#ifndef PROBE_PROBE_SOURCE_H
#define PROBE_PROBE_SOURCE_H
#include <stdbool.h>
#include "api/cuda_api.h"

struct probes;

struct function {
	const char *name;	/* the symbol, as it is exported */
	const char *form;	/* "NAME@12": only runtimes up to that major version have it so; NULL: others too */
	enum cuda_lib lib;
	bool wanted;		/* selected by the tool's options; --layer is applied later */
	bool returns;		/* has a return probe; a session program decides at each entry */
	bool attach_last;		/* probed after the others */
	bool helper_only;		/* probed to learn of other calls: the tool does not show it */
	bool outermost;		/* a call inside one of another such function is ignored: with inject no program runs */
	bool detachable;		/* detached and reattached while tracing, see uprobes_toggle(), uprobes_shed() */
};

struct probe_source {
	/* Returns the id of the function of that name, or -1.  Called for every symbol of a file
	 * that begins with "cu", "__cu", "nc" or "nv". */
	int (*find)(const void *ctx, const char *symbol);
	struct function (*get)(const struct probes *p, int id);
	/* Returns the id for a file with the runtime of this major version, of which the function may have other parameters;
	 * NULL: it is always the same. */
	int (*form)(int id, int major);
	const void *ctx;
	int n;			/* ids are less than this */
	/* find() for USDT probes, by "PROVIDER:NAME"; NULL: it has none.  Only asked with p->usdt. */
	int (*find_usdt)(const void *ctx, const char *name);
};

/* The functions of cuda_api.tbl (cuda_fns[]).  Of struct probes, classes selects those wanted, return_classes those with a return
 * probe, helper_classes those that the tool does not show, detachable_classes those of the runtime that toggle, late_classes those
 * that do not begin attached, outermost_classes those whose calls inside each other are ignored.  In a running process an allocation
 * must not be seen before its free can be, so allocations are probed last. */
extern const struct probe_source cuda_probe_source;

/* Returns the same functions with the same ids, and with p->errors also those of the runtime and the driver that the classes do not
 * have, as helpers with return probes.  CUDA_ID_MAX + n is the id of cuda_protos[n], where cuda_fns[] has no such function.
 * Not those that programs may call for each launch, and none with perf events, where each would need links of its own. */
struct probe_source cuda_error_source(void);

/* Returns the name of one, and its library; NULL: there is none with this id. */
const char *cuda_error_function(unsigned id, enum cuda_lib *lib);

#endif
