/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What became of the images that programs loaded. */
#ifndef GPU_IMAGES_H
#define GPU_IMAGES_H
#include <stddef.h>
#include "abi/inject.h"

enum { INJECT_STATUSES = INJECT_THERE + 1 };

/* Texts that are kept of one status: further ones are only counted. */
enum { GPU_IMAGE_TEXTS = 32 };

struct gpu_image_text {
	char *text;		/* why, or the names of what was left alone, one a line */
	unsigned long long images;
};

struct gpu_image_count {
	unsigned long long images, kernels, sites;
	unsigned long long fewer_warps;	/* kernels with fewer resident warps than without */
	unsigned long long ns, size, rewritten;
	struct gpu_image_text text[GPU_IMAGE_TEXTS];
	unsigned num_texts;
};

struct gpu_images {
	struct gpu_image_count by[INJECT_STATUSES];
	unsigned long long images;
};

/* Counts an image; returns NULL, or what is wrong with the frame. */
const char *gpu_images_add(struct gpu_images *all, const void *frame, size_t size);

void gpu_images_free(struct gpu_images *all);

#endif
