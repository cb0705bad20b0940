/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the parts of drvkern share. */
#ifndef TESTS_WORKLOADS_DRVKERN_H
#define TESTS_WORKLOADS_DRVKERN_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

struct results {
	const char *ptx;	/* the folder of the PTX files */
	unsigned long right, all;
	CUcontext ctx;		/* current, and the part's own */
};

/* Counts, and names what is wrong. */
#define IS(what) do { \
		bool ok_ = (what); \
		r->all++; \
		r->right += ok_; \
		if (!ok_ && r->all - r->right < 20) \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
	} while (0)
#define TRY(call) do { \
		CUresult err_ = (call); \
		if (err_ != CUDA_SUCCESS) { \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)err_); \
			exit(1); \
		} \
	} while (0)

static inline const char *path(struct results *r, const char *name)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s/%s.ptx", r->ptx, name);
	return text;
}

static inline CUdeviceptr device(const void *from, size_t size)
{
	CUdeviceptr p;

	TRY(cuMemAlloc_v2(&p, size));
	if (from)
		TRY(cuMemcpyHtoD_v2(p, from, size));
	else
		TRY(cuMemsetD8_v2(p, 0, size));
	return p;
}

void part_launch(struct results *r);
void part_modules(struct results *r);
void part_images(struct results *r);
void part_info(struct results *r);
void part_memory(struct results *r);
void part_faults(struct results *r);
void part_graph(struct results *r);
void part_time(struct results *r);
void part_concurrent(struct results *r);

#endif
