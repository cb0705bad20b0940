/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes, their instrumented modules, and what was counted and recorded in these: gpuprobe_modules.h. */
#ifndef GPUPROBE_MODEL_H
#define GPUPROBE_MODEL_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/gpu.h"
#include "abi/gpuprobe.h"
#include "base/hash.h"
#include "model/gpuprobe_clocks.h"
#include "model/gpuprobe_images.h"
#include "ptx/sites.h"

/* Of one process; what is more is counted as refused. */
enum { GPU_MODULES_MAX = 65536 };

/* Ever. */
enum { GPU_PROCESSES_MAX = 1 << 18 };

/* Of all processes: bytes of tables and counts; records, beyond which they are counted as dropped. */
enum { GPU_KEPT_MAX = 1 << 30, GPU_RECORDS_MAX = 4 << 20 };

/* Distinct texts of GPUPROBE_WARNING that are kept. */
enum { GPU_WARNINGS = 8 };

/* What a site counted, in all groups.  If count is 0, min is ~0u. */
struct gpuprobe_sum {
	unsigned long long count, sum;
	unsigned min, max;
	unsigned long long hist[GPU_BUCKETS];	/* as in struct gpu_slot */
};

/* What was instrumented.  Modules of several processes and contexts may have the same. */
struct gpuprobe_code {
	uint32_t hash;
	struct sites sites;
	size_t key_size;
	char *key;		/* the hash and the table of sites */
	size_t begin;		/* of its sites in gpuprobe_totals() */
	struct gpuprobe_code *next;	/* in the order they came */
	UT_hash_handle hh;
};

/* What a site counted in all modules with its code: gpuprobe_totals.h. */
struct gpuprobe_total {
	const struct gpuprobe_code *code;
	unsigned site;		/* in code->sites */
	struct gpuprobe_sum sum;
	double ns;		/* of sum.sum, by the modules' clocks; negative if one is unknown */
};

struct gpuprobe_process;

struct gpuprobe_module {
	struct gpuprobe_process *process;
	const struct gpuprobe_code *code;
	uint32_t number, groups, limit, context, khz;
	int32_t device;
	struct gpuprobe_sum *sums;	/* by site, since the module's beginning */
	struct gpu_record *records;	/* as they came, but for the pairs of clocks */
	size_t num_records, room;
	unsigned long long lost;	/* overwritten before they were read */
	unsigned long long dropped;	/* beyond GPU_RECORDS_MAX, or with a site that the module has not */
	unsigned long long failed;	/* readings */
};

struct gpuprobe_process {
	unsigned id;		/* of the connection: a pid may come again */
	int pid;		/* as the tool sees it, or, if it does not, as the process does */
	char comm[17];
	bool ended;		/* in order: all was read */
	struct gpuprobe_module **modules;	/* numbers 1, 2 … at 0, 1 …; NULL: refused */
	uint32_t num_modules;
	struct gpuprobe_process *next;	/* in the order they came */
	UT_hash_handle hh;
};

struct gpuprobe_modules {
	struct gpuprobe_code *codes, *first_code, *last_code;
	struct gpuprobe_process *processes, *first, *last;
	struct gpuprobe_clocks clocks;
	struct gpuprobe_images images;
	size_t kept, records;	/* of GPU_KEPT_MAX, GPU_RECORDS_MAX */
	unsigned long long refused;	/* modules that were too many, or too large */
	unsigned long long failed;	/* readings of what is no module's alone */
	char *failure;		/* why the first reading failed; NULL: none did */
	char *warnings[GPU_WARNINGS];	/* how programs differ from what they are unmeasured; each text once */
};

#endif
