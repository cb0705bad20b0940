/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_IMAGE_JOB_H
#define GPUPROBE_IMAGE_JOB_H
#include "gpuprobe/gpuprobe.h"
#include "gpuprobe/registers.h"

enum { IMAGE_HASHES = 16 };

struct image {
	void *data;		/* with probes; malloc'd; NULL: the original is to be loaded */
	size_t size;
	struct gpuprobe_image told;	/* text_size is that of text */
	char *text;		/* malloc'd, or NULL: why, or the names of kernels that are left alone */
	size_t text_size;
	uint32_t hashes[IMAGE_HASHES];	/* of what has probes, also if it had them before */
	unsigned num_hashes;
};

/* An image being rewritten. */
struct image_job {
	struct image *out;
	struct inject *inject;
	struct registers *registers;
	unsigned sm;		/* the device's, or 0 */
	bool seen;		/* there was PTX that the device can run */
};

#endif
