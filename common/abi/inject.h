/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the injected library (tools/inject) and a tool that measures inside kernels tell each other.
 *
 * The tool listens on a Unix stream socket whose abstract name is in the environment of its command; the library
 * connects when the program loads its first image.  Both send frames: struct inject_frame, then `size` bytes.  The
 * tool sends one, INJECT_CONFIG, when it accepts.  Both run on one machine: native byte order. */
#ifndef INJECT_H
#define INJECT_H
#include <stdint.h>

#define INJECT_SOCKET "CUDA_BPF_TOOLS_INJECT"	/* the variable: the abstract name without its leading 0 */

/* The user's own TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH, which name cudainject-ptxas in the command. */
#define INJECT_PTXAS "CUDA_BPF_TOOLS_PTXAS"
#define INJECT_PTXAS_BLACKWELL "CUDA_BPF_TOOLS_PTXAS_BLACKWELL"

enum { INJECT_VERSION = 1, INJECT_FRAME_MAX = 64 << 20 };

enum inject_kind {
	INJECT_CONFIG = 1,	/* tool to library */
	INJECT_HELLO,		/* library to tool: the first */
	INJECT_IMAGE,		/* an image was loaded */
	INJECT_MODULE,		/* an instrumented module is loaded in a context */
	INJECT_SLOTS,		/* all slots of a module, since its beginning */
	INJECT_RECORDS,		/* new records of a module */
	INJECT_LOST,		/* what could not be read */
	INJECT_LAUNCHES,	/* calls that launched kernels, if asked for */
	INJECT_BYE,		/* the program ends: nothing follows.  The tool shuts down its side when it has handled
				 * all; with INJECT_CALLS the program waits for that, for a second at most, as the
				 * tool looks up the addresses in its files */
	INJECT_WARNING,		/* text: how the program differs from what it is without the library */
};

struct inject_frame {
	uint32_t kind, size;
};

enum inject_flags {
	INJECT_KEEP_REGISTERS = 1,	/* .maxnreg at the class of the original, in each kernel */
	INJECT_CALLS = 2,		/* send INJECT_LAUNCHES, with stacks */
	INJECT_RANGES = 4,		/* tell modules what memory there is: struct gpu_ranges of abi/gpu.h */
};

/* Followed by kernels_size bytes, the globs of -K, each ended by 0; then probe_size bytes, the probe's PTX. */
struct inject_config {
	uint32_t version, flags;
	uint32_t scheme, spaces, ops;		/* ptx/instrument.h */
	uint32_t block_mask, block_want, warp_mask, warp_want;
	uint32_t groups, limit, max_sites;
	uint32_t period_ms;			/* between two readings */
	uint32_t kernels_size, probe_size;
};

struct inject_hello {
	uint32_t version;
	int32_t pid, ppid;
	char comm[16];
};

enum inject_status {
	INJECT_DONE,		/* rewritten */
	INJECT_NO_SITES,	/* nothing in it that was selected */
	INJECT_NO_PTX,		/* machine code only */
	INJECT_NEWER,		/* its PTX is for later devices than this one */
	INJECT_TOO_MANY,	/* more sites than --max-sites */
	INJECT_OLD,		/* PTX before 6.2 or sm_70 */
	INJECT_LINKED,		/* needs functions of other images, or is LTO code */
	INJECT_BAD,		/* malformed, or refused by the driver once rewritten: the original was loaded */
	INJECT_THERE,		/* it has probes already: rewritten by --patch or cudamemtime-ptxas */
};

/* Followed by text_size bytes: why, or the names of what was left alone, one a line. */
struct inject_image {
	uint32_t status;	/* enum inject_status */
	uint32_t sm;		/* of the PTX that was taken, or of the first image */
	uint32_t kernels, sites;
	uint64_t ns;		/* how long rewriting took */
	uint64_t size, rewritten;	/* bytes of the PTX */
	uint32_t fewer_warps;	/* kernels with fewer resident warps than without */
	uint32_t text_size;
};

/* Followed by text_size bytes: the table of sites (ptx/sites.h). */
struct inject_module {
	uint32_t module;	/* counts from 1, of a process: an instrumented PTX in a context */
	uint32_t hash, sites, groups, limit;
	int32_t device;
	uint32_t context;	/* counts from 1, of a process */
	uint32_t khz;		/* the clock of the SMs, as the driver says; 0: unknown */
	uint32_t text_size, spare;
};

/* Followed by size / sizeof(struct gpu_slot) slots. */
struct inject_slots {
	uint32_t module, spare;
};

/* Followed by records: whole ones only; the bits GPU_LAP are cleared. */
struct inject_records {
	uint32_t module, spare;
	uint64_t lost;		/* overwritten before they were read, since the module's beginning */
};

/* Followed by text_size bytes: why. */
struct inject_lost {
	uint32_t module;	/* 0: of all */
	uint32_t text_size;
	uint64_t count;		/* readings that failed */
};

/* A call that launched a kernel, in the order of the calls of a context; followed by `frames` addresses,
 * innermost first, then name_size bytes: the function's name. */
struct inject_launch {
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	uint32_t context, tid;
	uint32_t frames, name_size;
};

#endif
