/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The protocol between the library in a program (agent/gpuprobe) and a GPU probe tool.
 *
 * The tool listens on a Unix stream socket whose abstract name is in the environment of its command; the library
 * connects when the program loads its first image.  Both send frames: struct gpuprobe_frame, then `size` bytes.  The
 * tool sends one, GPUPROBE_CONFIG, when it accepts.  Both run on one machine: native byte order. */
#ifndef ABI_AGENT_GPUPROBE_H
#define ABI_AGENT_GPUPROBE_H
#include <stdint.h>

#define GPUPROBE_SOCKET "CUDA_BPF_TOOLS_GPUPROBE"	/* the variable: the abstract name without its leading 0 */

/* The user's TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH; in the command these name cudagpuprobe-ptxas. */
#define GPUPROBE_PTXAS "CUDA_BPF_TOOLS_PTXAS"
#define GPUPROBE_PTXAS_BLACKWELL "CUDA_BPF_TOOLS_PTXAS_BLACKWELL"

enum { GPUPROBE_VERSION = 1, GPUPROBE_FRAME_MAX = 64 << 20 };

enum gpuprobe_kind {
	GPUPROBE_CONFIG = 1,	/* tool to library */
	GPUPROBE_HELLO,		/* library to tool: the first */
	GPUPROBE_IMAGE,		/* an image was loaded */
	GPUPROBE_MODULE,		/* an instrumented module is loaded in a context */
	GPUPROBE_SLOTS,		/* all slots of a module, since its beginning */
	GPUPROBE_RECORDS,		/* new records of a module */
	GPUPROBE_LOST,		/* failed readings */
	GPUPROBE_LAUNCHES,	/* calls that launched kernels, if asked for */
	GPUPROBE_BYE,		/* the program ends: the last frame.  The tool shuts down its side when it has handled
				 * all frames; with GPUPROBE_CALLS the program waits for that up to a second, because
				 * the tool resolves addresses in its files */
	GPUPROBE_WARNING,		/* text: a difference that the library makes to the program */
};

struct gpuprobe_frame {
	uint32_t kind, size;
};

enum gpuprobe_flags {
	GPUPROBE_KEEP_REGISTERS = 1,	/* .maxnreg at the class of the original, in each kernel */
	GPUPROBE_CALLS = 2,		/* send GPUPROBE_LAUNCHES, with stacks */
	GPUPROBE_RANGES = 4,		/* write the memory ranges to modules: struct gpu_ranges of abi/gpu_variables.h */
};

/* Followed by kernels_size bytes, the globs of -K, each ended by 0; then probe_size bytes, the probe's PTX. */
struct gpuprobe_config {
	uint32_t version, flags;
	uint32_t scheme, spaces, ops;		/* ptx/instrument.h */
	uint32_t block_mask, block_want, warp_mask, warp_want;
	uint32_t groups, limit, max_sites;
	uint32_t period_ms;			/* between two readings */
	uint32_t kernels_size, probe_size;
};

struct gpuprobe_hello {
	uint32_t version;
	int32_t pid, ppid;
	char comm[16];
};

enum gpuprobe_status {
	GPUPROBE_DONE,		/* rewritten */
	GPUPROBE_NO_SITES,	/* nothing selected in it */
	GPUPROBE_NO_PTX,		/* machine code only */
	GPUPROBE_NEWER,		/* its PTX is for later devices than this one */
	GPUPROBE_TOO_MANY,	/* more sites than --max-sites */
	GPUPROBE_OLD,		/* PTX before 6.2 or sm_70 */
	GPUPROBE_LINKED,		/* needs functions of other images, or is LTO code */
	GPUPROBE_BAD,		/* malformed, or the driver rejected the rewritten image: the original was loaded */
	GPUPROBE_THERE,		/* has probes already, from --patch or cudagpuprobe-ptxas */
};

/* Followed by text_size bytes: the reason, or the names of skipped kernels, one a line. */
struct gpuprobe_image {
	uint32_t status;	/* enum gpuprobe_status */
	uint32_t sm;		/* of the PTX that the driver uses, or of the first image */
	uint32_t kernels, sites;
	uint64_t ns;		/* of rewriting */
	uint64_t size, rewritten;	/* bytes of the PTX */
	uint32_t fewer_warps;	/* kernels with fewer resident warps than without */
	uint32_t text_size;
};

/* Followed by text_size bytes: the table of sites (ptx/sites.h). */
struct gpuprobe_module_frame {
	uint32_t module;	/* counts from 1, of a process: an instrumented PTX in a context */
	uint32_t hash, sites, groups, limit;
	int32_t device;
	uint32_t context;	/* counts from 1, of a process */
	uint32_t khz;		/* the driver's clock rate of the SMs; 0: unknown */
	uint32_t text_size, spare;
};

/* Followed by size / sizeof(struct gpu_slot) slots. */
struct gpuprobe_slots {
	uint32_t module, spare;
};

/* Followed by complete records, with the bits GPU_LAP cleared. */
enum { GPUPROBE_FAULTED = 1 };	/* a kernel has faulted in the context: the last records, which no counts have */
struct gpuprobe_records {
	uint32_t module, flags;
	uint64_t lost;		/* overwritten before they were read, since the module's beginning */
};

/* Followed by text_size bytes: the reason. */
struct gpuprobe_lost {
	uint32_t module;	/* 0: not of a single one */
	uint32_t text_size;
	uint64_t count;		/* readings that failed */
};

/* A call that launched a kernel, in the order of the calls of a context; followed by `frames` addresses,
 * innermost first, then name_size bytes: the function's name. */
struct gpuprobe_launch {
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	uint32_t context, tid;
	uint32_t frames, name_size;
};

#endif
