/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Puts probes into an image: PTX, machine code that NVRTC made, or a fat binary. */
#ifndef AGENT_GPUPROBE_IMAGE_H
#define AGENT_GPUPROBE_IMAGE_H
#include "agent/gpuprobe/gpuprobe.h"
#include "agent/gpuprobe/registers.h"

enum { IMAGE_HASHES = 16 };

struct image {
	void *data;		/* with probes; malloc'd; NULL: the original is to be loaded */
	size_t size;
	struct gpuprobe_image report;	/* text_size is that of text */
	char *text;		/* malloc'd, or NULL: the reason, or names of skipped kernels */
	size_t text_size;
	uint32_t hashes[IMAGE_HASHES];	/* of PTX with probes, also if it had them before */
	unsigned num_hashes;
};

/* Rewrites an image, of which size bytes may be read; 0: the size in its headers.  sm: the device's number, 0 if
 * unknown.  image_free() afterwards. */
void image_rewrite(struct image *out, struct gpuprobe *state, const void *image, size_t size, unsigned sm,
		   struct registers *registers);

/* Appends a line to image->text. */
void image_note(struct image *image, const char *text);

void image_free(struct image *image);

#endif
