/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What became of the images that programs loaded. */
#ifndef GPUPROBE_IMAGES_H
#define GPUPROBE_IMAGES_H
#include <stddef.h>
#include "abi/gpuprobe.h"

enum { GPUPROBE_STATUSES = GPUPROBE_THERE + 1 };

/* Texts that are kept of one status: further ones are only counted. */
enum { GPU_IMAGE_TEXTS = 32 };

struct gpuprobe_image_text {
	char *text;		/* why, or the names of what was left alone, one a line */
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

/* Counts an image; returns NULL, or what is wrong with the frame. */
const char *gpuprobe_images_add(struct gpuprobe_images *all, const void *frame, size_t size);

void gpuprobe_images_free(struct gpuprobe_images *all);

#endif
