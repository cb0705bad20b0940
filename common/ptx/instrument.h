/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Puts probes into PTX: around memory accesses, at the beginning and the end of kernels.
 *
 * A probe is PTX that clang made of a file in gpu/.  Which of these functions it has decides what is done; each
 * is pasted, or called where a kernel has many sites:
 *   u32 gpu_chosen(void)                       once a function: is this warp measured?  If not, none of the others runs
 *   void gpu_entry(u32 site)                   when a warp enters a kernel, before its lanes can have diverged
 *   void gpu_exit(u32 site, u64 t0, u64 t1)    before it leaves: %clock64 when it entered, and now
 *   void gpu_before(u32 site, u64 addr, u32 bytes)   before an access; generic address, bytes of a lane
 *   void gpu_timed(u32 site, u64 t0, u64 t1)   after an access: %clock64 around it
 * Its other variables go into the module once, renamed: NAME becomes __cuprobe_NAME_H (abi/gpu_variables.h).  The module has slots
 * if the probe has a variable gpu_uses_slots, rings and records if it has gpu_uses_rings (gpu/gpulib/gpu.h).
 *
 * A kernel's own site, whose id gpu_entry and gpu_exit get, has the kind "kernel", the operation ".entry" and the
 * location of the kernel's first .loc; that of a function with an `exit` in it has the operation "exit", and its t0
 * is when the function was entered.  Probes run only where the guard of the instruction lets it.
 *
 * scripts/new-gpu-probe writes a tool with a new probe; gpuprobe/site_row.h has what its results are printed with.
 * `cudamemtime --list -v` prints registers and spills of a probe.  tests/workloads/lanes.c launches kernels that exit and
 * diverge in known ways; build/tests/bin/gpurun interprets one, and prints the module's variables afterwards. */
#ifndef PTX_INSTRUMENT_H
#define PTX_INSTRUMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the second clock wait for the access. */
enum ptx_scheme {
	PTX_DEP,	/* something depends on what was loaded; where nothing was, a fence */
	PTX_FENCE,	/* membar.cta */
	PTX_PAPER,	/* Kanda et al.: a fence for what can be written, a dependence for what is read-only */
	PTX_SIMPLE,	/* nothing: what measuring wrongly looks like */
};

enum ptx_space {
	PTX_GLOBAL = 1, PTX_SHARED = 2, PTX_LOCAL = 4, PTX_CONST = 8, PTX_GENERIC = 16, PTX_READONLY = 32, PTX_TEX = 64,
	PTX_WAIT = 128,
};

enum ptx_ops { PTX_LOAD = 1, PTX_ATOMIC = 2, PTX_STORE = 4, PTX_REDUCE = 8, PTX_WAITS = 16 };

struct gpu_probe;		/* ptx/probe.h */

struct instrument {
	const struct gpu_probe *probe;
	enum ptx_scheme scheme;
	unsigned spaces, ops;		/* sums of enum ptx_space, ptx_ops */
	unsigned block_mask, block_want, warp_mask, warp_want;
	unsigned groups, limit;		/* abi/gpu_variables.h; powers of two; limit 0: no rings */
	unsigned max_sites;		/* more are refused; 0: any number */
	unsigned call_above;		/* sites in a kernel above which probes are called; 0: 1,000 */
	/* Return true if this kernel is to be instrumented (mangled name, not ended by 0); NULL: all are. */
	bool (*selects)(void *ctx, const char *name, size_t n);
	/* Returns the .maxnreg that a kernel is to have, 0 for none; NULL: none has. */
	unsigned (*registers)(void *ctx, const char *name, size_t n);
	void *ctx;
};

/* Returns the options of a tool's request, without callbacks. */
struct gpuprobe_config;
struct instrument instrument_options(const struct gpuprobe_config *config, const struct gpu_probe *probe);

enum instrument_result {
	INSTRUMENT_DONE,
	INSTRUMENT_NO_SITES,	/* nothing was selected */
	INSTRUMENT_TOO_MANY,
	INSTRUMENT_OLD,		/* .version before 6.2 or .target before sm_70 */
	INSTRUMENT_LINKED,	/* declares .extern .func other than vprintf, malloc, free, __assertfail */
	INSTRUMENT_BAD,		/* does not look like PTX, or out of memory */
};

struct instrumented {
	char *text;		/* malloc'd, ended by 0; NULL unless the result is INSTRUMENT_DONE */
	size_t size;		/* without the 0 */
	uint32_t hash;		/* FNV-1a of the original: H of abi/gpu_variables.h */
	unsigned sites, kernels;	/* also where the result is INSTRUMENT_TOO_MANY */
};

enum instrument_result instrument(struct instrumented *out, const char *text, size_t size,
				  const struct instrument *options);

/* As instrument(), but only the table of sites (ptx/sites.h), which is malloc'd text: for --list.  Without
 * options->probe, kernels have no sites of their own. */
enum instrument_result instrument_list(struct instrumented *out, const char *text, size_t size,
				       const struct instrument *options);

#endif
