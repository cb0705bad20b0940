/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The counts and records of GPU probes: processes, their instrumented modules, and the sites of these; and the images that
 * processes have loaded.  Built from the frames that processes send (abi/agent_gpuprobe.h), which are untrusted: frames that do
 * not fit are refused.  Starts zeroed. */
#ifndef GPUPROBE_GPUPROBE_MODULES_H
#define GPUPROBE_GPUPROBE_MODULES_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/agent_gpuprobe.h"
#include "abi/gpu_variables.h"
#include "base/hash.h"
#include "base/log2_hist.h"
#include "gpuprobe/gpuprobe_clocks.h"
#include "ptx/sites.h"

enum { GPUPROBE_STATUSES = GPUPROBE_THERE + 1 };

/* Texts of one status; further ones are only counted. */
enum { GPU_IMAGE_TEXTS = 32 };

struct gpuprobe_image_text {
	char *text;		/* a reason, or the names of kernels that are not measured, one a line */
	unsigned long long images;
};

struct gpuprobe_image_count {
	unsigned long long images, kernels, sites;
	unsigned long long fewer_warps;	/* kernels with fewer resident warps than without */
	unsigned long long ns, size, rewritten;
	struct gpuprobe_image_text text[GPU_IMAGE_TEXTS];
	unsigned num_texts;
};

struct gpuprobe_images {
	struct gpuprobe_image_count by[GPUPROBE_STATUSES];
	unsigned long long images;
};

/* Limits for all processes: bytes of tables and counts; records, beyond which they are counted as dropped. */
enum { GPU_KEPT_MAX = 1 << 30, GPU_RECORDS_MAX = 4 << 20 };

/* Distinct texts of GPUPROBE_WARNING; further ones are dropped. */
enum { GPU_WARNINGS = 8 };

/* The counts of a site in all groups.  If count is 0, min is ~0u. */
struct gpuprobe_sum {
	unsigned long long count, sum;
	unsigned min, max;
	unsigned long long hist[GPU_BUCKETS];	/* as in struct gpu_slot */
};

/* An instrumented text.  Modules of several processes and contexts can have the same. */
struct gpuprobe_code {
	uint32_t hash;
	struct sites sites;
	size_t key_size;
	char *key;		/* the hash and the table of sites */
	size_t begin;		/* of its sites in gpuprobe_totals() */
	struct gpuprobe_code *next;	/* in order of arrival */
	UT_hash_handle hh;
};

/* The counts of a site in all modules with its code. */
struct gpuprobe_total {
	const struct gpuprobe_code *code;
	unsigned site;		/* in code->sites */
	struct gpuprobe_sum sum;
	double ns;		/* of sum.sum, by the modules' clocks; negative if one is unknown */
};

struct gpuprobe_module {
	struct gpuprobe_process *process;
	const struct gpuprobe_code *code;
	uint32_t number, groups, limit, context, khz;
	int32_t device;
	struct gpuprobe_sum *sums;	/* by site, since the module's beginning */
	struct gpu_record *records;	/* in order of arrival, except the pairs of clocks */
	size_t num_records, room;
	bool faulted;		/* so did a kernel in its context: the counts lack the records that came last */
	unsigned long long lost;	/* overwritten before they were read */
	unsigned long long dropped;	/* beyond GPU_RECORDS_MAX, or of an unknown site */
	unsigned long long failed;	/* readings */
};

struct gpuprobe_process {
	unsigned id;		/* of the connection: pids are reused */
	int pid;		/* in the tool's PID namespace, or else in the process's */
	char comm[17];
	bool ended;		/* regularly, after a last reading */
	struct gpuprobe_module **modules;	/* numbers 1, 2 … at 0, 1 …; NULL: refused */
	uint32_t num_modules;
	struct gpuprobe_process *next;	/* in order of arrival */
	UT_hash_handle hh;
};

struct gpuprobe_modules {
	struct gpuprobe_code *codes, *first_code, *last_code;
	struct gpuprobe_process *processes, *first, *last;
	struct gpuprobe_clocks clocks;
	struct gpuprobe_images images;
	size_t kept, records;	/* of GPU_KEPT_MAX, GPU_RECORDS_MAX */
	unsigned long long refused;	/* modules beyond a limit */
	unsigned long long failed;	/* readings not of a single module */
	char *failure;		/* of the first failed reading, or NULL */
	char *warnings[GPU_WARNINGS];	/* how probes change programs; each text once */
};

/* Reads a frame of the process with this connection; pid: the kernel's, 0 if unknown.  data is aligned.  Returns NULL, or an
 * error.  Frames of later versions are ignored. */
const char *gpuprobe_modules_frame(struct gpuprobe_modules *m, unsigned id, int pid, uint32_t kind, const void *data,
			      size_t size);

/* Returns the module of this number; NULL: there is none, or it was refused. */
struct gpuprobe_module *gpuprobe_modules_find(const struct gpuprobe_modules *m, unsigned id, uint32_t number);

/* Frees a module's records. */
void gpuprobe_modules_forget(struct gpuprobe_modules *m, struct gpuprobe_module *module);

void gpuprobe_modules_free(struct gpuprobe_modules *m);

/* For each module that was not refused, in the order of processes. */
#define gpuprobe_for_each_module(m, module) \
	for (const struct gpuprobe_process *p_ = (m)->first; p_; p_ = p_->next) \
		for (uint32_t i_ = 0; i_ < p_->num_modules; i_++) \
			if ((module = p_->modules[i_]))

/* Returns all sites with counts, sorted by compare or, if that is NULL, in the order of codes and sites; the caller frees
 * them.  Sites of one kernel need not be adjacent. */
typedef int gpuprobe_compare(const void *total, const void *other);
struct gpuprobe_total *gpuprobe_totals(const struct gpuprobe_modules *m, gpuprobe_compare *compare, size_t *n);

/* Copies a histogram to the rows of base/log2_hist.h. */
void gpuprobe_sum_rows(const struct gpuprobe_sum *sum, unsigned long long rows[HIST_ROWS]);

#endif
